"""Maps that state, row by row, how far their features are from the kernel: their moments follow from that alone."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array, run_in_threads, unit_roundoff
from gramless.features.base import FeatureMap
from gramless.features.moments import DenseMoments, gather_moments
from gramless.kernels import column_shift

_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Features of some rows, and what is known of their errors.

    There are matrices with K = Phi Phi^T + R + X, where Phi differs from the features in row i by at most
    ``error[i]``, R is positive semidefinite with ``leak[i] - leak_error[i] <= R_ii <= leak[i]``, and for all
    weights w >= 0 the norm of D^1/2 X D^1/2, D = diag(w), is at most sum_i w_i ``rounding[i]``.

    Attributes
    ----------
    values : ndarray of shape (n, D)
    leak, leak_error, error, rounding : ndarray of shape (n,)
    """

    values: Array
    leak: Array
    leak_error: Array
    error: Array
    rounding: Array

    @property
    def norms2(self) -> Array:
        """|phi|^2 of each row, at least: the error is counted in."""
        return np.asarray((np.sqrt(np.einsum("ij,ij->i", self.values, self.values)) * (1 + 1e-12) + self.error) ** 2)


class RowwiseMap(FeatureMap):
    """A map given by :meth:`rows`; moments and products follow, in threads over chunks."""

    @abstractmethod
    def rows(self, x: Any) -> FeatureRows:
        """Features and their errors for rows `x` (n, d)."""

    def __call__(self, x: Any) -> Array:
        return self.rows(x).values

    def moments(self, x: Any, weights: Array) -> DenseMoments:
        return self._moments(x, weights, None)

    def measured_moments(self, x: Any, weights: Array) -> tuple[DenseMoments, Array]:
        """The moments, with the norm of what the features leave out measured, and what they leave out of each row.

        The norm of a positive semidefinite matrix is at most the sum of the norms of its diagonal blocks, and those are
        written down, a thousand rows at a time: half as much work again, for a bound far below the trace.
        """
        leaks = np.empty(x.shape[0])
        return self._moments(x, weights, leaks, measured=True), leaks

    def _norm_left_out(self, x: Any, rows: FeatureRows, weights: Array) -> float:
        """Bound on the norm of R of :class:`FeatureRows`, with weights, from its diagonal blocks."""
        total, kernel, width = float(weights @ rows.rounding), self.kernel, self.n_features
        for first in range(0, len(weights), _BLOCK):
            part = slice(first, first + _BLOCK)
            shift = column_shift(x[part]) if kernel.shift_invariant else None
            ready, values = kernel.prepare(x[part], shift), rows.values[part]
            left = kernel.evaluate(ready, ready)
            left -= values @ values.T
            roots = np.sqrt(weights[part])
            left *= roots
            left *= roots[:, None]
            entry = kernel.rounding(kernel.radius(ready), x.shape[1], unit_roundoff())
            height = float(weights[part] @ (np.abs(kernel.diagonal(x[part])) + rows.norms2[part]))
            error = entry.absolute * float(weights[part].sum())
            total += float(np.linalg.norm(left)) + error + (entry.relative + (width + 8) * unit_roundoff()) * height
        return 1.01 * total

    def _moments(self, x: Any, weights: Array, leaks: Array | None, measured: bool = False) -> DenseMoments:
        """The moments; what each row leaves out goes into `leaks` (n,) where it is given."""

        def of_chunk(part: slice) -> DenseMoments:
            rows, w = self.rows(x[part]), weights[part]
            if leaks is not None:
                leaks[part] = rows.leak
            moments = DenseMoments.of(
                rows.values,
                w,
                float(w @ rows.leak) * (1 + 1e-12),
                errors=rows.error,
                rounding=float(w @ rows.rounding) * (1 + 1e-12),
                leak_error=float(w @ (rows.leak_error + 4e-12 * rows.leak)),
            )
            return replace(moments, likely=self._norm_left_out(x[part], rows, w)) if measured else moments

        return gather_moments(of_chunk, x.shape[0], self.chunk)

    def dot(self, x: Any, coefficients: Array) -> Array:
        out = np.empty((x.shape[0], coefficients.shape[1]))

        def work(first: int) -> None:
            part = slice(first, first + self.chunk)
            out[part] = self(x[part]) @ coefficients

        run_in_threads(work, [list(range(0, x.shape[0], self.chunk))])
        return out

    @property
    def chunk(self) -> int:
        """Rows taken at a time."""
        return chunk_rows(self.n_features)


def chunk_rows(width: int) -> int:
    """Rows whose features are a few MB, yet more rows than a quarter of the features: a sum of scatters is D^2 too."""
    return 256 * int(np.clip(2**20 // (256 * max(1, width)), 1 + width // 1024, 32))
