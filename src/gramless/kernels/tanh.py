"""The hyperbolic tangent kernel."""

from __future__ import annotations

from dataclasses import dataclass

from gramless.arrays import Array, namespace
from gramless.kernels.base import DotKernel, kernels, require_finite
from gramless.kernels.rounding import Rounding, dot_error, growth, squared, underflow


@kernels.register("tanh")
@dataclass(frozen=True)
class Tanh(DotKernel):
    """k(x, y) = tanh(scale x.y + b) (Raykar & Ankur, eq. 26): not positive semidefinite.

    Parameters
    ----------
    scale : float
        scikit-learn's `gamma` of the sigmoid kernel.
    b : float
        scikit-learn's `coef0`.

    See Also
    --------
    Polynomial : A power of the dot product.
    find_witness : Points on which a kernel is not positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> Tanh(scale=0.5)(np.array([[1.0]]), np.array([[0.0], [2.0]])).round(4)
    array([[0.    , 0.7616]])
    """

    scale: float = 1.0
    b: float = 0.0

    def __post_init__(self) -> None:
        require_finite("scale", self.scale)
        require_finite("b", self.b)

    tensors = True

    @property
    def mercer(self) -> bool:
        return self.scale == 0 and self.b >= 0

    def profile(self, dot: Array) -> Array:
        dot *= float(self.scale)
        dot += float(self.b)
        return namespace(dot).tanh(dot, out=dot)  # type: ignore[no-any-return]

    def steepness(self, largest: float) -> float:
        return abs(self.scale)

    def bound(self, radius: float) -> float:
        return min(1.0, abs(self.scale) * squared(radius) + abs(self.b))

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        largest = abs(self.scale) * squared(radius) + abs(self.b)
        spread = self.steepness(squared(radius)) * dot_error(radius, d, unit) + growth(4, unit) * largest
        return Rounding(min(2.0, spread) + underflow(unit), 8 * unit)
