"""Components of two-dimensional data, as contours over the plane."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import pale_viridis, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PER_ROW = 4
_PANEL = 2.6  # inches


class ComponentsDisplay:
    """Contour lines of each component over the plane, the data on top (Raykar & Ankur, figures 1 and 2).

    Along a line the component is constant. Lines of negative values are dashed, the line of value 0 is thick.

    Parameters
    ----------
    grid : Heights
        Components on a grid; see :func:`component_heights`.
    points : array-like of shape (n_samples, 2)
        The data to show.
    numbers : sequence of int
        Which components to draw, counted from 1.
    titles : sequence of str
        One for each component.
    names : pair of str, optional
        Names of the columns.
    aspect : {"equal", "auto"} or float, default="equal"
        "equal": one unit is as long across as up; of columns named longitude and latitude, one kilometre is, at the
        middle latitude of the points. "auto": panels are filled. A number: how many times as long a unit is up as
        across.

    Attributes
    ----------
    axes_ : ndarray of Axes
        One for each component.
    figure_ : Figure

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> from gramless.plots import ComponentsDisplay
    >>> x = annulus(100, rng=0)
    >>> kpca = KernelPCA(5, kernel="rbf", gamma=1.0).fit(x)
    >>> len(ComponentsDisplay.from_estimator(kpca, x, components=[4, 5]).axes_)
    2
    """

    axes_: Array
    figure_: Any

    def __init__(
        self,
        grid: Heights,
        points: Any,
        numbers: Sequence[int],
        titles: Sequence[str],
        *,
        names: Sequence[str] | None = None,
        aspect: str | float = "equal",
    ) -> None:
        if aspect not in ("equal", "auto") and not (isinstance(aspect, (int, float)) and aspect > 0):
            raise ValueError(f"aspect={aspect!r} given; pass 'equal', 'auto' or a positive number")
        self.grid, self.points = grid, np.asarray(points, dtype=float)
        self.numbers, self.titles = list(numbers), list(titles)
        self.names = ("$x_1$", "$x_2$") if names is None else tuple(names)
        self.aspect = unit_aspect(self.points, self.names) if aspect == "equal" else aspect

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        components: Sequence[int] | None = None,
        axes: Any = None,
        resolution: int = 100,
        levels: int = 12,
        margin: float = 0.12,
        aspect: str | float = "equal",
    ) -> ComponentsDisplay:
        """Draw the components of anything fitted on two columns with ``transform``; see :func:`plot_components`."""
        points = _plane(X)
        grid = component_heights(estimator, points, resolution, margin)
        numbers = _component_numbers(components, grid.heights.shape[2])
        titles = [component_title(estimator, number) for number in numbers]
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        return cls(grid, points, numbers, titles, names=names, aspect=aspect).plot(axes, levels=levels)

    def plot(self, axes: Any = None, *, levels: int = 12) -> ComponentsDisplay:
        """Draw, in `axes` (one for each component) or a new figure, with about `levels` contour lines each."""
        across, up = self.grid.across, self.grid.up
        shape = 0.8 if self.aspect == "auto" else float(self.aspect * np.ptp(up) / np.ptp(across))
        panels = _panels(axes, len(self.numbers), shape)
        size = float(np.clip(80 / np.sqrt(len(self.points)), 0.8, 2.6))  # many points leave the lines visible
        for ax, number, title in zip(panels, self.numbers, self.titles, strict=True):
            _draw(ax, across, up, self.grid.heights[:, :, number - 1], levels)
            edge = "white" if size > 2 else "none"
            ax.plot(*self.points.T, "o", color="black", markersize=size, markeredgecolor=edge, markeredgewidth=0.3)
            ax.set(title=title, xlabel=self.names[0], ylabel=self.names[1], aspect=self.aspect)
            ax.title.set_size("medium")
        self.axes_, self.figure_ = panels, panels[0].figure
        return self


def plot_components(estimator: Any, X: Any, **settings: Any) -> Array:
    """:meth:`ComponentsDisplay.from_estimator`, returning only the axes.

    Parameters
    ----------
    estimator : object
        Fitted on data with two features; anything with ``transform``, scikit-learn's PCA for one.
    X : array-like of shape (n_samples, 2)
        The data to show; it sets the part of the plane that is drawn.
    **settings
        ``components``: a sequence of numbers counted from 1, all by default; ``axes``: one for each component, a new
        figure by default; ``resolution``: points along each side of the grid, 100 by default; ``levels``: about how
        many contour lines, 12 by default; ``margin``: room around the data as a share of its extent, 0.12 by default;
        ``aspect``: "equal" by default, "auto" or a number (:class:`ComponentsDisplay`).

    Returns
    -------
    ndarray of Axes
        One for each component.

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> x = annulus(100, rng=0)
    >>> kpca = KernelPCA(5, kernel="rbf", gamma=1.0).fit(x)
    >>> [ax.get_xlabel() for ax in plot_components(kpca, x, components=[4, 5])]
    ['$x_1$', '$x_1$']
    """
    return ComponentsDisplay.from_estimator(estimator, X, **settings).axes_


class Heights(NamedTuple):
    """Grid lines (r,) and (r,), and the components (r, r, k) at their crossings."""

    across: Array
    up: Array
    heights: Array


def component_heights(estimator: Any, points: Array, resolution: int = 100, margin: float = 0.12) -> Heights:
    """Components on a grid around `points` (n, 2), with `resolution` points on each side."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.where(high > low, high - low, max(float((high - low).max()), np.finfo(float).tiny))
    across, up = np.linspace(low - margin * extent, high + margin * extent, resolution, axis=1)
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    heights = np.asarray(estimator.transform(grid.reshape(-1, 2)))
    return Heights(across, up, heights.reshape(resolution, resolution, -1))


def unit_aspect(points: Array, names: Sequence[str]) -> float:
    """How many times as long a unit of the second column is drawn as one of the first, where their scales are equal.

    1, except for columns named longitude and latitude, in degrees: 1 / cos(the middle latitude), as on a map.

    Examples
    --------
    >>> britain = np.array([[-6.2, 50.0], [1.8, 58.7]])
    >>> unit_aspect(britain, ["lon", "lat"]), unit_aspect(britain, ["x", "y"])
    (1.7..., 1.0)
    """
    kinds = [_angle(name) for name in names]
    if sorted(kinds) != ["latitude", "longitude"]:
        return 1.0
    latitude = points[:, kinds.index("latitude")]
    if float(np.abs(latitude).max()) > 90 or float(np.abs(points).max()) > 360:
        return 1.0
    shrunk = max(float(np.cos(np.deg2rad((latitude.min() + latitude.max()) / 2))), 0.1)
    return 1 / shrunk if kinds[1] == "latitude" else shrunk


def one_scale(points: Array, aspect: float) -> bool:
    """Whether the extents of `points` (n, 2), drawn with this aspect of units, differ at most by a factor of five."""
    across, up = np.ptp(points, axis=0)
    return bool(across <= 5 * aspect * up and aspect * up <= 5 * across)


def _angle(name: str) -> str:
    """What a column is by its name or a common abbreviation of it: "longitude", "latitude" or ""."""
    words = set(re.split("[^a-z]+", name.lower()))
    if words & {"lon", "long", "lng", "longitude"}:
        return "longitude"
    return "latitude" if words & {"lat", "latitude"} else ""


def component_title(estimator: Any, number: int) -> str:
    """The number of a component, counted from 1, and its explained variance ratio where that is known."""
    shares = getattr(estimator, "explained_variance_ratio_", None)
    if shares is None:
        return f"component {number}"
    return f"component {number} ({100 * shares[number - 1]:.2g} %)"


def _plane(X: Any) -> Array:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"X of shape {points.shape} given; contours need exactly two columns. For other data use plot_embedding"
        )
    return points


def _component_numbers(components: Sequence[int] | None, available: int) -> list[int]:
    if components is None:
        return list(range(1, available + 1))
    for number in components:
        if not 1 <= number <= available:
            raise ValueError(
                f"components={list(components)} given; they are numbered from 1, and this model has {available}"
            )
    return list(components)


def _panels(axes: Any, count: int, aspect: float) -> Array:
    """As many axes as there are components, in an array."""
    if axes is None:
        columns = min(count, _PER_ROW)
        rows = -(-count // columns)
        height = (_PANEL - 0.6) * aspect + 0.7  # titles and labels do not scale with the picture
        figure = require_matplotlib().figure(figsize=(_PANEL * columns, height * rows), layout="constrained")
        return np.array([figure.add_subplot(rows, columns, j + 1) for j in range(count)], dtype=object)
    given: Array = np.asarray(axes, dtype=object).ravel()
    if len(given) != count:
        raise ValueError(f"{len(given)} axes given for {count} components; pass one per component")
    return given


def _draw(ax: Axes, across: Array, up: Array, height: Array, levels: int) -> None:
    """Pale colors, and contour lines that remain visible in black-and-white print."""
    span = float(np.ptp(height))
    ax.contourf(across, up, height, levels=4 * levels, cmap=pale_viridis())
    if span <= 1e-12 * float(np.abs(height).max(initial=0.0)):
        return
    ax.contour(across, up, height, levels=levels, colors="0.25", linewidths=0.6)
    ax.contour(across, up, height, levels=[0.0], colors="0.1", linewidths=1.6)
