"""Estimators in the shape of scikit-learn."""

from gramless.estimators.kernel_kmeans import KernelKMeans
from gramless.estimators.kernel_pca import KernelPCA

__all__ = ["KernelKMeans", "KernelPCA"]
