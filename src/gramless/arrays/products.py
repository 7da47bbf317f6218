"""Products of tall matrices, summed in fixed chunks: the same bits every time, and a small rounding error."""

from __future__ import annotations

import numpy as np

from gramless.arrays.dtypes import Array, unit_roundoff
from gramless.arrays.threads import one_blas_thread

_CHUNK = 256
_GROUP = 64


def inner(a: Array, b: Array) -> Array:
    """``a.T @ b`` for tall `a` (n, p) and `b` (n, q), summed in chunks and groups of chunks.

    Examples
    --------
    >>> inner(np.ones((3, 1)), np.ones((3, 2)))
    array([[3., 3.]])
    """
    total = np.zeros((a.shape[1], b.shape[1]))
    for start in range(0, len(a), _CHUNK * _GROUP):
        group = np.zeros_like(total)
        for first in range(start, min(len(a), start + _CHUNK * _GROUP), _CHUNK):
            part = slice(first, first + _CHUNK)
            group += a[part].T @ b[part]
        total += group
    return total


def inner_rounding(n: int) -> float:
    """Bound on the error of one entry of :func:`inner`, relative to the product of the two columns' norms."""
    chunks = -(-n // _CHUNK)
    return (min(n, _CHUNK) + min(chunks, _GROUP) + chunks / _GROUP + 2) * unit_roundoff()


def orthonormalize(block: Array, against: Array | None = None, *, drop: float = 1e-10) -> tuple[Array, Array]:
    """Orthonormal basis of `block`'s columns outside `against`, and its coefficients.

    Parameters
    ----------
    block : ndarray of shape (n, b)
    against : ndarray of shape (n, m), optional
        Orthonormal columns; `block` should have been projected off them once already
        (it is done again here: once is not enough in floating point).
    drop : float
        A direction whose norm falls below `drop` times the largest column is left out.

    Returns
    -------
    basis : ndarray of shape (n, r), r <= b
    coefficients : ndarray of shape (r, b)
        With ``block ~= basis @ coefficients`` (plus what lay in `against`).

    Examples
    --------
    >>> basis, coefficients = orthonormalize(np.array([[1.0, 2.0], [0.0, 0.0]]))
    >>> basis.shape
    (2, 1)
    """
    scale = np.sqrt((block**2).sum(axis=0).max(initial=0.0))
    if not scale > 0:
        return block[:, :0], np.zeros((0, block.shape[1]))
    if against is not None and against.shape[1]:
        block = block - against @ inner(against, block)
    basis, triangle = _qr(block)
    left, weights, right = np.linalg.svd(triangle)
    rank = int((weights > drop * scale).sum())
    basis = basis @ left[:, :rank]
    if against is not None and against.shape[1] and rank:
        basis = basis - against @ inner(against, basis)
    basis, correction = _qr(basis)
    return basis, correction @ (weights[:rank, None] * right[:rank])


def _qr(block: Array) -> tuple[Array, Array]:
    """Thin QR on one thread: for tall blocks the threads of LAPACK cost more in waiting than they save."""
    with one_blas_thread():
        basis, triangle = np.linalg.qr(block)
    return basis, triangle
