"""Checks that the parts of an object from a file fit together: wrong shapes are refused before they are used."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import singledispatch
from math import lgamma, log
from typing import Any

import numpy as np

from gramless.certificates import Certificate
from gramless.clustering import CenterModel
from gramless.densities import Series
from gramless.discriminants import FisherRule, Projection
from gramless.errors import FormatError
from gramless.features import (
    Box,
    DenseMoments,
    LandmarkMap,
    Monomials,
    NormalizedMap,
    SampledMap,
    TaylorMap,
    ToeplitzMoments,
)
from gramless.features.fourier.grid import FourierGrid
from gramless.features.shifted import ShiftedMoments
from gramless.fitting.methods import BoundedPoints, KeptRows, MergedSpaces, MomentState, Plan
from gramless.fitting.model import Model
from gramless.kernels import Polynomial, Scaled
from gramless.persistence.dimensions import size, width
from gramless.spaces import Compression, Eigenspace, FeatureSpan, PointSpan, RidgePreimage, RowSample

_DEVICE = re.compile(r"cpu|torch|cuda(:\d{1,3})?")
_PRUNED = 64  # most grid points for each frequency kept: an ellipsoid in a box has fewer


def require_shape(name: str, array: Any, *shape: int) -> None:
    """Refuse an array of another shape."""
    if array.shape != shape:
        raise FormatError(f"{name} has the shape {array.shape}, expected {shape}")


def require_device(device: str) -> None:
    """Refuse a string that cannot be the name of a device."""
    if not _DEVICE.fullmatch(device):
        raise FormatError(f"the device {device!r} is unknown")


def refuse_features(cls: type[Any], made_from: dict[str, Any], room: int) -> None:
    """Refuse a map with more features than the file has numbers, before the map is constructed.

    A valid model has a coefficient for each feature; with fewer numbers the map would only cost memory and time.
    """
    if cls is Monomials:
        kernel = made_from["kernel"]
        while isinstance(kernel, Scaled):
            kernel = kernel.kernel
        require_shape("the center of monomials", made_from["center"], made_from["d"])
        if isinstance(kernel, Polynomial):
            _refuse_count(made_from["d"] + (kernel.c != 0), kernel.degree, room)
    if cls is NormalizedMap and not 1 <= made_from["n_features"] <= room:
        raise FormatError(f"a map of rows with {made_from['n_features']} columns")
    if cls is TaylorMap:
        if made_from["center"].ndim != 1 or made_from["terms"] < 1:
            raise FormatError(f"a Taylor map of {made_from['terms']} terms about {made_from['center'].shape}")
        _refuse_count(made_from["center"].size + 1, made_from["terms"] - 1, room)


def _refuse_count(variables: int, degree: float, room: int) -> None:
    """Refuse C(variables + degree - 1, degree) > room; logarithms are compared, the number itself may be huge."""
    most = log(room + 1) + 1e-6
    small = 0 < variables <= room + 1 and 0 <= degree <= room + 1
    if not small or lgamma(variables + degree) - lgamma(degree + 1) - lgamma(variables) > most:
        raise FormatError(f"monomials of degree {degree} in {variables} variables are more than the file has numbers")


@singledispatch
def check(made: Any) -> None:
    """Refuse an object whose parts do not fit together; classes without a rule pass."""


@check.register
def _(made: Certificate) -> None:
    for name in ("values", "lower", "upper", "angle", "kind"):
        require_shape(f"{name} of the certificate", getattr(made, name), made.values.size)
    if not set(made.kind.tolist()) <= {"rigorous", "probabilistic"}:
        raise FormatError(f"the certificate has the kinds {sorted(set(map(str, made.kind.tolist())))}")


@check.register
def _(made: Compression) -> None:
    for name in ("names", "scales", "norms", "change", "largest"):
        require_shape(f"{name} of the compression", getattr(made, name), made.names.size)
    for name in ("curve_points", "curve_change", "curve_bound"):
        require_shape(f"{name} of the compression", getattr(made, name), made.curve_points.size)


@check.register
def _(made: Eigenspace) -> None:
    p, k = size(made.span), made.scatter.size
    require_shape("the mean of an eigenspace", made.mean, p)
    require_shape("the basis of an eigenspace", made.basis, p, k)
    require_shape("the scatter of an eigenspace", made.scatter, k)
    require_shape("the offset of an eigenspace", made.offset, k)


@check.register
def _(made: Model) -> None:
    k = len(made.space.scatter)
    require_shape("the eigenvalues of the certificate", made.certificate.values, k)
    if made.vectors is not None and (made.vectors.ndim != 2 or made.vectors.shape[1] != k):
        raise FormatError(f"there are eigenvectors of shape {made.vectors.shape} for {k} eigenvalues")
    if made.residuals is not None:
        require_shape("the residuals", made.residuals, k)


@check.register
def _(made: PointSpan) -> None:
    if made.points.ndim != 2:
        raise FormatError(f"the points of a span have the shape {made.points.shape}")
    require_device(made.device)


@check.register
def _(made: FeatureSpan) -> None:
    require_device(made.device)


@check.register
def _(made: LandmarkMap) -> None:
    s, d = made.points.shape if made.points.ndim == 2 else (0, 0)
    require_shape("the triangle of landmarks", made.triangle.lower, s, s)
    if made.shift is not None:
        require_shape("the shift of landmarks", made.shift, d)


@check.register
def _(made: SampledMap) -> None:
    if made.points.ndim != 2 or made.points.shape[1] != made.landmarks.points.shape[1]:
        raise FormatError(f"the further points have the shape {made.points.shape}")
    require_shape("the combinations of points", made.combinations, made.points.shape[0], made.combinations.shape[-1])


@check.register
def _(made: Box) -> None:
    require_shape("the lower bounds of a box", made.low, made.low.size)
    require_shape("the upper bounds of a box", made.high, made.low.size)
    if not (np.isfinite(made.low) & np.isfinite(made.high) & (made.low <= made.high)).all():
        raise FormatError(f"a box extends from {made.low} to {made.high}")


@check.register
def _(made: FourierGrid) -> None:
    count, d = made.weights.size, made.box.low.size
    require_shape("the weights of a Fourier map", made.weights, count)
    require_shape("the frequencies of a Fourier map", made.modes, count, d)
    require_shape("the periods of a Fourier map", made.axes.periods, d)
    extents = made.box.high - made.box.low
    if not (np.isfinite(made.axes.periods) & (made.axes.periods > extents)).all():
        raise FormatError(f"a Fourier map has the periods {made.axes.periods} for a box of {extents}")
    counts = made.axes.counts
    if len(counts) != d or not all(0 <= m < 2**31 for m in counts) or made.axes.n_modes > _PRUNED * (count + 1):
        raise FormatError(f"a Fourier map of {count} frequencies cannot have a grid of {counts}")
    if not (np.abs(made.modes) <= np.array(counts)).all():
        raise FormatError("a frequency of a Fourier map lies outside its grid")


@check.register
def _(made: DenseMoments) -> None:
    require_shape("the mean of moments", made.mean, made.mean.size)
    require_shape("the scatter of moments", made.scatter, made.mean.size, made.mean.size)


@check.register
def _(made: ShiftedMoments) -> None:
    require_shape("the sums of monomials", made.sums, made.shift.hankel.size)
    require_shape("the errors of sums of monomials", made.slip, made.shift.hankel.width)


@check.register
def _(made: ToeplitzMoments) -> None:
    require_shape("the sums of a Fourier map", made.sums, *made.grid.axes.shape)


@check.register
def _(made: MomentState) -> None:
    require_device(made.device)
    if isinstance(made.moments, DenseMoments):
        require_shape("the mean of a stream", made.moments.mean, made.features.n_features)


@check.register
def _(made: BoundedPoints) -> None:
    require_device(made.device)


@check.register
def _(made: MergedSpaces) -> None:
    require_device(made.device)
    if made.waiting is not None:
        require_shape("the weights of pending rows", made.waiting_weights, made.waiting.shape[0])
        if made.space is not None and width(made.space.span) != made.waiting.shape[1]:
            raise FormatError(f"pending rows of shape {made.waiting.shape} for {width(made.space.span)} columns")


@check.register
def _(made: KeptRows) -> None:
    require_shape("the weights of a stream", made.weights, made.x.shape[0])


@check.register
def _(made: RowSample) -> None:
    for name in ("own", "priority"):
        require_shape(f"{name} of a sample of rows", getattr(made, name), made.rows.shape[0])


@check.register
def _(made: RidgePreimage) -> None:
    if made.scores.ndim != 2 or made.coefficients.ndim != 2 or len(made.scores) != len(made.coefficients):
        raise FormatError(f"a pre-image of {made.scores.shape} scores has {made.coefficients.shape} coefficients")


@check.register
def _(made: CenterModel) -> None:
    k = made.squared_norms.size
    require_shape("the squared norms of centers", made.squared_norms, k)
    require_shape("the centers", made.coefficients, size(made.span), k)


@check.register
def _(made: Projection) -> None:
    require_shape("the offset of a projection", made.offset, made.offset.size)
    require_shape("the directions of a projection", made.coefficients, size(made.span), made.offset.size)


@check.register
def _(made: FisherRule) -> None:
    r, q = made.origin.size, made.ratios.size
    require_shape("the directions of a discriminant", made.directions, r, q)
    if made.centers.ndim != 2 or made.centers.shape[1] != q:
        raise FormatError(f"the class means of a discriminant have the shape {made.centers.shape}")


@check.register
def _(made: Series) -> None:
    require_shape("the weights of a series", made.weights, made.rows.shape[0])
    if made.rows.ndim != 2 or made.shape.d != made.rows.shape[1]:
        raise FormatError(f"a series in {made.shape.d} columns has rows of shape {made.rows.shape}")


@check.register
def _(made: Plan) -> None:
    if made.chosen not in made.candidates:
        raise FormatError(f"the plan has chosen {made.chosen!r}, which is not among its candidates")


#: The number of columns that a part of a model takes, which must equal `n_features_in_`.
WIDTHS: dict[str, Callable[[Any], int]] = {
    "X_fit_": lambda rows: int(rows.shape[1]),
    "_prototype_rows": lambda rows: int(rows.shape[1]),
    "_space": lambda space: width(space.span),
    "_model": lambda model: width(model.span),
    "_projection": lambda projection: width(projection.span),
    "_series": lambda series: int(series.shape.d),
    "_stream": width,
    "_preimage": lambda preimage: int(preimage.coefficients.shape[1]),
    "_input_mean": lambda mean: int(mean.size),
    "_input_scale": lambda scale: int(scale.size),
    "fill_values_": lambda values: int(values.size),
    "read_options_": lambda options: len(options.kinds or ()),
    "components_": lambda matrix: int(matrix.shape[1]),
    "whitening_": lambda matrix: int(matrix.shape[1]),
    "mixing_": lambda matrix: int(matrix.shape[0]),
    "mean_": lambda mean: int(mean.size),
}
#: Attributes that must have one entry for each class of a discriminant rule.
CLASSWISE = ("classes_", "priors_")
