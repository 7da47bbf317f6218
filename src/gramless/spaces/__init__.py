"""The fitted object: a subspace of feature space, and what lies in it."""

from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.preimage import RidgePreimage
from gramless.spaces.span import FeatureSpan, InputSpan, PointSpan, Span

__all__ = ["Eigenspace", "FeatureSpan", "InputSpan", "PointSpan", "RidgePreimage", "Span"]
