"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, copied, is_symbolic, namespace
from gramless.kernels.base import DotKernel, kernels, require, require_finite
from gramless.kernels.rounding import Rounding, dot_error, growth, squared, underflow


@kernels.register("polynomial")
@dataclass(frozen=True)
class Polynomial(DotKernel):
    r"""k(x, y) = (scale x.y + c)^degree (Raykar & Ankur, eq. 24, with scale 1).

    Parameters
    ----------
    degree : float
        At least 0. A non-integer degree needs ``scale x.y + c >= 0`` for all
        pairs and is not positive semidefinite.
    c : float
        Weight of the lower degrees; 0 gives the homogeneous kernel.
    scale : float
        scikit-learn's `gamma`.

    See Also
    --------
    Linear : The dot product.
    Tanh : Indefinite.

    Examples
    --------
    >>> Polynomial(degree=2, c=1.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    >>> Polynomial(degree=2, c=-1.0).mercer
    False
    """

    degree: float = 3
    c: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        require("degree", self.degree, closed="closed")
        for name in ("degree", "c", "scale"):
            require_finite(name, getattr(self, name))

    tensors = True

    @property
    def mercer(self) -> bool:
        if not self._whole:
            return self.scale == 0 and self.c >= 0
        if self.degree == 0:
            return True
        even = self.degree % 2 == 0  # then (scale, c) and (-scale, -c) give the same kernel
        constant = self.scale == 0 and even
        return bool(constant or (self.scale >= 0 and self.c >= 0) or (even and self.scale <= 0 and self.c <= 0))

    @property
    def nonnegative(self) -> bool:
        return not self._whole or self.degree % 2 == 0

    @property
    def _whole(self) -> bool:
        return float(self.degree).is_integer()

    def profile(self, dot: Array) -> Array:
        base = dot
        base *= float(self.scale)
        base += float(self.c)
        if self._whole:
            return _whole_power(base, int(self.degree))
        if not is_symbolic(base) and not bool((base >= 0).all()):  # a graph has NaN in place of the error
            raise ValueError(
                f"degree={self.degree!r} is not an integer and needs scale * x.y + c >= 0, but a pair of rows has "
                f"{float(base.min()):g}; pass an integer degree, a larger c, or data without negative products"
            )
        base **= float(self.degree)
        return base

    def steepness(self, largest: float) -> float:
        return abs(self.scale) * self._slope(abs(self.scale) * largest + abs(self.c))

    def _slope(self, base: float) -> float:
        """Largest derivative of b^degree for b between -base and base."""
        if self.degree == 0:
            return 0.0
        return float("inf") if self.degree < 1 else self.degree * _power(base, self.degree - 1)

    def bound(self, radius: float) -> float:
        return _power(abs(self.scale) * squared(radius) + abs(self.c), self.degree)

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        base = abs(self.scale) * squared(radius) + abs(self.c)
        spread = abs(self.scale) * dot_error(radius, d, unit) + growth(4, unit) * base + underflow(unit)
        if self.degree == 0:
            moved = 0.0
        elif self.degree < 1:  # |a^p - b^p| <= |a - b|^p
            moved = _power(spread, self.degree)
        else:
            moved = self._slope(base + spread) * spread
        lost = (self.degree + 1) * underflow(unit) * _power(max(1.0, base), self.degree)
        return Rounding(moved + lost, growth(self.degree + 8, unit))


def _whole_power(base: Array, degree: int) -> Array:
    """``base**degree`` by squaring, which is many times faster than pow; overwrites `base`."""
    if degree == 0:
        return namespace(base).ones_like(base)  # type: ignore[no-any-return]
    power: Array | None = None
    while degree > 1:
        if degree % 2:
            if power is None:
                power = copied(base)
            else:
                power *= base
        base *= base
        degree //= 2
    if power is None:
        return base
    power *= base
    return power


def _power(base: float, exponent: float) -> float:
    """``base**exponent`` for base >= 0, infinite where it overflows."""
    with np.errstate(over="ignore"):
        return float(np.power(np.float64(base), float(exponent)))
