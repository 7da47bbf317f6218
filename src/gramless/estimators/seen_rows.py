"""The rows that a kernel sees: as they came, less their mean, or with every column on one scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.estimators.reading import is_precomputed


def column_scale(x: Any, weights: Array | None = None) -> tuple[Array, Array]:
    """Mean and deviation of the columns of rows `x` (n, d), by weight; a column that is constant has the deviation 1.

    Examples
    --------
    >>> mean, deviation = column_scale(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean.tolist(), deviation.tolist()
    ([2.0, 5.0], [1.0, 1.0])
    """
    x = np.asarray(x, dtype=np.float64)
    mean = np.average(x, axis=0, weights=weights)
    with np.errstate(under="ignore"):
        squares = np.average((x - mean) ** 2, axis=0, weights=weights)
    return mean, deviations(squares, x.min(axis=0), x.max(axis=0))


def deviations(variances: Array, low: Array, high: Array) -> Array:
    """What columns (d,) are divided by: 1 where one is constant, so that rounding is not blown up to a deviation of 1.

    Examples
    --------
    >>> deviations(np.array([4.0, 1e-33]), np.array([0.0, 0.1]), np.array([9.0, 0.1])).tolist()
    [2.0, 1.0]
    """
    moves = (high > low) & (variances > 0)
    return np.sqrt(np.where(moves, variances, 1.0))


class SeenRows:
    """Methods of estimators that may move and scale rows before the kernel sees them."""

    _input_mean: Array
    _input_scale: Array

    @property
    def _moves_input(self: Any) -> bool:
        """Whether the kernel sees other rows than came."""
        return bool(getattr(self, "center_input", False) or self.scale_input) and not is_precomputed(self.kernel)

    def _rows_for_kernel(self: Any, X: Any, weights: Array | None = None, *, fitting: bool = False) -> Any:
        """The rows the kernel sees: less their mean, and divided by their deviation, where that was asked for."""
        if not self._moves_input:
            return X
        if scipy.sparse.issparse(X):
            asked = "scale_input" if self.scale_input else "center_input"
            raise ValueError(f"{asked}=True would fill a sparse X; pass X.toarray(), or {asked}=False")
        if fitting and self.scale_input:
            self._input_mean, self._input_scale = column_scale(X, weights)
        elif fitting:
            self._input_mean = np.average(np.asarray(X, dtype=np.float64), axis=0, weights=weights)
        moved = X - self._input_mean
        return moved / self._input_scale if self.scale_input else moved

    def _rows_for_input(self: Any, rows: Any) -> Any:
        """Rows as the kernel sees them (m, d), back where the input is."""
        if not self._moves_input:
            return rows
        return (rows * self._input_scale if self.scale_input else rows) + self._input_mean
