"""Eigenvalues with their certified intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.arrays import Array
from gramless.plots.canvas import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gramless.certificates import Certificate

_DARK, _LIGHT = "#00224e", "#a59c74"  # from cividis


class SpectrumDisplay:
    """Eigenvalues with their certified intervals, and the cumulative explained variance ratio.

    Parameters
    ----------
    certificate : Certificate
        Eigenvalues and their intervals.
    shares : array-like of shape (k,)
        Explained variance ratio of each component.

    Attributes
    ----------
    ax_ : Axes
        Axes of the eigenvalues; the explained variance has its own axis on the right.
    figure_ : Figure

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> from gramless.plots import SpectrumDisplay
    >>> kpca = KernelPCA(8, kernel="rbf", gamma=1.0).fit(annulus(100, rng=0))
    >>> SpectrumDisplay.from_estimator(kpca).ax_.get_xlabel()
    'component'
    """

    ax_: Axes
    figure_: Any

    def __init__(self, certificate: Certificate, shares: Any) -> None:
        self.certificate = certificate
        self.shares: Array = np.asarray(shares, dtype=float)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> SpectrumDisplay:
        """Draw the spectrum of a fitted KernelPCA, in `ax` or a new figure."""
        return cls(certificate_of(estimator), estimator.explained_variance_ratio_).plot(ax)

    def plot(self, ax: Axes | None = None) -> SpectrumDisplay:
        """Draw, in `ax` or a new figure."""
        ax = axes_or_new(ax, figsize=(5.6, 4.0))
        number = np.arange(1, len(self.shares) + 1)
        bars = ax.twinx()
        bars.bar(number, 100 * np.cumsum(self.shares), color=_LIGHT, alpha=0.45, width=0.8)
        bars.set(ylim=(0, 100), ylabel="cumulative explained variance (%)")
        ax.set_zorder(bars.get_zorder() + 1)  # points in front of the bars
        ax.patch.set_visible(False)
        values, certificate = self.certificate.values, self.certificate
        errors = np.maximum([values - certificate.lower, certificate.upper - values], 0.0)
        ax.errorbar(number, values, yerr=errors, fmt="o", color=_DARK, markersize=4.5, capsize=3.5)
        ax.set(xlabel="component", ylabel="eigenvalue of the centered Gram matrix", xlim=(0.2, len(number) + 0.8))
        widest = np.max(certificate.width[values > 0], initial=0.0)
        ax.set_title(f"intervals no wider than {widest:.0e} of the eigenvalue", size="medium")
        ax.locator_params(axis="x", integer=True)
        if (values > 0).all():
            _use_logarithms(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def plot_spectrum(estimator: Any, ax: Axes | None = None) -> Axes:
    """:meth:`SpectrumDisplay.from_estimator`, returning only the axes.

    Parameters
    ----------
    estimator : KernelPCA
        Fitted.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Axes of the eigenvalues.
    """
    return SpectrumDisplay.from_estimator(estimator, ax=ax).ax_


def certificate_of(estimator: Any) -> Certificate:
    """The certificate of a fitted model, or an error that says what to pass."""
    if not hasattr(estimator, "certificate_"):
        raise ValueError(f"{type(estimator).__name__} has no certificate_; pass a fitted gramless.KernelPCA")
    certificate: Certificate = estimator.certificate_
    return certificate


def _use_logarithms(ax: Axes) -> None:
    """A logarithmic axis whose ticks are plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
