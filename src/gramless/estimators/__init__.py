"""Estimators in the shape of scikit-learn."""

from gramless.estimators.kernel_ica import KernelICA
from gramless.estimators.kernel_pca import KernelPCA

__all__ = ["KernelICA", "KernelPCA"]
