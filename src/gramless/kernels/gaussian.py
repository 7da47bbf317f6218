"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, namespace
from gramless.kernels.base import RadialKernel, kernels, require
from gramless.kernels.points import Points, squared_distances
from gramless.kernels.rounding import Rounding, distance_error, exponential_rounding, squared, underflow
from gramless.kernels.spectral import SpectralDensity


@kernels.register("gaussian")
@dataclass(frozen=True)
class Gaussian(RadialKernel):
    r"""k(x, y) = exp(-|x - y|^2 / (2 sigma^2)) (Raykar & Ankur, eq. 25).

    Parameters
    ----------
    sigma : float
        Bandwidth; a large bandwidth gives smooth components. ``inf`` gives the constant kernel.

    See Also
    --------
    Matern : Of adjustable smoothness.
    Laplacian : Of the Euclidean distance, not smooth at 0.
    Epanechnikov : Of compact support.

    Examples
    --------
    >>> Gaussian(sigma=1.0)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.1353]])
    >>> Gaussian.from_gamma(0.5)
    Gaussian(sigma=1.0)
    """

    sigma: float = 1.0

    def __post_init__(self) -> None:
        require("sigma", self.sigma)
        if not np.isfinite(self.gamma):
            raise ValueError(f"sigma={self.sigma!r} is too small: 1 / sigma^2 overflows")

    @classmethod
    def from_gamma(cls, gamma: float) -> Gaussian:
        """exp(-gamma |x - y|^2), scikit-learn's form."""
        require("gamma", gamma, closed="closed")
        return cls(float(np.sqrt(0.5 / gamma)) if gamma else float("inf"))

    @classmethod
    def from_width(cls, width: float) -> Gaussian:
        """exp(-|x - y|^2 / width), the form of Vasconcelos' lecture."""
        require("width", width)
        return cls(float(np.sqrt(width / 2)))

    @property
    def gamma(self) -> float:
        """1 / (2 sigma^2)."""
        return 0.5 / float(self.sigma) / float(self.sigma)

    tensors = True

    def _falls(self, squared: float) -> bool:
        return not self.gamma * squared < 1e-5  # called for every tile: faster than two evaluations

    def evaluate(self, x: Points, y: Points) -> Array:
        if self._near_if_narrow(x, y):
            return super().evaluate(x, y)
        exponent = squared_distances(x, y, -self.gamma)
        # exp tolerates an argument slightly above 0, and clipping takes as long as exp itself
        if not self.gamma * (x.largest + y.largest) * x.eps * (x.values.shape[1] + 10) < 1e-2:
            namespace(exponent).clip(exponent, None, 0, out=exponent)
        return namespace(exponent).exp(exponent, out=exponent)  # type: ignore[no-any-return]

    def profile(self, squared_distance: Array) -> Array:
        squared_distance *= -self.gamma
        return namespace(squared_distance).exp(squared_distance, out=squared_distance)  # type: ignore[no-any-return]

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        # exp turns an absolute error of its argument into a relative error of its value
        spread = distance_error(d, unit) * squared(2 * radius) + (d + 4) * underflow(unit)
        return exponential_rounding(self.gamma * spread, unit)

    def spectral_density(self) -> SpectralDensity | None:
        return SpectralDensity(float(self.sigma)) if np.isfinite(self.sigma) else None
