"""Weight, mean and centred scatter of explicit features: raw sums would cancel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from gramless.arrays import Array, inner, inner_rounding, unit_roundoff
from gramless.features.base import Spectrum


@dataclass(frozen=True, eq=False)
class DenseMoments:
    """Moments of features whose scatter is written down; those of two data sets add by Chan's rule.

    Attributes
    ----------
    weight : float
        Sum of the weights.
    mean : ndarray of shape (D,)
    scatter : ndarray of shape (D, D)
        sum_i w_i (phi_i - mean)(phi_i - mean)^T.
    leak : float
        Upper bound on sum_i w_i (k(x_i, x_i) - |phi(x_i)|^2), which is not negative: K - Phi Phi^T is positive
        semidefinite for the maps that use this class, so it bounds what they leave out. 0 for an exact map.
    rounding : float
        Bound on the spectral norm of the error of the scatter.
    rows : int
    """

    weight: float
    mean: Array
    scatter: Array
    leak: float
    rounding: float
    rows: int

    @classmethod
    def of(cls, features: Array, weights: Array, leak: float, error: float = 0.0) -> DenseMoments:
        """From features (n, D) of one chunk.

        `error` bounds the relative error of the features themselves: |computed - exact| <= error * |phi| per row.
        """
        weight = float(weights.sum())
        if weight == 0:
            width = features.shape[1]
            return cls(0.0, np.zeros(width), np.zeros((width, width)), 0.0, 0.0, len(features))
        mean = weights @ features / weight
        moved = features - mean
        moved *= np.sqrt(weights)[:, None]
        scatter = inner(moved, moved)
        size = float(np.einsum("ij,ij->i", features, features) @ weights)
        spread = float(np.trace(scatter))
        rounding = (
            (inner_rounding(len(features)) + 8 * unit_roundoff()) * spread
            + 2 * (error + 2 * unit_roundoff()) * float(np.sqrt(spread * size))
            + error**2 * size
        )
        return cls(weight, mean, scatter, leak, rounding, len(features))

    def __add__(self, other: DenseMoments) -> DenseMoments:
        return self._combine(other, 1.0)

    def __sub__(self, other: DenseMoments) -> DenseMoments:
        """Take rows out again that were added before."""
        return self._combine(other, -1.0)

    def _combine(self, other: DenseMoments, sign: float) -> DenseMoments:
        """Chan, Golub & LeVeque: S = S_a + S_b + (w_a w_b / w) d d^T, d the difference of the means."""
        if other.weight == 0:
            return replace(self, rows=self.rows + int(sign) * other.rows)
        if self.weight == 0 and sign > 0:
            return replace(other, rows=self.rows + other.rows)
        weight = self.weight + sign * other.weight
        if weight <= 0:
            raise ValueError(f"taking out weight {other.weight:g} from {self.weight:g} leaves nothing")
        difference = other.mean - self.mean
        shift = sign * self.weight * other.weight / weight
        scatter = self.scatter + sign * other.scatter
        scatter += shift * np.outer(difference, difference)
        size = float(np.trace(self.scatter) + np.trace(other.scatter)) + abs(shift) * float(difference @ difference)
        return DenseMoments(
            weight=weight,
            mean=self.mean + (sign * other.weight / weight) * difference,
            scatter=scatter,
            leak=max(0.0, self.leak + sign * other.leak),
            rounding=self.rounding + other.rounding + 8 * unit_roundoff() * size,
            rows=self.rows + int(sign) * other.rows,
        )

    def scaled(self, factor: float) -> DenseMoments:
        """As if every weight were multiplied by `factor`."""
        return replace(
            self,
            weight=factor * self.weight,
            scatter=factor * self.scatter,
            leak=factor * self.leak,
            rounding=factor * self.rounding,
        )

    @property
    def trace(self) -> float:
        return float(np.trace(self.scatter)) + self.leak

    @property
    def mean_norm2(self) -> float:
        return float(self.mean @ self.mean)

    def solve(self, k: int, tol: float, rng: np.random.Generator) -> Spectrum:
        """LAPACK on the D x D scatter; the Gram matrix has the same eigenvalues, and zeros besides."""
        width = len(self.mean)
        wanted = min(k + 1, width)
        values, axes = scipy.linalg.eigh(self.scatter, subset_by_index=(width - wanted, width - 1))
        values, axes = values[::-1].clip(0), axes[:, ::-1]
        slack = self.rounding + 10 * width * unit_roundoff() * float(values.max(initial=0.0))
        padded = np.concatenate([values, np.zeros(max(0, k + 1 - len(values)))])[: k + 1]
        axes = np.hstack([axes, np.zeros((width, max(0, k - axes.shape[1])))])[:, :k]
        lower = np.maximum(padded - slack, 0.0)
        lower[len(values) :] = 0.0
        upper = padded + slack + self.leak
        residual = np.full(k, slack + self.leak)
        return Spectrum(padded[:k], axes, lower, upper, residual)
