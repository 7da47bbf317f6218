"""The interface of kernels: functions of two points with a bound on their rounding error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array, blank, namespace, unit_roundoff
from gramless.errors import ExportError
from gramless.kernels.points import (
    Points,
    column_shift,
    dot_products,
    mend_near,
    prepare_points,
    squared_distances,
    symbolic_differences,
    symbolic_distances,
)
from gramless.kernels.rounding import Rounding as Rounding
from gramless.kernels.rounding import distance_error, dot_error, growth, squared, underflow
from gramless.kernels.spectral import SpectralDensity
from gramless.registry import Registry

kernels: Registry[type[Kernel]] = Registry("kernel")


class Kernel(ABC):
    """A symmetric function of two points. Subclasses are frozen dataclasses of their parameters.

    A tile of the Gram matrix costs one matrix product and one formula: :meth:`prepare`
    is called once per block of rows, :meth:`evaluate` once per pair of blocks, and
    ``kernel(x, y)`` calls both. The object that :meth:`prepare` returns has a length,
    the number of rows; its other attributes are private to the kernel.
    """

    @property
    def mercer(self) -> bool | None:
        """True: positive semidefinite for all data. False: known not to be. None: not known."""
        return True

    @property
    def nonnegative(self) -> bool:
        """True when every value is >= 0: row sums then bound the norm of a Gram matrix."""
        return False

    @property
    def shift_invariant(self) -> bool:
        """True when k(x + a, y + a) = k(x, y) for the kernel, or for a part of a combination: `prepare` takes a shift.

        The parts that are not invariant ignore the shift, so that the shift never changes
        a value. Rows must not be shifted anywhere but in :meth:`prepare`.
        """
        return False

    @property
    def draftable(self) -> bool:
        """True when tiles in float32 are accurate enough for a draft of the eigenvectors."""
        return True

    @property
    def tensors(self) -> bool:
        """True when rows may be torch tensors: then the kernel works on a GPU."""
        return False

    @abstractmethod
    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Any:
        """Rows `x` (n, d) in the form :meth:`evaluate` takes; `shift` (d,) is subtracted where no value changes."""

    @abstractmethod
    def evaluate(self, x: Any, y: Any) -> Array:
        """Values (n, m) for prepared rows; a new array that the caller owns."""

    @abstractmethod
    def diagonal(self, x: Any) -> Array:
        """k(x_i, x_i) for each row: (n,)."""

    @abstractmethod
    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        """Error of :meth:`evaluate`, for d columns and arithmetic of unit roundoff `unit`.

        `radius` is at least :meth:`radius` of every block that was prepared. Rounding
        of the rows themselves, by a shift or by float32, is included.
        """

    @abstractmethod
    def bound(self, radius: float) -> float:
        """Largest modulus of a value for rows within `radius`; infinite where nothing is known."""

    def spectral_density(self) -> SpectralDensity | None:
        """Fourier transform of a radial kernel; None where it is unknown or not positive."""
        return None

    def symbolic(self, x: Any, points: Array) -> Any:
        """Values (n, m) for rows `x` that are :class:`~gramless.arrays.Symbolic`: how the kernel is written in ONNX.

        Parameters
        ----------
        x : Symbolic of shape (n, d)
        points : ndarray of shape (m, d)

        Raises
        ------
        ExportError
            If the kernel cannot be written in the operators of symbolic arrays.
        """
        raise ExportError(
            f"{self} cannot be written in the operators of ONNX; use a kernel of gramless.kernels, or define the "
            f"method symbolic of {type(self).__name__}"
        )

    def radius(self, prepared: Any) -> float:
        """Largest norm of the prepared rows, after the shift if the kernel takes one."""
        return float(np.sqrt(prepared.largest) * (1 + (prepared.values.shape[1] + 4) * prepared.eps))

    def __call__(self, x: Any, y: Any | None = None) -> Array:
        """Gram matrix (n, m) of the rows of `x` (n, d) and `y` (m, d; `x` itself when None)."""
        shift = column_shift(x if y is None else y) if self.shift_invariant else None
        left = self.prepare(x, shift)
        return self.evaluate(left, left if y is None or y is x else self.prepare(y, shift))

    def __add__(self, other: Kernel) -> Kernel:
        from gramless.kernels.combine import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        from gramless.kernels.combine import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, (int, float, np.number)) else NotImplemented

    def __rmul__(self, other: float) -> Kernel:
        return self * other


class RadialKernel(Kernel):
    """A radial kernel, a function of the distance alone; :meth:`profile` decreases and is convex in its square."""

    shift_invariant = True
    nonnegative = True

    @property
    def profile_error(self) -> float:
        """Relative error of :meth:`profile` in units of roundoff, besides that due to 8 units in its argument."""
        return 16.0

    @property
    def near(self) -> float:
        """Squared distances below this fraction of the largest one are computed from differences.

        The product formula loses too many digits there for a profile that is not
        smooth at 0. Smooth profiles have the fraction 0.
        """
        return 0.0

    @abstractmethod
    def profile(self, squared_distance: Array) -> Array:
        """The formula. May overwrite its argument, an array of any shape with entries >= 0, of numpy or torch."""

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Points:
        return prepare_points(x, shift, dtype)

    def evaluate(self, x: Points, y: Points) -> Array:
        squared = squared_distances(x, y)
        namespace(squared).clip(squared, 0, None, out=squared)
        near = self.near or self._near_if_narrow(x, y)
        if near:
            mend_near(squared, x, y, near)
        with np.errstate(over="ignore"):  # distances far beyond a small bandwidth
            return self.profile(squared)

    def symbolic(self, x: Any, points: Array) -> Any:
        shift = column_shift(points)
        there = self.prepare(points, shift)
        if self.near or self._near_if_narrow(there, there):
            difference = symbolic_differences(x - shift, there.values)
            return self.profile((difference * difference).sum(axis=2))
        return self.profile(symbolic_distances(x - shift, there))

    def _near_if_narrow(self, x: Points, y: Points) -> float:
        """The value of :attr:`near` for a kernel so narrow that it sees the rounding error of the product formula.

        This happens for data spread over thousands of bandwidths. The bound on rounding is that of the product formula
        and still holds. A draft in float32 does not need the accuracy.
        """
        if x.eps > 1e-12:
            return 0.0
        slip = distance_error(x.values.shape[1], unit_roundoff())
        return 1e6 * slip if self._falls(4 * slip * max(x.largest, y.largest)) else 0.0

    def _falls(self, squared: float) -> bool:
        """Whether the profile falls noticeably within this squared distance."""
        with np.errstate(all="ignore"):
            here, there = self.profile(np.array([0.0, squared]))
        return not here - there <= 1e-5 * here

    def diagonal(self, x: Any) -> Array:
        ones: Array = blank((x.shape[0],), x)
        ones[...] = self.bound(0.0)
        return ones

    def bound(self, radius: float) -> float:
        return float(self.profile(np.zeros(1))[0])

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        # A convex decreasing profile is steepest on the left: on [a, b], an error of at most m in the argument
        # changes its value by at most profile(a - m) - profile(a). Without `near` the interval starts at 0.
        largest = squared(2 * radius)
        if largest == np.inf:
            return Rounding(self.bound(radius), self.profile_error * unit)
        right = np.array([largest])
        if self.near:
            right = largest * 2.0 ** (-0.5 * np.arange(200))
        left = np.append(right[1:], 0.0)
        moved = self._argument_error(right, largest, d, unit)
        # one evaluation, since vectorized exponentials may differ in the last bit from one call to the next
        values = self.profile(np.concatenate([np.maximum(left - moved, 0), np.maximum(left, moved)]))
        noise = (self.profile_error + 8) * np.finfo(float).eps * self.bound(radius)  # rounding of these two values
        fall = float((values[: len(left)] - values[len(left) :]).max())
        return Rounding(fall + noise + underflow(unit), self.profile_error * unit)

    def _argument_error(self, squared: Array, largest: float, d: int, unit: float) -> Array:
        """Bound on the error of squared distances up to `squared`, each >= 0."""
        product = distance_error(d, unit)
        spread = product * largest + (d + 4) * underflow(unit)
        if not self.near:
            return np.full_like(squared, spread)
        blur = 1.01 * unit * np.sqrt(largest)  # error of a distance from the rounding of both rows
        grown = growth(d + 12, unit)
        direct = (1 + grown) * (2 * np.sqrt(squared) * blur + blur**2) + grown * squared + (d + 4) * underflow(unit)
        near = 0.99 * self.near  # the threshold is itself computed from rounded norms
        if product >= near:
            return np.asarray(np.maximum(direct, spread))
        return np.asarray(np.maximum(direct, np.minimum(spread, product / (near - product) * squared)))


class DotKernel(Kernel):
    """A dot-product kernel: a function of the dot product alone."""

    @abstractmethod
    def profile(self, dot: Array) -> Array:
        """The formula. May overwrite its argument, an array of any shape, of numpy or torch."""

    @abstractmethod
    def steepness(self, largest: float) -> float:
        """Bound on the slope of the profile for dot products of modulus at most `largest`."""

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Points:
        return prepare_points(x, None, dtype)

    def evaluate(self, x: Points, y: Points) -> Array:
        return self.profile(dot_products(x.values, y.values))

    def symbolic(self, x: Any, points: Array) -> Any:
        return self.profile(x @ points.T)

    def diagonal(self, x: Any) -> Array:
        with np.errstate(over="ignore"):  # callers check for infinite values and name the cause
            return self.profile(self.prepare(x).squared_norms)

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        """For a profile that itself has a relative error of at most 8 units."""
        spread = dot_error(radius, d, unit)
        return Rounding(self.steepness(squared(radius) + spread) * spread + underflow(unit), 8 * unit)


def require(name: str, value: float, *, above: float = 0.0, closed: Literal["open", "closed"] = "open") -> None:
    """Raise a ValueError that quotes `value` unless it is a number above the bound (or at it, when closed)."""
    good = isinstance(value, (int, float, np.number)) and (value > above or (closed == "closed" and value == above))
    if not good:
        at_least = f"at least {above:g}" if closed == "closed" else f"above {above:g}"
        raise ValueError(f"{name}={value!r} must be {'positive' if above == 0 and closed == 'open' else at_least}")


def require_finite(name: str, value: float) -> None:
    """Raise a ValueError that quotes `value` unless it is a finite number."""
    if not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r} must be a finite number")
