"""Estimators in the shape of scikit-learn."""

from gramless.estimators.kernel_ica import KernelICA
from gramless.estimators.kernel_pca import KernelPCA
from gramless.estimators.series_density import SeriesDensity

__all__ = ["KernelICA", "KernelPCA", "SeriesDensity"]
