"""An eigenspace reduced to combinations of fewer points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import blas_threads_for, unit_roundoff
from gramless.features import LandmarkMap, choose_pivots
from gramless.gram import rectangular_error, rectangular_product
from gramless.spaces.bounds import Bounds
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.span import PointSpan


def reduce(space: Eigenspace, most: int, rng: np.random.Generator | None = None) -> Eigenspace:
    """Project mean and components onto the images of at most `most` of the points.

    Points are chosen by randomly pivoted Cholesky: the probability of a point is proportional to the residual of its
    image, after the points before it, times its squared coefficients in mean and components. The new coefficients
    follow by least squares in feature space, the components are made orthonormal again, and the loss of the projection
    is computed and added to the bounds.

    Parameters
    ----------
    space : Eigenspace
        On points, with a Mercer kernel.
    most : int
        Maximum number of points, at least 1.
    rng : numpy.random.Generator, optional

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> from gramless.spaces import batch_space
    >>> x = np.random.default_rng(0).random((200, 2))
    >>> space = batch_space(Gaussian(sigma=1.0), x).truncate(3)
    >>> small = reduce(space, 20)
    >>> small.span.points.shape, bool(np.allclose(small.scatter, space.scatter, rtol=1e-3))
    ((20, 2), True)
    """
    span: Any = space.span
    if not isinstance(span, PointSpan):
        raise ValueError(f"{type(span).__name__} cannot be reduced: it is not spanned by points")
    if most < 1:
        raise ValueError(f"most={most!r} must be at least 1")
    if span.points.shape[0] <= most:
        return space
    rng = np.random.default_rng(0) if rng is None else rng
    factors = space.basis * np.sqrt(space.scatter)
    columns = np.column_stack([factors, np.sqrt(space.weight) * space.mean])
    part = np.einsum("ij,ij->i", columns, columns)
    chosen = choose_pivots(span.kernel, span.points, np.maximum(part, 1e-300), most, 0.0, rng).indices
    features = LandmarkMap.at(span.kernel, span.points[chosen])
    products = rectangular_product(span.kernel, features.points, span.points, columns)
    inside = features.projected(products)[0]  # coordinates in an orthonormal basis of the landmarks' span
    with blas_threads_for(len(space.scatter)):
        values, turn = np.linalg.eigh(inside[:, :-1].T @ inside[:, :-1])
    kept = int((values > 20 * len(values) * unit_roundoff() * values.max(initial=0.0)).sum())
    values, turn = values[::-1][:kept], turn[:, ::-1][:, :kept]
    turn = turn * np.where(turn.diagonal() < 0, -1.0, 1.0)
    mean = inside[:, -1] / np.sqrt(space.weight)
    moved = features.triangle.solve_transposed(np.column_stack([inside[:, :-1] @ turn, mean]).T).T
    basis = moved[:, :-1] / np.sqrt(values)
    return replace(
        space,
        span=PointSpan(span.kernel, features.points),
        mean=moved[:, -1],
        basis=basis,
        scatter=values,
        offset=(inside[:, :-1] @ turn / np.sqrt(values)).T @ mean,
        mean_norm2=float(mean @ mean),
        bounds=_bounds(space, features, columns, moved, inside, values),
    )


def _bounds(space: Eigenspace, features: LandmarkMap, columns: Any, moved: Any, inside: Any, values: Any) -> Any:
    """The bounds before, plus the loss: a difference of squared norms, with its rounding."""
    before = space.bounds
    if before is None:
        return None
    points = space.span.points  # type: ignore[attr-defined]
    error = rectangular_error(features.kernel, points, features.points)
    error += (features.n_features + 8) * unit_roundoff() * float(features.kernel.diagonal(points).max())
    moduli = np.abs(moved).sum(axis=0)  # for inner products of reduced vectors, which come from kernel values
    moduli[-1] *= np.sqrt(space.weight)
    moduli[:-1] *= 1.0
    blur = 4 * error * float(np.linalg.norm(np.abs(columns).sum(axis=0)) + np.linalg.norm(moduli)) ** 2
    lost = max(0.0, float(space.scatter.sum()) - float(values.sum())) + before.gram * len(space.scatter)
    height = max(0.0, space.mean_norm2 - float(inside[:, -1] @ inside[:, -1]) / space.weight)
    return Bounds(
        discarded=before.discarded,
        leak=before.leak + lost + blur,
        slip=before.slip,
        gram=before.gram + blur,
        offset=before.offset + blur / float(np.sqrt(space.weight)),
        mean_slip=before.mean_slip + float(np.sqrt(height + before.mean_norm2 + blur / space.weight)),
        mean_norm2=before.mean_norm2 + blur / space.weight,
        trace=before.trace,
    )
