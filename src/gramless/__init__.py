"""Kernel PCA without the Gram matrix: leading components of data too large for an N x N matrix, certified."""

from gramless import eigen, kernels
from gramless._version import __version__
from gramless.certificates import Certificate
from gramless.errors import GramlessError, IndefiniteKernelWarning, MemoryLimitError, UncertifiedWarning
from gramless.estimators import KernelKMeans, KernelPCA

__all__ = [
    "Certificate",
    "GramlessError",
    "IndefiniteKernelWarning",
    "KernelKMeans",
    "KernelPCA",
    "MemoryLimitError",
    "UncertifiedWarning",
    "__version__",
    "eigen",
    "kernels",
]
