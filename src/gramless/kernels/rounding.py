"""Bounds on the rounding errors of the operations that kernels consist of: worst cases, not estimates.

NumPy's exp, tanh and power are taken to be within 4 units in the last place, which is 8 units of roundoff.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rounding:
    """A computed value k~ satisfies ``|k~ - k| <= absolute + relative * |k|``."""

    absolute: float
    relative: float

    def __add__(self, other: Rounding) -> Rounding:
        return Rounding(self.absolute + other.absolute, self.relative + other.relative)


def growth(n: float, unit: float) -> float:
    """Relative error of n roundings: n u / (1 - n u) (Higham, Accuracy and Stability, lemma 3.1)."""
    return n * unit / (1 - n * unit) if n * unit < 1 else float("inf")


def underflow(unit: float) -> float:
    """Error of one operation that underflows, in the format whose unit roundoff is `unit`."""
    return float(np.finfo(np.float64 if unit < 1e-12 else np.float32).tiny)


def squared(value: float) -> float:
    """value^2, infinite where ``value**2`` would raise an OverflowError."""
    return value * value


def dot_error(radius: float, d: int, unit: float) -> float:
    """Error of a computed dot product of rows within `radius`, rounding of the rows included."""
    return growth(d + 4, unit) * squared(radius) + (d + 4) * underflow(unit)


def distance_error(d: int, unit: float) -> float:
    """Error of :func:`~gramless.kernels.base.squared_distances` relative to (2 radius)^2.

    Roundings: d + 2 in the product, d/2 in the two squared norms (of rows in float32 they are summed in float64), 2 in
    the rows, and 8 that the profile may use to scale its argument.
    """
    norms = 0.5 * d if unit < 1e-12 else 0.5
    return growth(d + norms + 13, unit)


def exponential_rounding(error: float, unit: float) -> Rounding:
    """Rounding of exp(-t) where t >= 0 is known up to `error`: relative, or absolute where `error` is large."""
    if error < 0.4:
        return Rounding(underflow(unit), float(np.expm1(error)) + 10 * unit)
    return Rounding(1.0, 10 * unit)
