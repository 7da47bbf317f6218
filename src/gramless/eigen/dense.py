"""The dense matrix, for operators small enough: LAPACK, or Lanczos with a proof that no larger eigenvalue is left."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dsymv

from gramless.arrays import Array, blas_threads_for, leading_eigenpairs, one_blas_thread, orthonormalize, unit_roundoff
from gramless.certificates import Outside, is_upper_bound
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, meets, solvers
from gramless.eigen.fresh_starts import fresh_vector
from gramless.eigen.lanczos import LanczosProcess
from gramless.eigen.solve import outside_by_sums, product_rounding

_ROWS = 200  # rows up to which LAPACK takes a few milliseconds at most
_ALONE = 3000  # rows up to which threads of Cholesky's factorization wait longer than they work
_ROWS_PER_PAIR = 25  # rows for each pair from which on Lanczos and Cholesky are faster than LAPACK
_STEPS = 120  # of Lanczos, and eight more for each pair


@solvers.register("dense")
@dataclass(frozen=True)
class Dense(Solver):
    """The dense matrix: O(n^3) time, O(n^2) memory, always converges.

    LAPACK's eigendecomposition. For few pairs of many rows Lanczos, where the Frobenius norm and the trace then prove
    that no larger eigenvalue is left, or else a Cholesky factorization does; LAPACK where neither does.
    """

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        matrix = to_dense(operator)
        n = len(matrix)
        norm = _largest_sum(matrix)  # upper bound on the spectral norm
        if not np.isfinite(norm):
            raise ValueError("the matrix has entries that are not finite")
        error = getattr(operator, "error", None) or 0.0
        copied = 0.0 if hasattr(operator, "to_dense") else np.sqrt(n) * error  # n products, an error in each
        few = norm > 0 and few_pairs(n, goal.k)
        with one_blas_thread() if few and n < _ALONE else blas_threads_for(n):
            basis = _few_pairs(operator, matrix, goal, norm, copied, error) if few else None
            return _all_pairs(matrix, goal, norm, copied, error) if basis is None else basis


def _largest_sum(matrix: Array) -> float:
    """The largest sum of moduli of a row, some rows at a time; nan where an entry is nan."""
    sums = [np.abs(matrix[first : first + 64]).sum(axis=1).max() for first in range(0, len(matrix), 64)]
    return float(np.max(sums, initial=0.0))


def few_pairs(n: int, k: int) -> bool:
    """Whether `k` pairs of a matrix of `n` rows are few enough for Lanczos.

    Examples
    --------
    >>> few_pairs(1000, 20), few_pairs(1000, 200), few_pairs(100, 1)
    (True, False, False)
    """
    return n > max(_ROWS, _ROWS_PER_PAIR * (k + 1))


def _all_pairs(matrix: Array, goal: Goal, norm: float, copied: float, error: float) -> Basis:
    """By LAPACK. The matrix has at most this `norm`; its errors are `copied` and that of the operator, `error`."""
    n = len(matrix)
    k, wanted = min(goal.k, n), min(n, goal.k + 1)  # one more value: it bounds the operator outside the basis
    values, vectors = leading_eigenpairs(matrix, wanted)
    rounding = 40 * n * unit_roundoff() * norm + copied  # LAPACK's backward error: 16 n u was observed for syevr
    below = float(values[k]) + rounding + error if wanted > k else -np.inf
    return Basis(
        vectors=vectors[:, :k],
        projected=np.diag(values[:k]),
        residual_vectors=np.zeros((n, 0)),
        coupling=np.zeros((0, k)),
        outcome=Outcome.CONVERGED,
        outside=Outside(rigorous=below, probable=below),
        rounding=rounding,
    )


def _few_pairs(operator: Operator, matrix: Array, goal: Goal, norm: float, copied: float, error: float) -> Basis | None:
    """By Lanczos; None where it misses the tolerance, or where no gap follows the requested pairs."""
    n, k = len(matrix), goal.k
    krylov = _krylov(matrix, goal, norm)
    if krylov is None:
        return None
    values, coordinates, _ = krylov.ritz()
    vectors = orthonormalize(krylov.vectors @ coordinates[:, :k])[0]
    if vectors.shape[1] < k:
        return None
    rounding = np.sqrt(k) * (n + 8) * unit_roundoff() * norm + copied
    basis = Basis.from_products(vectors, matrix @ vectors, Outcome.CONVERGED, rounding=rounding)
    if not meets(*basis.ritz()[::2], goal):
        return None
    last, beyond = float(basis.ritz()[0][-1]), float(values[k])
    # where the gap is not wide beside rounding, bounds from it would be poor
    most = last - 1e-3 * (last - beyond)
    below = _below(operator, krylov, k, last, copied)
    if below > most:
        proved = _largest_outside(matrix, basis, (last + beyond) / 2)
        below = np.inf if proved is None else proved + copied + error
    return None if below > most else basis.changed(outside=Outside(rigorous=below, probable=below))


def _krylov(matrix: Array, goal: Goal, norm: float) -> Basis | None:
    """A Krylov space in which the requested pairs and, roughly, the next one have converged; None where it is large."""
    n, k, scale = len(matrix), goal.k, 2.0 ** np.round(np.log2(norm))
    steps = min(n - 1, _STEPS + 8 * k)
    process = LanczosProcess(_Scaled(matrix, scale), fresh_vector(goal, np.zeros((n, 0))), steps)
    for done in range(1, steps + 1):
        if not process.step():  # a matrix of low rank
            process.renew(fresh_vector(goal, process.vectors))
        if done <= k or done % (2 + done // 12):
            continue
        values, residuals = process.ritz()
        least = goal.tol / 4 * abs(values[0])
        if (residuals[:k] <= least).all() and residuals[k] <= max(least, 0.1 * (values[k - 1] - values[k])):
            vectors, following, projected, coupling = process.relation()
            projected, coupling = scale * projected, scale * coupling
            residual = matrix @ vectors - vectors @ projected - following @ coupling
            rounding = float(np.linalg.norm(residual)) + np.sqrt(done) * (n + 8) * unit_roundoff() * norm
            return Basis(vectors, projected, following, coupling, Outcome.CONVERGED, rounding=rounding)
    return None


class _Scaled:
    """A symmetric matrix divided by a power of two. Products read one triangle: half as much memory."""

    def __init__(self, matrix: Array, scale: float) -> None:
        self.shape = (len(matrix), len(matrix))
        self._matrix, self._factor = matrix.T, 1 / scale  # the transpose is in Fortran's order: no copy

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(dsymv(self._factor, self._matrix, v, lower=1))


def _below(operator: Operator, krylov: Basis, k: int, last: float, copied: float) -> float:
    """A bound below `last` on the operator outside the `k` leading Ritz vectors, from Frobenius norm and trace."""
    values, coordinates, _ = krylov.ritz()
    coupling = krylov.coupling @ coordinates
    rounding = krylov.rounding + product_rounding(operator, krylov) + copied
    outside = outside_by_sums(operator, values, coupling, rounding)
    limit = (last + max(outside, float(values[k]))) / 2
    return limit if is_upper_bound(limit, values[k:], coupling[:, k:], 0, outside, rounding) else np.inf


def _largest_outside(matrix: Array, basis: Basis, limit: float) -> float | None:
    """A bound just above `limit` on the largest eigenvalue outside the basis; None where that is larger than `limit`.

    Cholesky's factorization of M = limit I - A + Q T Q^T in floating point is exact for a matrix that differs from M by
    at most (n + 1) u trace(M), up to terms of second order: if it exists, M is as far from negative at most.
    """
    q, t = basis.vectors, basis.projected
    n, k = q.shape
    shifted = (q @ t) @ q.T
    shifted -= matrix
    shifted[np.diag_indices(n)] += limit
    size = float(np.abs(np.diagonal(matrix)).sum()) + n * abs(limit) + k * float(np.linalg.norm(t))
    with one_blas_thread() if n < _ALONE else nullcontext():
        _, failed = scipy.linalg.lapack.dpotrf(shifted.T, overwrite_a=True, clean=False)  # the transpose: no copy
    if failed:
        return None
    formed = (k + 8) * unit_roundoff() * (float(np.linalg.norm(matrix)) + k * float(np.linalg.norm(t)) + abs(limit))
    return float(limit + 1.01 * (n + 2) * unit_roundoff() * size + formed)


def to_dense(operator: Operator) -> Array:
    """The operator as a symmetric matrix that the caller may overwrite."""
    make = getattr(operator, "to_dense", None)
    return make() if make is not None else np.array(operator @ np.eye(operator.shape[0]))
