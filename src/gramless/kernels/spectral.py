"""Fourier transforms of radial kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from gramless.arrays import Array, unit_roundoff


@dataclass(frozen=True)
class SpectralDensity:
    r"""khat >= 0 with k(r) = integral of khat(f) exp(2 pi i f.r) df, for the Matern family.

    It is a density of Student's distribution with 2 nu degrees of freedom, normal for the Gaussian kernel, the limit
    nu = inf (Rasmussen & Williams, Gaussian Processes for Machine Learning, eq. 4.15). Its marginals are densities of
    the same kind in fewer dimensions: so the mass beyond a cut on one axis does not depend on d.

    Parameters
    ----------
    lengthscale : float
    nu : float
    factor : float
        k(0), the integral of khat.

    Examples
    --------
    >>> density = SpectralDensity(lengthscale=0.5, nu=0.5)  # of exp(-2 |r|)
    >>> float(density(np.array([0.0]), d=1)[0])
    1.0
    >>> round(density.beyond(density.cut(1e-3)), 12)
    0.001
    """

    lengthscale: float
    nu: float = float("inf")
    factor: float = 1.0

    @property
    def smooth(self) -> bool:
        """Whether khat falls faster than every power of the frequency: then any accuracy can be reached."""
        return self.nu == float("inf")

    @property
    def error(self) -> float:
        """Bound on the error, relative to k(0), of a sum of values of khat that should add up to k(0)."""
        return (64 if self.smooth else 64 + 8 * self.nu) * unit_roundoff()

    def __call__(self, frequency: Array, d: int) -> Array:
        """Khat at points of norm `frequency` >= 0, in d dimensions: an array of the same shape."""
        scaled2 = (2 * np.pi * self.lengthscale * frequency) ** 2
        peak = self.factor * (np.sqrt(2 * np.pi) * self.lengthscale) ** d
        if self.smooth:
            return np.asarray(peak * np.exp(-0.5 * scaled2))
        peak *= float(special.poch(self.nu, d / 2)) / self.nu ** (d / 2)
        return np.asarray(peak * np.exp(-(self.nu + d / 2) * np.log1p(scaled2 / (2 * self.nu))))

    def beyond(self, cut: float) -> float:
        """Mass of khat where the modulus of one given coordinate exceeds `cut`."""
        scaled = 2 * np.pi * self.lengthscale * cut
        if self.smooth:
            return float(self.factor * special.erfc(scaled / np.sqrt(2)))
        return float(self.factor * 2 * special.stdtr(2 * self.nu, -scaled))

    def cut(self, mass: float) -> float:
        """The inverse of :meth:`beyond`."""
        share = min(1.0, mass / self.factor)
        if self.smooth:
            return float(special.erfcinv(share) / (np.sqrt(2) * np.pi * self.lengthscale))
        return float(-special.stdtrit(2 * self.nu, share / 2) / (2 * np.pi * self.lengthscale))
