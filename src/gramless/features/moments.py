"""Weight, mean and centered scatter of explicit features: raw sums would cancel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gramless.arrays import (
    Array,
    Tower,
    inner,
    inner_rounding,
    leading_eigenpairs,
    like,
    namespace,
    one_blas_thread,
    row_squares,
    to_numpy,
    unit_roundoff,
)
from gramless.features.base import Spectrum
from gramless.features.chunks import add_in_order, row_chunks


@dataclass(frozen=True, eq=False)
class DenseMoments:
    """Moments of features with a dense scatter matrix; the moments of two data sets add by Chan's rule.

    Attributes
    ----------
    weight : float
        Sum of the weights.
    mean : ndarray of shape (D,)
    scatter : ndarray of shape (D, D)
        sum_i w_i (phi_i - mean)(phi_i - mean)^T.
    leak : float
        Upper bound on sum_i w_i (k(x_i, x_i) - |phi(x_i)|^2), the weighted trace of the residual K - Phi Phi^T, which
        is positive semidefinite for the maps that use this class. 0 for an exact map.
    rounding : float
        Bound on the spectral norm of the error of the scatter.
    rows : int
    mean_error : float
        Bound on the norm of the error of the mean.
    leak_error : float
        The true sum is at least ``leak - leak_error``.
    likely : float or None
        Bound on the spectral norm of the residual, smaller than its trace `leak` and wrong with at most
        `failure_probability`, which is 0 for a bound from all rows; None where there is no such bound.
    failure_probability : float
    slip : float
        Bound on the spectral norm of the error of the features, times the roots of the weights, of rows that were
        carried over from other landmarks: on the scale of square roots of eigenvalues.
    lost : float
        Trace of the residuals that were lost when rows were carried over.
    """

    weight: float
    mean: Array
    scatter: Array
    leak: float
    rounding: float
    rows: int
    mean_error: float = 0.0
    leak_error: float = 0.0
    likely: float | None = None
    failure_probability: float = 0.0
    slip: float = 0.0
    lost: float = 0.0

    @classmethod
    def of(
        cls,
        features: Array,
        weights: Array,
        leak: float,
        error: float = 0.0,
        *,
        errors: Array | None = None,
        rounding: float = 0.0,
        leak_error: float = 0.0,
    ) -> DenseMoments:
        """From features (n, D) of one chunk, an array or a tensor; small matrices are numpy arrays.

        `error` bounds the relative error of the features themselves: |computed - exact| <= error * |phi| per row;
        `errors` (n,) is added to that bound, row by row. `rounding` is a bound on the error of the Gram matrix of
        the features from other sources.
        """
        weight, (n, width), xp = float(weights.sum()), features.shape, namespace(features)
        if weight == 0:
            return cls(0.0, np.zeros(width), np.zeros((width, width)), 0.0, 0.0, n)
        weights = like(weights, features)
        mean = weights @ features / weight
        moved = features - mean
        first = float(row_squares(moved) @ weights) ** 0.5
        shift = weights @ moved / weight  # error of the mean, without which equal rows would scatter
        moved -= shift
        moved *= xp.sqrt(weights)[:, None]
        scatter = inner(moved, moved)
        spread = float(np.trace(scatter))
        norms = xp.sqrt(row_squares(features))
        slip = float(weights @ (error * norms + (0.0 if errors is None else errors)) ** 2) ** 0.5
        unit = unit_roundoff()
        missed = (n + 4) * unit * first  # sqrt(W) times the error of the mean that was subtracted
        moving = slip + unit * (first + 2 * float(np.sqrt(spread)))
        products = (inner_rounding(n) + 8 * unit) * spread + n * float(np.finfo(np.float64).tiny)
        root = float(np.sqrt(min(spread, np.linalg.norm(scatter) * (1 + 1e-12) + products)))  # norm of `moved`
        mean = to_numpy(mean + shift)
        if not np.isfinite(spread + first + leak + rounding):
            raise ValueError("the scatter of the features overflows; rescale the data")
        return cls(
            weight=weight,
            mean=mean,
            scatter=scatter,
            leak=leak,
            rounding=rounding + products + 2 * root * moving + moving**2 + missed**2,
            rows=n,
            mean_error=(slip + missed) / float(np.sqrt(weight)) + 2 * unit * float(np.linalg.norm(mean)),
            leak_error=leak_error,
        )

    def __add__(self, other: DenseMoments) -> DenseMoments:
        return self._combine(other, 1.0)

    def __sub__(self, other: DenseMoments) -> DenseMoments:
        """The moments without those of rows that were added before."""
        return self._combine(other, -1.0)

    def _combine(self, other: DenseMoments, sign: float) -> DenseMoments:
        """Chan, Golub & LeVeque: S = S_a + S_b + (w_a w_b / w) d d^T, d the difference of the means."""
        if other.weight == 0:
            return replace(self, rows=self.rows + int(sign) * other.rows)
        if self.weight == 0 and sign > 0:
            return replace(other, rows=self.rows + other.rows)
        weight = self.weight + sign * other.weight
        if weight <= 0:
            raise ValueError(f"removing weight {other.weight:g} from {self.weight:g} leaves no rows")
        difference = other.mean - self.mean
        shift = sign * self.weight * other.weight / weight
        scatter = self.scatter + sign * other.scatter
        scatter += shift * np.outer(difference, difference)
        unit, apart = unit_roundoff(), float(np.linalg.norm(difference))
        size = float(np.trace(self.scatter) + np.trace(other.scatter)) + abs(shift) * apart**2
        missed = self.mean_error + other.mean_error + unit * apart
        turned = (self.weight * self.mean_error + other.weight * other.mean_error) / weight
        turned += 4 * unit * float(np.linalg.norm(self.mean) + other.weight / weight * apart)
        leak, leak_error = self.leak + other.leak, self.leak_error + other.leak_error
        if sign < 0:  # the leak taken out may be as small as leak - leak_error
            leak = max(0.0, self.leak - other.leak + other.leak_error)
        likely, failure = self._likely_with(other, sign)
        return DenseMoments(
            weight=weight,
            mean=self.mean + (sign * other.weight / weight) * difference,
            scatter=scatter,
            leak=leak,
            rounding=self.rounding + other.rounding + 8 * unit * size + abs(shift) * (2 * apart * missed + missed**2),
            rows=self.rows + int(sign) * other.rows,
            mean_error=turned,
            leak_error=min(leak, leak_error),
            likely=likely,
            failure_probability=failure,
            slip=float(np.hypot(self.slip, other.slip)),
            lost=self.lost + other.lost,
        )

    def _likely_with(self, other: DenseMoments, sign: float) -> tuple[float | None, float]:
        """The norm of a positive semidefinite matrix is at most the sum of the norms of its diagonal blocks."""
        if self.likely is None and (other.likely is None or sign < 0):
            return None, 0.0
        if sign < 0:  # a diagonal block has no larger norm than the whole
            return self.likely, self.failure_probability
        return self.residual_norm + other.residual_norm, self.failure_probability + other.failure_probability

    def scaled(self, factor: float) -> DenseMoments:
        """As if every weight were multiplied by `factor`."""
        return replace(
            self,
            weight=factor * self.weight,
            scatter=factor * self.scatter,
            leak=factor * self.leak,
            rounding=factor * (self.rounding + 2 * unit_roundoff() * float(np.trace(self.scatter))),
            leak_error=factor * self.leak_error,
            likely=None if self.likely is None else factor * self.likely,
            slip=float(np.sqrt(factor)) * self.slip,
            lost=factor * self.lost,
        )

    @property
    def trace(self) -> float:
        return float(np.trace(self.scatter)) + self.leak + self.lost

    @property
    def mean_norm2(self) -> float:
        return float(self.mean @ self.mean)

    @property
    def residual_norm(self) -> float:
        """Bound on the spectral norm of the residual K - Phi Phi^T."""
        return self.leak if self.likely is None else min(self.leak, self.likely)

    def solve(self, k: int, tol: float, rng: np.random.Generator) -> Spectrum:
        """LAPACK on the D x D scatter; the Gram matrix has the same eigenvalues, and zeros besides."""
        width = len(self.mean)
        wanted = min(k + 1, width)
        with one_blas_thread():  # the same bits on any machine, and no slower at these sizes
            values, axes = leading_eigenpairs(self.scatter, wanted)
        values = values.clip(0)
        slack = self.rounding + 40 * width * unit_roundoff() * float(values.max(initial=0.0))
        padded = np.append(values, np.zeros(k + 1))[: k + 1]
        axes = np.hstack([axes, np.zeros((width, k))])[:, :k]
        lower = np.maximum(padded - slack, 0.0)
        narrow = self.residual_norm + slack < 0.5 * (self.leak + slack)
        beyond = slack + (self.residual_norm if narrow or self.failure_probability == 0 else self.leak)
        probable = (narrow or self.slip > 0) and self.failure_probability > 0
        upper = (np.sqrt(padded + beyond) + self.slip) ** 2
        return Spectrum(
            values=padded[:k],
            axes=axes,
            lower=np.maximum(np.sqrt(lower) - self.slip, 0.0) ** 2,
            upper=upper,
            residual=np.full(k, beyond + 2 * float(np.sqrt(upper[0])) * self.slip + self.slip**2),
            kind="probabilistic" if probable else "rigorous",
            failure_probability=self.failure_probability if probable else 0.0,
        )


def gather_moments(of_chunk: Callable[[slice], DenseMoments], n: int, rows: int) -> DenseMoments:
    """Sum of the moments of chunks of `rows` rows, computed in threads and added in pairs, pairs of pairs and so on.

    Adding in pairs keeps the rounding error proportional to the logarithm of the number of chunks.
    """
    sums = Tower()
    add_in_order(of_chunk, row_chunks(n, rows) or [slice(0, 0)], sums.push)
    total: DenseMoments = sums.total()
    return total
