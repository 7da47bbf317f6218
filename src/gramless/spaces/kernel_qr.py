"""Orthonormal vectors in feature space from combinations of points: a QR factorization by kernel values alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramless.arrays import Array, inner
from gramless.gram import rectangular_product
from gramless.kernels import Kernel


class KernelQR(NamedTuple):
    """Phi A = Q R with Q = Phi A T.

    Attributes
    ----------
    inverse : ndarray of shape (q, r)
        T: Q is the given vectors times this. For independent vectors it is the inverse of R.
    triangle : ndarray of shape (r, q)
        R, upper triangular in the columns that were kept.
    kept : ndarray of shape (r,)
        Indices of the vectors that added a direction; the others lie in the span of the vectors before them.
    """

    inverse: Array
    triangle: Array
    kept: Array


def kernel_qr(kernel: Kernel, points: Any, coefficients: Array, *, drop: float = 1e-7) -> KernelQR:
    r"""Gram-Schmidt on the vectors Phi A, phi(points) combined with `coefficients` A.

    Sharma, Chaudhury & Srivastava's algorithm 2, after Wolf & Shashua: it needs only the inner products A^T K A.
    (In its line 6, D is the *root* of their equation 32.) Three things are added. Each vector is orthogonalized twice,
    since once is not enough in floating point. The inner products of the remainder are formed from its own
    coefficients, so that they do not cancel. A vector whose remainder is shorter than `drop` times the vector is
    dropped as dependent, since kernel values have an error of about 1e-16, and norms therefore one of 1e-8.

    Parameters
    ----------
    kernel : Kernel
    points : ndarray or CSR of shape (p, d)
    coefficients : ndarray of shape (p, q)
    drop : float

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> points = np.array([[3.0, 0.0], [1.0, 2.0], [4.0, 2.0]])  # the third is the sum of the others
    >>> qr = kernel_qr(Linear(), points, np.eye(3))
    >>> qr.kept, qr.triangle.round(6) + 0.0
    (array([0, 1]), array([[3., 1., 4.],
           [0., 2., 2.]]))
    """
    return orthonormalize_gram(inner(coefficients, rectangular_product(kernel, points, points, coefficients)), drop)


def orthonormalize_gram(gram: Array, drop: float = 1e-7) -> KernelQR:
    """:func:`kernel_qr` from the inner products (q, q) of the vectors."""
    gram = (gram + gram.T) / 2
    q = len(gram)
    norms = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    inverse, images = np.zeros((q, q)), np.zeros((q, q))  # images: inner products of Q with the vectors
    kept: list[int] = []
    for j in range(q):
        vector = np.eye(q)[j]
        r = len(kept)
        for _ in range(2):
            vector = vector - inverse[:, :r] @ (images[:r] @ vector)
        length2 = float(vector @ gram @ vector)
        if not length2 > (drop * norms[j]) ** 2:
            continue
        vector /= np.sqrt(length2)
        inverse[:, r], images[r] = vector, gram @ vector
        kept.append(j)
    r = len(kept)
    triangle = images[:r].copy()
    triangle[np.arange(q)[None, :] < np.array(kept, dtype=int)[:, None]] = 0.0
    return KernelQR(inverse[:, :r], triangle, np.array(kept, dtype=int))
