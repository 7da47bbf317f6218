"""The result of a fit: a subspace of feature space, and operations on it."""

from gramless.spaces.angles import cross_products, principal_angles, subspace_distance
from gramless.spaces.batch import batch_space
from gramless.spaces.bounds import Bounds
from gramless.spaces.compress import compress
from gramless.spaces.compression import Compression
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.kernel_qr import KernelQR, kernel_qr
from gramless.spaces.merge import count_kept, merge
from gramless.spaces.outputs import Outputs
from gramless.spaces.preimage import (
    Combinations,
    Expansion,
    FixedPoints,
    Projections,
    RidgePreimage,
    along_rays,
    descend,
    expand,
    fixed_points,
    flat_points,
    from_distances,
    has_points,
    mean_shift,
    nearest_candidates,
    preimage_errors,
)
from gramless.spaces.reduce import reduce
from gramless.spaces.row_sample import RowSample
from gramless.spaces.span import FeatureSpan, InputSpan, PointSpan, Span, stack_points

__all__ = [
    "Bounds",
    "Combinations",
    "Compression",
    "Eigenspace",
    "Expansion",
    "FeatureSpan",
    "FixedPoints",
    "InputSpan",
    "KernelQR",
    "Outputs",
    "PointSpan",
    "Projections",
    "RidgePreimage",
    "RowSample",
    "Span",
    "along_rays",
    "batch_space",
    "compress",
    "count_kept",
    "cross_products",
    "descend",
    "expand",
    "fixed_points",
    "flat_points",
    "from_distances",
    "has_points",
    "kernel_qr",
    "mean_shift",
    "merge",
    "nearest_candidates",
    "preimage_errors",
    "principal_angles",
    "reduce",
    "stack_points",
    "subspace_distance",
]
