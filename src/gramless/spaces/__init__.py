"""The fitted object: a subspace of feature space, and what lies in it."""

from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.preimage import (
    Expansion,
    FixedPoints,
    RidgePreimage,
    expand,
    fixed_points,
    from_distances,
    preimage_errors,
)
from gramless.spaces.row_sample import RowSample
from gramless.spaces.span import FeatureSpan, InputSpan, PointSpan, Span

__all__ = [
    "Eigenspace",
    "Expansion",
    "FeatureSpan",
    "FixedPoints",
    "InputSpan",
    "PointSpan",
    "RidgePreimage",
    "RowSample",
    "Span",
    "expand",
    "fixed_points",
    "from_distances",
    "preimage_errors",
]
