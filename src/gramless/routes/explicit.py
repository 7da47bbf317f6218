"""The explicit route: moments of features in one pass, then an eigenproblem that does not depend on N."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array, blas_threads_for, evenly_spaced, unit_roundoff
from gramless.arrays.devices import free_card_memory, rows_on
from gramless.certificates import FAILURE_PROBABILITY, Certificate, angle_bounds
from gramless.eigen import Outcome
from gramless.features import FeatureMap, Moments, Spectrum, maps
from gramless.kernels import Precomputed
from gramless.planning import methods
from gramless.problem import Estimate, Problem, Request
from gramless.routes.fitted import Fitted, settle_spectrum, sign_flips
from gramless.spaces import Eigenspace, FeatureSpan

SIGN_ROWS = 10_000  #: rows at most that the signs of the components are settled on
CHUNKS_ON_CARD = 8 * 8 * 2**25  # bytes: eight arrays of the size of a chunk of features
WAKING = 0.5  # seconds to wake a card and compile for it


class ExplicitMethod:
    """Kernel PCA as PCA of explicit features; the data may be forgotten afterwards.

    Parameters
    ----------
    name : str
        A registered feature map.
    """

    streams = True
    forgets = True
    maps = False

    def __init__(self, name: str) -> None:
        self.name = name

    def estimate(self, problem: Problem) -> Estimate:
        if isinstance(problem.kernel, Precomputed):
            return Estimate(refusal="a given matrix has no features")
        if problem.solver not in ("auto", "dense"):
            return Estimate(refusal=f"eigen_solver={problem.solver!r} works on the Gram matrix")
        here = self._estimate(replace(problem, device="cpu"))
        able = maps[self.name].tensors and problem.kernel.tensors and not problem.sparse
        if problem.device == "cpu" or here.refusal or not able:
            return here
        there = self._on_card(problem)
        if problem.anywhere and (there.refusal or here.seconds <= there.seconds):
            return here
        return there

    def _estimate(self, problem: Problem) -> Estimate:
        builder = maps[self.name]
        if problem.streaming and builder.boxed and not problem.domain:
            return Estimate(refusal="a stream needs domain=(low, high) for it")
        if problem.streaming and self.name == "landmarks":
            return self._from_first_batch(problem, builder.estimate(problem))
        return builder.estimate(problem)

    def _on_card(self, problem: Problem) -> Estimate:
        """Rows, a few chunks of features and their sums on the card; the sums come back, and are solved here."""
        estimate = self._estimate(replace(problem, threads=1))
        rows = 0 if problem.streaming else 8 * problem.n * problem.d
        needed, free = rows + CHUNKS_ON_CARD + estimate.bytes, free_card_memory(problem.device)
        if needed > free:
            return Estimate(refusal=f"needs {needed / 1e9:.3g} GB of the card's {free / 1e9:.3g} GB")
        return replace(estimate, seconds=WAKING + estimate.seconds, device=problem.device)

    def _from_first_batch(self, problem: Problem, estimate: Estimate) -> Estimate:
        """Landmarks of a first batch: what later rows are like, nobody knows."""
        if problem.support is not None:
            return Estimate(refusal="its points are those of the first batch: max_support= chooses among all rows")
        return estimate if problem.domain else replace(estimate, error=max(estimate.error, 1e-2))

    def run(self, problem: Problem, x: Any, weights: Array, request: Request) -> Fitted:
        features = maps[self.name].make(problem, x, weights, request.rng)
        device = problem.device if features.tensors else "cpu"
        moments = features.moments(rows_on(device, x, request.tensor), weights)
        fitted = conclude(features, moments, problem, request)
        return with_signs(fitted, x, weights)


def conclude(features: FeatureMap, moments: Moments, problem: Problem, request: Request) -> Fitted:
    """An eigenspace from moments."""
    with blas_threads_for(features.n_features):
        spectrum = _solve(moments, problem, request)
    k = len(spectrum.values)
    certificate = Certificate(
        values=spectrum.values,
        lower=spectrum.lower[:k],
        upper=spectrum.upper[:k],
        angle=angle_bounds(
            spectrum.values, spectrum.residual, spectrum.lower[:k], spectrum.upper[:k], float(spectrum.upper[k])
        ),
        kind=np.full(k, spectrum.kind),
        failure_probability=0.0
        if spectrum.kind == "rigorous"
        else max(spectrum.failure_probability, FAILURE_PROBABILITY),
    )
    values, certificate = settle_spectrum(
        spectrum.values,
        certificate,
        features.kernel.mercer,
        50 * unit_roundoff() * float(spectrum.values.max(initial=0)),
    )
    reached = bool((spectrum.residual <= problem.tol * values.max(initial=0.0)).all())
    basis = spectrum.axes * (values > 0)
    _refuse_noise(moments, basis, certificate)
    space = Eigenspace(
        span=FeatureSpan(features, problem.device if features.tensors else "cpu"),
        mean=moments.mean,
        basis=basis,
        scatter=values,
        offset=moments.mean @ basis,
        mean_norm2=moments.mean_norm2,
        weight=moments.weight,
        trace=moments.trace,
    )
    return Fitted(space, None, certificate, Outcome.CONVERGED if reached else Outcome.APPROXIMATE, 0, moments)


def _refuse_noise(moments: Moments, basis: Array, certificate: Certificate) -> None:
    """A projection may be a small difference of large products: fewer than five digits of one are refused."""
    if not certificate.lower[0] > 0:
        return  # nothing is claimed
    size = float(np.abs(moments.mean) @ np.abs(basis[:, 0]))
    spread = float(np.sqrt(certificate.values[0] / moments.weight))
    if spread < 1e6 * unit_roundoff() * size:  # features themselves err by tens of units
        raise ValueError(
            f"features of size {size:.1g} vary by {spread:.1g} only: rounding would spoil projections; centre and "
            "scale the data"
        )


def _solve(moments: Moments, problem: Problem, request: Request) -> Spectrum:
    """A number of components, or as many as capture the share of the variance."""
    if request.share is None:
        return moments.solve(problem.k, problem.tol, request.rng)
    k = min(problem.n, 16)
    while True:
        spectrum = moments.solve(k, problem.tol, request.rng)
        captured = np.cumsum(spectrum.values)
        goal = request.share * moments.trace
        if captured[-1] >= goal or k >= problem.n or spectrum.values[-1] <= 1e-15 * spectrum.values[0]:
            cut = min(k, int(np.searchsorted(captured, goal)) + 1)
            return replace(
                spectrum,
                values=spectrum.values[:cut],
                axes=spectrum.axes[:, :cut],
                lower=spectrum.lower[: cut + 1],
                upper=spectrum.upper[: cut + 1],
                residual=spectrum.residual[:cut],
            )
        k = min(problem.n, 2 * k)


def with_signs(fitted: Fitted, x: Any, weights: Array) -> Fitted:
    """Signs by the one rule, on all rows or on 10,000 evenly spaced: to project all would cost more than the fit."""
    rows = evenly_spaced(x.shape[0], SIGN_ROWS)
    rows = rows[weights[rows] > 0] if (weights[rows] > 0).any() else np.flatnonzero(weights > 0)[:1]
    signs = sign_flips(fitted.space.project(x[rows]), np.ones(len(rows)))
    return fitted.flipped(signs)


for _name in maps:
    methods.register(_name)(ExplicitMethod(_name))
