"""Sums, products and multiples of kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array
from gramless.kernels.base import Kernel, kernels, require_finite
from gramless.kernels.rounding import Rounding, underflow
from gramless.kernels.spectral import SpectralDensity


@dataclass(frozen=True)
class Pair:
    """Rows prepared for each of two kernels."""

    left: Any
    right: Any

    def __len__(self) -> int:
        return len(self.left)

    def part(self, rows: slice) -> Pair:
        """Some of the rows, on a torch device."""
        return Pair(self.left.part(rows), self.right.part(rows))


@dataclass(frozen=True)
class _Combination(Kernel):
    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            if not isinstance(getattr(self, name), Kernel):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a kernel")

    @property
    def mercer(self) -> bool | None:
        """True for two Mercer kernels; otherwise None: the other part may outweigh an indefinite part."""
        return True if self.left.mercer and self.right.mercer else None

    @property
    def nonnegative(self) -> bool:
        return self.left.nonnegative and self.right.nonnegative

    @property
    def shift_invariant(self) -> bool:
        return self.left.shift_invariant or self.right.shift_invariant

    @property
    def draftable(self) -> bool:
        return self.left.draftable and self.right.draftable

    @property
    def tensors(self) -> bool:
        return self.left.tensors and self.right.tensors

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Pair:
        return Pair(self.left.prepare(x, shift, dtype), self.right.prepare(x, shift, dtype))

    def radius(self, prepared: Pair) -> float:
        return max(self.left.radius(prepared.left), self.right.radius(prepared.right))


@kernels.register("sum")
@dataclass(frozen=True)
class Sum(_Combination):
    """k(x, y) = left(x, y) + right(x, y); also written ``left + right``.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> from gramless.kernels import Linear, Polynomial
    >>> Sum(Linear(), Polynomial(degree=2, c=0.0))(np.array([[2.0]]))
    array([[20.]])
    """

    def evaluate(self, x: Pair, y: Pair) -> Array:
        values = self.left.evaluate(x.left, y.left)
        values += self.right.evaluate(x.right, y.right)
        return values

    def symbolic(self, x: Any, points: Array) -> Any:
        return self.left.symbolic(x, points) + self.right.symbolic(x, points)

    def diagonal(self, x: Any) -> Array:
        return self.left.diagonal(x) + self.right.diagonal(x)

    def bound(self, radius: float) -> float:
        return self.left.bound(radius) + self.right.bound(radius)

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        a, b = self.left.rounding(radius, d, unit), self.right.rounding(radius, d, unit)
        absolute = a.absolute + b.absolute
        if self.nonnegative:  # neither part exceeds the sum
            relative = max(a.relative, b.relative)
        else:  # the parts may cancel
            relative = 0.0
            absolute += _times(a.relative, self.left.bound(radius)) + _times(b.relative, self.right.bound(radius))
        return Rounding(absolute * (1 + unit), relative * (1 + unit) + unit)


@kernels.register("product")
@dataclass(frozen=True)
class Product(_Combination):
    """k(x, y) = left(x, y) right(x, y); also written ``left * right``.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> Product(Linear(), Linear())(np.array([[2.0]]))
    array([[16.]])
    """

    def evaluate(self, x: Pair, y: Pair) -> Array:
        values = self.left.evaluate(x.left, y.left)
        values *= self.right.evaluate(x.right, y.right)
        return values

    def symbolic(self, x: Any, points: Array) -> Any:
        return self.left.symbolic(x, points) * self.right.symbolic(x, points)

    def diagonal(self, x: Any) -> Array:
        return self.left.diagonal(x) * self.right.diagonal(x)

    def bound(self, radius: float) -> float:
        return _times(self.left.bound(radius), self.right.bound(radius))

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        a, b = self.left.rounding(radius, d, unit), self.right.rounding(radius, d, unit)
        absolute = (
            _times(a.absolute * (1 + b.relative), self.right.bound(radius))
            + _times(b.absolute * (1 + a.relative), self.left.bound(radius))
            + a.absolute * b.absolute
        )
        relative = a.relative + b.relative + a.relative * b.relative
        return Rounding(absolute * (1 + unit) + underflow(unit), relative * (1 + unit) + unit)


@kernels.register("scaled")
@dataclass(frozen=True)
class Scaled(Kernel):
    """k(x, y) = factor kernel(x, y); also written ``factor * kernel``.

    Parameters
    ----------
    kernel : Kernel
    factor : float
        A negative factor turns a Mercer kernel into one that is not.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> Scaled(Linear(), 3.0)(np.array([[2.0]]))
    array([[12.]])
    """

    kernel: Kernel
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel={self.kernel!r} must be a kernel")
        require_finite("factor", self.factor)

    @property
    def mercer(self) -> bool | None:
        if self.factor == 0:
            return True
        if self.factor > 0:
            return self.kernel.mercer
        return False if self.kernel.mercer else None

    @property
    def nonnegative(self) -> bool:
        return self.factor == 0 or (self.factor > 0 and self.kernel.nonnegative)

    @property
    def shift_invariant(self) -> bool:
        return self.kernel.shift_invariant

    @property
    def draftable(self) -> bool:
        return self.kernel.draftable

    @property
    def tensors(self) -> bool:
        return self.kernel.tensors

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Any:
        return self.kernel.prepare(x, shift, dtype)

    def radius(self, prepared: Any) -> float:
        return self.kernel.radius(prepared)

    def evaluate(self, x: Any, y: Any) -> Array:
        values = self.kernel.evaluate(x, y)
        values *= float(self.factor)
        return values

    def symbolic(self, x: Any, points: Array) -> Any:
        return self.kernel.symbolic(x, points) * float(self.factor)

    def diagonal(self, x: Any) -> Array:
        return self.kernel.diagonal(x) * float(self.factor)

    def bound(self, radius: float) -> float:
        return _times(abs(self.factor), self.kernel.bound(radius))

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        inner = self.kernel.rounding(radius, d, unit)
        grown = 1 + 2.5 * unit  # rounding of the factor and of the product
        absolute = abs(self.factor) * (inner.absolute * grown + _times(underflow(unit), self.kernel.bound(radius)))
        return Rounding(absolute + underflow(unit), inner.relative * grown + 2.5 * unit)

    def spectral_density(self) -> SpectralDensity | None:
        inner = self.kernel.spectral_density()
        if inner is None or not self.factor > 0:
            return None
        return replace(inner, factor=inner.factor * float(self.factor))


def _times(a: float, b: float) -> float:
    """Product with 0 * inf = 0; a factor below 1e-290, such as an error of underflow, counts as 0."""
    return a * b if a > 1e-290 and b > 1e-290 else 0.0
