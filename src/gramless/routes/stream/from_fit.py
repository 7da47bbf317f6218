"""A stream that goes on from a fit on points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.kernels import Precomputed
from gramless.problem import Problem, Request
from gramless.routes.fitted import Fitted
from gramless.routes.stream.base import Stream
from gramless.routes.stream.deepening import deepened
from gramless.routes.stream.merging import empty_merging_stream
from gramless.routes.stream.moments import MomentStream
from gramless.routes.stream.refitting import RefittingStream
from gramless.spaces import Bounds, Eigenspace, FeatureSpan, PointSpan


def stream_of_fit(fitted: Fitted, weights: Array | None, problem: Problem, request: Request) -> Stream | None:
    """A stream that has seen the rows of a fit; None where the fit left nothing to go on from.

    Parameters
    ----------
    fitted : Fitted
    weights : ndarray of shape (n,) or None
        Of the training rows, where they were kept.
    problem, request
        As for :func:`gramless.routes.open_stream`.
    """
    span = fitted.space.span
    if isinstance(span, FeatureSpan) and fitted.moments is not None:
        return MomentStream(span.features, fitted.moments, span.device)
    if not isinstance(span, PointSpan) or isinstance(span.kernel, Precomputed) or weights is None:
        return None
    used = weights > 0
    if not span.kernel.mercer:
        return RefittingStream(span.kernel, span.points[used], weights[used])
    empty = empty_merging_stream(problem, request)
    unknown = len(fitted.certificate) == 0  # no component was kept: nothing bounds what lies outside them
    if unknown or (empty.support is not None and used.sum() > empty.support):
        return empty.add(span.points[used], weights[used])
    if empty.directions is not None:
        directions = empty.directions if empty.share is None else max(empty.directions, 2 * len(fitted.certificate))
        fitted, weights = deepened(fitted, weights, directions, problem, request)
    kind = fitted.certificate.failure_probability
    return replace(empty, space=space_of_fit(fitted, weights), rows=int(used.sum()), failure_probability=kind)


def space_of_fit(fitted: Fitted, weights: Array) -> Eigenspace:
    r"""The eigenspace of a fit on points, with bounds from its certificate and residuals.

    With A the centred rows in feature space times the roots of their weights, and V the Ritz vectors of K = A^T A, the
    kept factors are F = A V, and E = A (I - V V^T) A^T is positive semidefinite. V and one direction more capture at
    most the k + 1 largest eigenvalues, so \|E\| <= sum_j (upper_j - value_j) + upper_{k+1}; and F^T E F = R^T R, with
    R the residuals, is at most k times the diagonal of their squares.

    Parameters
    ----------
    fitted : Fitted
        On points, with a Mercer kernel.
    weights : ndarray of shape (n,)
        Of the points.
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
    basis = basis - np.outer(mean, sums)  # vectors of tiny eigenvalues mix with the mean: centred to the last digit
    span = PointSpan(space.span.kernel, points)  # type: ignore[attr-defined]
    offset = space.offset[:kept] - space.mean_norm2 * sums
    return replace(space, span=span, mean=mean, basis=basis, scatter=values, offset=offset, bounds=bounds)
