"""The explicit features of a polynomial kernel: it is a dot product of finitely many monomials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import (
    Array,
    blank,
    in_float64,
    inner_rounding,
    is_tensor,
    like,
    namespace,
    threads_for,
    unit_roundoff,
)
from gramless.features.base import FeatureMap
from gramless.features.chunks import add_in_order, row_chunks
from gramless.features.compress import compress, count, exponents, symbolic_monomials
from gramless.features.hankel import HankelSums
from gramless.features.shifted import ShiftedMoments
from gramless.kernels import Kernel, Linear, Polynomial, Scaled
from gramless.kernels.rounding import growth, underflow

_ON_CARD = 2**25  # entries of a chunk of monomials on a GPU
_GROUP = 16  # chunks that one thread adds up before the groups are added, in their order


@dataclass(frozen=True)
class Power:
    """factor (scale x.y + c)^degree."""

    degree: int
    c: float
    scale: float
    factor: float


def as_power(kernel: Any) -> Power | str:
    """The kernel as a power of a dot product, or the reason why it is not one."""
    factor = 1.0
    while isinstance(kernel, Scaled):
        factor, kernel = factor * kernel.factor, kernel.kernel
    if isinstance(kernel, Linear):
        kernel = Polynomial(degree=1, c=0.0)
    if not isinstance(kernel, Polynomial):
        return "only for polynomial kernels"
    if not float(kernel.degree).is_integer():
        return f"degree={kernel.degree!r} is not an integer"
    if factor < 0:
        return f"factor={factor!r} is negative"
    degree, c, scale = int(kernel.degree), float(kernel.c), float(kernel.scale)
    if degree % 2 == 0 and c <= 0 and scale <= 0:
        c, scale = -c, -scale
    if degree > 0 and c < 0:
        return f"c={c!r} is negative"
    if degree > 0 and scale < 0:
        return f"scale={scale!r} is negative"
    return Power(degree, c, scale, factor) if degree else Power(0, 0.0, 0.0, factor)


class Monomials(FeatureMap):
    """All monomials of degree `p` of (sqrt c, sqrt(scale) x) (Raykar & Ankur, section 10): exact.

    The features are monomials times square roots of multinomial coefficients. Moments are sums of monomials of
    (x - center) / unit, which become moments of the features at the end, after centering. For data far from the origin
    the features are nearly collinear, and sums of the features themselves would cancel.

    Parameters
    ----------
    kernel : Kernel
        Polynomial with an integer degree, c >= 0 and scale >= 0; Linear; positive multiples of these.
    d : int
        Columns.
    center, unit : ndarray of shape (d,), optional
        A point in the middle of the data and a scale for each column, best a power of two. They change only the
        rounding of a result. Moments add when both are equal.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> phi = Monomials(Polynomial(degree=2, c=1.0), 2)
    >>> phi.n_features
    6
    >>> (phi(x) @ phi(x).T).round(9)
    array([[ 36., 144.],
           [144., 676.]])
    >>> moments = phi.moments(x, np.ones(2))
    >>> round(moments.trace, 9)  # half the squared distance of the two
    212.0
    """

    kernel: Kernel
    d: int
    center: Array
    unit: Array

    def __init__(self, kernel: Kernel, d: int, center: Array | None = None, unit: Array | None = None) -> None:
        self.kernel, self.d = kernel, d
        power = as_power(kernel)
        if isinstance(power, str):
            raise ValueError(f"kernel={kernel!r} has no monomials: {power}")
        self._power = power
        self.n_features = count(d + (power.c > 0), power.degree)
        self.center = np.zeros(d) if center is None else np.array(center, dtype=np.float64)
        self.unit = np.ones(d) if unit is None else np.array(unit, dtype=np.float64)
        if self.center.shape != (d,) or not np.isfinite(self.center).all():
            raise ValueError(f"center={center!r} must be {d} finite numbers")
        if self.unit.shape != (d,) or not (np.isfinite(self.unit) & (self.unit > 0)).all():
            raise ValueError(f"unit={unit!r} must be {d} positive numbers")

    tensors = True

    @property
    def error(self) -> float:
        """|computed - exact| <= error * |phi| for each row of features, apart from underflow."""
        return growth(7 * self._power.degree + 4, unit_roundoff())

    def __call__(self, x: Any) -> Array:
        power = self._power
        rows = _dense(x)
        z = blank((self.d + (power.c > 0), len(rows)), rows)
        z[z.shape[0] - self.d :] = rows.T
        with np.errstate(over="ignore", invalid="ignore"):
            z *= float(np.sqrt(power.scale))
            if power.c > 0:
                z[0] = float(np.sqrt(power.c))
            features = compress(z, power.degree)
            features *= float(np.sqrt(power.factor))
        if not bool(namespace(features).isfinite(features).all()):
            raise ValueError(
                f"monomials of degree {power.degree} of rows up to {float(abs(rows).max()):.3g} overflow; "
                "scale the data down"
            )
        return features.T

    def symbolic(self, x: Any) -> Any:
        return self._plain_monomials(x) * self._roots

    def symbolic_dot(self, x: Any, coefficients: Array) -> Any:
        return self._plain_monomials(x) @ (self._roots[:, None] * coefficients)

    def _plain_monomials(self, x: Any) -> Any:
        """Monomials (n, D) of symbolic rows, without the square roots of multinomial coefficients."""
        power, xp = self._power, namespace(x)
        z = x * float(np.sqrt(power.scale))
        if power.c > 0:
            z = xp.concatenate([xp.ones_like(xp.take(x, [0], axis=1)) * float(np.sqrt(power.c)), z], axis=1)
        return symbolic_monomials(z, self.d + (power.c > 0), power.degree)

    @property
    def _roots(self) -> Array:
        """Square roots (D,) of the multinomial coefficients, times that of the factor of the kernel."""
        ones = np.ones((self.d + (self._power.c > 0), 1))
        return np.asarray(compress(ones, self._power.degree)[:, 0] * np.sqrt(self._power.factor))

    def moments(self, x: Any, weights: Array) -> ShiftedMoments:
        n, hankel = x.shape[0], self.hankel
        chunk, together = (512 if hankel.width >= 64 else 1024), _GROUP
        added = float(chunk)  # roundings of a sum over a chunk
        if is_tensor(x):
            chunk, together = max(1024, _ON_CARD // hankel.width), 1
            added = inner_rounding(chunk) / unit_roundoff()
        total = np.zeros(hankel.size)
        groups = row_chunks(n, chunk * together)

        def sums_of(group: slice) -> Array:
            part = np.zeros(hankel.size)
            with np.errstate(over="ignore", invalid="ignore"):
                for first in range(group.start, group.stop, chunk):
                    rows = slice(first, min(n, first + chunk))
                    moved = self._moved(x[rows])
                    hankel.add(moved, like(weights[rows], moved), part)
            return part

        with threads_for(x):
            add_in_order(sums_of, groups, lambda part: np.add(total, part, out=total))
        if not np.isfinite(total).all():
            raise ValueError(
                f"sums of monomials of degree {2 * self._power.degree} overflow: rows lie too far from center="
                f"{self.center}, in units of {self.unit}; scale the data down or build the map from rows like these"
            )
        roundings = added + together + len(groups) + 6 * hankel.degree + 8
        squares = total[hankel.squares]
        tiny = underflow(unit_roundoff()) * (n + 1) * max(1.0, float(np.max(weights, initial=0.0)))
        slip = growth(roundings, unit_roundoff()) * squares + tiny
        return ShiftedMoments(self, float(np.sum(weights)), total, slip, n)

    def _moved(self, x: Any) -> Array:
        """(1, (x - center) / unit) as columns (d + 1, n)."""
        rows = _dense(x)
        u: Array = blank((self.d + 1, len(rows)), rows)
        u[0] = 1
        namespace(u).subtract(rows.T, like(self.center, u)[:, None], out=u[1:])
        u[1:] /= like(self.unit, u)[:, None]
        return u

    @cached_property
    def hankel(self) -> HankelSums:
        """Sums of products of monomials of (1, (x - center) / unit)."""
        return HankelSums(self.d + 1, max(1, self._power.degree))

    @cached_property
    def matrix(self) -> Array:
        """Coefficients (D, width) of the features in monomials of (1, (x - center) / unit): products of binomials."""
        power, degree = self._power, max(1, self._power.degree)
        inner = exponents(self.d + 1, degree)
        outer = exponents(self.d + 1, power.degree)
        coefficient = compress(np.ones((self.d + 1, 1)), power.degree)[:, 0] * np.sqrt(power.factor)
        if power.c > 0:
            coefficient = coefficient * np.sqrt(power.c) ** outer[:, 0]
        else:
            outer, coefficient = outer[outer[:, 0] == 0], coefficient[outer[:, 0] == 0]
        out = np.repeat(coefficient[:, None], len(inner), axis=1)
        root = np.sqrt(power.scale)
        for i in range(self.d):
            table = _binomial_powers(root * self.center[i], root * self.unit[i], degree)
            with np.errstate(over="ignore", invalid="ignore"):
                out *= table[outer[:, i + 1][:, None], inner[:, i + 1]]
        if power.factor > 0 and power.scale > 0 and power.degree > 0 and not out.any():
            raise ValueError(f"monomials of degree {power.degree} of this data underflow; scale it up")
        return out

    @property
    def matrix_error(self) -> float:
        """Relative error of each entry of the matrix."""
        return growth(12 * self.hankel.degree + 2 * self.d + 24, unit_roundoff())

    def transfer(self, other: Monomials) -> Array:
        """Matrix (width, width) that turns monomials about this center into those about the center of `other`."""
        degree = self.hankel.degree
        powers = exponents(self.d + 1, degree)
        out = np.ones((len(powers), len(powers)))
        for i in range(self.d):
            step = (self.center[i] - other.center[i]) / other.unit[i]
            table = _binomial_powers(step, self.unit[i] / other.unit[i], degree)
            out *= table[powers[:, i + 1][:, None], powers[:, i + 1]]
        return out

    def adopted(self, moments: ShiftedMoments, other: FeatureMap) -> ShiftedMoments:
        """Exact features differ only in their center, so the moments are moved to this one."""
        return moments.moved(self)

    def same_axes(self, other: FeatureMap) -> bool:
        return isinstance(other, Monomials) and self.kernel == other.kernel and self.d == other.d

    def same_space(self, other: FeatureMap) -> bool:
        return (
            isinstance(other, Monomials)
            and self.kernel == other.kernel
            and self.d == other.d
            and bool(np.array_equal(self.center, other.center) and np.array_equal(self.unit, other.unit))
        )


def _binomial_powers(shift: float, unit: float, degree: int) -> Array:
    """Coefficients of (shift + unit y)^a = sum_b table[a, b] y^b, by Pascal's rule: no term cancels."""
    table = np.zeros((degree + 1, degree + 1))
    table[0, 0] = 1
    with np.errstate(over="ignore", invalid="ignore"):
        for a in range(degree):
            table[a + 1] = shift * table[a]
            table[a + 1, 1:] += unit * table[a, :-1]
    return table


def _dense(x: Any) -> Array:
    return in_float64(x.toarray() if scipy.sparse.issparse(x) else x)  # type: ignore[no-any-return]
