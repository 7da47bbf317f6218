"""Kernel PCA without the Gram matrix: leading components of data too large for an N x N matrix, certified."""

from gramless import eigen, kernels
from gramless._version import __version__
from gramless.certificates import Certificate
from gramless.errors import (
    CheckpointError,
    FormatError,
    GramlessError,
    IndefiniteKernelWarning,
    LongFitWarning,
    MemoryLimitError,
    PreimageWarning,
    SourceError,
    UncertifiedWarning,
)
from gramless.estimators import (
    BiasedDiscriminantAnalysis,
    KernelDiscriminantAnalysis,
    KernelICA,
    KernelKMeans,
    KernelPCA,
    SeriesDensity,
    load,
    principal_angles,
    subspace_distance,
)
from gramless.sources import open_source

__all__ = [
    "BiasedDiscriminantAnalysis",
    "Certificate",
    "CheckpointError",
    "FormatError",
    "GramlessError",
    "IndefiniteKernelWarning",
    "KernelDiscriminantAnalysis",
    "KernelICA",
    "KernelKMeans",
    "KernelPCA",
    "LongFitWarning",
    "MemoryLimitError",
    "PreimageWarning",
    "SeriesDensity",
    "SourceError",
    "UncertifiedWarning",
    "__version__",
    "eigen",
    "kernels",
    "load",
    "open_source",
    "principal_angles",
    "subspace_distance",
]
