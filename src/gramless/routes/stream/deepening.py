"""A fit solved again with the directions that a stream keeps."""

from __future__ import annotations

from dataclasses import replace

from gramless.arrays import Array
from gramless.errors import MemoryLimitError, UncertifiedWarning
from gramless.planning import methods
from gramless.planning.plan import Plan, choose, where_asked
from gramless.problem import Problem, Request
from gramless.routes.fitted import Fitted
from gramless.warning import warn

_ON_POINTS = ("dense", "tiled", "cuda")  # methods whose components are sums over the rows
_TOLERANCE = 1e-6  # residuals enter the intervals by their squares
_LONGEST = 600.0  # seconds an update may take on top


def deepened(
    fitted: Fitted, weights: Array, directions: int, problem: Problem, request: Request
) -> tuple[Fitted, Array]:
    """The fit with `directions` components, by solving again for them where that is not too dear.

    A fit keeps the k components asked for, and what lies outside them might, for all that is known, lie along the
    components of later rows: the intervals after an update are as wide as eigenvalue k + 1. With as many directions as
    a stream keeps that is eigenvalue 2k + 81 instead.

    Parameters
    ----------
    fitted : Fitted
        On points, with a Mercer kernel.
    weights : ndarray of shape (n,)
        Of the points.
    directions : int
        Components wanted.
    problem, request
        Those of the stream.

    Returns
    -------
    Fitted, ndarray of shape (m,)
        The fit, and the weights of its points.

    Warns
    -----
    UncertifiedWarning
        Where it would take more than ten minutes, or more than the memory limit; the fit is then as it was.
    """
    used = weights > 0
    rows, known = int(used.sum()), fitted.space.scatter
    if len(known) >= min(directions, rows - 1) or (known <= 0).any():  # there are no more, or enough
        return fitted, weights
    posed = replace(
        problem, n=rows, k=min(directions, rows), tol=max(problem.tol, _TOLERANCE), solver="auto", strict=False
    )
    posed = replace(posed, streaming=False, support=None, forget=False, workers=0, partitions=1, block=0, mapped=False)
    try:
        plan = _plan_on_points(posed)
        seconds = plan.candidates[plan.chosen].seconds
        if seconds > _LONGEST:
            _warn(len(known), directions, f"would take about {seconds / 60:.0f} minutes")
            return fitted, weights
        points = fitted.space.span.points[used]  # type: ignore[attr-defined]
        asked = replace(request, share=None, solver=None, max_iter=None, tensor=None)
        again: Fitted = methods[plan.chosen].run(plan.placed, points, weights[used], asked)
    except MemoryLimitError as error:
        _warn(len(known), directions, f"does not fit: {error}")
        return fitted, weights
    return again, weights[used]


def _plan_on_points(problem: Problem) -> Plan:
    return choose(problem, {name: where_asked(methods[name].estimate(problem), problem) for name in _ON_POINTS})


def _warn(known: int, directions: int, reason: str) -> None:
    warn(
        f"this stream goes on from a fit that kept {known} directions; to solve for the {directions} that a stream "
        f"keeps {reason}. Intervals in certificate_ may be as wide as the eigenvalues: begin with partial_fit instead "
        "of fit, or fit all rows anew",
        UncertifiedWarning,
    )
