"""Estimators in the shape of scikit-learn."""

from gramless.estimators.biased_discriminant import BiasedDiscriminantAnalysis
from gramless.estimators.kernel_discriminant import KernelDiscriminantAnalysis
from gramless.estimators.kernel_kmeans import KernelKMeans
from gramless.estimators.kernel_pca import KernelPCA

__all__ = ["BiasedDiscriminantAnalysis", "KernelDiscriminantAnalysis", "KernelKMeans", "KernelPCA"]
