"""Rows as points: their first component against their second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import axes_or_new
from gramless.plots.coloring import DENSE, DENSITY, MISSING, SCALE, ClassStyle, Coloring
from gramless.plots.hexagons import Hexagons, hexagons

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "cross": "P"}


class EmbeddingDisplay:
    """Rows as points: two of their components, coloured by their labels.

    Classes have a colour and a marker each, named in a legend; labels of one character, such as digits, are themselves
    the markers. A continuous quantity has a colour bar. Missing labels are grey. More than 20,000 rows are drawn as
    density: hexagons, the darker the more rows they hold; with labels, the larger the more rows they hold, in the
    colour of their most frequent class or of their mean label.

    Parameters
    ----------
    scores : array-like of shape (n_samples, k)
        What ``transform`` returns; k at least 2.
    labels : array-like of shape (n_samples,), optional
        Classes of the rows, or a continuous quantity. Numbers are continuous where one is not an integer or where more
        than 11 are different; pass ``labels.astype(str)`` where they are the numbers of classes. Of more than 30
        classes the most frequent ones are named. NaN, None and empty strings are missing labels.
    components : pair of int, default=(1, 2)
        Which components to draw across and up, counted from 1.
    classes : sequence, optional
        All classes, where `labels` has only some of them: every figure with the same `classes` draws a class in one
        colour and with one marker.
    label : str, optional
        Name of the labels, for the colour bar or the legend; by default the ``name`` of a pandas Series.
    density : bool or "auto", default="auto"
        Whether to draw density; "auto": of more than 20,000 rows.
    aspect : {"auto", "equal"}, default="auto"
        "equal": one unit is as long across as up, so that distances in the figure are those of the components.

    Attributes
    ----------
    coloring_ : Coloring
        What the labels are: ``kind`` is "none", "classes" or "continuous".
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramless import KernelPCA
    >>> from gramless.plots import EmbeddingDisplay
    >>> X, digit = load_digits(return_X_y=True)
    >>> kpca = KernelPCA(3, kernel="rbf", gamma="median").fit(X)
    >>> EmbeddingDisplay.from_estimator(kpca, X, digit, components=(1, 3)).ax_.get_ylabel()
    'component 3'
    >>> EmbeddingDisplay.from_estimator(kpca, X, X.mean(axis=1), label="ink").coloring_.kind
    'continuous'
    """

    ax_: Axes
    figure_: Any

    def __init__(
        self,
        scores: Any,
        labels: Any = None,
        *,
        components: tuple[int, int] = (1, 2),
        classes: Sequence[Any] | None = None,
        label: str | None = None,
        density: bool | str = "auto",
        aspect: str = "auto",
    ) -> None:
        points = np.asarray(scores)
        if points.ndim != 2 or points.shape[1] < 2:
            raise ValueError(
                f"scores of shape {points.shape} given; an embedding in the plane needs at least two columns: pass "
                "the output of "
                "transform, or use EmbeddingDisplay.from_estimator(model, X)"
            )
        if labels is not None and len(labels) != len(points):
            raise ValueError(f"{len(labels)} labels given for {len(points)} rows; pass one per row")
        if not all(1 <= number <= points.shape[1] for number in components):
            raise ValueError(f"components={components} given; they are numbered from 1 to {points.shape[1]}")
        if density not in (True, False, "auto"):
            raise ValueError(f"density={density!r} given; pass True, False or 'auto'")
        if aspect not in ("auto", "equal"):
            raise ValueError(f"aspect={aspect!r} given; pass 'auto' or 'equal'")
        self.scores, self.labels, self.components = points, labels, components
        self.label = label or str(getattr(labels, "name", None) or "")
        self.density, self.aspect = density, aspect
        self.coloring_ = Coloring.of(labels, self.label, classes=classes)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        components: tuple[int, int] = (1, 2),
        ax: Axes | None = None,
        **settings: Any,
    ) -> EmbeddingDisplay:
        """Draw what ``estimator.transform(X)`` returns, coloured by the labels `y`; `settings` as for the class."""
        return cls(estimator.transform(X), y, components=components, **settings).plot(ax)

    def plot(self, ax: Axes | None = None) -> EmbeddingDisplay:
        """Draw, in `ax` or a new figure."""
        ax = axes_or_new(ax, figsize=(5.2, 4.6))
        first, second = self.components
        points = self.scores[:, [first - 1, second - 1]]
        if self.density is True or (self.density == "auto" and len(points) > DENSE):
            _draw_density(ax, hexagons(points, regular=self.aspect == "equal"), self.coloring_)
        else:
            _draw_points(ax, points, self.coloring_)
        ax.set(xlabel=f"component {first}", ylabel=f"component {second}", aspect=self.aspect)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plot_embedding(scores: Any, labels: Any = None, ax: Axes | None = None, **settings: Any) -> Axes:
    """:class:`EmbeddingDisplay` of the first two components, returning only the axes.

    Parameters
    ----------
    scores : array-like of shape (n_samples, k)
        What ``transform`` returns; k at least 2.
    labels : array-like of shape (n_samples,), optional
        Classes of the rows, or a continuous quantity.
    ax : Axes, optional
        Where to draw; a new figure by default.
    **settings
        Those of :class:`EmbeddingDisplay`.

    Returns
    -------
    Axes
    """
    return EmbeddingDisplay(scores, labels, **settings).plot(ax).ax_


def _draw_points(ax: Axes, points: Array, coloring: Coloring) -> None:
    if coloring.kind == "none":
        ax.scatter(points[:, 0], points[:, 1], s=10, color="0.3", linewidths=0)
    elif coloring.kind == "continuous":
        missing = np.isnan(coloring.values)
        grey, colored = points[missing], points[~missing]
        ax.scatter(grey[:, 0], grey[:, 1], s=12, color=MISSING, linewidths=0)
        looks = {"c": coloring.values[~missing], **_scale(coloring)}
        shown = ax.scatter(colored[:, 0], colored[:, 1], s=12, linewidths=0, **looks)
        _color_bar(shown, ax, coloring.title, missing.any())
    else:
        _draw_classes(ax, points, coloring)


def _draw_classes(ax: Axes, points: Array, coloring: Coloring) -> None:
    """Each class in its colour and marker, named in a legend or, where names are short, in its middle."""
    spelled = all(len(style.name) == 1 and style.name.isalnum() for style in coloring.classes if not style.grey)
    for j, style in enumerate(coloring.classes):
        chosen = points[coloring.values == j]
        if spelled and not style.grey:
            ax.scatter(chosen[:, 0], chosen[:, 1], s=22, color=style.color, marker=f"${style.name}$", linewidths=0)
            _name_in_the_middle(ax, chosen, style.name)
        else:
            ax.scatter(chosen[:, 0], chosen[:, 1], s=16, label=style.name, **_look(style))
    _legend(ax, coloring.title)


def _look(style: ClassStyle) -> dict[str, Any]:
    """Marker and colours of a class; grey ones lie below all others."""
    hollow = style.marker.endswith("-open")
    colors = {"facecolors": "none", "edgecolors": style.color} if hollow else {"color": style.color}
    marker = _MARKERS[style.marker.removesuffix("-open")]
    return {"marker": marker, "linewidths": 0.9 * hollow, "zorder": 0.9 if style.grey else 1, **colors}


def _draw_density(ax: Axes, found: Hexagons, coloring: Coloring) -> None:
    """Hexagons coloured by their number of rows, or by labels and then of a size that grows with it."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LogNorm

    number = np.log1p(found.counts) / np.log1p(found.counts.max())
    size = np.ones(len(number)) if coloring.kind == "none" else 0.4 + 0.6 * number
    shapes: Any = found.centers[:, None] + size[:, None, None] * found.outline
    cells = PolyCollection(shapes, linewidths=0)
    if coloring.kind == "none":
        cells.set(array=found.counts, norm=LogNorm(1, max(found.counts.max(), 2)), cmap=_colormap(DENSITY))
        _color_bar(cells, ax, "rows in a hexagon")
    elif coloring.kind == "continuous":
        means = _means(found, coloring.values)
        cells.set(array=np.ma.masked_invalid(means), **_scale(coloring))
        _color_bar(cells, ax, f"mean of {coloring.title or 'the labels'}", np.isnan(means).any())
    else:
        cells.set_facecolor([coloring.classes[j].color for j in _majority(found, coloring)])
        for style in coloring.classes:
            ax.scatter([], [], s=30, marker="h", color=style.color, linewidths=0, label=style.name)
        _legend(ax, coloring.title)
    ax.add_collection(cells)
    ax.autoscale_view()


def _means(found: Hexagons, values: Array) -> Array:
    """The mean label of each hexagon, of the labels that are not missing; NaN where all are."""
    present = ~np.isnan(values)
    sums = np.bincount(found.cell[present], values[present], len(found.counts))
    counts = np.bincount(found.cell[present], minlength=len(found.counts))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _majority(found: Hexagons, coloring: Coloring) -> Array:
    """The most frequent class of each hexagon."""
    shape = len(found.counts), len(coloring.classes)
    votes = np.bincount(found.cell * shape[1] + coloring.values, minlength=shape[0] * shape[1])
    most: Array = np.argmax(votes.reshape(shape), axis=1)
    return most


def _colormap(colors: Sequence[str]) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("labels", colors).with_extremes(bad=MISSING)


def _scale(coloring: Coloring) -> dict[str, Any]:
    from matplotlib.colors import Normalize

    return {"cmap": _colormap(SCALE), "norm": Normalize(*coloring.span)}


def _color_bar(shown: Any, ax: Axes, title: str, missing: Any = False) -> None:
    ax.figure.colorbar(shown, ax=ax, label=f"{title} (grey: missing)" if missing else title)


def _legend(ax: Axes, title: str) -> None:
    """A legend beside the axes, if there is anything to name."""
    count = len(ax.get_legend_handles_labels()[0])
    if count:
        ax.legend(
            title=title or None, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, ncols=1 + count // 16
        )


def _name_in_the_middle(ax: Axes, points: Array, name: str) -> None:
    from matplotlib.patheffects import withStroke

    x, y = np.median(points[:, :2], axis=0)
    halo = [withStroke(linewidth=3, foreground="white")]
    ax.text(x, y, name, size=15, weight="bold", ha="center", va="center", path_effects=halo)
