"""A kernel of the difference of two points as a density: its integral, samples, and convolution with itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from gramless.arrays import Array
from gramless.kernels import Gaussian, Kernel, Matern
from gramless.kernels.spectral import SpectralDensity


@dataclass(frozen=True)
class Shape:
    """k(x - y) = exp(log_integral) times a density in x: a Gaussian, or a scale mixture of Gaussians.

    A Matern kernel is the density of sqrt(G) Z, Z normal and G from a gamma distribution of shape nu + d / 2.

    Parameters
    ----------
    spectral : SpectralDensity
    d : int

    Examples
    --------
    >>> shape = Shape.of(Gaussian(sigma=0.5), 1)
    >>> round(float(np.exp(shape.log_integral)), 6) == round(float(np.sqrt(2 * np.pi) * 0.5), 6)
    True
    """

    spectral: SpectralDensity
    d: int

    @classmethod
    def of(cls, kernel: Kernel, d: int) -> Shape:
        """The shape of a kernel in `d` dimensions, if the kernel is a density."""
        spectral = kernel.spectral_density()
        if spectral is None or not np.isfinite(spectral.lengthscale):
            raise ValueError(
                f"{kernel} is not the density of a translation-invariant kernel; use Gaussian, Laplacian or Matern, "
                "or a multiple of one"
            )
        return cls(spectral, d)

    @property
    def log_integral(self) -> float:
        """Logarithm of the integral of k over all of space: its Fourier transform at 0."""
        s, d = self.spectral, self.d
        log = np.log(s.factor) + d * np.log(np.sqrt(2 * np.pi) * s.lengthscale)
        if not s.smooth:
            log += special.gammaln(s.nu + d / 2) - special.gammaln(s.nu) - d / 2 * np.log(s.nu)
        return float(log)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Points (n, d) drawn from the density about 0."""
        s = self.spectral
        points: Array = s.lengthscale * rng.standard_normal((n, self.d))
        if not s.smooth:
            points *= np.sqrt(rng.gamma(s.nu + self.d / 2, 1 / s.nu, n))[:, None]
        return points

    def spread(self) -> tuple[Kernel, float]:
        """The convolution, as a kernel and a logarithm: integral k(x - y) k(x - z) dx = exp(logarithm) kernel(y, z)."""
        s = self.spectral
        if s.smooth:
            wide: Kernel = Gaussian(float(np.sqrt(2)) * s.lengthscale)
        else:
            nu = 2 * s.nu + self.d / 2
            if nu > 30:
                raise ValueError(
                    f"the held-out error of a Matern kernel with nu={s.nu:g} is not available in {self.d} columns; "
                    "use a Gaussian kernel or truncation='rule'"
                )
            wide = Matern(nu, s.lengthscale * float(np.sqrt(nu / s.nu)))
        return wide, 2 * self.log_integral - Shape.of(wide, self.d).log_integral
