"""A model from an eigenspace with bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.certificates import FAILURE_PROBABILITY, Certificate, angle_bounds
from gramless.eigen import Outcome
from gramless.problem import Problem, Request
from gramless.routes.fitted import Fitted, settle_spectrum
from gramless.spaces import Eigenspace


def conclude_space(
    space: Eigenspace, rows: int, problem: Problem, request: Request, failure_probability: float = 0.0
) -> Fitted:
    """The components asked for, with certificates from the bounds of the eigenspace.

    Parameters
    ----------
    space : Eigenspace
        With bounds, and usually more components than are asked for.
    rows : int
        How many points there are: no more eigenvalues than that can differ from 0.
    problem, request
        How many components: ``request.share``, else ``problem.k``, else (0) all.
    failure_probability : float
        Chance that the bounds are wrong.
    """
    bounds = space.bounds
    if bounds is None:
        raise ValueError("nothing is known of the error of this eigenspace")
    values = space.scatter
    k = _count(values, space.trace, problem, request)
    lower, upper, residual = bounds.intervals(values, space.trace, k + 1)
    values, lower, residual = (_padded(part, k) for part in (values, lower, residual))
    upper = np.append(upper[:-1], np.full(max(0, k + 1 - len(upper) + 1), upper[-1]))[: k + 1]
    upper[np.arange(k + 1) >= rows - 1] = 0.0  # a centred Gram matrix has that rank at most
    upper[:k] = np.maximum(upper[:k], lower)
    values = np.minimum(values, upper[:k])
    certificate = Certificate(
        values=values,
        lower=lower,
        upper=upper[:k],
        angle=angle_bounds(values, residual, lower, upper[:k], float(upper[k])),
        kind=np.full(k, "probabilistic" if failure_probability else "rigorous"),
        failure_probability=max(failure_probability, FAILURE_PROBABILITY) if failure_probability else 0.0,
    )
    values, certificate = settle_spectrum(values, certificate, True, 50 * unit_roundoff() * space.trace)
    basis = np.hstack([space.basis[:, :k], np.zeros((len(space.basis), max(0, k - space.basis.shape[1])))])
    kept = replace(
        space, basis=basis * (values > 0), scatter=values, offset=_padded(space.offset, k) * (values > 0), bounds=None
    )
    reached = bool((residual[values > 0] <= problem.tol * values.max(initial=0.0)).all())
    return Fitted(kept, None, certificate, Outcome.CONVERGED if reached else Outcome.APPROXIMATE, 0)


def _count(values: Array, trace: float, problem: Problem, request: Request) -> int:
    if request.share is not None:
        return min(len(values), int(np.searchsorted(np.cumsum(values), request.share * trace)) + 1)
    return problem.k or max(1, len(values))


def _padded(values: Array, k: int) -> Array:
    """The leading `k`, zeros where there are not so many."""
    return np.append(values, np.zeros(max(0, k - len(values))))[:k]
