"""How far the components of one model are from those of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from gramless.estimators import subspace_distance
from gramless.plots.canvas import axes_or_new, next_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SubspaceDistanceDisplay:
    """Subspace distances as a curve: 0 for the same subspace, 1 for orthogonal ones.

    Parameters
    ----------
    positions, distances : sequence of float
    xlabel : str
        What the positions are.
    label : str, optional
        For the legend.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    The distance between a stream and all its rows at once, as in figure 1 of Sharma, Chaudhury & Srivastava:

    >>> from gramless import KernelPCA
    >>> from gramless.datasets import parabola
    >>> from gramless.plots import SubspaceDistanceDisplay
    >>> kpca = KernelPCA(6, kernel="rbf", gamma=2.0)
    >>> display = SubspaceDistanceDisplay.from_estimator(kpca, parabola(300, rng=0), batch=100, components=3)
    >>> bool(display.distances[-1] < display.distances[0])
    True
    """

    ax_: Axes
    figure_: Any

    def __init__(self, positions: Any, distances: Any, *, xlabel: str, label: str | None = None) -> None:
        self.positions, self.distances = list(positions), list(distances)
        self.xlabel, self.label = xlabel, label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        batch: int,
        components: int | None = None,
        label: str | None = None,
        ax: Axes | None = None,
    ) -> SubspaceDistanceDisplay:
        """Give `X` to a copy of `estimator` batch by batch, and draw its distance from one fitted to all rows.

        Parameters
        ----------
        estimator : KernelPCA
        X : array-like of shape (n_samples, n_features)
        batch : int
            Rows in each call of ``partial_fit``.
        components : int, optional
            Number of leading components to compare; by default all.
        label : str, optional
        ax : Axes, optional
        """
        rows = np.asarray(X)
        whole = clone(estimator).fit(rows)
        kernel = whole.plan_.problem.kernel  # with the bandwidth of all rows, not of a batch
        stream = clone(estimator).set_params(kernel=kernel, gamma=None)
        seen, distances = [], []
        for first in range(0, len(rows), batch):
            stream.partial_fit(rows[first : first + batch])
            kept = min(len(stream.eigenvalues_), len(whole.eigenvalues_), components or len(whole.eigenvalues_))
            seen.append(min(first + batch, len(rows)))
            distances.append(subspace_distance(stream.truncate(kept), whole.truncate(kept)))
        return cls(seen, distances, xlabel="rows seen", label=label).plot(ax)

    @classmethod
    def from_estimators(
        cls, a: Any, b: Any, *, label: str | None = None, ax: Axes | None = None
    ) -> SubspaceDistanceDisplay:
        """Draw the distance between the leading 1, 2, ... components of two fitted models of one kernel."""
        numbers = range(1, min(len(a.eigenvalues_), len(b.eigenvalues_)) + 1)
        distances = [subspace_distance(a.truncate(k), b.truncate(k)) for k in numbers]
        return cls(numbers, distances, xlabel="number of leading components", label=label).plot(ax)

    def plot(self, ax: Axes | None = None) -> SubspaceDistanceDisplay:
        """Draw, in `ax` or a new figure."""
        ax = axes_or_new(ax, figsize=(5.6, 4.0))
        ax.plot(self.positions, self.distances, label=self.label, **next_style(ax))
        ax.set(xlabel=self.xlabel, ylabel="subspace distance")
        ax.set_ylim(bottom=0.0)
        ax.locator_params(axis="x", integer=True)
        ax.grid(alpha=0.3)
        if self.label is not None:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
