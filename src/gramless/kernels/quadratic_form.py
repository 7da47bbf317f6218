"""The kernel of a quadratic form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array
from gramless.kernels.base import Kernel, kernels
from gramless.kernels.points import Points, dot_products, prepare_points
from gramless.kernels.rounding import Rounding, growth, squared, underflow


@dataclass(frozen=True)
class MappedPoints(Points):
    """Points and their images under A."""

    images: Any  # ndarray or CSR, (n, d)


@kernels.register("quadratic_form")
@dataclass(frozen=True, eq=False)
class QuadraticForm(Kernel):
    """k(x, z) = x^T A z: the dot product of R x and R z where A = R^T R (Vasconcelos).

    Parameters
    ----------
    A : array-like of shape (d, d)
        Symmetric; the kernel is positive semidefinite exactly when `A` is.

    Examples
    --------
    >>> QuadraticForm([[2.0, 0.0], [0.0, 1.0]])(np.array([[1.0, 1.0]]), np.array([[3.0, 4.0]]))
    array([[10.]])
    >>> QuadraticForm([[0.0, 1.0], [1.0, 0.0]]).mercer
    False
    """

    A: Any  # kept as a read-only float64 array

    def __post_init__(self) -> None:
        form = np.array(self.A, dtype=np.float64)
        if form.ndim != 2 or form.shape[0] != form.shape[1]:
            raise ValueError(f"A has shape {form.shape}; it must be square, one row and column per column of the data")
        if not np.isfinite(form).all():
            raise ValueError("A has entries that are not finite")
        apart = np.abs(form - form.T).max(initial=0.0)
        if apart > 1e-12 * np.abs(form).max(initial=0.0):
            raise ValueError(f"A must be symmetric, but A and its transpose differ by {apart:g}; pass (A + A.T) / 2")
        form = (form + form.T) / 2 + 0.0  # + 0.0 turns -0.0, which equals 0.0 but has another hash, into 0.0
        form.flags.writeable = False
        object.__setattr__(self, "A", form)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuadraticForm) and np.array_equal(self.A, other.A)

    def __hash__(self) -> int:
        return hash((QuadraticForm, self.A.shape, self.A.tobytes()))

    @property
    def mercer(self) -> bool | None:
        """None where the smallest eigenvalue of A is negative, but by no more than rounding."""
        lowest, noise = self._lowest
        return True if lowest >= 0 else False if lowest < -noise else None

    @cached_property
    def _lowest(self) -> tuple[float, float]:
        """Smallest eigenvalue of A (0 if positive), and a bound on its rounding error."""
        values = np.linalg.eigvalsh(self.A)
        noise = len(values) * np.finfo(float).eps * np.abs(values).max(initial=0.0)
        return float(values.min(initial=0.0)), float(noise)

    @cached_property
    def _size(self) -> float:
        """Bound on the norm of the matrix of moduli of A."""
        moduli = np.abs(self.A)
        return float(min(np.linalg.norm(moduli), moduli.sum(axis=0).max(initial=0.0))) * (1 + 1e-12)

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> MappedPoints:
        if x.shape[1] != len(self.A):
            raise ValueError(f"x has {x.shape[1]} columns, but A is {len(self.A)} x {len(self.A)}")
        points = prepare_points(x, None, dtype)
        return MappedPoints(points.values, points.squared_norms, points.values @ self.A.astype(dtype))

    def evaluate(self, x: MappedPoints, y: MappedPoints) -> Array:
        return dot_products(x.values, y.images)

    def symbolic(self, x: Any, points: Array) -> Any:
        return x @ (self.A @ points.T)

    def diagonal(self, x: Any) -> Array:
        rows = self.prepare(x)
        if isinstance(rows.values, np.ndarray):
            return np.asarray(np.einsum("ij,ij->i", rows.values, rows.images))
        return np.asarray(rows.values.multiply(rows.images).sum(axis=1)).ravel()

    def bound(self, radius: float) -> float:
        return self._size * squared(radius)

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        lost = (d + 4) * underflow(unit) * (1 + float(np.sqrt(d)) * radius)
        return Rounding(growth(2 * d + 6, unit) * self.bound(radius) + lost, 0.0)
