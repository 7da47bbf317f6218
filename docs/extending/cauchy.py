"""The Cauchy kernel."""

from __future__ import annotations

from dataclasses import dataclass

from gramless.arrays import Array
from gramless.kernels.base import RadialKernel, kernels, require


@kernels.register("cauchy")
@dataclass(frozen=True)
class Cauchy(RadialKernel):
    """k(x, y) = 1 / (1 + |x - y|^2 / scale^2).

    Parameters
    ----------
    scale : float
        Distance at which the kernel has fallen to one half.
    """

    scale: float = 1.0

    tensors = True  # the formula also works on torch tensors: on a GPU

    def __post_init__(self) -> None:
        require("scale", self.scale)

    def profile(self, squared_distance: Array) -> Array:
        return 1 / (1 + squared_distance / self.scale**2)
