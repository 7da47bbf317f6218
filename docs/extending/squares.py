"""The polynomial kernel of degree 2, by all products of two columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.features import FeatureMap, FeatureRows, RowwiseMap, maps
from gramless.features.taylor import dense_estimate
from gramless.kernels import Polynomial
from gramless.machine import Machine
from gramless.problem import Estimate, Problem


@dataclass(frozen=True, eq=False)
class Squares(RowwiseMap):
    """(s x.y + c)^2 = c^2 + 2 c s x.y + s^2 sum_ij x_i x_j y_i y_j: 1 + d + d^2 features, exactly the kernel."""

    kernel: Polynomial
    d: int

    @property
    def n_features(self) -> int:
        return 1 + self.d + self.d**2

    def rows(self, x: Any) -> FeatureRows:
        x = np.asarray(x, dtype=np.float64)
        c, s = self.kernel.c, self.kernel.scale
        products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
        values = np.hstack([np.full((len(x), 1), c), np.sqrt(2 * c * s) * x, s * products])
        nothing = np.zeros(len(x))  # is left out: only rounding remains, a few units of each feature
        norms = np.sqrt(np.einsum("ij,ij->i", values, values))
        return FeatureRows(
            values=values, leak=nothing, leak_error=nothing, error=8 * unit_roundoff() * norms, rounding=nothing
        )

    def same_space(self, other: FeatureMap) -> bool:
        return isinstance(other, Squares) and self.kernel == other.kernel and self.d == other.d


class SquaresBuilder:
    """Says what the map would cost, and makes it."""

    boxed = False  # rows may lie anywhere
    tensors = False  # and are numpy's
    leading = False  # and the kernel is matched as a whole

    def estimate(self, problem: Problem) -> Estimate:
        refusal = self._refusal(problem)
        if refusal:
            return Estimate(refusal=refusal)
        width = 1 + problem.d + problem.d**2
        return dense_estimate(problem, width, row_seconds=3 * width / Machine().kernel, error=1e-13)

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> Squares:
        refusal = self._refusal(problem)
        if refusal:
            raise ValueError(f"squares are not applicable: {refusal}")
        return Squares(problem.kernel, problem.d)

    def _refusal(self, problem: Problem) -> str:
        kernel = problem.kernel
        if not isinstance(kernel, Polynomial) or kernel.degree != 2 or not kernel.mercer:
            return "only for polynomials of degree 2, with c >= 0"
        return "sparse rows would become dense" if problem.sparse else ""


maps.register("squares")(SquaresBuilder())
