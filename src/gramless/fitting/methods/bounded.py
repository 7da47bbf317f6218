"""The state of a stream with a limited number of points, ``max_support=``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramless.arrays import Array
from gramless.arrays.devices import rows_on
from gramless.data import Block
from gramless.features import DenseMoments, LandmarkMap, choose_pivots, transfer_moments
from gramless.fitting.methods.moments import model_of_moments
from gramless.fitting.methods.newcomers import Newcomers
from gramless.fitting.model import Model
from gramless.kernels import Kernel
from gramless.problem import Problem, Request
from gramless.spaces import Eigenspace, stack_points

_NEGLIGIBLE = 1e-7  # fraction of the trace: points that add less would only make the Gram matrix ill-conditioned


@dataclass(frozen=True, eq=False)
class BoundedPoints:
    """Moments of the projections of all rows on the images of a few points.

    The points are chosen by pivoted Cholesky among the first rows. New points are chosen, from the current points and
    from newcomers, when the points leave out much more of recent rows than of the first rows: the data have drifted.
    The loss of either step is measured, and part of the certificate.

    Attributes
    ----------
    features : LandmarkMap
    moments : DenseMoments
    most : int
        Maximum number of points.
    seed : int
    newcomers : Newcomers
    device : str
        Where batches are summed.
    """

    keeps: ClassVar[str] = "points"
    carrier: ClassVar[str | None] = "merging"

    features: LandmarkMap
    moments: DenseMoments
    most: int
    seed: int
    newcomers: Newcomers
    device: str = "cpu"

    @classmethod
    def begin(cls, kernel: Kernel, x: Any, weights: Array, most: int, seed: int, device: str = "cpu") -> BoundedPoints:
        """Choose the points among rows `x` (n, d) with `weights` (n,)."""
        features = _choose(kernel, x, weights, most, np.random.default_rng(seed))
        moments = features.measured_moments(rows_on(device, x), weights)[0]
        return cls(features, moments, most, seed, _none_yet(most), device)

    @property
    def rows(self) -> int:
        return self.moments.rows

    @property
    def weight(self) -> float:
        return self.moments.weight

    def add(self, block: Block) -> BoundedPoints:
        x, weights = block.x, block.weights
        rng = np.random.default_rng([self.seed, self.rows])
        rows = rows_on(self.device, x)
        batch, leaks = self.features.measured_moments(rows, weights)
        height = float(weights @ np.maximum(self.features.kernel.diagonal(x), 0.0))
        newcomers = self.newcomers.add(x, weights * leaks, height, rng)
        if not newcomers.crowd():
            return replace(self, moments=self.moments + batch, newcomers=newcomers)
        # the batch is projected on the new points: the old points would lose some of it
        renewed = replace(self, newcomers=newcomers)._renewed(rng)
        return replace(renewed, moments=renewed.moments + renewed.features.measured_moments(rows, weights)[0])

    def remove(self, block: Block) -> BoundedPoints:
        raise ValueError("rows cannot be removed from a stream with max_support=: its points may have changed since")

    def scaled(self, factor: float) -> BoundedPoints:
        return replace(self, moments=self.moments.scaled(factor), newcomers=self.newcomers.scaled(factor))

    def merged(self, other: Any) -> BoundedPoints:
        if not isinstance(other, BoundedPoints):
            if other.support is None:
                raise ValueError(
                    "one of the two models has a max_support= and the other has none; pass the same to both"
                )
            return self.add(other.all_rows())
        rng = np.random.default_rng([self.seed, self.rows, other.rows])
        points = stack_points(self.features.points, other.features.points)
        masses = np.concatenate([self._masses(), other._masses()])
        features = _choose(self.features.kernel, points, masses, self.most, rng)
        moments = transfer_moments(self.moments, self.features, features)
        moments = moments + transfer_moments(other.moments, other.features, features)
        return replace(self, features=features, moments=moments, newcomers=_none_yet(self.most))

    def finish(self, problem: Problem, request: Request, before: Eigenspace | None) -> Model:
        problem = replace(problem, device=self.device)
        return model_of_moments(self.features, self.moments, problem, request, before, self.features.points)

    def _renewed(self, rng: np.random.Generator) -> BoundedPoints:
        """The state with points chosen again, from the current points and from newcomers, by their masses."""
        points = stack_points(self.features.points, self.newcomers.points)
        masses = np.concatenate([self._masses(), self.newcomers.masses(self.features.kernel)])
        features = _choose(self.features.kernel, points, masses, self.most, rng)
        moments = transfer_moments(self.moments, self.features, features)
        return replace(self, features=features, moments=moments, newcomers=_none_yet(self.most))

    def _masses(self) -> Array:
        """Weight that each point j represents: sum_i w_i c_ij^2, with coefficients c_ij of row i on the points."""
        moments = self.moments
        inverse = self.features.triangle.solve_transposed(np.eye(self.features.n_features))
        seconds = moments.scatter + moments.weight * np.outer(moments.mean, moments.mean)
        masses: Array = np.einsum("ij,ij->j", inverse, seconds @ inverse)
        return np.maximum(masses, 1e-300)


def _choose(kernel: Kernel, x: Any, weights: Array, most: int, rng: np.random.Generator) -> LandmarkMap:
    goal = _NEGLIGIBLE * float(weights @ kernel.diagonal(x)) / float(weights.sum())
    chosen = choose_pivots(kernel, x, weights, most, goal, rng).indices
    return LandmarkMap.at(kernel, x[np.sort(chosen)] if len(chosen) else x[:1])


def _none_yet(most: int) -> Newcomers:
    return Newcomers(most=max(16, most // 4), window=max(64, most // 2))
