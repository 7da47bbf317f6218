"""Estimators with scikit-learn's interface."""

from gramless.bandwidth import Bandwidth
from gramless.estimators.biased_discriminant import BiasedDiscriminantAnalysis
from gramless.estimators.comparing import principal_angles, subspace_distance
from gramless.estimators.kernel_discriminant import KernelDiscriminantAnalysis
from gramless.estimators.kernel_ica import KernelICA
from gramless.estimators.kernel_kmeans import KernelKMeans
from gramless.estimators.kernel_pca import KernelPCA
from gramless.estimators.saving import load
from gramless.estimators.select_bandwidth import select_bandwidth
from gramless.estimators.series_density import SeriesDensity

__all__ = [
    "Bandwidth",
    "BiasedDiscriminantAnalysis",
    "KernelDiscriminantAnalysis",
    "KernelICA",
    "KernelKMeans",
    "KernelPCA",
    "SeriesDensity",
    "load",
    "principal_angles",
    "select_bandwidth",
    "subspace_distance",
]
