"""Rows as points: their first component against their second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^DvP*X<>"


def plot_embedding(scores: Any, labels: Any = None, ax: Axes | None = None) -> Axes:
    """Scatter the first two components of each row, one colour and one marker for each label.

    Labels of one character, such as digits, are themselves the markers.

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

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramless import KernelPCA
    >>> X, digit = load_digits(return_X_y=True)
    >>> scores = KernelPCA(2, kernel="rbf", gamma="median").fit_transform(X)
    >>> plot_embedding(scores, digit).get_xlabel()
    'component 1'
    """
    points = np.asarray(scores)
    if points.ndim != 2 or points.shape[1] < 2:
        raise ValueError(f"scores of shape {points.shape} given; an embedding in the plane needs two columns or more")
    if labels is not None and len(labels) != len(points):
        raise ValueError(f"{len(labels)} labels given for {len(points)} rows; pass one for each")
    ax = axes_or_new(ax, figsize=(5.2, 4.6))
    if labels is None:
        ax.scatter(points[:, 0], points[:, 1], s=10, color="0.3", linewidths=0)
    else:
        _draw_classes(ax, points, np.asarray(labels))
    ax.set(xlabel="component 1", ylabel="component 2")
    return ax


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
