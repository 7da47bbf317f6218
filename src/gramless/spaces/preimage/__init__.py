"""Pre-images: from components back to the input space."""

from gramless.spaces.preimage.descent import Combinations, Projections, descend
from gramless.spaces.preimage.distances import from_distances
from gramless.spaces.preimage.expansion import Expansion, expand, has_points, preimage_errors
from gramless.spaces.preimage.fixed_point import FixedPoints, fixed_points, nearest_candidates
from gramless.spaces.preimage.flat import along_rays, flat_points
from gramless.spaces.preimage.mean_shift import mean_shift
from gramless.spaces.preimage.ridge import RidgePreimage

__all__ = [
    "Combinations",
    "Expansion",
    "FixedPoints",
    "Projections",
    "RidgePreimage",
    "along_rays",
    "descend",
    "expand",
    "fixed_points",
    "flat_points",
    "from_distances",
    "has_points",
    "mean_shift",
    "nearest_candidates",
    "preimage_errors",
]
