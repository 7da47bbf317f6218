"""Maps that bound the errors of their features row by row: moments and their error bounds follow from these."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import (
    Array,
    blank,
    is_tensor,
    like,
    namespace,
    row_squares,
    run_in_threads,
    threads_for,
    to_numpy,
    unit_roundoff,
)
from gramless.features.base import FeatureMap
from gramless.features.moments import DenseMoments, gather_moments
from gramless.kernels import column_shift

_BLOCK = 1024
_ON_CARD = 2**25  # entries of a chunk of features on a GPU


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Features of some rows, and bounds on their errors.

    There are matrices with K = Phi Phi^T + R + X, where Phi differs from the features in row i by at most
    ``error[i]``, R is positive semidefinite with ``leak[i] - leak_error[i] <= R_ii <= leak[i]``, and for all
    weights w >= 0 the norm of D^1/2 X D^1/2, D = diag(w), is at most sum_i w_i ``rounding[i]``.

    Attributes
    ----------
    values : ndarray or tensor of shape (n, D)
    leak, leak_error, error, rounding : ndarray or tensor of shape (n,)
    """

    values: Array
    leak: Array
    leak_error: Array
    error: Array
    rounding: Array

    @property
    def norms2(self) -> Array:
        """Upper bound on |phi|^2 of each row, `error` included."""
        roots = namespace(self.values).sqrt(row_squares(self.values))
        return (roots * (1 + 1e-12) + self.error) ** 2  # type: ignore[no-any-return]


class RowwiseMap(FeatureMap):
    """A map defined by :meth:`rows`, which gives moments and products too, in threads over chunks."""

    @abstractmethod
    def rows(self, x: Any) -> FeatureRows:
        """Features and their errors for rows `x` (n, d)."""

    def beside(self, x: Any) -> RowwiseMap:
        """The same map with its own arrays on the device of the rows `x`."""
        return self

    def __call__(self, x: Any) -> Array:
        return self.beside(x).rows(x).values

    def moments(self, x: Any, weights: Array) -> DenseMoments:
        return self.beside(x)._moments(x, weights, None)

    def measured_moments(self, x: Any, weights: Array) -> tuple[DenseMoments, Array]:
        """The moments, with a bound on the norm of the residual K - Phi Phi^T, and the residual of each row (n,).

        The norm of a positive semidefinite matrix is at most the sum of the norms of its diagonal blocks, which are
        computed a thousand rows at a time. This takes half as much work again, for a bound far below the trace.
        """
        leaks = np.empty(x.shape[0])
        return self.beside(x)._moments(x, weights, leaks, measured=True), leaks

    def _norm_left_out(self, x: Any, rows: FeatureRows, weights: Array) -> float:
        """Bound on the norm of D^1/2 R D^1/2 of :class:`FeatureRows`, from its diagonal blocks."""
        total, kernel, width, xp = float(weights @ rows.rounding), self.kernel, self.n_features, namespace(weights)
        for first in range(0, len(weights), _BLOCK):
            part = slice(first, first + _BLOCK)
            shift = column_shift(x[part]) if kernel.shift_invariant else None
            ready, values = kernel.prepare(x[part], shift), rows.values[part]
            left = kernel.evaluate(ready, ready)
            left -= values @ values.T
            roots = xp.sqrt(weights[part])
            left *= roots
            left *= roots[:, None]
            entry = kernel.rounding(kernel.radius(ready), x.shape[1], unit_roundoff())
            height = float(weights[part] @ (abs(kernel.diagonal(x[part])) + rows.norms2[part]))
            error = entry.absolute * float(weights[part].sum())
            total += float(xp.linalg.norm(left)) + error + (entry.relative + (width + 8) * unit_roundoff()) * height
        return 1.01 * total

    def _moments(self, x: Any, weights: Array, leaks: Array | None, measured: bool = False) -> DenseMoments:
        """The moments; the residual of each row is written to `leaks` (n,), if given."""

        def of_chunk(part: slice) -> DenseMoments:
            rows = self.rows(x[part])
            w = like(weights[part], rows.values)
            if leaks is not None:
                leaks[part] = to_numpy(rows.leak)
            moments = DenseMoments.of(
                rows.values,
                w,
                float(w @ rows.leak) * (1 + 1e-12),
                errors=rows.error,
                rounding=float(w @ rows.rounding) * (1 + 1e-12),
                leak_error=float(w @ (rows.leak_error + 4e-12 * rows.leak)),
            )
            return replace(moments, likely=self._norm_left_out(x[part], rows, w)) if measured else moments

        with threads_for(x):
            return gather_moments(of_chunk, x.shape[0], self.chunk(x))

    def dot(self, x: Any, coefficients: Array) -> Array:
        here, chunk = self.beside(x), self.chunk(x)
        out: Array = blank((x.shape[0], coefficients.shape[1]), x)
        coefficients = like(coefficients, out)

        def work(first: int) -> None:
            part = slice(first, first + chunk)
            out[part] = here.rows(x[part]).values @ coefficients

        with threads_for(x):
            run_in_threads(work, [list(range(0, x.shape[0], chunk))])
        return out

    def chunk(self, x: Any) -> int:
        """Rows taken at a time: few enough to stay in cache, or enough to keep a GPU busy."""
        return max(1024, _ON_CARD // max(1, self.n_features)) if is_tensor(x) else chunk_rows(self.n_features)


def chunk_rows(width: int) -> int:
    """Rows whose features take a few MB, but more than D / 4 rows, because each chunk adds a D x D scatter."""
    return 256 * int(np.clip(2**20 // (256 * max(1, width)), 1 + width // 1024, 32))
