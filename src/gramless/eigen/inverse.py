r"""Inverse iteration: solve :math:`(\sigma I - A)\, y = x` with the shift just above the eigenvalue sought.

One solve multiplies the component along the nearest eigenvector by :math:`1 / (\sigma - \lambda)`, so few are needed;
each costs an inner iteration (MINRES, which also works if the shift turns out to lie inside the spectrum).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, minres

from gramless.arrays import Array
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, solvers
from gramless.eigen.fresh_starts import away_from, fresh_vector
from gramless.eigen.lanczos import confirmed, ends
from gramless.eigen.stopping import filled, judged, target_residual

_CLOSEST = 1e-7  # the shift stays this far above the estimate, relative to the norm: MINRES stalls if it is closer


@solvers.register("inverse")
@dataclass(frozen=True)
class InverseIteration(Solver):
    """Shifted inverse iteration, one pair after another on the complement of those found.

    The first shift is the largest Ritz value of a short Lanczos run plus its residual, most likely above the spectrum.
    The shift is lowered as the residual of the pair falls, but never below that Ritz value. After k pairs, a Lanczos
    run in their complement looks for pairs that were missed. ``goal.max_iter`` limits the solves of all pairs together;
    default: 50 for each.

    Parameters
    ----------
    inner_steps : int, optional
        Maximum number of steps of MINRES for one solve; default 20 n, at most 5000. A solve that needs more ends the
        iteration, and the outcome says so.

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag([3.0, 2.0, 1.0, -4.0]), 2, InverseIteration(), rng=0).values.round(9)
    array([3., 2.])
    """

    inner_steps: int | None = None

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        n = operator.shape[0]
        left = 50 * goal.k if goal.max_iter is None else goal.max_iter
        found, values = np.zeros((n, 0)), np.zeros(0)
        solved = True
        while solved and len(values) < goal.k:
            start = fresh_vector(goal, found, given=not len(values))
            vector, value, used, solved = self._iterate(operator, start, found, values, left, goal)
            left -= used
            found = np.column_stack([found, vector])
            values = np.append(values, value)
        basis = Basis.from_vectors(operator, filled(found, goal), Outcome.MAX_ITERATIONS)
        return confirmed(operator, judged(basis, goal, solved), goal)

    def _iterate(
        self, operator: Operator, start: Array, found: Array, values: Array, limit: int, goal: Goal
    ) -> tuple[Array, float, int, bool]:
        """One pair: vector, value, solves spent, and whether it converged."""
        n = len(start)
        _, highest, ritz = ends(operator, fresh_vector(goal, found), found)
        norm = float(np.abs(np.concatenate([ritz, values])).max())
        x = start
        for used in range(limit + 1):
            product = away_from(found, operator @ x)
            value = float(x @ product)
            residual = float(np.linalg.norm(product - value * x))
            target = 0.5 * target_residual(np.concatenate([values, ritz, [value]]), goal, n)
            if residual <= target or norm == 0:  # norm 0: only rounding errors are left
                return x, value, used, True
            if used == limit:
                break
            shift = min(highest, max(value, float(ritz[0])) + residual) + _CLOSEST * norm
            y, failed = self._solve(operator, shift, norm, x, found, 0.05 * target / norm)
            y = away_from(found, y)
            if failed or not np.linalg.norm(y) > 0:
                return x, value, used + 1, False
            x = y / np.linalg.norm(y)
        return x, value, limit, False

    def _solve(
        self, operator: Operator, shift: float, norm: float, x: Array, found: Array, tol: float
    ) -> tuple[Array, bool]:
        """The solution y of (shift I - A) / norm y = x on the complement of `found`, and whether MINRES gave up.

        MINRES stops at a residual of `tol` times the norm of the *solution*: this becomes the residual of the pair.
        """
        n = len(x)

        def product(v: Array) -> Array:
            v = away_from(found, v.ravel())
            image: Array = (shift * v - away_from(found, operator @ v)) / norm
            return image

        matrix = LinearOperator((n, n), matvec=product, dtype=np.float64)
        steps = min(20 * n + 20, 5000) if self.inner_steps is None else self.inner_steps
        y, info = minres(matrix, x, rtol=max(tol, 1e-15), maxiter=steps)
        return np.asarray(y), bool(info)
