"""Eigenvalues with what is proved of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramless.plots.canvas import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DARK, _LIGHT = "#00224e", "#a59c74"  # from cividis


def plot_spectrum(estimator: Any, ax: Axes | None = None) -> Axes:
    """Eigenvalues in their certified intervals, and the share of variance they explain together.

    Parameters
    ----------
    estimator : KernelPCA
        Fitted.
    ax : Axes, optional
        Where to draw; a new figure by default. The shares get an axis of their own on the right.

    Returns
    -------
    Axes
        Of the eigenvalues.

    Examples
    --------
    >>> from gramless import KernelPCA
    >>> from gramless.datasets import annulus
    >>> kpca = KernelPCA(8, kernel="rbf", gamma=1.0).fit(annulus(100, rng=0))
    >>> plot_spectrum(kpca).get_xlabel()
    'component'
    """
    if not hasattr(estimator, "certificate_"):
        raise ValueError(f"{type(estimator).__name__} has no certificate_; pass a fitted gramless.KernelPCA")
    values, certificate = estimator.eigenvalues_, estimator.certificate_
    number = np.arange(1, len(values) + 1)
    ax = axes_or_new(ax, figsize=(5.6, 4.0))
    shares = ax.twinx()
    shares.bar(number, 100 * np.cumsum(estimator.explained_variance_ratio_), color=_LIGHT, alpha=0.45, width=0.8)
    shares.set(ylim=(0, 100), ylabel="variance explained so far (%)")
    ax.set_zorder(shares.get_zorder() + 1)  # the points before the bars
    ax.patch.set_visible(False)

    below, above = values - certificate.lower, certificate.upper - values
    ax.errorbar(
        number,
        values,
        yerr=np.maximum([below, above], 0.0),
        fmt="o",
        color=_DARK,
        markersize=4.5,
        capsize=3.5,
    )
    ax.set(xlabel="component", ylabel="eigenvalue of the centred Gram matrix", xlim=(0.2, len(number) + 0.8))
    widest = np.max(certificate.width[values > 0], initial=0.0)
    ax.set_title(f"intervals no wider than {widest:.0e} of the eigenvalue", size="medium")
    ax.locator_params(axis="x", integer=True)
    if (values > 0).all():
        _use_logarithms(ax)
    return ax


def _use_logarithms(ax: Axes) -> None:
    """A logarithmic axis whose ticks are plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
