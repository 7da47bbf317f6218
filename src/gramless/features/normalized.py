"""The explicit features of the cosine kernel: the rows themselves, divided by their norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, unit_roundoff
from gramless.arrays.gpu_rates import machine_for
from gramless.features.base import FeatureMap, maps
from gramless.features.rows import FeatureRows, RowwiseMap
from gramless.kernels import Cosine
from gramless.kernels.cosine import symbolic_unit_rows
from gramless.kernels.rounding import growth
from gramless.problem import Estimate, Problem

_MOST_COLUMNS = 4000
_EIGH = 6e9  # operations of LAPACK a second, all threads


@dataclass(frozen=True, eq=False)
class NormalizedMap(RowwiseMap):
    """phi(x) = x / |x|, and 0 for a zero row: the cosine kernel is the linear kernel of rows of length 1.

    Parameters
    ----------
    kernel : Cosine
    n_features : int
        Columns.

    Examples
    --------
    >>> NormalizedMap(Cosine(), 2)(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    kernel: Cosine
    n_features: int

    tensors = True

    def rows(self, x: Any) -> FeatureRows:
        values = self.kernel.prepare(x).values
        values = values.toarray() if scipy.sparse.issparse(values) else values
        nothing = values[:, 0] * 0.0
        # roundings: d / 2 + 4 in the norm and the divisions; squares may underflow, relative to the largest entry
        error = nothing + growth(self.n_features / 2 + 8, unit_roundoff())
        return FeatureRows(values, nothing, nothing, error, nothing)

    def dot(self, x: Any, coefficients: Array) -> Array:
        if scipy.sparse.issparse(x):  # never filled
            return np.asarray(self.kernel.prepare(x).values @ coefficients)
        return super().dot(x, coefficients)

    def symbolic(self, x: Any) -> Any:
        return symbolic_unit_rows(x)

    def same_space(self, other: FeatureMap) -> bool:
        return isinstance(other, NormalizedMap) and self.n_features == other.n_features


class NormalizedBuilder:
    """Rows of length 1 for problems with the cosine kernel, if they have few enough columns."""

    boxed = False
    tensors = True
    leading = False

    def estimate(self, problem: Problem) -> Estimate:
        n, d, k = problem.n, problem.d, problem.k
        if not isinstance(problem.kernel, Cosine):
            return Estimate(refusal="only for the cosine kernel")
        if d > _MOST_COLUMNS:
            return Estimate(refusal=f"{d} columns are more than {_MOST_COLUMNS}")
        machine = machine_for(problem.device)
        seconds = n * (2 * d * (d + k) / machine.gemm + 4 * d / machine.kernel) / problem.threads
        size = 8 * (8 * d * d + problem.threads * 4 * max(8192, d) * d + n * k)
        return Estimate(seconds + d**3 / _EIGH + 2e-3, size, (500 + 100 * d) * unit_roundoff())

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> NormalizedMap:
        """See :class:`~gramless.features.MapBuilder`."""
        return NormalizedMap(problem.kernel, problem.d)


maps.register("normalized")(NormalizedBuilder())
