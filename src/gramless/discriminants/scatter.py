"""Means and scatter of classes, gathered a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, is_tensor, like, row_squares
from gramless.features import DenseMoments

_ROWS = 2**14
_ON_CARD = 2**17


@dataclass(frozen=True, eq=False)
class ClassScatter:
    """Sums over the coordinates of labeled rows.

    Attributes
    ----------
    weights : ndarray of shape (c,)
        Total weight of each class.
    means : ndarray of shape (c, r)
    scatters : list of c ndarrays of shape (r, r)
        About the mean of the class: sum_i w_i (z_i - m)(z_i - m)^T.
    fourth : float
        sum_i w_i |z_i - m_class(i)|^4, for Ledoit and Wolf's estimate.
    """

    weights: Array
    means: Array
    scatters: list[Array]
    fourth: float

    @property
    def within(self) -> Array:
        """Covariance about the class means (r, r)."""
        return np.asarray(sum(self.scatters) / self.weights.sum())


def gather_classes(coordinates: Callable[[slice], Array], labels: Array, weights: Array, classes: int) -> ClassScatter:
    """Two passes over chunks of rows: means and scatters, then fourth moments about the means.

    Parameters
    ----------
    coordinates : callable
        Coordinates (m, r) of a slice of rows, an array or a tensor.
    labels : ndarray of shape (n,)
        0 .. classes - 1.
    weights : ndarray of shape (n,)
    classes : int
    """
    step = _ON_CARD if is_tensor(coordinates(slice(0, 0))) else _ROWS
    parts = [slice(first, first + step) for first in range(0, len(labels), step)]
    moments: list[DenseMoments | None] = [None] * classes
    for part in parts:
        values = coordinates(part)
        for j in range(classes):
            mine = np.flatnonzero((labels[part] == j) & (weights[part] > 0))
            if len(mine):
                added = DenseMoments.of(values[mine], weights[part][mine], 0.0)
                before = moments[j]
                moments[j] = added if before is None else before + added
    known = [m for m in moments if m is not None]  # callers refuse a class without weight
    means = np.array([m.mean for m in known])
    fourth = 0.0
    for part in parts:
        values = coordinates(part)
        apart = values - like(means, values)[labels[part]]
        fourth += float(like(weights[part], values) @ row_squares(apart) ** 2)
    return ClassScatter(np.array([m.weight for m in known]), means, [m.scatter for m in known], fourth)
