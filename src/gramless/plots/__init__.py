"""Figures of fitted models. Needs matplotlib: ``pip install gramless[plot]``."""

from gramless.plots.contours import plot_components
from gramless.plots.embedding import plot_embedding
from gramless.plots.spectrum import plot_spectrum

__all__ = ["plot_components", "plot_embedding", "plot_spectrum"]
