"""The state of a stream that continues a finished fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.data import Block, MemoryRows
from gramless.errors import MemoryLimitError, UncertifiedWarning
from gramless.fitting.methods.base import State, methods
from gramless.fitting.methods.merging import no_spaces
from gramless.fitting.methods.moments import MomentState
from gramless.fitting.methods.planning import Plan, ask, choose
from gramless.fitting.methods.refitting import KeptRows
from gramless.fitting.model import Model
from gramless.kernels import Precomputed
from gramless.problem import Problem, Request
from gramless.spaces import Bounds, Eigenspace, FeatureSpan, PointSpan
from gramless.warning import warn

_ON_POINTS = ("dense", "tiled", "cuda")  # methods whose components are sums over the rows
_TOLERANCE = 1e-6  # enough, as the intervals depend on the squares of the residuals
_LONGEST = 600.0  # maximum seconds that solving again may take


def state_of(fitted: Model, weights: Array | None, problem: Problem, request: Request) -> State | None:
    """The state of a stream that has seen the rows of a fit; None where the fit cannot be continued.

    Moments are taken over unchanged. For components on points, of a Mercer kernel, the eigenproblem is solved again for
    as many directions as a stream maintains (:func:`deepened`); with ``max_support=`` the rows become a limited number
    of points. For an indefinite kernel, the state stores the rows.

    Parameters
    ----------
    fitted : Model
    weights : ndarray of shape (n,) or None
        Weights of the training rows, where they were kept.
    problem, request
        Problem and request of the stream.
    """
    span = fitted.space.span
    if isinstance(span, FeatureSpan) and fitted.moments is not None:
        return MomentState(span.features, fitted.moments, span.device)
    if not isinstance(span, PointSpan) or isinstance(span.kernel, Precomputed) or weights is None:
        return None
    used = weights > 0
    if not span.kernel.mercer:
        return KeptRows(span.kernel, span.points[used], weights[used])
    empty = no_spaces(problem, request)
    unknown = len(fitted.certificate) == 0  # without a component, nothing bounds the variance outside the components
    if unknown or (empty.support is not None and used.sum() > empty.support):
        return empty.add(Block(span.points[used], weights[used]))
    if empty.directions is not None:
        directions = empty.directions if empty.share is None else max(empty.directions, 2 * len(fitted.certificate))
        fitted, weights = deepened(fitted, weights, directions, problem, request)
    kind = fitted.certificate.failure_probability
    return replace(empty, space=space_of_fit(fitted, weights), rows=int(used.sum()), failure_probability=kind)


def space_of_fit(fitted: Model, weights: Array) -> Eigenspace:
    r"""The eigenspace of a fit on points, with bounds from its certificate and residuals.

    Let A be the centered rows in feature space times the square roots of their weights, and V the Ritz vectors of
    K = A^T A. The kept factors are F = A V, and E = A (I - V V^T) A^T is positive semidefinite. V and one direction
    more capture at most the k + 1 largest eigenvalues, so \|E\| <= sum_j (upper_j - value_j) + upper_{k+1}. With R the
    residuals, F^T E F = R^T R is at most k times the diagonal of their squared norms.

    Parameters
    ----------
    fitted : Model
        Fit on points, with a Mercer kernel.
    weights : ndarray of shape (n,)
        Weights of the points.
    """
    used = weights > 0
    space, certificate, weights = fitted.space, fitted.certificate, weights[used]
    points = space.span.points[used]  # type: ignore[attr-defined]
    kept = int((space.scatter > 0).sum())
    values, unit = space.scatter[:kept], unit_roundoff()
    norms2 = space.span.norms2(points)
    total, weight, largest = float(weights @ norms2), space.weight, float(np.sqrt(norms2.max()))
    rounding = float(np.max(values - certificate.lower[:kept], initial=0.0)) + (len(weights) + 16) * unit * total
    following = float(certificate.upper[min(kept, len(certificate) - 1)])
    excess = float(np.maximum(certificate.upper[:kept] - values, 0.0).sum()) + (kept + 1) * rounding
    residuals = np.full(kept, np.inf) if fitted.residuals is None else fitted.residuals[:kept] + rounding
    inside = np.minimum(kept * residuals**2, (following + excess) * (values + rounding))
    diagonal_holds = bool((kept * residuals**2 <= (following + excess) * (values + rounding)).all())
    bounds = Bounds(
        discarded=following + excess,
        gram=rounding,
        offset=2 * rounding / float(np.sqrt(weight)),
        mean_slip=4 * unit * largest,
        mean_norm2=2 * rounding / weight,
        trace=2 * rounding,
        slip=8 * unit * float(np.sqrt(total * max(kept, 1))),
        inside=np.diag(inside) if diagonal_holds else None,
    )
    basis = space.basis[used, :kept]
    sums, mean = basis.sum(axis=0), space.mean[used]
    basis = basis - np.outer(mean, sums)  # rounding leaves some of the mean in vectors of tiny eigenvalues
    span = PointSpan(space.span.kernel, points)  # type: ignore[attr-defined]
    offset = space.offset[:kept] - space.mean_norm2 * sums
    return replace(space, span=span, mean=mean, basis=basis, scatter=values, offset=offset, bounds=bounds)


def deepened(fitted: Model, weights: Array, directions: int, problem: Problem, request: Request) -> tuple[Model, Array]:
    """The fit with `directions` components, by solving the eigenproblem again where that is not too expensive.

    A fit stores the k requested components. The variance outside these components is not resolved, and might lie along
    the components of later rows: the intervals after an update are as wide as eigenvalue k + 1. With as many directions
    as a stream maintains, the intervals are as wide as eigenvalue 2k + 81 instead.

    Parameters
    ----------
    fitted : Model
        Fit on points, with a Mercer kernel.
    weights : ndarray of shape (n,)
        Weights of the points.
    directions : int
        Number of requested components.
    problem, request
        Problem and request of the stream.

    Returns
    -------
    Model, ndarray of shape (m,)
        The fit, and the weights of its points.

    Warns
    -----
    UncertifiedWarning
        Where solving would take more than ten minutes or more than the memory limit; the fit is then unchanged.
    """
    used = weights > 0
    rows, known = int(used.sum()), fitted.space.scatter
    if len(known) >= min(directions, rows - 1) or (known <= 0).any():  # enough components, or all that there are
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
        asked = replace(request, share=None, solver=None, max_iter=None)
        kept = MemoryRows(Block(points, weights[used]))
        again = methods[plan.chosen].begin(plan.placed, kept, kept.survey(), asked).finish(posed, asked, None)
    except MemoryLimitError as error:
        _warn(len(known), directions, f"does not fit: {error}")
        return fitted, weights
    return again, weights[used]


def _plan_on_points(problem: Problem) -> Plan:
    return choose(problem, {name: ask(methods[name], problem) for name in _ON_POINTS})


def _warn(known: int, directions: int, reason: str) -> None:
    warn(
        f"this stream continues a fit with {known} directions; solving for the {directions} that a stream "
        f"maintains {reason}. Intervals in certificate_ may be as wide as the eigenvalues: start with partial_fit "
        "instead "
        "of fit, or refit all rows",
        UncertifiedWarning,
    )
