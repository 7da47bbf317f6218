"""A density as a truncated expansion in kernel eigenfunctions, stored as weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse

from gramless.arrays import Array, unit_roundoff
from gramless.densities.shape import Shape
from gramless.densities.truncation import Moment, held_out_count, retained_by_rule
from gramless.features import LandmarkMap, choose_pivots
from gramless.gram import rectangular_product
from gramless.kernels import Kernel, column_shift

_ROWS = 8192
_MOST_POINTS = 1000
_LEAK = 1e-10  # k(x, x) - |phi(x)|^2 that is allowed, relative to k(x, x)
_MANY, _LEAK_OF_MANY = 10_000, 1e-3  # of many rows few terms are retained: this changes densities by 1e-4 of their peak
_MOST_VALUES = 2 * 10**8  # kernel values that the normalization may take


@dataclass(frozen=True, eq=False)
class Series:
    """max(0, sum_n g_n k(x, x_n)) / Z, where g is the projection of equal weights 1 / N on the terms kept.

    Attributes
    ----------
    kernel : Kernel
    shape : Shape
    rows : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
        g; some may be negative. With all terms they are the weights of the rows: the Parzen estimate.
    count : int
        Number of terms kept.
    seed : int
        Seed for the points at which the negative part is integrated.
    known_mass : tuple of (float, float) or None
        `mass`, where it is known already: that of the original series, for its fit on fewer rows.
    """

    kernel: Kernel
    shape: Shape
    rows: Any
    weights: Array
    count: int
    seed: int = 0
    known_mass: tuple[float, float] | None = None

    def raw(self, x: Any) -> Array:
        """The series (m,) at rows `x` (m, d), neither clipped at 0 nor normalized."""
        return rectangular_product(self.kernel, x, self.rows, self.weights[:, None])[:, 0]

    def log(self, x: Any) -> Array:
        """Logarithm of the density (m,); -inf where it is 0."""
        with np.errstate(divide="ignore"):
            logarithm: Array = np.log(np.maximum(self.raw(x), 0.0))
        logarithm -= self.shape.log_integral + np.log(self.mass[0])
        return logarithm

    @cached_property
    def mass(self) -> tuple[float, float]:
        """Integral of the positive part, and its standard error: 0 where no weight is negative.

        The integral of the negative part is a mean over points drawn from the mixture of the positive weights.
        """
        if self.known_mass is not None:
            return self.known_mass
        if not (self.weights < 0).any():
            return float(self.weights.sum()), 0.0
        size = int(np.clip(_MOST_VALUES // len(self.weights), 1000, 20_000))
        rng = np.random.default_rng(self.seed)
        shares = self._acceptance(self._proposals(size, rng))
        top = float(self.weights[self.weights > 0].sum())
        # the integral of the series is known exactly: only that of its negative part is estimated
        below = top * np.maximum(-shares, 0.0)
        return float(self.weights.sum() + below.mean()), float(below.std() / np.sqrt(size))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Points (n, d) drawn from the density: by rejection from the mixture of the positive weights."""
        if not (self.weights < 0).any():
            return self._proposals(n, rng)
        taken: list[Array] = []
        count = 0
        while count < n:
            points = self._proposals(max(256, 2 * (n - count)), rng)
            points = points[rng.random(len(points)) < self._acceptance(points)]
            taken.append(points)
            count += len(points)
        return np.concatenate(taken)[:n]

    def _proposals(self, n: int, rng: np.random.Generator) -> Array:
        positive = np.maximum(self.weights, 0.0)
        chosen = rng.choice(len(positive), size=n, p=positive / positive.sum())
        centers = self.rows[chosen]
        centers = centers.toarray() if scipy.sparse.issparse(centers) else centers
        return np.asarray(centers + self.shape.sample(n, rng))

    def _acceptance(self, x: Array) -> Array:
        """The series divided by its terms of positive weight: at most 1."""
        both = np.column_stack([self.weights, np.maximum(self.weights, 0.0)])
        values = rectangular_product(self.kernel, x, self.rows, both)
        return np.divide(values[:, 0], values[:, 1], out=np.zeros(len(values)), where=values[:, 1] > 0)


def fit_series(
    kernel: Kernel,
    x: Any,
    weights: Array,
    count: int | None,
    truncation: Literal["held_out", "rule"],
    folds: Array,
    rng: np.random.Generator,
) -> Series:
    """Expand the density of rows in eigenfunctions of the kernel and retain some of the terms (Girolami 2002).

    The eigenproblem is that of at most 1000 landmark features, which are exact where there are no more rows. Term j is
    c_j e_j(x) with c_j the mean of e_j over the rows; with all terms the sum is the Parzen estimate.

    Parameters
    ----------
    kernel : Kernel
        A kernel that is, up to a factor, a density in the difference of two points.
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
        Positive.
    count : int or None
        Number of leading terms; None: chosen by `truncation`.
    truncation : {"held_out", "rule"}
    folds : ndarray of int of shape (n,)
        The fold of each row; rows of one fold are held out together.
    rng : numpy.random.Generator
    """
    shape = Shape.of(kernel, x.shape[1])
    top = float(kernel.diagonal(x[:1])[0])
    _refuse_scattered(kernel, x, top)
    leak = _LEAK_OF_MANY if count is None and x.shape[0] > _MANY else _LEAK
    pivots = choose_pivots(kernel, x, weights, min(x.shape[0], _MOST_POINTS), leak * top, rng)
    features = LandmarkMap.at(kernel, x[pivots.indices])
    moments = _moments(features, x, weights, folds if count is None and truncation == "held_out" else None)
    whole = moments[0]
    for part in moments[1:]:
        whole = whole + part
    values, axes = whole.eigen()
    if count is None and truncation == "rule":
        kept = retained_by_rule(whole, values, axes)
    else:
        if count is None:
            count = held_out_count(moments, _overlap(features, shape)) if len(moments) > 1 else len(values)
        kept = np.arange(len(values)) < count
    terms = (whole.total / whole.weight) @ axes[:, kept]
    multipliers = features.dot(x, (axes[:, kept] @ (terms / values[kept]))[:, None])[:, 0]
    series_weights = weights / whole.weight * multipliers
    return Series(kernel, shape, x, series_weights, int(kept.sum()), int(rng.integers(2**62)))


def _refuse_scattered(kernel: Kernel, x: Any, top: float) -> None:
    """Raise where float64 cannot resolve distances on the scale of the kernel: features would be rounding errors."""
    shift = column_shift(x)
    radius = max(kernel.radius(kernel.prepare(x[i : i + _ROWS], shift)) for i in range(0, x.shape[0], _ROWS))
    if not kernel.rounding(radius, x.shape[1], unit_roundoff()).absolute < 0.1 * top:
        raise ValueError(
            f"rows extend {radius:.1e} from their mean: rounding errors of distances are as large as {kernel}; remove "
            "outliers, "
            "rescale the data, or increase the bandwidth"
        )


def _moments(features: LandmarkMap, x: Any, weights: Array, folds: Array | None) -> list[Moment]:
    """Moments of each fold, in one pass over it."""
    groups = [np.arange(x.shape[0])] if folds is None else [np.flatnonzero(folds == f) for f in np.unique(folds)]
    found = []
    for rows in groups:
        moments = features.moments(x if folds is None else x[rows], weights if folds is None else weights[rows])
        total = moments.weight * moments.mean
        found.append(Moment(moments.weight, total, moments.scatter + np.outer(total, moments.mean)))
    return found


def _overlap(features: LandmarkMap, shape: Shape) -> Array:
    """Integral of phi phi^T over all of space, divided by that of the kernel."""
    wide, log = shape.spread()
    half = features.triangle.solve(wide(features.points) * np.exp(log - shape.log_integral))
    return features.triangle.solve(np.ascontiguousarray(half.T))
