"""LAPACK, for operators small enough for a dense matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, blas_threads_for, leading_eigenpairs, unit_roundoff
from gramless.certificates import Outside
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, solvers


@solvers.register("dense")
@dataclass(frozen=True)
class Dense(Solver):
    """LAPACK on the dense matrix: O(n^3) time, O(n^2) memory, always converges."""

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        matrix = to_dense(operator)
        n = len(matrix)
        wanted = min(n, goal.k + 1)  # one more value: it bounds the operator outside the basis
        norm = float(np.abs(matrix).sum(axis=1).max(initial=0.0))  # upper bound on the spectral norm
        if not np.isfinite(norm):
            raise ValueError("the matrix has entries that are not finite")
        with blas_threads_for(n):
            values, vectors = leading_eigenpairs(matrix, wanted)
        rounding = 40 * n * unit_roundoff() * norm  # LAPACK's backward error: 16 n u was observed for syevr
        if not hasattr(operator, "to_dense"):
            rounding += np.sqrt(n) * (getattr(operator, "error", None) or 0.0)  # n products, an error in each
        k = min(goal.k, n)
        below = values[k] + rounding + (getattr(operator, "error", None) or 0.0) if wanted > k else -np.inf
        return Basis(
            vectors=vectors[:, :k],
            projected=np.diag(values[:k]),
            residual_vectors=np.zeros((n, 0)),
            coupling=np.zeros((0, k)),
            outcome=Outcome.CONVERGED,
            outside=Outside(rigorous=below, probable=below),
            rounding=rounding,
        )


def to_dense(operator: Operator) -> Array:
    """The operator as a symmetric matrix that the caller may overwrite."""
    make = getattr(operator, "to_dense", None)
    return make() if make is not None else np.array(operator @ np.eye(operator.shape[0]))
