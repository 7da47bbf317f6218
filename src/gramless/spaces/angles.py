"""Angles between subspaces of feature space."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, inner
from gramless.features import PairedMap
from gramless.kernels import Linear
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.kernel_qr import orthonormalize_gram
from gramless.spaces.span import FeatureSpan, InputSpan, PointSpan


def principal_angles(a: Eigenspace, b: Eigenspace) -> Array:
    """Angles (min(k, l),), ascending, in radians, between the spans of the components of `a` and `b`.

    They are the arc cosines of the singular values of U^T V (Wolf & Shashua, Learning over Sets using Kernel
    Principal Angles). Where a cosine is near 1, and cannot resolve a small angle, the sine is used, from
    V - U U^T V. Components of eigenvalue 0 are left out. Kernel values have an error of 1e-16 or so: an angle below
    1e-7 is rounding.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> from gramless.spaces import batch_space
    >>> east, slope = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> np.degrees(principal_angles(batch_space(Linear(), east), batch_space(Linear(), slope))).round(6)
    array([45.])
    """
    left, right = a.basis[:, a.scatter > 0], b.basis[:, b.scatter > 0]
    if left.shape[1] < right.shape[1]:
        return principal_angles(b, a)
    if right.shape[1] == 0:
        return np.zeros(0)
    cross = cross_products(a.span, left, b.span, right)
    own = cross_products(a.span, left, a.span, left)
    other = cross_products(b.span, right, b.span, right)
    first, second = orthonormalize_gram(own).inverse, orthonormalize_gram(other).inverse
    cross = first.T @ cross @ second
    cosines, turn = np.linalg.svd(cross)[1:]
    turned = second @ turn.T
    lengths = np.einsum("ij,ij->j", turned, other @ turned)  # 1, but for rounding
    sines2 = np.maximum(lengths - np.einsum("ij,ij->j", cross @ turn.T, cross @ turn.T), 0.0)
    cosines = np.append(cosines, np.zeros(len(sines2) - len(cosines)))
    angles = np.where(cosines**2 > 0.5, np.arcsin(np.sqrt(np.minimum(sines2, 1.0))), np.arccos(cosines.clip(0, 1)))
    return np.sort(angles)


def subspace_distance(a: Eigenspace, b: Eigenspace) -> float:
    """Root mean square of the sines of the principal angles: 0 for equal subspaces, 1 for orthogonal ones.

    The distance of Sharma, Chaudhury & Srivastava's section 3.1, scaled to lie between 0 and 1.
    """
    angles = principal_angles(a, b)
    return float(np.sqrt((np.sin(angles) ** 2).mean())) if len(angles) else 0.0


def cross_products(a: Any, left: Array, b: Any, right: Array) -> Array:
    """Inner products (k, l) of the vectors of `a` combined with `left` (p, k) and those of `b` with `right` (q, l).

    Raises
    ------
    ValueError
        If the two spans do not lie in one feature space.
    """
    if a.kernel != b.kernel:
        raise ValueError(f"kernels differ: {a.kernel} and {b.kernel}")
    if isinstance(a, FeatureSpan) and isinstance(b, FeatureSpan) and a.features.same_axes(b.features):
        return inner(left, right)
    a, left = on_points(a, left)
    b, right = on_points(b, right)
    if isinstance(b, PointSpan):
        _refuse_widths(a, b)
        return inner(a.dot(b.points, left), right)
    if isinstance(a, PointSpan):
        _refuse_widths(b, a)
        return inner(left, b.dot(a.points, right))
    raise ValueError(
        f"{type(a.features).__name__} and {type(b.features).__name__} are features of different boxes: neither is "
        "spanned by "
        "points; fit both with the same method= and domain="
    )


def on_points(span: Any, coefficients: Array) -> tuple[Any, Array]:
    """The same vectors as combinations of points, where possible."""
    if isinstance(span, InputSpan):  # an axis of the input is the image of a unit vector under the linear kernel
        return PointSpan(Linear(), np.eye(len(span.origin))), coefficients
    if isinstance(span, FeatureSpan) and isinstance(span.features, PairedMap):
        points, turned = span.features.on_points(coefficients)
        return PointSpan(span.kernel, points), turned
    return span, coefficients


def _refuse_widths(a: Any, b: PointSpan) -> None:
    if isinstance(a, PointSpan) and a.points.shape[1] != b.points.shape[1]:
        raise ValueError(
            f"{a.points.shape[1]} columns in one and {b.points.shape[1]} in the other: the feature spaces differ"
        )
