"""Moments of explicit features: the state of every method with explicit features, and the model of a state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from gramless.arrays import Array, blas_threads_for, unit_roundoff
from gramless.arrays.devices import rows_on
from gramless.certificates import FAILURE_PROBABILITY, Certificate, angle_bounds, settle
from gramless.data import Block
from gramless.eigen import Outcome
from gramless.features import FeatureMap, Moments, Spectrum
from gramless.fitting.methods.drawn import Drawn
from gramless.fitting.model import Model, components_for_share, solve_for_share
from gramless.problem import Problem, Request
from gramless.spaces import Eigenspace, FeatureSpan, RowSample
from gramless.spaces.signs import SIGN_ROWS, agreeing_signs, row_signs


@dataclass(frozen=True, eq=False)
class Gathered:
    """What one pass stores of the rows.

    Attributes
    ----------
    moments : Moments
    signs : array of shape (m, d)
        Rows that determine the signs of the components.
    sample : RowSample or None
        Sample of rows for pre-images.
    leaks : ndarray of shape (n,) or None
        What the features leave of k(x, x), for rows in memory.
    """

    moments: Moments
    signs: Any
    sample: RowSample | None = None
    leaks: Array | None = None

    def __add__(self, other: Gathered) -> Gathered:
        stack = scipy.sparse.vstack if scipy.sparse.issparse(self.signs) else np.concatenate
        sample = None if self.sample is None or other.sample is None else self.sample + other.sample
        return Gathered(self.moments + other.moments, stack([self.signs, other.signs])[:SIGN_ROWS], sample)


@dataclass(frozen=True, eq=False)
class MomentState:
    """Moments of features; the first rows determine the feature map.

    Attributes
    ----------
    features : FeatureMap
    moments : Moments
    device : str
        Device that sums batches.
    probes : array of shape (m, d) or None
        Rows that determine the signs of the components of a fit.
    sample : RowSample or None
        Rows that the pass of a fit has sampled for pre-images.
    drawn : Drawn or None
        What rows drawn from those of a fit prove about its components; lost when rows are added or removed.
    """

    keeps: ClassVar[str] = "moments"
    carrier: ClassVar[str | None] = None

    features: FeatureMap
    moments: Moments
    device: str = "cpu"
    probes: Any = field(default=None, metadata={"saved": False})
    sample: RowSample | None = field(default=None, metadata={"saved": False})
    drawn: Drawn | None = field(default=None, metadata={"saved": False})

    @property
    def rows(self) -> int:
        return self.moments.rows

    @property
    def weight(self) -> float:
        return self.moments.weight

    def add(self, block: Block) -> MomentState:
        return self._with(self.moments + self._sums(block))

    def remove(self, block: Block) -> MomentState:
        if block.x.shape[0] > self.rows:
            raise ValueError(f"{block.x.shape[0]} rows cannot be removed from the {self.rows} seen")
        sums = self._sums(block)
        if sums.trace > (1 + 1e-6) * self.moments.trace:
            raise ValueError(
                "the rows to be removed are not among those seen: they vary more than all of these together"
            )
        return self._with(self.moments - sums)

    def scaled(self, factor: float) -> MomentState:
        return self._with(self.moments.scaled(factor))

    def merged(self, other: MomentState) -> MomentState:
        if type(other.features) is not type(self.features):
            names = f"{type(self.features).__name__} and {type(other.features).__name__}"
            raise ValueError(f"features differ: {names}; fit both with the same method=")
        return self._with(self.moments + self.features.adopted(other.moments, other.features))

    def finish(self, problem: Problem, request: Request, before: Eigenspace | None) -> Model:
        problem = replace(problem, device=self.device)
        probed = before is None and self.probes is not None and self.probes.shape[0] > 0
        return model_of_moments(self.features, self.moments, problem, request, before, self.probes, probed, self.drawn)

    def _with(self, moments: Moments) -> MomentState:
        return MomentState(self.features, moments, self.device)

    def _sums(self, block: Block) -> Moments:
        return self.features.moments(rows_on(self.device, block.x), block.weights)


def model_of_moments(
    features: FeatureMap,
    moments: Moments,
    problem: Problem,
    request: Request,
    before: Eigenspace | None,
    probes: Any,
    probed: bool = False,
    drawn: Drawn | None = None,
) -> Model:
    """The model of moments.

    Parameters
    ----------
    features : FeatureMap
    moments : Moments
    problem, request
        Number of components: by ``request.share``, else ``problem.k``, else (0) all.
    before : Eigenspace or None
        Earlier eigenspace of the stream, whose signs the components take over.
    probes : array of shape (m, d) or None
        Rows on which the components are compared with those of `before`.
    probed : bool
        Whether to set signs as a fit does: the score of largest modulus among the probes is positive.
    drawn : Drawn or None
        Narrower bounds on the same components.
    """
    k = problem.k or min(moments.rows, features.n_features)
    problem = replace(problem, k=k, n=moments.rows, weight=moments.weight)
    with blas_threads_for(features.n_features):
        spectrum = _solve(moments, problem, request)
    if drawn is not None:
        spectrum = drawn.narrowed(spectrum)
    model = _assembled(features, moments, problem, spectrum)
    if probed:
        return model.flipped(row_signs(model.space.project(probes)))
    return model.flipped(agreeing_signs(model.space, before, probes))


def _assembled(features: FeatureMap, moments: Moments, problem: Problem, spectrum: Spectrum) -> Model:
    k = len(spectrum.values)
    rigorous = spectrum.kind == "rigorous"
    certificate = Certificate(
        values=spectrum.values,
        lower=spectrum.lower[:k],
        upper=spectrum.upper[:k],
        angle=angle_bounds(
            spectrum.values, spectrum.residual, spectrum.lower[:k], spectrum.upper[:k], float(spectrum.upper[k])
        ),
        kind=np.full(k, spectrum.kind),
        failure_probability=0.0 if rigorous else max(spectrum.failure_probability, FAILURE_PROBABILITY),
    )
    noise = 50 * unit_roundoff() * float(spectrum.values.max(initial=0))
    values, certificate = settle(spectrum.values, certificate, features.kernel.mercer, noise)
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
    return Model(space, None, certificate, Outcome.CONVERGED if reached else Outcome.APPROXIMATE, 0, moments)


def _refuse_noise(moments: Moments, basis: Array, certificate: Certificate) -> None:
    """Raise where projections, small differences of large products, would have fewer than about five digits."""
    if not certificate.lower[0] > 0:
        return  # the certificate does not claim a positive eigenvalue
    size = float(np.abs(moments.mean) @ np.abs(basis[:, 0]))
    spread = float(np.sqrt(certificate.values[0] / moments.weight))
    if spread < 1e6 * unit_roundoff() * size:  # the errors of features themselves are tens of unit roundoffs
        raise ValueError(
            f"features of size {size:.1g} vary by only {spread:.1g}: projections would be dominated by rounding "
            "errors; standardize "
            "the data"
        )


def _solve(moments: Moments, problem: Problem, request: Request) -> Spectrum:
    """The spectrum: ``problem.k`` components, or as many as explain the fraction of the variance."""
    if request.share is None:
        return moments.solve(problem.k, problem.tol, request.rng)
    goal = request.share * moments.trace

    def solve(k: int, before: Spectrum | None) -> Spectrum:
        return moments.solve(k, problem.tol, request.rng)

    def enough(found: Spectrum, k: int) -> bool:
        return bool(np.cumsum(found.values)[-1] >= goal or found.values[-1] <= 1e-15 * found.values[0])

    spectrum = solve_for_share(solve, enough, min(problem.n, 16), problem.n)
    cut = components_for_share(spectrum.values, goal)
    return replace(
        spectrum,
        values=spectrum.values[:cut],
        axes=spectrum.axes[:, :cut],
        lower=spectrum.lower[: cut + 1],
        upper=spectrum.upper[: cut + 1],
        residual=spectrum.residual[:cut],
    )
