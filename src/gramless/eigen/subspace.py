"""Subspace iteration: power iteration of a whole block, kept independent by QR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, solvers
from gramless.eigen.fresh_starts import fresh_vector
from gramless.eigen.lanczos import confirmed, ends
from gramless.eigen.stopping import judged, target_residual


@solvers.register("subspace")
@dataclass(frozen=True)
class SubspaceIteration(Solver):
    """Subspace (simultaneous, orthogonal) iteration with Rayleigh-Ritz in every step.

    The error of pair j falls by (l_{m+1} - s) / (l_j - s) per step, m the width of the block, so guard vectors beyond
    the k requested ones speed up convergence. Where a short Lanczos run finds negative eigenvalues, A - s I is
    iterated, s below the smallest, so that the algebraically largest are the largest in modulus too. At the end a
    Lanczos run in the complement looks for pairs that were missed.

    Parameters
    ----------
    guard : int, optional
        Number of additional (guard) vectors; default: k, at least 8.

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag(np.arange(12.0)), 2, SubspaceIteration(), rng=0).values.round(9)
    array([11., 10.])
    """

    guard: int | None = None

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        n = operator.shape[0]
        width = min(n, goal.k + (max(8, goal.k) if self.guard is None else self.guard))
        lowest, _, _ = ends(operator, fresh_vector(goal, np.zeros((n, 0))), np.zeros((n, 0)))
        shift = min(0.0, lowest)
        q = goal.starting_block(n, width)
        complete = False
        for _ in range(2000 if goal.max_iter is None else max(1, goal.max_iter)):
            basis = Basis.from_products(q, operator @ q, Outcome.MAX_ITERATIONS)
            values, coordinates, residuals = basis.ritz()
            complete = bool((residuals[: goal.k] <= target_residual(values, goal, n)).all())
            if complete:
                break
            image = q @ basis.projected + basis.residual_vectors @ basis.coupling - shift * q
            q = np.linalg.qr(image @ coordinates)[0]
        return confirmed(operator, judged(basis, goal, complete), goal)
