"""Figures of fitted models, in the manner of scikit-learn's displays. Needs matplotlib: ``pip install ".[plot]"``.

``SomethingDisplay.from_estimator(...)`` computes and draws; the object it returns stores the computed values, and
``.plot(ax=)`` draws it again elsewhere.
"""

from gramless.plots.coloring import ClassStyle, Coloring
from gramless.plots.contours import ComponentsDisplay, component_heights, component_title, plot_components
from gramless.plots.convergence import ConvergenceDisplay
from gramless.plots.distance import SubspaceDistanceDisplay
from gramless.plots.embedding import EmbeddingDisplay, plot_embedding
from gramless.plots.images import image_shape
from gramless.plots.plan import PlanDisplay
from gramless.plots.reconstruction import ReconstructionDisplay
from gramless.plots.spectrum import SpectrumDisplay, plot_spectrum
from gramless.plots.variance import ExplainedVarianceDisplay, share_bounds

__all__ = [
    "ClassStyle",
    "Coloring",
    "ComponentsDisplay",
    "ConvergenceDisplay",
    "EmbeddingDisplay",
    "ExplainedVarianceDisplay",
    "PlanDisplay",
    "ReconstructionDisplay",
    "SpectrumDisplay",
    "SubspaceDistanceDisplay",
    "component_heights",
    "component_title",
    "image_shape",
    "plot_components",
    "plot_embedding",
    "plot_spectrum",
    "share_bounds",
]
