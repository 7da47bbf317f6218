"""Sampling and sparsifying a Gram matrix (Achlioptas, McSherry & Schoelkopf, Sampling Techniques for Kernel Methods).

Each function takes a *centred* Gram matrix, written down, and returns about its leading eigenpairs: values (k,),
descending, and orthonormal vectors (n, k). The expected matrix is the given one in each case; what is random is a
symmetric matrix of independent entries of variance s^2, whose spectral norm is about 2 s sqrt(n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import eigsh

from gramless.arrays import Array

Pairs = tuple[Array, Array]


def sparsified_pairs(gram: Array, k: int, *, keep: float, rng: np.random.Generator) -> Pairs:
    """Keep each entry with probability `keep`, divided by it; make the others 0.

    A product then costs the fraction `keep`, and the eigenvalues err by at most about
    2 max|K_ij| sqrt(n (1 - keep) / keep).

    Examples
    --------
    >>> gram = 2.0 * np.outer([1, 1, -1, -1], [1, 1, -1, -1]) / 4
    >>> values, vectors = sparsified_pairs(gram, 1, keep=1.0, rng=np.random.default_rng(0))
    >>> values.round(10)
    array([2.])
    """
    if not 0 < keep <= 1:
        raise ValueError(f"keep={keep!r} must be a probability above 0")
    above = np.triu(rng.random(gram.shape) < keep)
    upper = scipy.sparse.csr_array(np.where(above, gram / keep, 0.0))
    symmetric = upper + upper.T - scipy.sparse.diags_array(upper.diagonal())
    return _leading(symmetric, k, rng)


def quantized_pairs(gram: Array, k: int, *, rng: np.random.Generator) -> Pairs:
    """Replace each entry by b or -b, b the largest modulus, with the probabilities that leave its mean: one bit each.

    Examples
    --------
    >>> gram = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> quantized_pairs(gram, 1, rng=np.random.default_rng(0))[0].round(10)
    array([2.])
    """
    largest = float(np.abs(gram).max())
    up = np.triu(rng.random(gram.shape) < (1 + gram / largest) / 2)
    signs = np.where(up | np.triu(up, 1).T, 1.0, -1.0)
    return _leading(largest * signs, k, rng)


def row_sampled_pairs(gram: Array, k: int, *, rows: int, rng: np.random.Generator) -> Pairs:
    """Eigenpairs of the Gram matrix of `rows` points drawn at random, carried over to all points.

    With m of n points, values are n/m times those of the sample, vectors K[:, sample] u / l, orthonormalised.

    Examples
    --------
    >>> gram = np.diag([2.0, 1.0, 0.0]) + 0.0
    >>> row_sampled_pairs(gram, 2, rows=3, rng=np.random.default_rng(0))[0].round(10)
    array([2., 1.])
    """
    n = len(gram)
    if not k <= rows <= n:
        raise ValueError(f"rows={rows} must be between the {k} pairs wanted and the {n} points there are")
    sample = np.sort(rng.choice(n, rows, replace=False))
    values, vectors = np.linalg.eigh(gram[np.ix_(sample, sample)])
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    extended = gram[:, sample] @ (vectors / values)
    return values * n / rows, np.linalg.qr(extended)[0]


def _leading(matrix: Any, k: int, rng: np.random.Generator) -> Pairs:
    """Lanczos where it pays, LAPACK otherwise."""
    n = matrix.shape[0]
    if n > 50 and k < n // 4:
        values, vectors = eigsh(matrix, k, which="LA", v0=rng.standard_normal(n))
    else:
        values, vectors = np.linalg.eigh(matrix.toarray() if scipy.sparse.issparse(matrix) else matrix)
    order = np.argsort(values)[::-1][:k]
    return values[order], vectors[:, order]
