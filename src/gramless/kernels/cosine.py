"""The cosine kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gramless.arrays import Array, in_float64, namespace, row_squares
from gramless.kernels.base import Kernel, kernels
from gramless.kernels.points import Points, dot_products, prepare_points
from gramless.kernels.rounding import Rounding, growth, underflow


@kernels.register("cosine")
@dataclass(frozen=True)
class Cosine(Kernel):
    """k(x, y) = x.y / (|x| |y|), and 0 where a row is zero, as in scikit-learn.

    See Also
    --------
    Linear : The dot product.

    Examples
    --------
    >>> Cosine()(np.array([[1.0, 0.0]]), np.array([[2.0, 2.0], [0.0, 0.0]])).round(4)
    array([[0.7071, 0.    ]])
    """

    tensors = True

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Points:
        return prepare_points(_unit_rows(x), None, dtype)

    def evaluate(self, x: Points, y: Points) -> Array:
        return dot_products(x.values, y.values)

    def symbolic(self, x: Any, points: Array) -> Any:
        return symbolic_unit_rows(x) @ self.prepare(points).values.T

    def diagonal(self, x: Any) -> Array:
        return in_float64(_largest_entries(x) > 0)  # type: ignore[no-any-return]

    def bound(self, radius: float) -> float:
        return 1.0

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        # roundings: d in the product, d/2 + 4 in the norm and the division of either row, 1 in float32
        return Rounding(growth(2 * d + 12, unit) + (d + 4) * underflow(unit), 0.0)


def symbolic_unit_rows(x: Any) -> Any:
    """Symbolic rows (n, d) divided by their norms, as :func:`_unit_rows` does it."""
    xp = namespace(x)
    largest = abs(x).max(axis=1, keepdims=True)
    scaled = x / xp.where(largest > 0, largest, 1.0)
    norms = xp.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return scaled / xp.where(norms > 0, norms, 1.0)


def _largest_entries(x: Any) -> Array:
    if scipy.sparse.issparse(x):
        return np.asarray(abs(x.tocsr()).max(axis=1).todense(), dtype=np.float64).ravel()
    rows = in_float64(x)
    return namespace(rows).amax(abs(rows), 1)  # type: ignore[no-any-return]


def _unit_rows(x: Any) -> Any:
    """Rows divided by their norms: by the largest entry first, so that no square overflows or underflows."""
    largest = _largest_entries(x)
    largest[largest == 0] = 1
    if scipy.sparse.issparse(x):
        scaled = x.tocsr().astype(np.float64)
        entries_per_row = np.diff(scaled.indptr)
        scaled.data /= np.repeat(largest, entries_per_row)
        norms = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
        norms[norms == 0] = 1
        scaled.data /= np.repeat(norms, entries_per_row)
        return scaled
    rows = in_float64(x) / largest[:, None]
    norms = namespace(rows).sqrt(row_squares(rows))
    norms[norms == 0] = 1
    rows /= norms[:, None]
    return rows
