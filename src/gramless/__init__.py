"""Kernel PCA without the Gram matrix: leading components of data too large for an N x N matrix, certified."""

from gramless import eigen, kernels
from gramless._version import __version__
from gramless.certificates import Certificate
from gramless.errors import GramlessError, IndefiniteKernelWarning, MemoryLimitError, UncertifiedWarning
from gramless.estimators import BiasedDiscriminantAnalysis, KernelDiscriminantAnalysis, KernelKMeans, KernelPCA

__all__ = [
    "BiasedDiscriminantAnalysis",
    "Certificate",
    "GramlessError",
    "IndefiniteKernelWarning",
    "KernelDiscriminantAnalysis",
    "KernelKMeans",
    "KernelPCA",
    "MemoryLimitError",
    "UncertifiedWarning",
    "__version__",
    "eigen",
    "kernels",
]
