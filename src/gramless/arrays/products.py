"""Products of tall matrices in fixed chunks: the same bits for any number of threads, and a small rounding error."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from gramless.arrays.dtypes import Array, unit_roundoff
from gramless.arrays.tensor_products import CHUNK as _CHUNK
from gramless.arrays.tensor_products import GROUP as _GROUP
from gramless.arrays.tensor_products import tensor_inner, tensor_qr, tensor_times
from gramless.arrays.tensors import is_tensor, like, namespace
from gramless.arrays.threads import one_blas_thread, run_in_threads

_ROWS = 1024  # rows of a product computed at a time
_COLUMNS = 160  # columns of a result computed at a time, so that the partial sum stays in cache


def inner(a: Any, b: Any) -> Array:
    """``a.T @ b`` for tall `a` (n, p) and `b` (n, q), as a sum over chunks of rows, taken in float64.

    Of ``inner(a, a)`` one triangle is computed, and mirrored.

    Examples
    --------
    >>> inner(np.ones((3, 1)), np.ones((3, 2)))
    array([[3., 3.]])
    """
    if is_tensor(a):
        return tensor_inner(a, b)
    if len(a) <= _CHUNK and b.shape[1] <= _COLUMNS:  # one piece
        with one_blas_thread():
            return np.asarray(a.T @ b, dtype=np.float64)
    step = _CHUNK * _GROUP
    groups = np.zeros((max(1, -(-len(a) // step)), a.shape[1], b.shape[1]))

    def add(piece: tuple[int, int]) -> None:
        g, left = piece
        columns = slice(left, left + _COLUMNS)
        above = left + _COLUMNS if a is b else a.shape[1]  # rows of the result down to the diagonal
        for first in range(g * step, min(len(a), (g + 1) * step), _CHUNK):
            part = slice(first, first + _CHUNK)
            groups[g, :above, columns] += a[part, :above].T @ b[part, columns]

    run_in_threads(add, [[(g, left) for g in range(len(groups)) for left in range(0, b.shape[1], _COLUMNS)]])
    total: Array = groups[0]
    for group in groups[1:]:
        total += group
    if a is b:
        for left in range(_COLUMNS, len(total), _COLUMNS):
            total[left : left + _COLUMNS, :left] = total[:left, left : left + _COLUMNS].T
    return total


def inner_rounding(n: int) -> float:
    """Bound on the error of one entry of :func:`inner`, relative to the product of the two columns' norms."""
    chunks = -(-n // _CHUNK)
    return (min(n, _CHUNK) + min(chunks, _GROUP) + chunks / _GROUP + 2) * unit_roundoff()


def row_inner(a: Any, b: Any) -> Array:
    """``a @ b.T`` for few long rows `a` (p, n) and `b` (q, n): arrays in one product, tensors as in :func:`inner`.

    Examples
    --------
    >>> row_inner(np.ones((1, 3)), np.ones((2, 3)))
    array([[3., 3.]])
    """
    return tensor_inner(a.T, b.T) if is_tensor(a) else np.asarray(a @ b.T)


def times(a: Any, small: Array) -> Any:
    """``a @ small`` for tall `a` (n, m), in the precision of `a`, threads over blocks of rows.

    Examples
    --------
    >>> times(np.eye(3, 2), np.ones((2, 1))).ravel()
    array([1., 1., 0.])
    """
    if is_tensor(a):
        return tensor_times(a, small)
    small = small.astype(a.dtype, copy=False)
    if len(a) <= _ROWS:
        with one_blas_thread():
            return a @ small
    out: Array = np.empty((len(a), small.shape[1]), a.dtype)

    def put(first: int) -> None:
        part = slice(first, first + _ROWS)
        np.matmul(a[part], small, out=out[part])

    run_in_threads(put, [list(range(0, len(a), _ROWS))])
    return out


def triangular_solve(lower: Array, right: Any) -> Any:
    """L^-1 `right` for a small lower triangular L (s, s) and `right` (s, n), an array or a tensor.

    Examples
    --------
    >>> triangular_solve(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[2.0], [3.0]])).ravel()
    array([1., 2.])
    """
    if is_tensor(right):
        return namespace(right).linalg.solve_triangular(like(lower, right), right, upper=False)
    return scipy.linalg.solve_triangular(lower, right, lower=True, check_finite=False)


def orthonormalize(block: Any, against: Any | None = None, *, drop: float = 1e-10) -> tuple[Any, Array]:
    """Orthonormal basis of `block`'s columns outside `against`, and its coefficients.

    Parameters
    ----------
    block : ndarray of shape (n, b)
    against : ndarray of shape (n, m), optional
        Orthonormal columns; `block` should have been projected off them once already
        (the projection is repeated here: once is not enough in floating point).
    drop : float
        A direction whose norm falls below `drop` times that of the largest column is left out.

    Returns
    -------
    basis : ndarray of shape (n, r), r <= b
    coefficients : ndarray of shape (r, b)
        With ``block ~= basis @ coefficients`` (plus the part of `block` in the span of `against`).

    Examples
    --------
    >>> basis, coefficients = orthonormalize(np.array([[1.0, 2.0], [0.0, 0.0]]))
    >>> basis.shape
    (2, 1)
    """
    peak = float(abs(block).max()) if len(block) and block.shape[1] else 0.0
    if not np.isfinite(peak):
        raise FloatingPointError("a block of vectors has entries that are not finite")
    if peak == 0:
        return block[:, :0], np.zeros((0, block.shape[1]))
    scale = peak * float(((block / peak) ** 2).sum(0).max()) ** 0.5
    if against is not None and against.shape[1]:
        block = block - times(against, inner(against, block))
    basis, coefficients = _by_gram(block, drop * scale) or _by_singular_values(block, drop * scale)
    if against is not None and against.shape[1] and basis.shape[1]:
        basis -= times(against, inner(against, basis))
    basis, correction = _polished(basis)
    return basis, correction @ coefficients


def _by_gram(block: Any, least: float) -> tuple[Any, Array] | None:
    """Nearly orthonormal columns from the Gram matrix of the normalized columns; None where it is ill-conditioned.

    This takes half the work of a QR factorization, all of it in matrix products. The squared condition number costs
    orthogonality, which `_polished` restores.
    """
    if is_tensor(block):  # tensor_qr uses Gram matrices already
        return None
    norms = np.linalg.norm(block, axis=0)
    tiny = float(np.sqrt(np.finfo(block.dtype).tiny))
    if not (norms > max(least, tiny)).all() or not norms.max() < 1 / tiny or block.shape[1] < 8:
        return None
    scaled = block / norms
    values, turn = np.linalg.eigh(inner(scaled, scaled))
    worst = 1e-8 if block.dtype == np.float64 else 1e-3
    if not values[0] > worst * values[-1]:
        return None
    roots = np.sqrt(values)
    return times(scaled, turn / roots), (roots[:, None] * turn.T) * norms


def _by_singular_values(block: Any, least: float) -> tuple[Any, Array]:
    """Orthonormal columns by QR; directions of singular value up to `least` are left out."""
    basis, triangle = _qr(block)
    left, weights, right = np.linalg.svd(triangle)
    rank = int((weights > least).sum())
    return times(basis, left[:, :rank]), weights[:rank, None] * right[:rank]


def orthonormalize_roughly(block: Array, against: Array) -> tuple[Array, Array]:
    """As :func:`orthonormalize`, to single precision in half the time.

    `block` must have been projected off `against` already; no direction is dropped.
    """
    basis, triangle = _by_gram(block, 0.0) or _qr(block)
    basis -= times(against, inner(against, basis))
    basis, correction = _polished(basis)
    return basis, correction @ triangle


def _polished(basis: Any) -> tuple[Any, Array]:
    """Nearly orthonormal columns made orthonormal to roundoff: by two Newton steps if these suffice, else by QR."""
    rank = basis.shape[1]
    gram = inner(basis, basis)
    if rank and np.abs(gram - np.eye(rank)).max() < 1e-4:
        step = 1.5 * np.eye(rank) - 0.5 * gram
        step = step @ (1.5 * np.eye(rank) - 0.5 * step @ gram @ step)
        return times(basis, step), np.linalg.inv(step)
    return _qr(basis)


def _qr(block: Any) -> tuple[Any, Array]:
    """Thin QR of a tall block (TSQR): of blocks of rows in threads, then of their stacked triangular factors."""
    if is_tensor(block):
        return tensor_qr(block)
    n, b = block.shape
    step = max(2048, 4 * b)
    if n <= 2 * step:
        with one_blas_thread():
            basis, triangle = np.linalg.qr(block)
        return basis, triangle
    firsts = list(range(0, n - step + 1, step))  # the last block takes the remaining rows too
    ends = [*firsts[1:], n]
    basis, triangles = np.empty((n, b), block.dtype), np.empty((len(firsts), b, b), block.dtype)

    def factor(i: int) -> None:
        rows = slice(firsts[i], ends[i])
        basis[rows], triangles[i] = np.linalg.qr(block[rows])

    run_in_threads(factor, [list(range(len(firsts)))])
    with one_blas_thread():
        turns, triangle = np.linalg.qr(triangles.reshape(-1, b))

    def turn(i: int) -> None:
        rows = slice(firsts[i], ends[i])
        basis[rows] = basis[rows] @ turns[i * b : (i + 1) * b]

    run_in_threads(turn, [list(range(len(firsts)))])
    return basis, triangle
