"""When to stop, and with which outcome: rules that the reference solvers share."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array, orthonormalize, unit_roundoff
from gramless.eigen.base import Basis, Goal, Outcome, meets


def rounding_floor(n: int, values: Array) -> float:
    """Residual that rounding leaves: relative to the norm of the operator, not to its leading eigenvalue."""
    return 10 * max(n, 100) * unit_roundoff() * float(np.abs(values).max(initial=0.0))


def target_residual(values: Array, goal: Goal, n: int) -> float:
    """Residual to iterate to: half the tolerance, since solvers only estimate residuals; never below rounding.

    `values` are all Ritz values known, of requested pairs and others, in any order.
    """
    leading = np.sort(values)[::-1][: goal.k]
    return max(0.5 * goal.tol * float(np.abs(leading).max(initial=0.0)), rounding_floor(n, values))


def last_wanted(values: Array, k: int) -> float:
    """The k-th largest of `values`; ``-inf`` while there are fewer."""
    return float(np.sort(values)[-k]) if len(values) >= k else -np.inf


def judged(basis: Basis, goal: Goal, complete: bool) -> Basis:
    """The same basis with the outcome that follows from its residuals.

    Parameters
    ----------
    basis : Basis
    goal : Goal
    complete : bool
        Whether the iteration ended by its own criterion, not at a limit.
    """
    values, _, residuals = basis.ritz()
    outcome = Outcome.MAX_ITERATIONS
    if complete and len(values) >= goal.k:
        if meets(values, residuals, goal):
            outcome = Outcome.CONVERGED
        elif (residuals[: goal.k] <= rounding_floor(len(basis.vectors), values)).all():
            outcome = Outcome.ROUNDING
    return basis.changed(outcome=outcome)


def filled(vectors: Array, goal: Goal) -> Array:
    """Orthonormal columns that span `vectors`, with random ones added until there are ``goal.k``."""
    basis, _ = orthonormalize(vectors)
    missing = goal.k - basis.shape[1]
    if missing > 0:
        fresh = goal.rng.standard_normal((len(vectors), missing))
        basis = np.hstack([basis, orthonormalize(fresh - basis @ (basis.T @ fresh), basis)[0]])
    return np.asarray(basis)
