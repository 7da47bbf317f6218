"""The Laplacian kernel of the sum of absolute differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from scipy.spatial.distance import cdist

from gramless.arrays import Array, namespace
from gramless.kernels.base import Kernel, kernels, require
from gramless.kernels.points import Points, prepare_points, symbolic_differences
from gramless.kernels.rounding import Rounding, exponential_rounding, growth, underflow

_COLUMNS = 128  # columns of a CSR block made dense at a time
_ENTRIES = 2**16  # entries of a tile computed in float64 at a time


@kernels.register("manhattan")
@dataclass(frozen=True)
class Manhattan(Kernel):
    """k(x, y) = exp(-sum_i |x_i - y_i| / lengthscale): scikit-learn's `laplacian_kernel` with gamma = 1/lengthscale.

    Parameters
    ----------
    lengthscale : float

    See Also
    --------
    Laplacian : Of the Euclidean distance, not smooth at 0.

    Examples
    --------
    >>> Manhattan(lengthscale=7.0)(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).round(4)
    array([[0.3679]])
    >>> Manhattan.from_gamma(0.5)
    Manhattan(lengthscale=2.0)
    """

    lengthscale: float = 1.0

    nonnegative = True
    shift_invariant = True

    def __post_init__(self) -> None:
        require("lengthscale", self.lengthscale)

    @classmethod
    def from_gamma(cls, gamma: float) -> Manhattan:
        """exp(-gamma |x - y|_1), scikit-learn's form."""
        require("gamma", gamma, closed="closed")
        return cls(1.0 / float(gamma) if gamma else float("inf"))

    @property
    def gamma(self) -> float:
        """1 / lengthscale."""
        return 1.0 / float(self.lengthscale)

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Points:
        return prepare_points(x, shift, dtype)

    def evaluate(self, x: Points, y: Points) -> Array:
        distance = sums_of_differences(x, y)
        distance /= -float(self.lengthscale)
        return np.exp(distance, out=distance)

    def symbolic(self, x: Any, points: Array) -> Any:
        distance = abs(symbolic_differences(x, points)).sum(axis=2)
        return namespace(distance).exp(distance * -self.gamma)

    def diagonal(self, x: Any) -> Array:
        return np.ones(x.shape[0])

    def bound(self, radius: float) -> float:
        return 1.0

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        largest = 2 * float(np.sqrt(d)) * radius  # bound on the distances: |x|_1 <= sqrt(d) |x|
        error = growth(d + 8, unit) * largest + (d + 4) * underflow(unit)
        return exponential_rounding(error / float(self.lengthscale), unit)


def sums_of_differences(x: Points, y: Points) -> Array:
    """Sums of absolute differences |x_i - y_j|_1 (n, m), in the rows' dtype.

    Examples
    --------
    >>> rows = prepare_points(np.array([[0.0, 0.0], [3.0, -4.0]]), None, np.float64)
    >>> sums_of_differences(rows, rows).tolist()
    [[0.0, 7.0], [7.0, 0.0]]
    """
    return _sparse_distances(x.values, y.values) if scipy.sparse.issparse(x.values) else _distances(x, y)


def _distances(x: Points, y: Points) -> Array:
    """Distances (n, m) in the rows' dtype; a strip of rows at a time, because cdist works in float64."""
    distance: Array = np.empty((len(x), len(y)), x.values.dtype)
    rows = max(1, _ENTRIES // max(1, len(y)))
    for first in range(0, len(x), rows):
        part = slice(first, first + rows)
        distance[part] = cdist(x.values[part], y.values, "cityblock")
    return distance


def _sparse_distances(x: Any, y: Any) -> Array:
    """Distances (n, m) of CSR rows, a few columns at a time."""
    distance: Array = np.zeros((x.shape[0], y.shape[0]), x.dtype)
    x, y = x.tocsc(), y.tocsc()
    for first in range(0, x.shape[1], _COLUMNS):
        part = slice(first, first + _COLUMNS)
        distance += cdist(x[:, part].toarray(), y[:, part].toarray(), "cityblock")
    return distance
