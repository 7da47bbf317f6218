"""ARPACK, through SciPy: implicitly restarted Lanczos."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator

from gramless.arrays import Array
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, solvers
from gramless.eigen.dense import Dense
from gramless.eigen.fresh_starts import fresh_vector
from gramless.eigen.lanczos import confirmed
from gramless.eigen.stopping import filled, judged


@solvers.register("arpack")
@dataclass(frozen=True)
class Arpack(Solver):
    """SciPy's ``eigsh`` with ``which="LA"``; LAPACK where ARPACK does not apply (k = n).

    ``goal.tol`` is passed to ARPACK, where 0 means machine precision. A Lanczos run in the complement then looks for
    copies of repeated eigenvalues that were missed. ``goal.max_iter`` limits the restarts; default: SciPy's.

    Parameters
    ----------
    ncv : int, optional
        Size of the Krylov basis; default: SciPy's, max(2 k + 1, 20).

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag(np.arange(40.0)), 2, Arpack(), tol=0, rng=0).values.round(9)
    array([39., 38.])
    """

    ncv: int | None = None

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        n = operator.shape[0]
        if goal.k >= n:
            return Dense().basis(operator, goal)
        v0 = goal.rng.uniform(-1, 1, n) if goal.start is None else fresh_vector(goal, np.zeros((n, 0)), given=True)
        complete = True
        vectors = np.zeros((n, 0))
        scale = power_of_two(operator, goal)
        if scale > 0:
            try:
                _, vectors = scipy.sparse.linalg.eigsh(
                    scaled(operator, scale),
                    goal.k,
                    which="LA",
                    tol=goal.tol,
                    ncv=self.ncv,
                    v0=v0,
                    maxiter=goal.max_iter,
                )
            except ArpackNoConvergence as stopped:
                vectors, complete = stopped.eigenvectors, False
            except ArpackError:  # no Krylov basis could be built: return the starting vector
                vectors, complete = v0[:, None], False
        basis = Basis.from_vectors(operator, filled(vectors, goal), Outcome.MAX_ITERATIONS)
        return confirmed(operator, judged(basis, goal, complete), goal)


def power_of_two(operator: Operator, goal: Goal) -> float:
    """A power of two near the norm of the operator: division by it changes no digit. 0 for the zero operator."""
    size = float(np.linalg.norm(operator @ fresh_vector(goal, np.zeros((operator.shape[0], 0)))))
    return float(2.0 ** np.round(np.log2(size))) if size > 0 else 0.0


def scaled(operator: Operator, scale: float) -> LinearOperator:
    """The operator divided by `scale`: ARPACK and LOBPCG compare residuals with absolute constants."""

    def product(v: Array) -> Array:
        image: Array = (operator @ v) / scale
        return image

    return LinearOperator(operator.shape, matvec=product, matmat=product, dtype=np.float64)
