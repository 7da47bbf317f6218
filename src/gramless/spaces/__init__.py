"""The result of a fit: a subspace of feature space, and operations on it."""

from gramless.spaces.angles import cross_products, principal_angles, subspace_distance
from gramless.spaces.batch import batch_space
from gramless.spaces.bounds import Bounds
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.kernel_qr import KernelQR, kernel_qr
from gramless.spaces.merge import count_kept, merge
from gramless.spaces.preimage import (
    Expansion,
    FixedPoints,
    RidgePreimage,
    expand,
    fixed_points,
    from_distances,
    mean_shift,
    preimage_errors,
)
from gramless.spaces.reduce import reduce
from gramless.spaces.row_sample import RowSample
from gramless.spaces.span import FeatureSpan, InputSpan, PointSpan, Span, stack_points

__all__ = [
    "Bounds",
    "Eigenspace",
    "Expansion",
    "FeatureSpan",
    "FixedPoints",
    "InputSpan",
    "KernelQR",
    "PointSpan",
    "RidgePreimage",
    "RowSample",
    "Span",
    "batch_space",
    "count_kept",
    "cross_products",
    "expand",
    "fixed_points",
    "from_distances",
    "kernel_qr",
    "mean_shift",
    "merge",
    "preimage_errors",
    "principal_angles",
    "reduce",
    "stack_points",
    "subspace_distance",
]
