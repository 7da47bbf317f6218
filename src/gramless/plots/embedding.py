"""Rows as points: their first component against their second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^DvP*X<>"


class EmbeddingDisplay:
    """Rows as points: two of their components, one colour and one marker for each label.

    Labels of one character, such as digits, are themselves the markers.

    Parameters
    ----------
    scores : array-like of shape (n_samples, k)
        What ``transform`` returns; k at least 2.
    labels : array-like of shape (n_samples,), optional
        Classes of the rows.
    components : pair of int, default=(1, 2)
        Which components to draw across and up, counted from 1.

    Attributes
    ----------
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
    """

    ax_: Axes
    figure_: Any

    def __init__(self, scores: Any, labels: Any = None, *, components: tuple[int, int] = (1, 2)) -> None:
        points = np.asarray(scores)
        if points.ndim != 2 or points.shape[1] < 2:
            raise ValueError(
                f"scores of shape {points.shape} given; an embedding in the plane needs two columns or more: pass what "
                "transform returns, or use EmbeddingDisplay.from_estimator(model, X)"
            )
        if labels is not None and len(labels) != len(points):
            raise ValueError(f"{len(labels)} labels given for {len(points)} rows; pass one for each")
        if not all(1 <= number <= points.shape[1] for number in components):
            raise ValueError(f"components={components} given; they count from 1, and there are {points.shape[1]}")
        self.scores, self.labels, self.components = points, labels, components

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        components: tuple[int, int] = (1, 2),
        ax: Axes | None = None,
    ) -> EmbeddingDisplay:
        """Draw what ``estimator.transform(X)`` returns; rows of one `y` share colour and marker."""
        return cls(estimator.transform(X), y, components=components).plot(ax)

    def plot(self, ax: Axes | None = None) -> EmbeddingDisplay:
        """Draw, in `ax` or a new figure."""
        ax = axes_or_new(ax, figsize=(5.2, 4.6))
        first, second = self.components
        points = self.scores[:, [first - 1, second - 1]]
        if self.labels is None:
            ax.scatter(points[:, 0], points[:, 1], s=10, color="0.3", linewidths=0)
        else:
            _draw_classes(ax, points, np.asarray(self.labels))
        ax.set(xlabel=f"component {first}", ylabel=f"component {second}")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plot_embedding(scores: Any, labels: Any = None, ax: Axes | None = None) -> Axes:
    """:class:`EmbeddingDisplay` of the first two components, returning only the axes.

    Parameters
    ----------
    scores : array-like of shape (n_samples, k)
        What ``transform`` returns; k at least 2.
    labels : array-like of shape (n_samples,), optional
        Classes of the rows.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
    """
    return EmbeddingDisplay(scores, labels).plot(ax).ax_


def _draw_classes(ax: Axes, points: Array, labels: Array) -> None:
    """Each class in its colour and marker, named in a legend or, where names are short, in its middle."""
    from matplotlib import colormaps

    names = np.unique(labels)
    colors = colormaps["viridis"](np.linspace(0.0, 0.88, len(names)))
    spelled = all(len(str(name)) == 1 and str(name).isalnum() for name in names)
    for j, name in enumerate(names):
        chosen = points[labels == name]
        marker = f"${name}$" if spelled else _MARKERS[j % len(_MARKERS)]
        size = 22 if spelled else 16
        ax.scatter(chosen[:, 0], chosen[:, 1], s=size, color=colors[j], marker=marker, linewidths=0, label=str(name))
        if spelled:
            _name_in_the_middle(ax, chosen, str(name))
    if not spelled:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, ncols=1 + len(names) // 16)


def _name_in_the_middle(ax: Axes, points: Array, name: str) -> None:
    from matplotlib.patheffects import withStroke

    x, y = np.median(points[:, :2], axis=0)
    halo = [withStroke(linewidth=3, foreground="white")]
    ax.text(x, y, name, size=15, weight="bold", ha="center", va="center", path_effects=halo)
