"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass

from gramless.arrays import Array
from gramless.kernels.base import DotKernel, kernels
from gramless.kernels.rounding import Rounding, dot_error, squared


@kernels.register("linear")
@dataclass(frozen=True)
class Linear(DotKernel):
    """k(x, y) = x.y: kernel PCA is then PCA.

    See Also
    --------
    Polynomial : A power of the dot product.
    Cosine : The dot product of normalised rows.
    QuadraticForm : The dot product in another metric.

    Examples
    --------
    >>> import numpy as np
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    tensors = True

    def profile(self, dot: Array) -> Array:
        return dot

    def steepness(self, largest: float) -> float:
        return 1.0

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        return Rounding(dot_error(radius, d, unit), 0.0)

    def bound(self, radius: float) -> float:
        return squared(radius)
