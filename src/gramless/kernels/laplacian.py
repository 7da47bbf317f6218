"""The Laplacian kernel of the Euclidean distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, namespace
from gramless.kernels.base import RadialKernel, kernels, require
from gramless.kernels.spectral import SpectralDensity


@kernels.register("laplacian")
@dataclass(frozen=True)
class Laplacian(RadialKernel):
    """k(x, y) = exp(-|x - y| / lengthscale), with the Euclidean distance.

    scikit-learn's `laplacian_kernel` takes the sum of absolute differences instead:
    that kernel is :class:`~gramless.kernels.Manhattan`.

    Parameters
    ----------
    lengthscale : float

    See Also
    --------
    Manhattan : Of the Manhattan distance: scikit-learn's Laplacian.
    Matern : Of adjustable smoothness.

    Examples
    --------
    >>> Laplacian(lengthscale=5.0)(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).round(4)
    array([[0.3679]])
    """

    lengthscale: float = 1.0

    near = 1e-3
    tensors = True
    draftable = False

    def __post_init__(self) -> None:
        require("lengthscale", self.lengthscale)

    def profile(self, squared_distance: Array) -> Array:
        xp = namespace(squared_distance)
        distance = xp.sqrt(squared_distance, out=squared_distance)
        distance /= -float(self.lengthscale)
        return xp.exp(distance, out=distance)  # type: ignore[no-any-return]

    def spectral_density(self) -> SpectralDensity | None:
        return SpectralDensity(float(self.lengthscale), 0.5) if np.isfinite(self.lengthscale) else None
