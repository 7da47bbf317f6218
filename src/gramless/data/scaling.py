"""Centering and scaling of the input before the kernel, and the inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array


@dataclass(frozen=True, eq=False)
class Scaling:
    """Subtracts a mean from rows, and divides their columns by standard deviations.

    scikit-learn's StandardScaler is not used. It sums variances in another order, which would change the last digits of
    results of earlier versions. It also scales columns whose standard deviation is nothing but rounding.

    Attributes
    ----------
    mean : ndarray of shape (d,) or None
        None: rows stay as they are.
    scale : ndarray of shape (d,) or None
        None: rows are centered only.

    Examples
    --------
    >>> scaling = Scaling(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    >>> scaling(np.array([[2.0, 6.0]])).tolist(), scaling.inverse(np.array([[1.0, 1.0]])).tolist()
    ([[1.0, 1.0]], [[2.0, 6.0]])
    """

    mean: Array | None = None
    scale: Array | None = None

    def __bool__(self) -> bool:
        return self.mean is not None

    @property
    def parameter(self) -> str:
        """Name of the estimator's parameter that asks for this scaling."""
        return "center_input" if self.scale is None else "scale_input"

    def __call__(self, x: Any) -> Any:
        """Rows (m, d), centered and scaled."""
        if self.mean is None:
            return x
        refuse_sparse(self.parameter, bool(scipy.sparse.issparse(x)))
        moved = x - self.mean
        return moved if self.scale is None else moved / self.scale

    def inverse(self, rows: Any) -> Any:
        """Centered and scaled rows (m, d), back in the units of the input."""
        if self.mean is None:
            return rows
        return (rows if self.scale is None else rows * self.scale) + self.mean


def refuse_sparse(parameter: str, sparse: bool) -> None:
    """Raise where `parameter`, the name of the one that asks for it, would center sparse rows."""
    if sparse:
        raise ValueError(f"{parameter}=True would make a sparse X dense; pass X.toarray(), or {parameter}=False")


def column_moments(x: Any, weights: Array, wanted: str) -> tuple[Array | None, Array | None]:
    """Means and variances (d,) of the columns of `x` (n, d); no variances for ``"center"``, neither for sparse `x`."""
    if scipy.sparse.issparse(x):
        return None, None
    x = np.asarray(x, dtype=np.float64)
    mean = np.average(x, axis=0, weights=weights)
    if wanted == "center":
        return mean, None
    with np.errstate(under="ignore"):
        return mean, np.average((x - mean) ** 2, axis=0, weights=weights)


def deviations(variances: Array, low: Array, high: Array) -> Array:
    """Standard deviations (d,) to divide columns by; 1 for a constant column, so that its rounding is not scaled up.

    Examples
    --------
    >>> deviations(np.array([4.0, 1e-33]), np.array([0.0, 0.1]), np.array([9.0, 0.1])).tolist()
    [2.0, 1.0]
    """
    varies = (high > low) & (variances > 0)
    return np.sqrt(np.where(varies, variances, 1.0))
