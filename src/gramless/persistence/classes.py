"""The classes whose objects a file may contain, by name. No other object is ever made from a file."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

import numpy as np
import scipy.sparse

from gramless.certificates import Certificate
from gramless.clustering import CenterModel
from gramless.data import ReadOptions
from gramless.data.survey import Tally
from gramless.densities import Series, Shape
from gramless.discriminants import FisherRule, Projection
from gramless.features import (
    Box,
    CompositeMap,
    DenseMoments,
    FourierMap,
    LandmarkMap,
    Monomials,
    NormalizedMap,
    SampledMap,
    ScaledMap,
    TaylorMap,
    ToeplitzMoments,
)
from gramless.features.fourier.grid import Axes, FourierGrid
from gramless.features.shifted import ShiftedMoments
from gramless.features.triangle import Triangle
from gramless.fitting import Begun
from gramless.fitting.methods import BoundedPoints, KeptRows, MergedSpaces, MomentState, Plan
from gramless.fitting.methods.moments import Gathered
from gramless.fitting.methods.newcomers import Newcomers
from gramless.fitting.model import Model
from gramless.kernels import FromCallable, Kernel, kernels
from gramless.kernels.spectral import SpectralDensity
from gramless.problem import Estimate, Problem
from gramless.spaces import Bounds, Compression, Eigenspace, FeatureSpan, InputSpan, PointSpan, RidgePreimage, RowSample

_KERNELS = [kernel for _, kernel in kernels.items() if kernel is not FromCallable]
#: Names that classes have in files, where these are older than the class's own.
FILE_NAMES: dict[type[Any], str] = {
    BoundedPoints: "LandmarkStream",
    KeptRows: "RefittingStream",
    MergedSpaces: "MergingStream",
    Model: "Fitted",
    MomentState: "MomentStream",
    Tally: "Survey",
}


def file_name(cls: type[Any]) -> str:
    """What a class is called in files."""
    return FILE_NAMES.get(cls, cls.__name__)


CLASSES: dict[str, type[Any]] = {
    file_name(cls): cls
    for cls in (
        *_KERNELS,
        *(Axes, Box, CompositeMap, FourierGrid, FourierMap, LandmarkMap, Monomials, SampledMap, ScaledMap),
        *(NormalizedMap, TaylorMap, Triangle),
        *(DenseMoments, ShiftedMoments, ToeplitzMoments),
        *(Bounds, Compression, Eigenspace, FeatureSpan, InputSpan, PointSpan, RidgePreimage, RowSample),
        *(BoundedPoints, KeptRows, MergedSpaces, MomentState, Newcomers),
        *(CenterModel, FisherRule, Projection, Series, Shape, SpectralDensity),
        *(Begun, Certificate, Estimate, Gathered, Model, Plan, Problem, ReadOptions, Tally),
    )
}

#: Rows, as estimators and spans store them.
ROWS = np.ndarray | scipy.sparse.csr_array | scipy.sparse.csr_matrix

#: Classes that implement a protocol: objects of these may be read where the protocol is annotated.
IMPLEMENTATIONS: dict[str, tuple[type[Any], ...]] = {
    "Span": (PointSpan, FeatureSpan, InputSpan),
    "Moments": (DenseMoments, ShiftedMoments, ToeplitzMoments),
    "Shift": (Monomials,),
    "State": (BoundedPoints, KeptRows, MergedSpaces, MomentState),
}
# fields whose annotations are wider than the types that are ever written
_NARROWER: dict[tuple[str, str], Any] = {
    **{(name, "points"): ROWS for name in ("PointSpan", "LandmarkMap", "SampledMap")},
    ("Newcomers", "points"): ROWS | None,
    ("MergedSpaces", "waiting"): ROWS | None,
    ("KeptRows", "x"): ROWS,
    ("Series", "rows"): ROWS,
    ("QuadraticForm", "A"): np.ndarray,
    ("Gathered", "signs"): ROWS,
    ("Problem", "kernel"): Kernel,
    **{("Problem", name): np.ndarray | None for name in ("low", "high", "sample")},
}
_CONSTRUCTED = {"Monomials": {"kernel": Kernel, "d": int, "center": np.ndarray, "unit": np.ndarray}}
_TYPES: dict[str, dict[str, Any]] = dict(_CONSTRUCTED)  # resolving annotations takes time: once for each class


def field_types(cls: type[Any]) -> dict[str, Any]:
    """The types, by name, of the fields that an object is restored from."""
    if cls.__name__ not in _TYPES:
        if not is_dataclass(cls):
            raise TypeError(f"{cls.__name__} does not declare its fields")
        hints = get_type_hints(cls)
        _TYPES[cls.__name__] = {
            f.name: _NARROWER.get((cls.__name__, f.name), hints[f.name])
            for f in fields(cls)
            if f.init and f.metadata.get("saved", True)
        }
    return _TYPES[cls.__name__]


def required_fields(cls: type[Any]) -> frozenset[str]:
    """Fields without a default, which a file must have. A field added later, with a default, may be missing."""
    if cls.__name__ in _CONSTRUCTED:
        return frozenset(_CONSTRUCTED[cls.__name__])
    return frozenset(f.name for f in fields(cls) if f.init and f.default is MISSING and f.default_factory is MISSING)
