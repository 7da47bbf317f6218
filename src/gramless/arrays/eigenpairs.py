"""The leading eigenpairs of a small symmetric matrix."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gramless.arrays.dtypes import Array, unit_roundoff
from gramless.arrays.products import inner


def leading_eigenpairs(matrix: Array, wanted: int) -> tuple[Array, Array]:
    """The `wanted` largest eigenvalues of a symmetric matrix, descending, and their orthonormal eigenvectors.

    With multiple eigenvalues, LAPACK's driver for a subset of pairs may return too few pairs, vectors that are not
    orthogonal, or an error. Then LAPACK's slower, safer driver finds all pairs, and the leading ones are returned.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Finite; its lower triangle is used.
    wanted : int
        From 1 to n.

    Returns
    -------
    values : ndarray of shape (wanted,)
    vectors : ndarray of shape (n, wanted)

    Examples
    --------
    >>> values, vectors = leading_eigenpairs(np.eye(13), 2)
    >>> values
    array([1., 1.])
    """
    n = len(matrix)
    if wanted > n / 3:  # divide and conquer is faster
        values, vectors = scipy.linalg.eigh(matrix, driver="evd")
        return values[: -wanted - 1 : -1], vectors[:, : -wanted - 1 : -1]
    try:
        values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(n - wanted, n - 1))
    except scipy.linalg.LinAlgError:  # LAPACK's 'internal error', also due to multiple eigenvalues
        values, vectors = matrix[:0, 0], matrix[:, :0]
    if len(values) < wanted or not _orthonormal(vectors):
        values, vectors = scipy.linalg.eigh(matrix, driver="evd")
    return values[: -wanted - 1 : -1], vectors[:, : -wanted - 1 : -1]


def _orthonormal(vectors: Array) -> bool:
    """Whether columns are orthonormal to 40 n roundoffs, as bounds on the rounding of eigenproblems assume."""
    n, columns = vectors.shape
    loss = np.abs(inner(vectors, vectors) - np.eye(columns)).max(initial=0.0)
    return bool(loss <= 40 * max(n, 1) * unit_roundoff())
