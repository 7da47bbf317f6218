"""Rows to compare a written model with its estimator on, where the training rows are not stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, evenly_spaced
from gramless.features import CompositeMap, FourierMap, Monomials, ScaledMap, TaylorMap
from gramless.features.paired import PairedMap
from gramless.kernels import dense_rows
from gramless.spaces import FeatureSpan, InputSpan, PointSpan, Span

#: Number of rows that a model is compared on.
ROWS = 256


def some_rows(x: Any) -> Array:
    """At most :data:`ROWS` of the rows `x` (n, d), dense and evenly spaced.

    Examples
    --------
    >>> some_rows(np.arange(1000.0).reshape(500, 2)).shape
    (256, 2)
    """
    if x.shape[0] <= ROWS:
        return dense_rows(x)
    return dense_rows(x[evenly_spaced(x.shape[0], ROWS)])


def rows_like(span: Span, d: int) -> Array:
    """Rows (n, d) where a span is accurate: its own points, or drawn from its box or about its center."""
    rng = np.random.default_rng(0)
    if isinstance(span, PointSpan):
        return some_rows(span.points)
    if isinstance(span, InputSpan):
        return np.asarray(span.origin + rng.standard_normal((ROWS, d)))
    features: Any = span.features if isinstance(span, FeatureSpan) else None
    while isinstance(features, (CompositeMap, ScaledMap)):
        features = features.left if isinstance(features, CompositeMap) else features.inner
    if isinstance(features, PairedMap):
        return some_rows(features.on_points(np.zeros((features.n_features, 1)))[0])
    if isinstance(features, FourierMap):
        box = features.grid.box
        return np.asarray(rng.uniform(box.low, box.high, (ROWS, d)))
    if isinstance(features, TaylorMap):
        return np.asarray(features.center + 0.5 * features.kernel.sigma * rng.standard_normal((ROWS, d)) / np.sqrt(d))
    if isinstance(features, Monomials):
        return np.asarray(features.center + features.unit * rng.standard_normal((ROWS, d)))
    return rng.standard_normal((ROWS, d))
