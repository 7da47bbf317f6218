"""Rows prepared for products, their dot products and squared distances: of arrays, CSR matrices or tensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gramless.arrays import Array, in_dtype, in_float64, is_tensor, like, namespace, row_squares

_TOGETHER = 2**16  # rows whose norms are computed together
_WIDE = 256  # columns above which a copy of the rows takes longer than another pass over the tile


@dataclass(frozen=True)
class Points:
    """Rows prepared for products: the points themselves and their squared norms."""

    values: Any  # ndarray or CSR, (n, d)
    squared_norms: Array  # (n,)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def eps(self) -> float:
        """Machine epsilon of the rows' dtype."""
        return float(np.finfo(self.squared_norms.dtype).eps)

    @property
    def largest(self) -> float:
        """The largest squared norm."""
        return float(self.squared_norms.max(initial=0))


@dataclass(frozen=True, eq=False)
class TensorPoints(Points):
    """Rows on a torch device, with their squared norms as further columns: one matrix product gives all distances.

    Attributes
    ----------
    largest : float
        The largest squared norm of all rows prepared together: to read it back from the GPU for every tile would
        stall.
    whole : tuple of TensorPoints and slice, or None
        The points that these are a part of, and the slice of their rows.
    """

    largest: float = 0.0
    whole: tuple[TensorPoints, slice] | None = None

    @property
    def eps(self) -> float:
        return float(namespace(self.values).finfo(self.values.dtype).eps)

    @cached_property
    def factors(self) -> Any:
        """Tensors (n, d + 2), left and right: left @ right.T has the squared distances."""
        if self.whole is not None:
            points, rows = self.whole
            return tuple(side[rows] for side in points.factors)
        column, torch = self.squared_norms[:, None], namespace(self.values)
        ones = torch.ones_like(column)
        return torch.cat([self.values, column, ones], dim=1), torch.cat([-2 * self.values, ones, column], dim=1)

    def part(self, rows: slice) -> TensorPoints:
        """Some of the rows."""
        return TensorPoints(self.values[rows], self.squared_norms[rows], self.largest, (self, rows))


def dense_rows(x: Any) -> Array:
    """Rows (n, d) in float64, CSR filled: constants of a symbolic formula."""
    return np.asarray(x.toarray() if scipy.sparse.issparse(x) else x, dtype=np.float64)


def column_shift(x: Any) -> Any:
    """The mean of dense rows; None for CSR, which a shift would make dense."""
    if scipy.sparse.issparse(x):
        return None
    return x.mean(0, dtype=namespace(x).float64) if is_tensor(x) else np.asarray(x, dtype=np.float64).mean(axis=0)


def prepare_points(x: Any, shift: Any, dtype: npt.DTypeLike) -> Points:
    """Rows in `dtype`, shifted in float64 first, with their squared norms."""
    if scipy.sparse.issparse(x) and shift is not None:  # beside dense points, which have been shifted
        x = x.toarray()
    if scipy.sparse.issparse(x):
        values = x.tocsr().astype(dtype, copy=False)
        exact = values.astype(np.float64, copy=False)
        return Points(values, np.asarray(exact.multiply(exact).sum(axis=1)).ravel().astype(dtype))
    values = in_float64(x)
    if shift is not None:
        values = values - like(shift, values)
    values = in_dtype(values, dtype)
    norms = _squared_norms(values)
    if is_tensor(values):
        return TensorPoints(values, norms, float(norms.max()) if len(norms) else 0.0)
    return Points(values, norms)


def _squared_norms(values: Any) -> Any:
    """Squared norms in the precision of the rows, summed in float64."""
    wide = in_float64(values[:0])
    if values.dtype == wide.dtype:
        return row_squares(values)
    starts = range(0, max(1, len(values)), _TOGETHER)
    parts = [row_squares(in_float64(values[first : first + _TOGETHER])) for first in starts]
    return in_dtype(namespace(values).concatenate(parts), np.float32)


def dot_products(x: Any, y: Any) -> Array:
    """``x @ y.T`` as a dense array, for ndarrays, CSR or tensors."""
    product: Any = x @ y.T
    return product.toarray() if scipy.sparse.issparse(product) else product  # type: ignore[no-any-return]


def squared_distances(x: Points, y: Points, factor: float = 1.0) -> Array:
    """Squared distances (n, m) by one matrix product: |x|^2 + |y|^2 - 2 x.y; rounding may leave some below 0.

    All are multiplied by `factor`, on a GPU within the matrix product.
    """
    if isinstance(x, TensorPoints):
        left, right = x.factors[0], y.factors[1]  # type: ignore[attr-defined]
        squared = namespace(left).addmm(left.new_empty(1), left, right.T, beta=0, alpha=factor)
        return squared.fill_diagonal_(0) if x is y else squared  # type: ignore[no-any-return]
    n, d = x.values.shape
    if scipy.sparse.issparse(x.values) or scipy.sparse.issparse(y.values) or d > _WIDE:
        squared = dot_products(x.values, y.values)
        squared *= -2
        squared += x.squared_norms[:, None]
        squared += y.squared_norms
    else:  # the norms are two more columns: no further pass over the tile
        left = np.empty((n, d + 2), x.values.dtype)
        left[:, :d], left[:, d], left[:, d + 1] = x.values, x.squared_norms, 1
        right = np.empty((len(y), d + 2), y.values.dtype)
        np.multiply(y.values, -2, out=right[:, :d])
        right[:, d], right[:, d + 1] = 1, y.squared_norms
        squared = left @ right.T
    if x is y:
        np.fill_diagonal(squared, 0)  # the distance of a point from itself, which rounding must not change
    if factor != 1:
        squared *= factor
    return squared


def symbolic_distances(x: Any, y: Points) -> Any:
    """Squared distances (n, m) of symbolic rows from points, by the product formula; at least 0."""
    squared = x @ (-2 * y.values.T) + y.squared_norms + (x * x).sum(axis=1, keepdims=True)
    return namespace(squared).clip(squared, 0, None)


def symbolic_differences(x: Any, y: Array) -> Any:
    """x_i - y_j (n, m, d) for symbolic rows: for kernels that are not smooth at 0, where the product formula is not
    accurate enough.
    """
    return namespace(x).expand_dims(x, 1) - y


def mend_near(squared: Array, x: Points, y: Points, near: float) -> None:
    """Replace small squared distances by sums of squared differences, which do not cancel."""
    largest = 4 * max(x.largest, y.largest)
    tensors = is_tensor(squared)
    pairs = max(1, (2**24 if tensors else 2**18) // max(1, x.values.shape[1]))
    rows = max(1, (2**24 if tensors else 2**16) // max(1, len(y)))  # few: the indices may outgrow the tile
    for top in range(0, len(x), rows):
        below, columns = namespace(squared).where(squared[top : top + rows] <= near * largest)
        for first in range(0, len(below), pairs):
            i, j = top + below[first : first + pairs], columns[first : first + pairs]
            difference = x.values[i] - y.values[j]
            if scipy.sparse.issparse(difference):
                squared[i, j] = np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
            else:
                squared[i, j] = row_squares(difference)
