"""A stream whose rows have explicit features: it keeps their moments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from gramless.arrays import Array
from gramless.arrays.devices import rows_on
from gramless.features import FeatureMap, Moments
from gramless.problem import Problem, Request
from gramless.routes.explicit import conclude
from gramless.routes.fitted import Fitted
from gramless.routes.stream.signs import agreeing_signs
from gramless.spaces import Eigenspace


@dataclass(frozen=True, eq=False)
class MomentStream:
    """Moments of features that were fixed by the first batch.

    Attributes
    ----------
    features : FeatureMap
    moments : Moments
    device : str
        Where batches are summed.
    """

    keeps: ClassVar[str] = "moments"

    features: FeatureMap
    moments: Moments
    device: str = "cpu"

    @property
    def rows(self) -> int:
        return self.moments.rows

    @property
    def weight(self) -> float:
        return self.moments.weight

    def add(self, x: Any, weights: Array) -> MomentStream:
        return replace(self, moments=self.moments + self._sums(x, weights))

    def remove(self, x: Any, weights: Array) -> MomentStream:
        if x.shape[0] > self.rows:
            raise ValueError(f"{x.shape[0]} rows cannot be taken out of the {self.rows} seen")
        return replace(self, moments=self.moments - self._sums(x, weights))

    def _sums(self, x: Any, weights: Array) -> Moments:
        return self.features.moments(rows_on(self.device, x), weights)

    def scaled(self, factor: float) -> MomentStream:
        return replace(self, moments=self.moments.scaled(factor))

    def merged(self, other: MomentStream) -> MomentStream:
        if type(other.features) is not type(self.features):
            names = f"{type(self.features).__name__} and {type(other.features).__name__}"
            raise ValueError(f"features differ: {names}; fit both with the same method=")
        return replace(self, moments=self.moments + self.features.adopted(other.moments, other.features))

    def conclude(self, problem: Problem, request: Request, before: Eigenspace | None) -> Fitted:
        problem = replace(problem, device=self.device)
        return conclude_moments(self.features, self.moments, problem, request, before, None)


def conclude_moments(
    features: FeatureMap,
    moments: Moments,
    problem: Problem,
    request: Request,
    before: Eigenspace | None,
    probes: Any,
) -> Fitted:
    """A model from moments, in sign like the one `before`; `probes` are rows to compare both on, if need be."""
    k = problem.k or min(moments.rows, features.n_features)
    problem = replace(problem, k=k, n=moments.rows, weight=moments.weight)
    fitted = conclude(features, moments, problem, request)
    return fitted.flipped(agreeing_signs(fitted.space, before, probes))
