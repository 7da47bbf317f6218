"""Components of two-dimensional data, as contours over the plane."""

from __future__ import annotations

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

    def __init__(self, grid: Heights, points: Any, numbers: Sequence[int], titles: Sequence[str]) -> None:
        self.grid, self.points = grid, np.asarray(points, dtype=float)
        self.numbers, self.titles = list(numbers), list(titles)

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
    ) -> ComponentsDisplay:
        """Draw the components of anything fitted on two columns with ``transform``; see :func:`plot_components`."""
        points = _plane(X)
        grid = component_heights(estimator, points, resolution, margin)
        numbers = _component_numbers(components, grid.heights.shape[2])
        titles = [component_title(estimator, number) for number in numbers]
        return cls(grid, points, numbers, titles).plot(axes, levels=levels)

    def plot(self, axes: Any = None, *, levels: int = 12) -> ComponentsDisplay:
        """Draw, in `axes` (one for each component) or a new figure, with about `levels` contour lines each."""
        across, up = self.grid.across, self.grid.up
        panels = _panels(axes, len(self.numbers), np.ptp(up) / np.ptp(across))
        for ax, number, title in zip(panels, self.numbers, self.titles, strict=True):
            _draw(ax, across, up, self.grid.heights[:, :, number - 1], levels)
            ax.plot(*self.points.T, "o", color="black", markersize=2.6, markeredgecolor="white", markeredgewidth=0.3)
            ax.set(title=title, xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
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
        many contour lines, 12 by default; ``margin``: room around the data as a share of its extent, 0.12 by default.

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
    room = margin * max(float((high - low).max()), np.finfo(float).tiny)
    across, up = (np.linspace(low[j] - room, high[j] + room, resolution) for j in (0, 1))
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    heights = np.asarray(estimator.transform(grid.reshape(-1, 2)))
    return Heights(across, up, heights.reshape(resolution, resolution, -1))


def component_title(estimator: Any, number: int) -> str:
    """The number of a component, counted from 1, and its share of variance where that is known."""
    shares = getattr(estimator, "explained_variance_ratio_", None)
    if shares is None:
        return f"component {number}"
    return f"component {number} ({100 * shares[number - 1]:.2g} %)"


def _plane(X: Any) -> Array:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"X of shape {points.shape} given; contours are drawn over the plane and need two columns. "
            "For other data use plot_embedding"
        )
    return points


def _component_numbers(components: Sequence[int] | None, available: int) -> list[int]:
    if components is None:
        return list(range(1, available + 1))
    for number in components:
        if not 1 <= number <= available:
            raise ValueError(f"components={list(components)} given; they count from 1, and this model has {available}")
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
        raise ValueError(f"{len(given)} axes given for {count} components; pass one for each")
    return given


def _draw(ax: Axes, across: Array, up: Array, height: Array, levels: int) -> None:
    """Pale colours, and contour lines that remain visible in black-and-white print."""
    span = float(np.ptp(height))
    ax.contourf(across, up, height, levels=4 * levels, cmap=pale_viridis())
    if span <= 1e-12 * float(np.abs(height).max(initial=0.0)):
        return
    ax.contour(across, up, height, levels=levels, colors="0.25", linewidths=0.6)
    ax.contour(across, up, height, levels=[0.0], colors="0.1", linewidths=1.6)
