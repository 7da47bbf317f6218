"""Moments of Fourier features: they depend on differences of frequencies only, so Phi* Phi is Toeplitz."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramless.arrays import Array, refuse_scale, unit_roundoff
from gramless.features.base import Spectrum
from gramless.features.fourier.grid import FourierGrid
from gramless.features.fourier.leading import leading_pairs
from gramless.features.fourier.scatter import ToeplitzScatter


@dataclass(frozen=True, eq=False)
class ToeplitzMoments:
    """Sums of exponentials over the rows; no row is kept.

    Attributes
    ----------
    grid : FourierGrid
    sums : ndarray of shape (4 m_1 + 1, ..., 4 m_d + 1), complex
        F_q = sum_n w_n exp(-i q.t_n), in the order of q.
    weight : float
        Sum of the weights.
    squares : float
        Sum of the squared weights.
    slip : float
        Bound on the error of each F_q.
    left_out : float
        Bound on the norm of D^1/2 T D^1/2, D the diagonal matrix of the weights, T the part of the kernel matrix made
        by frequencies outside the grid. T is positive semidefinite, so the bounds of two data sets add.
    kind : str
        ``"rigorous"``, or ``"probabilistic"`` where `left_out` was sampled.
    rows : int
    """

    grid: FourierGrid
    sums: Array
    weight: float
    squares: float
    slip: float
    left_out: float
    kind: str = "rigorous"
    rows: int = 0

    def __add__(self, other: ToeplitzMoments) -> ToeplitzMoments:
        return replace(
            self._combine(other, 1.0),
            left_out=self.left_out + other.left_out,
            kind=max(self.kind, other.kind, key=lambda kind: kind == "probabilistic"),
        )

    def __sub__(self, other: ToeplitzMoments) -> ToeplitzMoments:
        """The moments without those of rows that were added before."""
        rest = self._combine(other, -1.0)
        if rest.weight < -8 * unit_roundoff() * self.weight:
            raise ValueError(f"removing weight {other.weight:g} from {self.weight:g} leaves no rows")
        # the norm does not grow when rows are removed
        return replace(rest, left_out=min(self.left_out, max(0.0, rest.weight) * self.grid.tail))

    def _combine(self, other: ToeplitzMoments, sign: float) -> ToeplitzMoments:
        if not self.grid.matches(other.grid):
            raise ValueError("moments over different boxes or kernels cannot be added; pass the same `domain` to both")
        return replace(
            self,
            sums=self.sums + sign * other.sums,
            weight=self.weight + sign * other.weight,
            squares=self.squares + sign * other.squares,
            rows=self.rows + int(sign) * other.rows,
            slip=self.slip + other.slip + unit_roundoff() * (self.weight + other.weight),
        )

    def scaled(self, factor: float) -> ToeplitzMoments:
        """As if every weight were multiplied by `factor` >= 0."""
        return replace(
            self,
            sums=factor * self.sums,
            weight=factor * self.weight,
            squares=factor**2 * self.squares,
            slip=factor * (self.slip + unit_roundoff() * self.weight),
            left_out=factor * self.left_out,
        )

    @property
    def first_sums(self) -> Array:
        """F_j of the frequencies of the grid (D,)."""
        sums: Array = self.sums.reshape(-1)[self.grid.places(self.sums.shape)]
        return sums

    @property
    def mean(self) -> Array:
        first = self.first_sums
        mean: Array = self.grid.roots * (first.real - first.imag) / max(self.weight, float(np.finfo(float).tiny))
        return mean

    @property
    def mean_norm2(self) -> float:
        mean = self.mean
        return float(mean @ mean)

    @property
    def trace(self) -> float:
        # frequency by frequency: frequency 0, most of the weight of a large bandwidth, cancels exactly
        if not self.weight > 0:
            return 0.0
        spread = self.weight - np.abs(self.first_sums) ** 2 / self.weight
        rest = max(0.0, self.grid.peak - float(self.grid.weights.sum()))
        return float(self.grid.weights @ np.maximum(spread, 0.0) + rest * (self.weight - self.squares / self.weight))

    @property
    def rounding(self) -> float:
        """Bound on the norm of the error of the scatter: each F_q is off by at most `slip`, and W sum w <= W k(0)."""
        return self.grid.peak * (3 * self.slip + 8 * unit_roundoff() * self.weight)

    def solve(self, k: int, tol: float, rng: np.random.Generator) -> Spectrum:
        """The `k` leading eigenpairs; the frequencies left out add nearly the same to each eigenvalue."""
        if not self.weight > 0:
            zeros = np.zeros(k + 1)
            return Spectrum(zeros[:k], np.zeros((len(self.grid.weights), k)), zeros, zeros, zeros[:k])
        refuse_scale(self.weight * self.grid.peak, "kernel values times weights")
        scatter = ToeplitzScatter(self.grid, self.sums, self.weight)
        pairs = leading_pairs(scatter, k, tol, self.rounding, rng)
        images = self.weight * self.grid.aliasing
        shift = min(self.grid.tail * self.squares / self.weight, self.left_out)
        lower = np.maximum(pairs.lower - images, 0.0)
        upper = np.maximum(pairs.upper, 0.0) + images + self.left_out
        residual = pairs.residual + images + max(shift, self.left_out - shift)
        probabilistic = "probabilistic" in (self.kind, pairs.kind)
        return Spectrum(
            values=np.clip(pairs.values + shift, lower[:k], upper[:k]),
            axes=pairs.axes,
            lower=lower,
            upper=upper,
            residual=residual,
            kind="probabilistic" if probabilistic else "rigorous",
        )
