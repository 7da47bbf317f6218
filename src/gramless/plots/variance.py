"""How much of the variance the leading components explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import axes_or_new, next_style
from gramless.plots.spectrum import certificate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ExplainedVarianceDisplay:
    """Cumulative explained variance ratio, relative to the exact total variance, against the number of components.

    Parameters
    ----------
    shares : array-like of shape (k,)
        Explained variance ratio of each component.
    lower, upper : array-like of shape (k,), optional
        Bounds on each ratio, from the certificate.
    label : str, optional
        For the legend.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> from gramless.plots import ExplainedVarianceDisplay
    >>> kpca = KernelPCA(8, kernel="rbf", gamma=1.0).fit(annulus(100, rng=0))
    >>> ExplainedVarianceDisplay.from_estimator(kpca).ax_.get_ylabel()
    'explained variance (%)'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, shares: Any, lower: Any = None, upper: Any = None, *, label: str | None = None) -> None:
        self.shares: Array = np.asarray(shares, dtype=float)
        self.lower: Array = self.shares if lower is None else np.asarray(lower, dtype=float)
        self.upper: Array = self.shares if upper is None else np.asarray(upper, dtype=float)
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label: str | None = None,
        thresholds: tuple[float, ...] = (0.9, 0.99),
        ax: Axes | None = None,
    ) -> ExplainedVarianceDisplay:
        """Draw for a fitted KernelPCA; call again with the same `ax` and another label to compare."""
        return cls(*share_bounds(estimator), label=label).plot(ax, thresholds=thresholds)

    def plot(self, ax: Axes | None = None, *, thresholds: tuple[float, ...] = (0.9, 0.99)) -> ExplainedVarianceDisplay:
        """Draw, in `ax` or a new figure.

        Parameters
        ----------
        ax : Axes, optional
        thresholds : tuple of float
            Fractions that are marked with the number of components that reach them.
        """
        ax = axes_or_new(ax, figsize=(5.6, 4.0))
        number = np.arange(1, len(self.shares) + 1)
        total = np.cumsum(self.shares)
        style = next_style(ax)
        ax.plot(number, 100 * total, label=self.label, **style)
        low, high = np.cumsum(self.lower), np.minimum(np.cumsum(self.upper), 1.0)
        ax.fill_between(number, 100 * low, 100 * high, color=style["color"], alpha=0.2, linewidth=0)
        for threshold in thresholds:
            if total[-1] >= threshold:
                _mark(ax, int(np.argmax(total >= threshold)) + 1, 100 * threshold)
        ax.set(xlabel="components", ylabel="explained variance (%)", ylim=(0, 103))
        ax.locator_params(axis="x", integer=True)
        ax.grid(alpha=0.3)
        if self.label is not None:
            ax.legend(frameon=False, loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def share_bounds(estimator: Any) -> tuple[Array, Array, Array]:
    """Explained variance ratios (k,) of a fitted model with their certified bounds: the total is exact."""
    certificate = certificate_of(estimator)
    shares = np.asarray(estimator.explained_variance_ratio_, dtype=float)
    values = np.asarray(estimator.eigenvalues_, dtype=float)
    scale = np.divide(shares, values, out=np.zeros_like(shares), where=values > 0)
    return shares, certificate.lower * scale, certificate.upper * scale


def _mark(ax: Axes, number: int, percent: float) -> None:
    """A thin line at a fraction, and the number of components that reach it."""
    ax.axhline(percent, color="0.6", linewidth=0.8, linestyle=(0, (2, 3)), zorder=0)
    ax.annotate(
        f"{number} for {percent:g} %",
        (number, percent),
        textcoords="offset points",
        xytext=(6, -12),
        size="small",
        color="0.25",
    )
