"""Estimators in the shape of scikit-learn."""

from gramless.estimators.comparing import principal_angles, subspace_distance
from gramless.estimators.kernel_pca import KernelPCA
from gramless.estimators.saving import load

__all__ = ["KernelPCA", "load", "principal_angles", "subspace_distance"]
