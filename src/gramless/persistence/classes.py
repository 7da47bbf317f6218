"""What a file may hold: the classes that are written and read, by name. Nothing else is ever made from a file."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from gramless.certificates import Certificate
from gramless.features import (
    Box,
    CompositeMap,
    DenseMoments,
    FourierMap,
    LandmarkMap,
    Monomials,
    ScaledMap,
    TaylorMap,
    ToeplitzMoments,
)
from gramless.features.fourier.grid import Axes, FourierGrid
from gramless.features.shifted import ShiftedMoments
from gramless.features.triangle import Triangle
from gramless.kernels import FromCallable, kernels
from gramless.planning import Plan
from gramless.problem import Estimate, Problem
from gramless.routes import Fitted
from gramless.routes.blockwise import Gathered
from gramless.routes.stream import LandmarkStream, MergingStream, MomentStream, RefittingStream
from gramless.routes.stream.newcomers import Newcomers
from gramless.routes.survey import Survey
from gramless.spaces import Bounds, Eigenspace, FeatureSpan, InputSpan, PointSpan, RidgePreimage, RowSample

_KERNELS = [kernel for _, kernel in kernels.items() if kernel is not FromCallable]
CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        *_KERNELS,
        *(Axes, Box, CompositeMap, FourierGrid, FourierMap, LandmarkMap, Monomials, ScaledMap, TaylorMap, Triangle),
        *(DenseMoments, ShiftedMoments, ToeplitzMoments),
        *(Bounds, Eigenspace, FeatureSpan, InputSpan, PointSpan, RidgePreimage, RowSample),
        *(LandmarkStream, MergingStream, MomentStream, Newcomers, RefittingStream),
        *(Certificate, Estimate, Fitted, Gathered, Plan, Problem, Survey),
    )
}
_CONSTRUCTED = {"Monomials": ("kernel", "d", "center", "unit")}


def field_names(cls: type[Any]) -> tuple[str, ...]:
    """What an object is made from again."""
    if cls.__name__ in _CONSTRUCTED:
        return _CONSTRUCTED[cls.__name__]
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} does not say what it is made from")
    return tuple(field.name for field in fields(cls) if field.init)
