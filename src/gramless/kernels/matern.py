"""The Matern kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from gramless.arrays import Array, namespace
from gramless.errors import ExportError
from gramless.kernels.base import RadialKernel, kernels, require
from gramless.kernels.spectral import SpectralDensity

_LARGEST_NU = 30.0  # for larger nu the Bessel function overflows where the kernel still differs from 1
_BESSEL_ERROR = 8192.0  # units of roundoff; scipy.special.kv was seen to lose 1800 of them near t = 2
_CHUNK = 2**15


@kernels.register("matern")
@dataclass(frozen=True)
class Matern(RadialKernel):
    r"""k(x, y) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t), with t = sqrt(2 nu) |x - y| / lengthscale.

    Rasmussen & Williams, Gaussian Processes for Machine Learning, eq. 4.14; scikit-learn's
    `gaussian_process.kernels.Matern`.

    Parameters
    ----------
    nu : float
        Smoothness, at most 30 or ``inf``. 1/2 gives exp(-|x - y| / lengthscale), ``inf``
        the Gaussian kernel with sigma = lengthscale. These, 3/2 and 5/2 are the fastest.
    lengthscale : float

    See Also
    --------
    Gaussian : Smooth.
    Laplacian : Of the Euclidean distance, not smooth at 0.

    Examples
    --------
    >>> Matern(nu=1.5)(np.array([[0.0]]), np.array([[0.0], [1.0]])).round(4)
    array([[1.    , 0.4834]])
    """

    nu: float = 1.5
    lengthscale: float = 1.0

    def __post_init__(self) -> None:
        require("nu", self.nu)
        require("lengthscale", self.lengthscale)
        if _LARGEST_NU < self.nu < float("inf"):
            raise ValueError(f"nu={self.nu!r} must be at most {_LARGEST_NU:g}, or inf for the Gaussian kernel")

    @property
    def near(self) -> float:
        return 1e-3 if self.nu < 1 else 0.0

    @property
    def draftable(self) -> bool:
        return self.nu >= 1

    @property
    def tensors(self) -> bool:
        return self._closed

    @property
    def profile_error(self) -> float:
        return 16.0 if self._closed else _BESSEL_ERROR

    @property
    def _closed(self) -> bool:
        return self.nu in (0.5, 1.5, 2.5, float("inf"))

    def profile(self, squared_distance: Array) -> Array:
        if self.nu == float("inf"):
            squared_distance /= float(self.lengthscale)
            squared_distance /= -2 * float(self.lengthscale)
            return namespace(squared_distance).exp(squared_distance, out=squared_distance)  # type: ignore[no-any-return]
        t = namespace(squared_distance).sqrt(squared_distance, out=squared_distance)
        t *= np.sqrt(2 * float(self.nu)).item() / float(self.lengthscale)
        if not self._closed:
            return _bessel_profile(t, float(self.nu))
        if self.nu == 0.5:
            return _exp_of_minus(t)
        polynomial: Array = t / 3 + 1 if self.nu == 2.5 else namespace(t).ones_like(t)
        polynomial *= t
        polynomial += 1
        polynomial *= _exp_of_minus(t)
        return polynomial

    def symbolic(self, x: Any, points: Array) -> Any:
        if not self._closed:
            raise ExportError(
                f"{self} needs a Bessel function, which ONNX does not have; pass nu=0.5, 1.5, 2.5 or inf, or fit up to "
                "three columns with method='fourier'"
            )
        return super().symbolic(x, points)

    def spectral_density(self) -> SpectralDensity | None:
        return SpectralDensity(float(self.lengthscale), float(self.nu)) if np.isfinite(self.lengthscale) else None


def _exp_of_minus(t: Array) -> Array:
    t *= -1
    return namespace(t).exp(t, out=t)  # type: ignore[no-any-return]


def _bessel_profile(t: Array, nu: float) -> Array:
    """2^(1-nu) / Gamma(nu) t^nu K_nu(t), in float64 whatever the dtype: t^nu and K_nu leave float32's range."""
    flat = t.reshape(-1)  # a view of a tile, which is contiguous
    factor = float(2.0 ** (1 - nu) / special.gamma(nu))
    for first in range(0, len(flat), _CHUNK):
        part = flat[first : first + _CHUNK].astype(np.float64)
        with np.errstate(all="ignore"):
            value = special.kv(nu, part)
            value *= factor * part**nu
        # 0 * inf: for small t the kernel rounds to 1, for large t to 0
        flat[first : first + _CHUNK] = np.where(np.isfinite(value), value, np.where(part < 1, 1.0, 0.0))
    return flat.reshape(t.shape)
