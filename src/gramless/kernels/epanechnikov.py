"""The Epanechnikov kernel."""

from __future__ import annotations

from dataclasses import dataclass

from gramless.arrays import Array, namespace
from gramless.kernels.base import RadialKernel, kernels, require


@kernels.register("epanechnikov")
@dataclass(frozen=True)
class Epanechnikov(RadialKernel):
    """k(x, y) = max(0, 1 - |x - y|^2 / width^2): zero beyond `width`, not positive semidefinite.

    Parameters
    ----------
    width : float
        Distance at which the kernel reaches 0.

    See Also
    --------
    Gaussian : Smooth.

    Examples
    --------
    >>> import numpy as np
    >>> Epanechnikov(width=2.0)(np.array([[0.0]]), np.array([[0.0], [1.0], [3.0]]))
    array([[1.  , 0.75, 0.  ]])
    """

    width: float = 1.0

    mercer = False
    tensors = True

    def __post_init__(self) -> None:
        require("width", self.width)

    def profile(self, squared_distance: Array) -> Array:
        scaled = squared_distance
        scaled /= float(self.width)
        scaled /= -float(self.width)
        scaled += 1
        return namespace(scaled).clip(scaled, 0, None, out=scaled)  # type: ignore[no-any-return]
