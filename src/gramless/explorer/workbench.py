"""The computation behind the page: settings in, a view out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import numpy as np

from gramless.arrays import Array
from gramless.estimators import KernelPCA, select_bandwidth
from gramless.explorer.settings import Settings
from gramless.explorer.table import Table
from gramless.explorer.view import Slice, View, extent_of
from gramless.plots.contours import unit_aspect
from gramless.spaces.signs import largest_positive

_FEW = 3  # columns for which features of a box are cheap
_RESOLUTION = 96
_SAMPLE = 2000


@dataclass(frozen=True, eq=False)
class Ground:
    """Rows in the scaling that the kernel gets, and quantities that depend on them alone.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
    few : ndarray of shape (s,)
        Indices of a sample of the rows.
    """

    rows: Array
    few: Array

    @cached_property
    def median(self) -> float:
        """Median distance of two rows."""
        return select_bandwidth(self.rows, "rbf", "median").value

    @cached_property
    def scale(self) -> float:
        """Factor of dot products that makes them of size one."""
        return select_bandwidth(self.rows, "rbf", "scale").gamma

    @cached_property
    def plane(self) -> tuple[Array, Array]:
        """A point (d,) and two directions (d, 2): the axes if d = 2, else the leading axes of linear PCA."""
        d = self.rows.shape[1]
        if d == 2:
            return np.zeros(2), np.eye(2)
        some = np.asarray(self.rows[self.few[:_SAMPLE]], dtype=np.float64)
        center = some.mean(axis=0)
        axes = np.zeros((d, 2))
        found = np.linalg.svd(some - center, full_matrices=False)[2][:2].T
        axes[:, : found.shape[1]] = found * largest_positive(found)
        return center, axes

    def flat(self, rows: Array) -> Array:
        """Rows (m, d) in the coordinates of the plane: (m, 2)."""
        center, axes = self.plane
        return np.asarray((rows - center) @ axes)


class Workbench:
    """Fits, projects and slices for every setting; the last model is kept.

    Parameters
    ----------
    table : Table
    draft_rows : int, optional
        Rows of a draft; by default 20,000 in up to three columns and 1,200 otherwise.

    Examples
    --------
    >>> from gramless.datasets import annulus
    >>> from gramless.explorer import Workbench, read_table
    >>> workbench = Workbench(read_table(annulus(500, rng=0)))
    >>> view = workbench.view(Settings(octaves=-1.0))
    >>> view.scores.shape, view.plane.heights.shape, view.shares.shape
    ((500, 2), (2, 96, 96), (6,))
    """

    def __init__(self, table: Table, draft_rows: int | None = None) -> None:
        self.table = table
        n, d = table.values.shape
        self.draft_rows = draft_rows or (20_000 if d <= _FEW else 1_200)
        self._order = np.random.default_rng(0).permutation(n)
        self._grounds: dict[bool, Ground] = {}
        self._last: tuple[object, KernelPCA, Array, Array, float] | None = None

    @property
    def has_draft(self) -> bool:
        """Whether there are so many rows that a draft is made first."""
        return len(self.table.values) > self.draft_rows

    def ground(self, standardize: bool) -> Ground:
        """The rows, each column divided by its standard deviation or not."""
        if standardize not in self._grounds:
            rows = self.table.values
            if standardize:
                deviation = rows.std(axis=0, dtype=np.float64)
                rows = (rows - rows.mean(axis=0, dtype=np.float64)) / np.where(deviation > 0, deviation, 1.0)
            self._grounds[standardize] = Ground(rows, self._order[: self.draft_rows])
        return self._grounds[standardize]

    def numbers(self, draft: bool) -> Array:
        """Indices of the rows of a draft, or of all rows."""
        return self._order[: self.draft_rows] if draft and self.has_draft else np.arange(len(self.table.values))

    @property
    def most_components(self) -> int:
        """Largest number of components that can be asked for."""
        return int(min(20, len(self.table.values) - 1))

    def suggest(self, settings: Settings, criterion: str) -> float:
        """Octaves of the bandwidth that a criterion of :func:`gramless.select_bandwidth` chooses."""
        ground = self.ground(settings.standardize)
        pattern = settings.kernel(ground.median, ground.scale)
        chosen = select_bandwidth(ground.rows, pattern, criterion, n_components=max(settings.across, settings.up))
        return float(np.log2(chosen.value / ground.median))

    def view(self, settings: Settings, *, draft: bool = False) -> View:
        """The view of these settings.

        Parameters
        ----------
        settings : Settings
        draft : bool
            Whether to use only a sample of the rows.

        Returns
        -------
        View
        """
        model, numbers, scores, seconds = self._fit(settings, draft)
        pair = [settings.across - 1, settings.up - 1]
        shares = np.zeros(settings.k)
        shares[: len(model.eigenvalues_)] = model.explained_variance_ratio_
        total = model.eigenvalues_.sum() / max(float(shares.sum()), np.finfo(float).tiny)
        ends = np.zeros((2, settings.k))
        ends[:, : len(model.eigenvalues_)] = [model.certificate_.lower / total, model.certificate_.upper / total]
        ground = self.ground(settings.standardize)
        return View(
            settings=settings,
            kernel=settings.kernel(ground.median, ground.scale),
            scores=_columns(scores, pair),
            plane=self._slice(model, settings, numbers, pair),
            shares=shares,
            lower=ends[0],
            upper=ends[1],
            method=model.method_,
            rows=len(numbers),
            seconds=seconds,
            draft=draft and self.has_draft,
        )

    def _fit(self, settings: Settings, draft: bool) -> tuple[KernelPCA, Array, Array, float]:
        """The model, the indices of its rows, their components, and the seconds it took; the last result is kept."""
        draft = draft and self.has_draft
        asked = (settings.asks, draft)
        if self._last is None or self._last[0] != asked:
            ground, begun = self.ground(settings.standardize), perf_counter()
            numbers = self.numbers(draft)
            rows = ground.rows[numbers] if draft else ground.rows
            tol = 1e-3 if rows.shape[1] <= _FEW else 1e-2
            kernel = settings.kernel(ground.median, ground.scale)
            model = KernelPCA(settings.k, kernel=kernel, tol=tol, copy_X=False, random_state=0).fit(rows)
            scores = model.transform(rows)
            self._last = asked, model, numbers, scores, perf_counter() - begun
        return self._last[1:]

    def _slice(self, model: KernelPCA, settings: Settings, numbers: Array, pair: list[int]) -> Slice:
        ground = self.ground(settings.standardize)
        center, axes = ground.plane
        points = ground.flat(ground.rows if len(numbers) == len(ground.rows) else ground.rows[numbers])
        left, right, bottom, top = extent_of(points, margin=0.12)
        across, up = np.linspace(left, right, _RESOLUTION), np.linspace(bottom, top, _RESOLUTION)
        grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        heights = _columns(model.transform(center + grid @ axes.T), pair)
        names = self.table.names
        titles = (names[0], names[1]) if len(names) == 2 else ("linear component 1", "linear component 2")
        aspect = 1.0 if settings.standardize else unit_aspect(points, titles)
        return Slice(across, up, heights.T.reshape(2, _RESOLUTION, _RESOLUTION), points, titles, aspect)


def _columns(scores: Array, pair: list[int]) -> Array:
    """Two columns of `scores` (m, k); 0 where there are fewer components than were asked for."""
    out = np.zeros((len(scores), 2))
    for j, number in enumerate(pair):
        if number < scores.shape[1]:
            out[:, j] = scores[:, number]
    return out
