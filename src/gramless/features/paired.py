"""Maps whose residual is bounded from pairs of rows, and from rows that are drawn at random."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array, namespace, row_squares, run_in_threads, threads_for, to_numpy, unit_roundoff
from gramless.certificates import FAILURE_PROBABILITY, pair_bound
from gramless.features.moments import DenseMoments
from gramless.features.rows import RowwiseMap
from gramless.kernels import dense_rows
from gramless.kernels.pairs import pair_values


class PairedMap(RowwiseMap):
    """A map of a Mercer kernel whose moments have a bound on the norm of K - Phi Phi^T, narrower than its trace.

    Attributes
    ----------
    pairs : int
        Pairs of rows drawn for the bound; 0 for none.
    seed : int
        Seed for these pairs.
    shift : ndarray of shape (d,) or None
        Subtracted from rows where that changes no value.
    """

    pairs: int
    seed: int
    shift: Array | None

    @abstractmethod
    def dot_error(self, coefficients: Array, radius: float, largest: float, weight: float, rounding: float) -> Array:
        """Bound on the norm of D^1/2 (Phi c - dot(x, c)) for each column of `coefficients`, Phi the exact features.

        Parameters
        ----------
        coefficients : ndarray of shape (D, k)
        radius : float
            Largest norm of a row, as the kernel uses it.
        largest : float
            Largest k(x, x).
        weight : float
            Sum of the weights D.
        rounding : float
            At least sum_i w_i ``rounding[i]`` of :class:`~gramless.features.rows.FeatureRows`.
        """

    @abstractmethod
    def on_points(self, coefficients: Array) -> tuple[Any, Array]:
        """The vectors with these coefficients (D, k) as combinations of images of points: points (p, d), and (p, k)."""

    def symbolic(self, x: Any) -> Any:
        return self.symbolic_dot(x, np.eye(self.n_features))

    def symbolic_dot(self, x: Any, coefficients: Array) -> Any:
        points, turned = self.on_points(coefficients)
        return self.kernel.symbolic(x, dense_rows(points)) @ turned

    def moments(self, x: Any, weights: Array) -> DenseMoments:
        return self.moments_and_leaks(x, weights)[0] if self.pairs else super().moments(x, weights)

    def moments_and_leaks(self, x: Any, weights: Array) -> tuple[DenseMoments, Array]:
        """The moments, and bounds on the diagonal of K - Phi Phi^T: (n,)."""
        leaks, here = np.empty(x.shape[0]), self.beside(x)
        total = here._moments(x, weights, leaks)
        if total.weight == 0 or not self.pairs:
            return total, leaks
        with threads_for(x):
            likely = here._likely_norm(x, weights, leaks)
        return replace(total, likely=likely, failure_probability=FAILURE_PROBABILITY), leaks

    def beside(self, x: Any) -> PairedMap:
        return self

    def _likely_norm(self, x: Any, weights: Array, leaks: Array) -> float:
        """Probabilistic bound on the norm of the residual K - Phi Phi^T of these rows, from pairs of rows."""

        def entries(i: Array, j: Array) -> Array:
            out, step = np.empty(len(i)), self.chunk(x) // 2

            def work(first: int) -> None:
                part = slice(first, first + step)
                left_out = to_numpy(self._left_out(x[i[part]], x[j[part]]))
                out[part] = np.sqrt(weights[i[part]] * weights[j[part]]) * left_out

            run_in_threads(work, [list(range(0, len(i), step))])
            return out

        return pair_bound(weights * leaks, entries, self.pairs, np.random.default_rng(self.seed))

    def _left_out(self, x: Any, y: Any) -> Array:
        """Bounds on |k(x_i, y_i) - phi(x_i) . phi(y_i)|, pair by pair."""
        left, right = self.rows(x), self.rows(y)
        values, error = pair_values(self.kernel, x, y, self.shift)
        xp = namespace(left.values)
        a, b = (xp.sqrt(row_squares(rows.values)) for rows in (left, right))
        dots = xp.einsum("ij,ij->i", left.values, right.values)
        error = error + (self.n_features + 8) * unit_roundoff() * (a * b + abs(values))
        error = error + 1.01 * (left.error * b + right.error * a + left.error * right.error)
        return abs(values - dots) + error + 2 * xp.sqrt(left.rounding * right.rounding)  # type: ignore[no-any-return]
