"""Plans for less time: what a fit with the default tolerance does instead of hours, and what ``time_limit=`` allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gramless.arrays.durations import readable_seconds
from gramless.errors import MemoryLimitError
from gramless.problem import Problem

if TYPE_CHECKING:
    from gramless.fitting.methods.planning import Plan

Choice = Callable[[Problem], "Plan"]

_SHORT = 1.0  # seconds of a fit that need not be shorter
_LONG = 600.0  # seconds that a fit with the default tolerance takes at most, if there is a much shorter one
_SHORTER = 200.0  # seconds, planned, of that one
_WORST = 1e-3  # residual at most that is returned instead of a long fit
_ENOUGH = 1e-8  # residual that is returned if it takes a quarter of the time
_USED = 0.8  # part of a time limit that a plan may take: estimates are not exact
_LADDER = [a * 10.0**b for b in range(-10, 0) for a in (1, 3)]  # tolerances to choose from


def shortened(plan: Plan, choice: Choice) -> Plan:
    """The plan for the default tolerance, or one for a larger tolerance where that takes far less time.

    Parameters
    ----------
    plan : Plan
        For the default tolerance.
    choice : callable
        ``choice(problem)`` returns the plan for a given tolerance, or raises a ValueError.
    """
    problem = plan.problem
    if plan.seconds > _SHORT and problem.tol < _ENOUGH:
        near = _tried(choice, problem, _ENOUGH)
        if near is not None and near.seconds <= plan.seconds / 4:
            rule = f"tol={problem.tol:.0e}, the default, would take {plan.seconds / near.seconds:.0f} times as long"
            plan = replace(near, rule=rule)
    if plan.seconds > _LONG:
        most = min(_SHORTER, plan.seconds / 10)
        for tol in (tol for tol in _LADDER if problem.tol < tol <= _WORST):
            near = _tried(choice, problem, tol)
            if near is not None and near.seconds <= most:
                rule = f"tol={problem.tol:.0e}, the default, would take about {readable_seconds(plan.seconds)}"
                return replace(near, rule=rule, cut=True)
    return plan


def within_limit(problem: Problem, choice: Choice) -> Plan:
    """The plan with the smallest tolerance that fits in ``problem.time_limit``.

    Raises
    ------
    ValueError
        If no method is fast enough; the message says how long the fastest takes.
    """
    limit = float(problem.time_limit or 0.0)
    plans = [_tried(choice, problem, tol) for tol in [problem.tol, *(t for t in _LADDER if t > problem.tol)]]
    possible = [plan for plan in plans if plan is not None]
    for plan in possible:
        if plan.seconds <= _USED * limit:
            if plan.problem.tol == problem.tol:
                return plan
            asked = possible[0]
            rule = f"tol={problem.tol:.0e} would take about {readable_seconds(asked.seconds)}"
            return replace(plan, rule=f"{rule}, more than time_limit={readable_seconds(limit)}")
    if not possible:
        return choice(problem)  # raises, with the reason
    best = min(possible, key=lambda plan: plan.seconds)
    raise ValueError(
        f"time_limit={readable_seconds(limit)} is too short: the fastest method, {best.chosen!r}, takes about "
        f"{readable_seconds(best.seconds)} for a residual of {best.candidates[best.chosen].error:.0e}; pass "
        f"time_limit='{best.seconds / _USED + 0.5:.0f}s' or more, or fewer rows"
    )


def _tried(choice: Choice, problem: Problem, tol: float) -> Plan | None:
    try:
        return choice(replace(problem, tol=tol, strict=True))
    except (ValueError, MemoryLimitError):
        return None
