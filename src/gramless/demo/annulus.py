"""PCA and kernel PCA of an annulus (Raykar & Ankur, figures 1 and 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.decomposition import PCA

from gramless.arrays import Array
from gramless.datasets import annulus
from gramless.demo.chapter import Chapter
from gramless.estimators import KernelPCA
from gramless.kernels import Gaussian
from gramless.plots import plot_components

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIGMA = 0.8


def annulus_chapter(n: int = 400) -> Chapter:
    """Fit PCA and kernel PCA, draw both, and measure which component correlates with the radius."""
    x = annulus(n, rng=0)
    pca = PCA(2).fit(x)
    kpca = KernelPCA(6, kernel=Gaussian(_SIGMA), random_state=0).fit(x)
    linear, kernel = pca.transform(x), kpca.transform(x)
    radius = np.linalg.norm(x, axis=1)
    of_radius = [correlation(radius, scores) for scores in kernel.T]
    across = int(np.argmax(of_radius)) + 1
    best_linear = max(correlation(radius, scores) for scores in linear.T)
    return Chapter(
        title="An annulus: what lines cannot see",
        text=(
            f"{n} points lie between two circles. PCA can only lay straight axes through them, and neither of its two "
            f"components knows how far a point is from the centre: their correlation with the radius is at most "
            f"{best_linear:.2f}.",
            f"Kernel PCA with a Gaussian (sigma {_SIGMA}) finds axes that fit the shape. Components 1 and 2 go once "
            f"round the ring, 3 and 4 twice, and component {across} runs across it, from the inner circle to the "
            f"outer: its correlation with the radius is {of_radius[across - 1]:.2f}. One axis along the annulus and "
            "one across it are what Raykar and Ankur found in components 4 and 5 of their example.",
        ),
        name="annulus",
        figure=annulus_figure(x, pca, kpca),
        caption=(
            "Each panel shows one component as heights over the plane: along a line it is constant, dashed lines are "
            "negative, the thick line is zero. The percentage is the share of variance."
        ),
    )


def annulus_figure(x: Array, pca: Any, kpca: KernelPCA) -> Figure:
    """PCA's two components and the first six of kernel PCA, in two rows."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(10.4, 5.8), layout=ConstrainedLayoutEngine(h_pad=0.09))
    panels = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    plot_components(pca, x, axes=panels[:2])
    plot_components(kpca, x, axes=panels[2:])
    for j, ax in enumerate(panels):
        ax.label_outer()
        ax.set_title(("PCA " if j < 2 else "kernel PCA ") + ax.get_title(), size="medium")
    return figure


def correlation(a: Array, b: Array) -> float:
    """Absolute correlation of two samples."""
    return float(abs(np.corrcoef(a, b)[0, 1]))
