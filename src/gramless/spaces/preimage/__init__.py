"""Pre-images: from components back to the input space."""

from gramless.spaces.preimage.distances import from_distances
from gramless.spaces.preimage.expansion import Expansion, expand, preimage_errors
from gramless.spaces.preimage.fixed_point import FixedPoints, fixed_points
from gramless.spaces.preimage.mean_shift import mean_shift
from gramless.spaces.preimage.ridge import RidgePreimage

__all__ = [
    "Expansion",
    "FixedPoints",
    "RidgePreimage",
    "expand",
    "fixed_points",
    "from_distances",
    "mean_shift",
    "preimage_errors",
]
