"""The dense matrix, for operators small enough: LAPACK, or ARPACK with a proof by Cholesky."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from gramless.arrays import Array, blas_threads_for, leading_eigenpairs, one_blas_thread, orthonormalize, unit_roundoff
from gramless.certificates import Outside
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, meets, solvers

_ROWS = 200  # rows up to which LAPACK takes a few milliseconds at most
_ALONE = 3000  # rows up to which threads of Cholesky's factorization wait longer than they work
_ROWS_PER_PAIR = 25  # rows for each pair from which on ARPACK and Cholesky are faster than LAPACK


@solvers.register("dense")
@dataclass(frozen=True)
class Dense(Solver):
    """The dense matrix: O(n^3) time, O(n^2) memory, always converges.

    LAPACK's eigendecomposition. For few pairs of many rows ARPACK, where a Cholesky factorization then proves that no
    larger eigenvalue is left; LAPACK where it does not.
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
        with blas_threads_for(n):
            basis = _few_pairs(matrix, goal, norm, copied, error) if few else None
            return _all_pairs(matrix, goal, norm, copied, error) if basis is None else basis


def _largest_sum(matrix: Array) -> float:
    """The largest sum of moduli of a row, some rows at a time; nan where an entry is nan."""
    sums = [np.abs(matrix[first : first + 64]).sum(axis=1).max() for first in range(0, len(matrix), 64)]
    return float(np.max(sums, initial=0.0))


def few_pairs(n: int, k: int) -> bool:
    """Whether `k` pairs of a matrix of `n` rows are few enough for ARPACK.

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


def _few_pairs(matrix: Array, goal: Goal, norm: float, copied: float, error: float) -> Basis | None:
    """By ARPACK and Cholesky; None where ARPACK misses the tolerance, or no gap follows the requested pairs."""
    n, k, scale, unit = len(matrix), goal.k, 2.0 ** np.round(np.log2(norm)), unit_roundoff()
    operator = LinearOperator((n, n), matvec=lambda v: matrix @ v / scale, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, k + 1, which="LA", tol=goal.tol / 4, v0=goal.rng.uniform(-1, 1, n))
    except ArpackError:
        return None
    order = np.argsort(-values, kind="stable")
    vectors = orthonormalize(vectors[:, order[:k]])[0]
    if vectors.shape[1] < k:
        return None
    rounding = np.sqrt(k) * (n + 8) * unit * norm + copied
    basis = Basis.from_products(vectors, matrix @ vectors, Outcome.CONVERGED, rounding=rounding)
    last, beyond = float(basis.ritz()[0][-1]), float(values[order[k]] * scale)
    below = _largest_outside(matrix, basis, (last + beyond) / 2)
    # where the gap is not wide beside rounding, bounds from it would be poor
    if below is None or not meets(*basis.ritz()[::2], goal) or below > last - 1e-3 * (last - beyond):
        return None
    below += copied + error
    return basis.changed(outside=Outside(rigorous=below, probable=below))


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
