"""The number of vectors of a span, and the number of columns of its rows."""

from __future__ import annotations

from typing import Any

from gramless.features import (
    CompositeMap,
    FourierMap,
    LandmarkMap,
    Monomials,
    NormalizedMap,
    SampledMap,
    ScaledMap,
    TaylorMap,
)
from gramless.fitting.methods import BoundedPoints, KeptRows, MergedSpaces, MomentState
from gramless.spaces import FeatureSpan, InputSpan, PointSpan, Span


def size(span: Span) -> int:
    """Number p of vectors of a span."""
    if isinstance(span, PointSpan):
        return int(span.points.shape[0])
    return int(span.features.n_features if isinstance(span, FeatureSpan) else span.origin.size)  # type: ignore[attr-defined]


def width(part: Any) -> int:
    """Number d of columns of the rows that a span, a feature map or a stream takes."""
    match part:
        case PointSpan() | LandmarkMap() | SampledMap():
            return int(part.points.shape[1])
        case InputSpan():
            return int(part.origin.size)
        case MergedSpaces():
            return int(part.waiting.shape[1]) if part.space is None else width(part.space.span)
        case KeptRows():
            return int(part.x.shape[1])
        case FeatureSpan() | MomentState() | BoundedPoints():
            return width(part.features)
        case Monomials():
            return part.d
        case NormalizedMap():
            return part.n_features
        case TaylorMap():
            return int(part.center.size)
        case FourierMap():
            return len(part.grid.axes.counts)
        case CompositeMap():
            return width(part.left)
        case ScaledMap():
            return width(part.inner)
    raise TypeError(f"{type(part).__name__} is not a span, feature map or stream")
