"""How accurate landmarks are: the residual of their components, from rows drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array, blas_threads_for, leading_eigenpairs, unit_roundoff
from gramless.certificates import FAILURE_PROBABILITY, Inside, drawn_norm, rows_to_draw
from gramless.features import DenseMoments, PairedMap, Spectrum
from gramless.features.landmark_sizes import MORE_VECTORS
from gramless.gram.tiled import kernel_radius, rectangular_error, rectangular_product
from gramless.problem import Problem
from gramless.progress import observer

_TOGETHER = 4096  # rows between two reports of progress
_FIRST = 256  # rows that tell how many rows to draw


@dataclass(frozen=True, eq=False)
class Drawn:
    """The leading eigenpairs of moments, and what the rows drawn prove about them.

    Attributes
    ----------
    values : ndarray of shape (b,)
    axes : ndarray of shape (D, b)
    upper : ndarray of shape (b,)
        Bounds on the leading eigenvalues of the exact centered Gram matrix.
    residual : ndarray of shape (b,)
        Bounds on norm(K v - l v).
    failure_probability : float
    """

    values: Array
    axes: Array
    upper: Array
    residual: Array
    failure_probability: float

    def narrowed(self, spectrum: Spectrum) -> Spectrum:
        """The spectrum of the same moments, with the narrower of both bounds."""
        k = len(spectrum.values)
        if k >= len(self.values) or self.residual[:k].max(initial=0.0) >= 0.5 * spectrum.residual.max(initial=0.0):
            return spectrum
        return replace(
            spectrum,
            values=self.values[:k],
            axes=self.axes[:, :k],
            upper=np.minimum(spectrum.upper, self.upper[: k + 1]),
            residual=np.minimum(spectrum.residual, self.residual[:k]),
            kind="probabilistic",
            failure_probability=self.failure_probability,
        )


def draw_rows(
    features: PairedMap,
    moments: DenseMoments,
    leaks: Array,
    x: Any,
    weights: Array,
    problem: Problem,
    rng: np.random.Generator,
) -> Drawn | None:
    r"""Bounds on the residual of the leading components, from rows of K - Phi Phi^T drawn by its diagonal.

    C = A + E + X is the centered, weighted Gram matrix: A = B B^T that of the centered features B, E what they leave
    out, X rounding. The computed scatter S~ differs from B^T B = S by at most r. With B = U S^1/2, U orthonormal, A
    differs from U S~ U^T by at most r, and the latter has the exact eigenvectors Q = U Y, Y the eigenvectors of S~. The
    vectors that can be computed are V = B Y a^-1/2, and V - Q = U (S^1/2 - S~^1/2) Y a^-1/2 has columns no longer than
    r / a_j.

    Parameters
    ----------
    features : PairedMap
    moments : DenseMoments
        Of all rows.
    leaks : ndarray of shape (n,)
        Bounds on the diagonal of K - Phi Phi^T.
    x, weights
        The rows.
    problem : Problem
    rng : numpy.random.Generator
        Independent of the features.

    Returns
    -------
    Drawn or None
        None where rounding would hide the components, or where the moments prove the tolerance already.
    """
    width, unit = features.n_features, unit_roundoff()
    with blas_threads_for(width):
        values, axes = leading_eigenpairs(moments.scatter, min(problem.k + MORE_VECTORS + 1, width))
    slack = moments.rounding + 40 * width * unit * float(values.max(initial=0.0))
    b = min(int((values > 1e3 * slack).sum()), len(values) - 1)
    chances = weights * leaks
    tau = float(chances.sum()) * (1 + 1e-12)
    if b <= problem.k or not tau > 0:
        return None
    if moments.residual_norm + slack <= 0.5 * problem.tol * values[0]:
        return None
    beyond, values, axes = float(max(values[b], 0.0)), values[:b], axes[:, :b]
    steps = np.cumsum(chances)

    def draw(count: int) -> tuple[Array, Array]:
        """Rows of E V divided by the roots of their chances, and bounds on their errors."""
        drawn = np.minimum(np.searchsorted(steps, rng.random(count) * steps[-1], side="right"), len(steps) - 1)
        chosen, counts = np.unique(drawn, return_counts=True)
        action, error = acting.rows(chosen)
        scale = np.sqrt(counts / count * tau / chances[chosen])[:, None]
        return action * scale, error * scale

    acting = _Action(features, moments, chances, x, weights, values, axes, slack)
    first, blurred = (float(np.linalg.norm(part, axis=0).max()) for part in draw(_FIRST))
    turned = slack * (1 + 1.01 * np.sqrt(values[0] / values)) + tau * slack / values  # of V, and of E (V - Q)
    goal = problem.tol * float(values[0])
    norm = max(goal - float(turned[problem.k - 1]) - blurred, 0.2 * goal, 2 * first)
    most = max(_FIRST, len(weights) // 4)
    n = int(np.clip(rows_to_draw(tau, 0.95 * norm, b, 1.2 * first), _FIRST, most))
    inside = _inside(*draw(n), tau, n)
    reached = float((inside.each + turned)[: problem.k].max())
    if reached > goal >= 2 * first and n < most:  # an unlucky draw: once more, with more rows
        n = min(most, 2 * n)
        inside = _inside(*draw(n), tau, n)
    return Drawn(
        values=values,
        axes=axes,
        upper=inside.upper_bounds(values, beyond + slack + moments.residual_norm) + slack,
        residual=inside.each + turned,
        failure_probability=inside.failure_probability + moments.failure_probability,
    )


def _inside(action: Array, error: Array, trace: float, rows: int) -> Inside:
    """The bounds that rows of E V prove, with bounds on their errors: both (m, b), divided by roots of chances."""
    failure = FAILURE_PROBABILITY / 2 / (action.shape[1] + 1)  # rows are drawn twice at most
    squares = np.linalg.norm(np.abs(action) + error, axis=0) ** 2 * (1 + 1e-12)
    block = (float(np.linalg.norm(action, 2)) + float(np.linalg.norm(error))) ** 2 * (1 + 1e-9)
    norm = drawn_norm(block, trace, rows, failure)
    each = np.array([drawn_norm(float(square), trace, rows, failure) for square in squares])
    return Inside(np.minimum(each, norm), norm, FAILURE_PROBABILITY)


class _Action:
    """Rows of E V for the vectors V of given axes."""

    def __init__(
        self,
        features: PairedMap,
        moments: DenseMoments,
        chances: Array,
        x: Any,
        weights: Array,
        values: Array,
        axes: Array,
        slack: float,
    ) -> None:
        kernel, unit, total = features.kernel, unit_roundoff(), moments.weight
        self._features, self._moments, self._x, self._weights = features, moments, x, weights
        self._chances, self._total = chances, float(chances.sum())
        self._roots, self._axes, self._slack = np.sqrt(values), axes, slack
        coefficients = axes / self._roots
        self._largest = float(kernel.diagonal(x).max())
        radius = kernel_radius(kernel, x, features.shift)
        vectors = features.dot(x, coefficients) - moments.mean @ coefficients
        size = float(np.linalg.norm(moments.mean))
        blur = moments.mean_error + (features.n_features + 8) * unit * (size + float(np.sqrt(self._largest)))
        apart = features.dot_error(coefficients, radius, self._largest, total, moments.leak_error)
        self._apart = apart + np.sqrt(total) * blur / self._roots  # of V as computed
        self._vectors = vectors * weights[:, None]

    def rows(self, chosen: Array) -> tuple[Array, Array]:
        """Rows `chosen` (m,) of E V, and bounds on their errors: both (m, b)."""
        features, moments, unit, part = self._features, self._moments, unit_roundoff(), self._x[chosen]
        product = np.empty((len(chosen), self._vectors.shape[1]))
        for first in range(0, len(chosen), _TOGETHER):
            some = slice(first, first + _TOGETHER)
            product[some] = rectangular_product(features.kernel, part[some], self._x, self._vectors)
            observer().summed(min(first + _TOGETHER, len(chosen)), len(chosen))
        entry = rectangular_error(features.kernel, part, self._x) + 4 * unit * self._largest
        rows = features.rows(part)
        height = np.sqrt(self._weights[chosen])[:, None]
        norms = np.sqrt(self._largest) + rows.error
        along = self._slack / self._roots + (features.n_features + 8) * unit * self._roots
        along += np.sqrt(moments.weight * self._largest) * self._apart
        error = (
            entry * np.sqrt(moments.weight) * 1.01
            + np.multiply.outer(norms, along)
            + np.multiply.outer(rows.error, self._roots)
            + 2 * np.sqrt(rows.rounding * moments.leak_error)[:, None]
        )
        apart = self._apart + self._slack / self._roots**2
        shifted = np.multiply.outer(np.sqrt(self._chances[chosen] * self._total), apart)
        return height * (product - rows.values @ (self._axes * self._roots)), height * error * 1.01 + shifted
