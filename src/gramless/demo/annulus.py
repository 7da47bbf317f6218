"""PCA and kernel PCA of an annulus (Raykar & Ankur, figures 1 and 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.decomposition import PCA

from gramless.datasets import annulus
from gramless.estimators import KernelPCA
from gramless.kernels import Gaussian
from gramless.plots import plot_components

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = (
    "What kernel components are. Above, 400 points between two circles: linear PCA lays straight axes through them "
    "(first two panels); the components of a Gaussian go round the ring once, twice, and across it. Each panel shows "
    "one component as heights over the plane: dashed lines are negative, the thick line is zero; the percentage is "
    "its share of the variance."
)


def annulus_figure(n: int = 400) -> Figure:
    """PCA's two components and the first six of kernel PCA, in two rows."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    x = annulus(n, rng=0)
    pca = PCA(2).fit(x)
    kpca = KernelPCA(6, kernel=Gaussian(0.8), random_state=0).fit(x)
    figure = Figure(figsize=(10.4, 5.8), layout=ConstrainedLayoutEngine(h_pad=0.09))
    panels = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    plot_components(pca, x, axes=panels[:2])
    plot_components(kpca, x, axes=panels[2:])
    for j, ax in enumerate(panels):
        ax.label_outer()
        ax.set_title(("PCA " if j < 2 else "kernel PCA ") + ax.get_title(), size="medium")
    return figure
