"""A model on many points, replaced by its least-squares fit on a few of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.linalg

from gramless.arrays import Array, parse_memory, refuse_scale
from gramless.arrays.memory import readable_bytes
from gramless.errors import CompressionError
from gramless.features import LandmarkMap
from gramless.features.pivots import PartialCholesky
from gramless.gram import rectangular_error, rectangular_product
from gramless.spaces.compression import Compression, relative
from gramless.spaces.outputs import Outputs
from gramless.spaces.span import stack_points

_CANDIDATES = 20_000  # points among which pivots are chosen
_JUDGED, _TESTED = 4096, 2048  # rows that the number of points depends on, and rows that nothing depends on
_RESERVED = 10  # at most one row in ten is for either
_FIRST = 64  # points tried first; their number is doubled
_INFLUENTIAL = 10.0  # times the mean influence: points that are never reserved
_ERRORS = 3.0  # standard errors added to the mean square change, as the rows judged are a sample
_ATTEMPTS = 4  # to meet the tolerance on the rows held back as well
_ROUNDING = 1e4  # an output below this many times its own rounding error is rounding error


def compress(
    given: Outputs,
    tol: float | None,
    most: int | None = None,
    test: Any = None,
    rng: np.random.Generator | None = None,
) -> tuple[Any, Array, Compression]:
    r"""Points and coefficients of the fewest points that reproduce outputs within `tol` of their scales.

    Points are chosen by randomly pivoted Cholesky. With L the factor of the Gram matrix of the pivots s_1, s_2, ..., in
    the order of choice, the coordinates y = L^-1 f(s) of the projection of f on the first m images are the leading m of
    all coordinates: \|f - f_m\|^2 = \|f\|^2 - y_1^2 - ... - y_m^2, and f_m(x) is a partial sum of y_i phi_i(x), for
    every m at once. Norms take one pass over the tiles of the Gram matrix, which is never stored.

    Parameters
    ----------
    given : Outputs
    tol : float or None
        Bound on the root mean square change over the rows, relative to the scale of each output. None: `most` points.
    most : int, optional
        Maximum number of points.
    test : ndarray or CSR of shape (m, d), optional
        Rows to measure the change on. By default rows that are used for nothing else are held back.
    rng : numpy.random.Generator, optional

    Returns
    -------
    points : ndarray or CSR of shape (m, d)
    coefficients : ndarray of shape (m, q)
    compression : Compression

    Raises
    ------
    CompressionError
        If no number of points below the present one, or up to `most`, is enough.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.random.default_rng(0).standard_normal((400, 2))
    >>> given = Outputs(Gaussian(sigma=3.0), x, np.full((400, 1), 1 / 400), np.array(["density"]))
    >>> points, coefficients, compression = compress(given, 1e-3)
    >>> points.shape[0] < 40, bool(compression.change[0] < 1e-3)
    (True, True)
    """
    given.refuse()
    rng = np.random.default_rng(0) if rng is None else rng
    given, units = _normalized(given)
    points, coefficients, found = _compressed(given, tol, most, test, rng)
    return points, coefficients * units, replace(found, scales=found.scales * units, norms=found.norms * units)


def _normalized(given: Outputs) -> tuple[Outputs, Array]:
    """The outputs with norms of at most about 1, and the powers of two that they were divided by."""
    largest = float(np.max(given.kernel.diagonal(given.points), initial=0.0))
    refuse_scale(largest, "kernel values")
    norms = np.abs(given.coefficients).max(axis=0, initial=0.0) * len(given.coefficients) * max(largest, 1e-150) ** 0.5
    units = np.ldexp(1.0, np.frexp(np.where(norms > 0, norms, 1.0))[1])
    scales = None if given.scales is None else given.scales / units
    return replace(given, coefficients=given.coefficients / units, scales=scales), units


def _compressed(
    given: Outputs, tol: float | None, most: int | None, test: Any, rng: np.random.Generator
) -> tuple[Any, Array, Compression]:
    """:func:`compress` of normalized outputs."""
    division = _divide(given, test, rng)
    given = _with_scales(given, division)
    search = _Search(given, division, _room(given, division, most), rng)
    found, stricter = search.result(search.choose(tol), tol), 1.0
    for _ in range(_ATTEMPTS):  # the rows held back may show more change than those the number was judged on
        excess = 0.0 if tol is None or test is not None else float(found[2].change.max(initial=0.0)) / tol
        if tol is None or excess <= 1:
            return found
        stricter *= 0.8 / excess
        found = search.result(search.choose(tol, stricter), tol)
    search.fail(tol or 0.0)


@dataclass(frozen=True, eq=False)
class _Division:
    """Which points are candidates, and the rows that the number of points is judged on and that it is tested on."""

    candidates: Array
    judged: Any
    judged_weights: Array
    tested: Any
    tested_weights: Array
    source: str


def _divide(given: Outputs, test: Any, rng: np.random.Generator) -> _Division:
    """Divide the rows at random; influential points are never reserved for judging or testing."""
    rows = given.points if given.rows is None else given.rows
    weights = np.ones(rows.shape[0]) if given.weights is None else np.asarray(given.weights, dtype=np.float64)
    order = rng.permutation(np.flatnonzero(weights > 0))
    eligible, own = order, np.arange(given.points.shape[0])
    if given.rows is None:
        influence = _influence(given)
        eligible = order[influence[order] <= _INFLUENTIAL * influence[order].mean()]
    count = len(order) // _RESERVED
    held = eligible[: 0 if test is not None else min(_TESTED, count)]
    judged = eligible[len(held) :][: min(_JUDGED, count)]
    if given.rows is None:
        own = np.setdiff1d(order, np.concatenate([held, judged]))
    judged = judged if len(judged) else order
    tested, tested_weights, source = rows[held], weights[held], "rows held back"
    if test is not None:
        tested, tested_weights, source = test, np.ones(test.shape[0]), "rows given as X"
    elif not len(held):
        tested, tested_weights, source = rows[judged], weights[judged], "rows of the fit"
    candidates = _candidates(given, own, rng)
    return _Division(candidates, rows[judged], weights[judged], tested, tested_weights, source)


def _candidates(given: Outputs, own: Array, rng: np.random.Generator) -> Array:
    """All points `own` (p,); of very many, the most influential ones, and others at random."""
    if len(own) <= _CANDIDATES:
        return own
    ranked = own[np.argsort(-_influence(given)[own], kind="stable")]
    first = _CANDIDATES // 4
    return np.sort(np.concatenate([ranked[:first], rng.permutation(ranked[first:])[: _CANDIDATES - first]]))


def _influence(given: Outputs) -> Array:
    """For each point, the squares of its own terms at the point itself, relative to their means over the points."""
    own = given.coefficients * np.asarray(given.kernel.diagonal(given.points))[:, None]
    squares = np.square(own / np.maximum(np.abs(own).max(axis=0, initial=0.0), np.finfo(np.float64).tiny))
    return np.asarray((squares / np.maximum(squares.mean(axis=0), np.finfo(np.float64).tiny)).sum(axis=1))


def _with_scales(given: Outputs, division: _Division) -> Outputs:
    """The outputs with their scales; none is so small that rounding errors of the output itself matter."""
    scales = given.scales
    if scales is None:
        part = division.judged_weights / division.judged_weights.sum()
        scales = _root_mean_squares(given.values(division.judged), part, centered=True)
    rounding = rectangular_error(given.kernel, division.judged, given.points)
    return replace(given, scales=np.maximum(scales, _ROUNDING * rounding * np.abs(given.coefficients).sum(axis=0)))


def _room(given: Outputs, division: _Division, most: int | None) -> int:
    """Maximum number of points: fewer than now, at most `most`, and within half of the free memory."""
    limit = max(1, min(int(given.points.shape[0]) - 1, len(division.candidates)))
    rows, room = len(division.candidates) + int(division.judged.shape[0]), parse_memory(None)

    def needed(count: int) -> int:
        return 8 * count * (rows + 3 * count)

    if most is not None:
        limit = min(most, limit)
        if needed(limit) > room:
            raise CompressionError(
                f"to choose {limit:,} points takes {readable_bytes(needed(limit))} of memory, and half of the free "
                f"memory is {readable_bytes(room)}; pass fewer n_points"
            )
    while limit > _FIRST and needed(limit) > room:
        limit //= 2
    return limit


class _Search:
    """Pivots, and for every number of them the change on the rows judged.

    Attributes
    ----------
    changes, upper : list of float
        For 0, 1, 2, ... points: the root mean square change of the worst output relative to its scale, and its upper
        confidence limit.
    """

    def __init__(self, given: Outputs, division: _Division, limit: int, rng: np.random.Generator) -> None:
        self._given, self._division, self._limit, self._rng = given, division, limit, rng
        rows = stack_points(given.points[division.candidates], division.judged)
        self._cholesky = PartialCholesky(given.kernel, rows, limit)
        own = _influence(given)[division.candidates]
        own = own / max(float(own.mean()), np.finfo(np.float64).tiny) + 1.0  # one half by influence, one half equal
        self._share = np.concatenate([own, np.zeros(division.judged.shape[0])])
        self._left = given.values(division.judged)
        self._inside = np.zeros((0, given.coefficients.shape[1]))
        self.changes: list[float] = []
        self.upper: list[float] = []
        self._judge()

    def choose(self, tol: float | None, stricter: float = 1.0) -> int:
        """The fewest points that meet `tol` times `stricter`; more pivots are chosen as long as none do."""
        if tol is None:
            self._extend(self._limit)
            return len(self.changes) - 1
        while True:
            enough = np.flatnonzero(np.array(self.upper) <= tol * stricter)
            if len(enough):
                return int(enough[0])
            before = len(self.changes)
            self._extend(min(self._limit, max(_FIRST, 2 * (before - 1))))
            if len(self.changes) == before:
                self.fail(tol)

    def fail(self, tol: float) -> NoReturn:
        """Raise, with the curve."""
        most = len(self.changes) - 1
        curve = [(int(points), self.changes[points]) for points in _grid(most, 2.0)]
        listed = ", ".join(f"{points:,}: {change:.1e}" for points, change in curve)
        raise CompressionError(
            f"no number of points up to {most:,} of the {self._given.points.shape[0]:,} in this model reproduces it "
            f"within tol={tol:g}. Largest relative change by number of points: {listed}. Increase tol, or pass "
            "n_points= to accept the change",
            curve,
        )

    def result(self, count: int, tol: float | None) -> tuple[Any, Array, Compression]:
        """The fit on the leading `count` pivots, its bounds, and the change on the rows tested."""
        given, division = self._given, self._division
        points, coefficients, products = self._fitted(count)
        apart = given.values(division.tested)
        apart -= rectangular_product(given.kernel, division.tested, points, coefficients)
        part, scales = division.tested_weights / division.tested_weights.sum(), np.asarray(given.scales)
        grid = _grid(len(self.changes) - 1, 10**0.125)
        left = np.maximum(self._norms2 - np.cumsum(self._inside**2, axis=0)[grid - 1], 0.0)
        compression = Compression(
            points_before=given.points.shape[0],
            points=points.shape[0],
            tol=tol,
            names=given.names,
            scales=scales,
            norms=given.distance_bounds(self._norms2, points, coefficients, products),
            change=relative(_root_mean_squares(apart, part), scales),
            largest=relative(np.abs(apart).max(axis=0, initial=0.0), scales),
            rows=division.tested.shape[0],
            source=division.source,
            height=self._height,
            curve_points=grid,
            curve_change=np.array(self.changes)[grid],
            curve_bound=relative(np.sqrt(left) * self._height, scales).max(axis=1, initial=0.0),
        )
        return points, coefficients, compression

    def _fitted(self, count: int) -> tuple[Any, Array, Array]:
        """The leading pivots, the coefficients of the least-squares fit on them, and the outputs at them."""
        given, chosen = self._given, np.array(self._cholesky.chosen[:count], dtype=np.int64)
        if not count:  # outputs that are 0 everywhere
            points = given.points[:1]
            return points, np.zeros((1, given.coefficients.shape[1])), given.values(points)
        features = LandmarkMap.at(given.kernel, given.points[np.sort(self._division.candidates[chosen])])
        products = given.values(features.points)
        return features.points, features.projected(products)[1], products

    @cached_property
    def _norms2(self) -> Array:
        return self._given.squared_norms()

    @cached_property
    def _height(self) -> float:
        """Maximum of sqrt(k(x, x)) over the points."""
        return float(np.sqrt(np.max(self._given.kernel.diagonal(self._given.points), initial=0.0)))

    def _extend(self, most: int) -> None:
        """Choose pivots up to `most` in all, and follow the outputs on the rows judged, one pivot at a time."""
        cholesky, given, before = self._cholesky, self._given, len(self.changes) - 1
        cholesky.negligible = 1e-13 * max(1, most) * self._height**2
        cholesky.extend(most, 0.0, self._share, self._rng)
        new = np.array(cholesky.chosen[before:], dtype=np.int64)
        if not len(new):
            return
        lower, columns = cholesky.lower, cholesky.columns[len(self._division.candidates) :, before:]
        right = given.values(given.points[self._division.candidates[new]]) - lower[before:, :before] @ self._inside
        fresh = scipy.linalg.solve_triangular(lower[before:, before:], right, lower=True)
        self._inside = np.concatenate([self._inside, fresh])
        for column, coordinates in zip(columns.T, fresh, strict=True):
            self._left -= np.outer(column, coordinates)
            self._judge()

    def _judge(self) -> None:
        """Add the root mean square change on the rows judged, and its upper confidence limit."""
        part, scales = self._division.judged_weights, np.asarray(self._given.scales)
        part, squares = part / part.sum(), np.square(relative(self._left, scales))
        means = part @ squares
        errors = np.sqrt(np.square(part) @ np.square(squares - means))
        self.changes.append(float(np.sqrt(means.max(initial=0.0))))
        self.upper.append(float(np.sqrt((means + _ERRORS * errors).max(initial=0.0))))


def _root_mean_squares(values: Array, part: Array, *, centered: bool = False) -> Array:
    """Root mean squares (q,) of the columns, or standard deviations, for weights `part` (m,) that sum to 1."""
    peaks = np.abs(values).max(axis=0, initial=0.0)
    peaks = np.where(peaks > 0, peaks, 1.0)
    values = values / peaks
    return np.asarray(np.sqrt(part @ np.square(values - part @ values if centered else values)) * peaks)


def _grid(most: int, factor: float) -> Array:
    """Integers from 1 to `most`, each about `factor` times the one before."""
    if most < 1:
        return np.zeros(0, dtype=np.int64)
    grid = np.round(factor ** np.arange(0.0, np.log(most) / np.log(factor) + 1e-9)).astype(np.int64)
    return np.unique(np.append(grid[grid <= most], most))
