"""Landmarks and a second level: a few combinations of many further points, for what the landmarks leave out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gramless.arrays import Array, row_squares, run_in_threads, unit_roundoff
from gramless.features.base import FeatureMap
from gramless.features.landmarks import LandmarkMap, Solved
from gramless.features.paired import PairedMap
from gramless.features.rows import FeatureRows
from gramless.kernels import Kernel

_TILE = 512
_UNIT = unit_roundoff()


@dataclass(frozen=True, eq=False)
class SampledMap(PairedMap):
    r"""Features (phi, psi): phi of landmarks, and psi = R(x, points) T with R the kernel less phi . phi.

    R is positive semidefinite, and so is what psi leaves of it, R - Psi Psi^T, if T^T R(points, points) T <= I. A full
    set of features on as many points would cost the square of their number for each row; psi costs the number of points
    times that of its columns.

    Rounding: R differs from the computed values by what :class:`LandmarkMap` states, and T is scaled so that the
    inequality holds with that difference included. The error of psi itself is stated row by row.

    Parameters
    ----------
    landmarks : LandmarkMap
    points : ndarray of shape (s, d)
    combinations : ndarray of shape (s, q)
        T.
    pairs, seed
        As for :class:`LandmarkMap`.
    """

    landmarks: LandmarkMap
    points: Any
    combinations: Array
    pairs: int = 0
    seed: int = 0

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]
        """The kernel."""
        return self.landmarks.kernel

    @property
    def shift(self) -> Array | None:  # type: ignore[override]
        """Subtracted from rows (d,) where that changes no value."""
        return self.landmarks.shift

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of landmarks and of combinations."""
        return int(self.landmarks.n_features + self.combinations.shape[1])

    @cached_property
    def _at_points(self) -> Solved:
        return self.landmarks.solved(self.points)

    @cached_property
    def _along(self) -> Array:
        """Phi(points)^T T: (m, q), summed tile by tile."""
        values = self._at_points.rows.values
        out = np.zeros((values.shape[1], self.combinations.shape[1]))
        for first in range(0, len(values), _TILE):
            out += values[first : first + _TILE].T @ self.combinations[first : first + _TILE]
        return out

    @cached_property
    def _ready(self) -> list[Any]:
        """The points, prepared tile by tile: sums over tiles have a smaller error than one long sum."""
        starts = range(0, self.points.shape[0], _TILE)
        return [self.kernel.prepare(self.points[first : first + _TILE], self.shift) for first in starts]

    def _product(self, rows: Any, v: Array) -> Array:
        """K(rows, points) v for prepared rows."""
        out = np.zeros((len(rows), v.shape[1]))
        for number, ready in enumerate(self._ready):
            out += self.kernel.evaluate(rows, ready) @ v[number * _TILE : (number + 1) * _TILE]
        return out

    @property
    def _growth(self) -> float:
        """Relative error of a sum over the points."""
        s = len(self.combinations)
        return 1.01 * (min(s, _TILE) + s // _TILE + 8) * _UNIT

    def _entry_error(self, radius: float, largest: float) -> float:
        """Error of an entry of K(x, points) T, for each unit of a column's sum of moduli."""
        rounding = self.kernel.rounding(max(radius, self._radius), self.points.shape[1], _UNIT)
        return rounding.absolute + (rounding.relative + self._growth) * largest

    @cached_property
    def _sums(self) -> Array:
        """Sums of moduli of the columns of T: (q,)."""
        return np.asarray(np.abs(self.combinations).sum(axis=0))

    def _rounding_of(self, combinations: Array, along: Array) -> tuple[Array, Array, Array]:
        r"""Bounds on the terms of X(x, points) T of the residual identity, X = C^T F C - C^T f - f^T C - g^T g.

        For each column the factors of \|c\|, of \|f\| and of \|g\| of a row: each (q,).
        """
        there = self._at_points
        lost = self._growth * np.sqrt(self._largest) * np.abs(combinations).sum(axis=0)  # rounding of `along`
        triangle, sizes = self.landmarks.triangle, np.linalg.norm(along, axis=0) + lost
        turned = np.linalg.norm(triangle.solve_transposed(along.T), axis=1)
        turned = turned + triangle.inverse_norm * (triangle.residual(turned, sizes) + lost)  # of C(points)^T T, exactly
        f, g = (part @ np.abs(combinations) for part in (there.f, there.g))
        return self.landmarks.gram_error * turned + f, turned, g

    @cached_property
    def _factors(self) -> tuple[float, ...]:
        r"""Norms over the columns of what multiplies \|c\|, \|f\|, \|g\| and \|phi\| of a row in the error of psi."""
        parts = self._rounding_of(self.combinations, self._along)
        formed = (self.landmarks.n_features + 8) * _UNIT * np.linalg.norm(self._along, axis=0)
        formed = formed + self._growth * np.sqrt(self._largest) * self._sums
        return tuple(float(np.linalg.norm(part)) for part in (*parts, formed))

    def rows(self, x: Any) -> FeatureRows:
        solved, kernel = self.landmarks.solved(x), self.kernel
        base, here = solved.rows, kernel.prepare(x, self.shift)
        diagonal = kernel.diagonal(x).clip(0.0)
        largest = float(np.sqrt(diagonal.max(initial=0.0) * self._largest))
        psi = self._product(here, self.combinations)
        psi -= base.values @ self._along
        c, f, g, phi = self._factors
        error = 1.01 * (
            self._entry_error(kernel.radius(here), largest) * float(np.linalg.norm(self._sums))
            + c * solved.c
            + f * solved.f
            + g * solved.g
            + phi * np.sqrt(diagonal)
        )
        size = np.sqrt(row_squares(psi))
        least, most = (size * (1 - 1e-12) - error).clip(0.0) ** 2, (size * (1 + 1e-12) + error) ** 2
        leak = np.maximum(base.leak - least, base.rounding)
        return FeatureRows(
            values=np.hstack([base.values, psi]),
            leak=leak,
            leak_error=np.minimum(leak, base.leak_error + most - least),
            error=np.hypot(base.error, error),
            rounding=base.rounding,
        )

    @cached_property
    def _radius(self) -> float:
        return max(self.kernel.radius(ready) for ready in self._ready)

    @cached_property
    def _largest(self) -> float:
        return float(self.kernel.diagonal(self.points).max())

    def dot(self, x: Any, coefficients: Array) -> Array:
        first, second = self._split(coefficients)
        out = self.landmarks.dot(x, first)
        kernel, chunk = self.kernel, self.chunk(x)

        def work(start: int) -> None:
            part = slice(start, start + chunk)
            out[part] += self._product(kernel.prepare(x[part], self.shift), second)

        run_in_threads(work, [list(range(0, x.shape[0], chunk))])
        return out

    def _split(self, coefficients: Array) -> tuple[Array, Array]:
        """The same functions as coefficients of phi (m, k), and of the kernel at `points` (s, k)."""
        m = self.landmarks.n_features
        return coefficients[:m] - self._along @ coefficients[m:], self.combinations @ coefficients[m:]

    def dot_error(self, coefficients: Array, radius: float, largest: float, weight: float, rounding: float) -> Array:
        first, second = self._split(coefficients)
        m, q, root = self.landmarks.n_features, self.combinations.shape[1], float(np.sqrt(largest))
        psi, sums = np.abs(coefficients[m:]), np.abs(second).sum(axis=0)
        norms = np.linalg.norm(coefficients[:m], axis=0) + np.linalg.norm(self._along, axis=0) @ psi
        lost = (q + 8) * _UNIT * (root * norms + root * float(np.sqrt(self._largest)) * (self._sums @ psi))
        lost = lost + root * self._growth * float(np.sqrt(self._largest)) * (self._sums @ psi)
        entry = self._entry_error(radius, root * float(np.sqrt(self._largest)))
        own = np.sqrt(weight) * (2 * entry * sums + lost)
        blurred = 2 * np.sqrt(self._at_points.rows.rounding) @ np.abs(second)  # |X_is| <= 2 sqrt(rounding_i rounding_s)
        own += np.sqrt(rounding) * blurred
        return np.asarray(self.landmarks.dot_error(first, radius, largest, weight, rounding) + 1.01 * own)

    def on_points(self, coefficients: Array) -> tuple[Any, Array]:
        first, second = self._split(coefficients)
        points, turned = self.landmarks.on_points(first)
        return np.concatenate([points, self.points]), np.concatenate([turned, second])

    def same_space(self, other: FeatureMap) -> bool:
        return (
            isinstance(other, SampledMap)
            and self.landmarks.same_space(other.landmarks)
            and np.array_equal(self.points, other.points)
            and np.array_equal(self.combinations, other.combinations)
        )
