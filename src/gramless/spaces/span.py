"""What the vectors of a subspace of feature space are combinations of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gramless.arrays import Array
from gramless.features import FeatureMap
from gramless.gram import rectangular_product
from gramless.kernels import Kernel


class Span(Protocol):
    """Vectors b_1 .. b_p of feature space."""

    def dot(self, x: Any, coefficients: Array) -> Array:
        """Inner products of phi(x_i) with sum_l c_lj b_l: (m, k) for rows `x` (m, d), `coefficients` (p, k)."""

    def norms2(self, x: Any) -> Array:
        """k(x_i, x_i): (m,)."""


@dataclass(frozen=True, eq=False)
class PointSpan:
    """The images of points: b_l = phi(points_l)."""

    kernel: Kernel
    points: Any

    def dot(self, x: Any, coefficients: Array) -> Array:
        return rectangular_product(self.kernel, x, self.points, coefficients)

    def norms2(self, x: Any) -> Array:
        return self.kernel.diagonal(x)


@dataclass(frozen=True, eq=False)
class FeatureSpan:
    """The axes of explicit features: no training data are needed."""

    features: FeatureMap

    @property
    def kernel(self) -> Kernel:
        """The kernel the features stand for."""
        return self.features.kernel

    def dot(self, x: Any, coefficients: Array) -> Array:
        return self.features.dot(x, coefficients)

    def norms2(self, x: Any) -> Array:
        return self.kernel.diagonal(x)


@dataclass(frozen=True, eq=False)
class InputSpan:
    """The axes of the input, for the linear kernel: phi(x) = x."""

    kernel: Kernel

    def dot(self, x: Any, coefficients: Array) -> Array:
        return np.asarray(x @ coefficients, dtype=np.float64)

    def norms2(self, x: Any) -> Array:
        return self.kernel.diagonal(x)
