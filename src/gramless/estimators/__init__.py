"""Estimators in the shape of scikit-learn."""

from gramless.estimators.comparing import principal_angles, subspace_distance
from gramless.estimators.kernel_pca import KernelPCA

__all__ = ["KernelPCA", "principal_angles", "subspace_distance"]
