"""How accurate landmarks will be, as a function of their number: measured on a sample of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gramless.arrays import Array, inner, leading_eigenpairs, one_blas_thread
from gramless.features.pivots import pivoted_columns
from gramless.kernels import Kernel

_FEWEST, _PART = 64, 4  # landmarks of the first point of a curve, and rows of the sample for each of the last
_STEEPEST = 3.0
_NOTHING = 1e-9  # residual where rounding ends the choice of landmarks
_ENTRIES = 200  # rows of the sample from which Frobenius norms are estimated
_NEIGHBORS = 16  # vectors beyond the wanted ones that a basis contains


@dataclass(frozen=True, eq=False)
class LandmarkCurve:
    """Residual and trace that landmarks leave, relative to the largest eigenvalue of the centered Gram matrix.

    Attributes
    ----------
    sizes : ndarray of shape (p,)
        Numbers of landmarks.
    residuals : ndarray of shape (p,)
        Largest |E v| over the leading components v, with E = K - Phi Phi^T.
    traces : ndarray of shape (p,)
        Trace of E.
    squares, diagonals : ndarray of shape (p,)
        Squared Frobenius norm that the eigenvalues of Phi Phi^T do not explain, outside the leading eigenvectors: of
        the entries beside the diagonal, and of those on it, which count for less the more rows there are.
    last, following : float
        The last of the wanted eigenvalues, and the first outside a basis of these and some neighbors.
    rows : int
        Rows of the sample.
    """

    sizes: Array
    residuals: Array
    traces: Array
    squares: Array
    diagonals: Array
    last: float
    following: float
    rows: int

    def residual(self, size: float) -> float:
        """Residual with `size` landmarks."""
        return self._at(size, self.residuals)

    def trace(self, size: float) -> float:
        """Trace left by `size` landmarks."""
        return self._at(size, self.traces)

    def outside(self, size: float, n: int) -> float:
        """Bound that `size` landmarks prove outside the leading eigenvectors of `n` rows."""
        diagonal = self._at(size, self.diagonals) * self.rows / n
        return float(np.sqrt(self._at(size, self.squares) + diagonal + self.following**2))

    def _at(self, size: float, values: Array) -> float:
        """On straight lines in logarithms; beyond the last point along the slope of the last two steps."""
        where, logs = np.log(self.sizes), np.log(np.maximum(values, 1e-300))
        here = float(np.log(size))
        if here <= where[-1]:
            return float(np.exp(np.interp(here, where, logs)))
        first = max(0, len(where) - 3)
        slope = (logs[-1] - logs[first]) / max(where[-1] - where[first], 1e-9)
        return float(np.exp(logs[-1] + np.clip(slope, -_STEEPEST, 0.0) * (here - where[-1])))


def landmark_curve(kernel: Kernel, rows: Any, k: int) -> LandmarkCurve | None:
    """The curve for `k` components, from a sample of rows (n, d); None where it cannot be measured.

    A curve is computed once for the same sample.
    """
    with one_blas_thread():  # faster at these sizes, and the same plan on any machine
        return _curve(_Sample(kernel, rows, k))


class _Sample:
    """A key for a cache: the same array, kernel and number of components."""

    def __init__(self, kernel: Kernel, rows: Any, k: int) -> None:
        self.kernel, self.rows, self.k = kernel, rows, k

    def __hash__(self) -> int:
        return hash((id(self.rows), self.k))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Sample) and self.rows is other.rows and self.k == other.k and self.kernel == other.kernel
        )


@lru_cache(maxsize=4)
def _curve(sample: _Sample) -> LandmarkCurve | None:
    kernel, rows, k = sample.kernel, sample.rows, sample.k
    n = rows.shape[0]
    with np.errstate(all="ignore"):
        gram = kernel(rows)
    if not np.isfinite(gram).all() or not gram.diagonal().max() > 0 or n < _PART * _FEWEST:
        return None
    chosen, factor = pivoted_columns(kernel, rows, n // _PART, np.random.default_rng(0))
    found: dict[int, tuple[float, ...]] = {}
    for size in (_FEWEST << i for i in range(20) if _FEWEST << i <= len(chosen)):
        point = _point(gram, factor[:, :size], chosen[:size], k)
        if point is None:
            return None
        found[size] = point
    if len(chosen) < n // _PART:  # so many landmarks leave nothing but rounding
        last = next(reversed(found.values()))[-2:] if found else (1.0, 0.0)
        found[max(1, len(chosen))] = (_NOTHING, _NOTHING, _NOTHING**2, _NOTHING**2, *last)
    residuals, traces, squares, diagonals, lasts, following = np.array(list(found.values())).T
    sizes = np.array(list(found), dtype=float)
    return LandmarkCurve(sizes, residuals, traces, squares, diagonals, float(lasts[-1]), float(following[-1]), n)


def _point(gram: Array, factor: Array, chosen: Array, k: int) -> tuple[float, ...] | None:
    """Residual, trace, squares, diagonal, last and following eigenvalue on the rows that are not landmarks.

    A row's own entry of E would count too much in a sample: the diagonal is left out. Two halves of the rows give two
    estimates of E v with independent errors; their inner product is an estimate of its squared norm without bias.
    """
    rest = np.ones(len(gram), dtype=bool)
    rest[chosen] = False
    phi = factor * rest[:, None]
    centred = (factor - phi.sum(axis=0) / rest.sum()) * rest[:, None]
    values, axes = leading_eigenpairs(inner(centred, centred), min(k + _NEIGHBORS + 1, phi.shape[1]))
    if not values[0] > 0:
        return None
    good = values > 1e-9 * values[0]
    good[k + _NEIGHBORS :] = False
    nearby = centred @ (axes[:, good] / np.sqrt(values[good]))
    leaks = np.maximum(gram.diagonal() - np.einsum("ij,ij->i", phi, phi), 0.0) * rest
    halves, vectors = np.arange(len(gram)) % 2 == 0, nearby[:, :k]
    even, odd = (_product(gram, phi, leaks, vectors * half[:, None])[rest] for half in (halves, ~halves))
    squares = 4 * np.einsum("ij,ij->j", even, odd)
    noise = np.einsum("ij,ij->j", even - odd, even - odd) / np.sqrt(rest.sum())
    residual, first = float(np.sqrt(np.maximum(squares, noise).max())), float(values[0])
    beside, diagonal = _unexplained(gram, phi, centred, nearby, values[good], np.flatnonzero(rest)[:_ENTRIES])
    last, following = (max(float(values[:count][-1]), 0.0) / first for count in (k, k + _NEIGHBORS + 1))
    return residual / first, float(leaks.sum()) / first, beside / first**2, diagonal / first**2, last, following


def _unexplained(
    gram: Array, phi: Array, centred: Array, vectors: Array, values: Array, some: Array
) -> tuple[float, float]:
    r"""\|K\|^2 - \|Phi Phi^T\|^2 = 2 <E, Phi Phi^T> + \|E\|^2 outside some vectors, from some rows.

    Returns
    -------
    beside, diagonal : float
        The parts beside the diagonal and on it.
    """
    near = centred[some] @ centred.T - (vectors[some] * values) @ vectors.T
    left = (gram[some] - phi[some] @ phi.T) * phi.any(axis=1)
    squares = left * (2 * near + left)
    diagonal = squares[np.arange(len(some)), some].sum()
    beside, diagonal = np.maximum([squares.sum() - diagonal, diagonal], 0.0) * len(gram) / len(some)
    return float(beside), float(diagonal)


def _product(gram: Array, phi: Array, leaks: Array, v: Array) -> Array:
    """E v without the diagonal of E."""
    return np.asarray(gram @ v - phi @ (phi.T @ v) - leaks[:, None] * v)
