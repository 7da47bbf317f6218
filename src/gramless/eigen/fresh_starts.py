"""Runs from fresh starts: how a method that follows one vector finds every copy of a repeated eigenvalue.

A Krylov space grown from one vector contains one vector of each eigenspace, so one run finds each eigenvalue once,
however often it is repeated. The eigenvectors it missed are orthogonal to all it found. So when a run has converged,
another begins from a random vector orthogonal to all vectors held, and so on until a run finds no pair that belongs
among the leading ``k``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, orthonormalize
from gramless.eigen.base import Basis, Goal, Operator, Outcome
from gramless.eigen.stopping import filled, judged, last_wanted, target_residual

#: Whether descending Ritz values with these residuals need no further step.
Settled = Callable[[Array, Array], bool]


@dataclass(frozen=True)
class Run:
    """What one run found.

    Attributes
    ----------
    vectors : ndarray of shape (n, m)
        Its Krylov vectors, orthogonal to those held before.
    values : ndarray of shape (m,)
        Its Ritz values, descending.
    settled : bool
        Whether the values that matter have converged.
    orthogonal : bool
        Whether `vectors` are still independent, so that each value stands for a vector of its own.
    """

    vectors: Array
    values: Array
    settled: bool
    orthogonal: bool = True


#: (operator, start (n,), held (n, h), settled, most steps) -> Run
Runner = Callable[[Operator, Array, Array, Settled, int], Run]


def fresh_starts(operator: Operator, goal: Goal, run: Runner, limit: int, known: Basis | None = None) -> Basis:
    """Repeat `run` on the complement of all vectors found until a random start finds nothing new.

    Parameters
    ----------
    operator : Operator of shape (n, n)
    goal : Goal
    run : callable
    limit : int
        Maximum number of steps, of all runs together.
    known : Basis, optional
        Its leading pairs, taken as converged, are held from the start.
    """
    n = operator.shape[0]
    held, values = np.zeros((n, 0)), np.zeros(0)
    if known is not None:
        values, coordinates, _ = known.ritz()
        values, held = values[: goal.k], known.vectors @ coordinates[:, : goal.k]
    outcome: Outcome | None = None
    complete = False
    random = goal.start is None or known is not None
    while limit > 0 and not complete:
        start = fresh_vector(goal, held, given=not random)
        made = run(operator, start, held, _settled_beside(values, goal, n), min(limit, n - held.shape[1]))
        limit -= made.vectors.shape[1]
        before = last_wanted(values, goal.k)
        values = np.concatenate([values, made.values])
        held = np.hstack([held, orthonormalize(made.vectors, held)[0]])
        if not made.orthogonal:
            outcome = Outcome.LOST_ORTHOGONALITY
        if outcome is not None or not made.settled:
            break
        nothing_new = random and made.values[0] <= before + target_residual(values, goal, n)
        complete = nothing_new or held.shape[1] == n
        random = True
    basis = judged(Basis.from_vectors(operator, filled(held, goal), Outcome.MAX_ITERATIONS), goal, complete)
    return basis if outcome is None else basis.changed(outcome=outcome)


def fresh_vector(goal: Goal, held: Array, *, given: bool = False) -> Array:
    """A unit vector orthogonal to `held`: the sum of the columns of ``goal.start``, or a random one."""
    n = len(held)
    if given and goal.start is not None:
        total = np.asarray(goal.start, dtype=np.float64).sum(axis=1)
        vector = away_from(held, total)
        size = float(np.linalg.norm(vector))
        if size > 1e-8 * np.linalg.norm(total):
            return away_from(held, vector / size)
    vector = away_from(held, goal.rng.standard_normal(n))
    vector = away_from(held, vector / np.linalg.norm(vector))
    unit: Array = vector / np.linalg.norm(vector)
    return unit


def away_from(held: Array, v: Array) -> Array:
    """`v` (n,) projected off orthonormal columns, twice: once is not enough in floating point."""
    for _ in range(2 if held.shape[1] else 0):
        v = v - held @ (held.T @ v)
    return v


def _settled_beside(values: Array, goal: Goal, n: int) -> Settled:
    """Test for the end of a run: its first value and those among the leading k, `values` included, are accurate."""

    def settled(ritz: Array, residuals: Array) -> bool:
        together = np.concatenate([values, ritz])
        target = target_residual(together, goal, n)
        wanted = ritz >= last_wanted(together, goal.k) - target
        wanted[0] = True
        return bool((residuals[wanted] <= target).all())

    return settled
