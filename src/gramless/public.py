"""What ``gramless`` offers: the names that ``import gramless`` looks up here when one of them is first asked for."""

from gramless import eigen, kernels
from gramless._version import __version__
from gramless.certificates import Certificate
from gramless.data import ReadOptions, open_source
from gramless.errors import (
    CheckpointError,
    CheckpointWarning,
    CompressionError,
    DialectWarning,
    DominantColumnWarning,
    ExportError,
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
    Bandwidth,
    BiasedDiscriminantAnalysis,
    KernelDiscriminantAnalysis,
    KernelICA,
    KernelKMeans,
    KernelPCA,
    SeriesDensity,
    load,
    principal_angles,
    select_bandwidth,
    subspace_distance,
)
from gramless.spaces import Compression

__all__ = [
    "Bandwidth",
    "BiasedDiscriminantAnalysis",
    "Certificate",
    "CheckpointError",
    "CheckpointWarning",
    "Compression",
    "CompressionError",
    "DialectWarning",
    "DominantColumnWarning",
    "ExportError",
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
    "ReadOptions",
    "SeriesDensity",
    "SourceError",
    "UncertifiedWarning",
    "__version__",
    "eigen",
    "kernels",
    "load",
    "open_source",
    "principal_angles",
    "select_bandwidth",
    "subspace_distance",
]
