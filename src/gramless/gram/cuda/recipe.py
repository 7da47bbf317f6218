"""The parameters of the fused kernel: the name of the profile, its constants, and the scaling of float16 halves.

A number is split into two halves of 11 bits, high + low. Scaled by powers of two, rows, vectors and kernel values all
fit the range of half precision: the error is below 2^-22 of a number or 2^-38 of the largest one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from gramless.kernels import Epanechnikov, Gaussian, Kernel, Laplacian, Linear, Matern, Polynomial, Tanh

_LOG2E = math.log2(math.e)
_TOP = 15  # kernel values are at most 2^15: half precision ends at 65504
_FOLD = 4.0  # the largest |x|^2 gamma log2(e) for which exp(-gamma |x|^2) multiplies the vectors
_MOST_MULTIPLIED = 16  # largest degree of a polynomial


@dataclass(frozen=True)
class Recipe:
    """Constants of one kernel on one set of rows.

    Attributes
    ----------
    profile : str
        Name of the profile in ``kernel._values``.
    first, second, power : float
        Constants of the profile: the factor of the dot product (of scaled rows), an offset, the scale of the values.
    bias : float
        Factor of the squared norm of a row in the term that depends on that row alone.
    lift : float
        Constant added to that term.
    factor : float
        Values on the GPU are this factor times those of the kernel.
    fold : float
        If not 0, rows of vectors are multiplied by ``2^(fold |x|^2)`` before and after the product.
    degree : int
    exact_diagonal : bool
        Whether to set the diagonal to `power`: a square root magnifies the rounding error of a distance of 0.
    """

    profile: str
    first: float
    second: float = 0.0
    power: float = 1.0
    bias: float = 0.0
    lift: float = 0.0
    factor: float = 1.0
    fold: float = 0.0
    degree: int = 1
    exact_diagonal: bool = False


def recipe_for(kernel: Kernel, radius: float) -> Recipe | None:
    """The recipe of `kernel` for rows within `radius`; None where the fused kernel cannot evaluate it.

    Examples
    --------
    >>> recipe_for(Gaussian(2.0), radius=1.0).profile, recipe_for(Gaussian(0.1), radius=1.0).profile
    ('folded', 'gaussian')
    >>> recipe_for(Matern(nu=0.7), radius=1.0) is None
    True
    """
    top = 2.0**_TOP
    if isinstance(kernel, Matern) and kernel.nu == float("inf"):
        kernel = Gaussian(kernel.lengthscale)
    if isinstance(kernel, Gaussian):
        rate = kernel.gamma * _LOG2E
        if rate * radius**2 <= _FOLD:
            offset = math.floor(_TOP - 2 * rate * radius**2)
            return Recipe("folded", 2 * rate, second=offset, factor=2.0**offset, fold=-rate)
        return Recipe("gaussian", 2 * rate, power=top, bias=-rate, lift=_TOP / 2, factor=top, exact_diagonal=True)
    if isinstance(kernel, (Laplacian, Matern)):
        return _rooted(kernel)
    if isinstance(kernel, Epanechnikov):
        inverse = 1 / float(kernel.width) ** 2
        return Recipe("epanechnikov", -2 * inverse, power=top, bias=inverse, factor=top)
    if isinstance(kernel, Tanh):
        return Recipe("tanh", 2 * _LOG2E * kernel.scale, second=2 * _LOG2E * kernel.b, power=top, factor=top)
    if isinstance(kernel, (Linear, Polynomial)):
        return _multiplied(kernel, radius)
    return None


def _rooted(kernel: Laplacian | Matern) -> Recipe | None:
    """Recipe of a radial kernel that depends on the distance itself, not on its square."""
    nu = 0.5 if isinstance(kernel, Laplacian) else float(kernel.nu)
    names = {0.5: "laplacian", 1.5: "matern32", 2.5: "matern52"}
    if nu not in names:
        return None
    inverse = 2 * nu / float(kernel.lengthscale) ** 2
    top = 2.0**_TOP
    return Recipe(names[nu], -2 * inverse, second=_TOP, power=top, bias=inverse, factor=top, exact_diagonal=True)


def _multiplied(kernel: Linear | Polynomial, radius: float) -> Recipe | None:
    """Recipe of a power of the dot product, where its values stay in the range of float32."""
    whole = isinstance(kernel, Polynomial)
    degree, scale, c = (kernel.degree, kernel.scale, kernel.c) if whole else (1, 1.0, 0.0)  # type: ignore[union-attr]
    size = kernel.bound(radius)
    if not float(degree).is_integer() or not 1 <= degree <= _MOST_MULTIPLIED or not 1e-30 < size < 1e30:
        return None
    power = 2.0 ** math.floor(_TOP - math.log2(size))
    return Recipe("polynomial", float(scale), second=float(c), power=power, factor=power, degree=int(degree))


def binary_scale(size: float, top: int = 13) -> float:
    """The power of two that takes numbers up to `size` to just below ``2^(top + 1)``."""
    return 2.0 ** (top - math.floor(math.log2(size))) if 0 < size < math.inf else 1.0


def halves(values: Any, rows: int, columns: int) -> tuple[Any, Any]:
    """`values` (float64) as two float16 halves, high + low, padded with zeros to (rows, columns)."""
    high = torch.zeros((rows, columns), dtype=torch.float16, device=values.device)
    low = torch.zeros_like(high)
    n, d = values.shape
    high[:n, :d] = values.to(torch.float16)
    low[:n, :d] = (values - high[:n, :d].to(values.dtype)).to(torch.float16)
    return high, low
