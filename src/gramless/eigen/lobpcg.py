"""LOBPCG, through SciPy: locally optimal block conjugate gradients, without a preconditioner."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg

from gramless.arrays import Array
from gramless.eigen.arpack import power_of_two, scaled
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, solvers
from gramless.eigen.dense import Dense
from gramless.eigen.lanczos import confirmed
from gramless.eigen.stopping import filled, judged


@solvers.register("lobpcg")
@dataclass(frozen=True)
class Lobpcg(Solver):
    """SciPy's ``lobpcg`` for the largest eigenvalues; LAPACK for n < 5 k, as SciPy itself would.

    SciPy's warnings are silenced: the outcome follows from the residuals, which are computed afterwards. A Lanczos run
    in the complement then looks for pairs that were missed. ``goal.max_iter`` defaults to 500.

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag(np.arange(40.0)), 2, Lobpcg(), rng=0).values.round(9)
    array([39., 38.])
    """

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        n = operator.shape[0]
        if n < max(5 * goal.k, 4):
            return Dense().basis(operator, goal)
        scale = power_of_two(operator, goal)
        vectors = filled(goal.starting_block(n, goal.k), goal)
        basis = judged(Basis.from_vectors(operator, vectors, Outcome.MAX_ITERATIONS), goal, complete=True)
        for _ in range(3 if scale > 0 else 0):
            if basis.outcome.ok:
                break
            # SciPy's tolerance is absolute, ours relative to the largest eigenvalue, which each round knows better
            wanted = 0.5 * goal.tol * np.abs(basis.ritz()[0]).max() / scale
            vectors = _lobpcg(operator, scale, basis.vectors, wanted, 500 if goal.max_iter is None else goal.max_iter)
            vectors = filled(vectors, goal)
            basis = judged(Basis.from_vectors(operator, vectors, Outcome.MAX_ITERATIONS), goal, complete=True)
        return confirmed(operator, basis, goal)


def _lobpcg(operator: Operator, scale: float, start: Array, tol: float, max_iter: int) -> Array:
    """SciPy's eigenvectors, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, vectors = scipy.sparse.linalg.lobpcg(
            scaled(operator, scale),
            start,
            largest=True,
            tol=max(tol, len(start) * np.finfo(float).eps),
            maxiter=max_iter,
        )
    return np.asarray(vectors)
