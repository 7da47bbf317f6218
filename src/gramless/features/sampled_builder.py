"""The second level of landmarks: which further points, and which combinations of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg

from gramless.arrays import Array, Tower, leading_eigenpairs, unit_roundoff
from gramless.features.base import maps
from gramless.features.chunks import add_in_order, row_chunks
from gramless.features.landmark_builder import LandmarkBuilder, landmark_estimate
from gramless.features.landmark_sizes import MORE_VECTORS, Sizes, choose_sizes
from gramless.features.landmarks import LandmarkMap
from gramless.features.rows import FeatureRows
from gramless.features.sampled import SampledMap
from gramless.kernels.rounding import growth
from gramless.problem import Estimate, Problem

POINTS = (1000, 2000, 3000, 5000)  #: numbers of further points to choose from
_ROWS = 512
_SURVEYED = 100  # rows for each landmark from which the first components are computed


class SampledBuilder:
    r"""Landmarks, and combinations of further points for what they leave of the leading components.

    With V the leading components by landmarks and R what the landmarks leave of the kernel, R V is the residual. Of s
    further points S, drawn with probability proportional to the diagonal of R, the combinations
    R_SS^-1 R_SX V interpolate R V: a Nyström approximation of R on s points, at the cost of k columns.
    """

    boxed = False
    tensors = False
    leading = True

    def estimate(self, problem: Problem) -> Estimate:
        refusal = LandmarkBuilder().refusal(problem)
        if problem.block or problem.workers or problem.streaming or problem.sparse:
            refusal = refusal or "needs dense rows in memory"
        if refusal:
            return Estimate(refusal=refusal)
        sizes = _sizes(problem)
        estimate = landmark_estimate(problem, sizes.landmarks, LandmarkBuilder().pairs(problem), sizes.error)
        return replace(estimate, seconds=estimate.seconds + sizes.seconds, bytes=estimate.bytes + sizes.bytes)

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> SampledMap:
        sizes = _sizes(problem)
        base = LandmarkBuilder().make(problem, x, weights, rng, sizes.landmarks)
        some = _subset(weights, _SURVEYED * base.n_features, rng)
        axes, mean, leaks = _first_components(base, x[some], weights[some], problem.k + MORE_VECTORS)
        chances = weights[some] * leaks
        size = min(sizes.points, int(np.count_nonzero(chances)))
        if size == 0:  # landmarks leave nothing out
            return SampledMap(base, base.points[:1], np.zeros((1, 0)), base.pairs, int(rng.integers(2**62)))
        points = x[np.sort(rng.choice(some, size, replace=False, p=chances / chances.sum()))]
        combinations = _combinations(base, points, x, weights, axes, mean)
        return SampledMap(base, points, combinations, base.pairs, int(rng.integers(2**62)))


def _sizes(problem: Problem) -> Sizes:
    """Sizes by the curve of a sample; for few rows, where there is no curve, as many as a quarter of them."""
    found = choose_sizes(problem, POINTS)
    few = max(1, problem.n // 4)
    if found is not None:
        return found
    return Sizes(min(200, few), min(1000, few), LandmarkBuilder().error(problem, min(200, few)), 0.1, 0, 0.1)


def _subset(weights: Array, size: int, rng: np.random.Generator) -> Array:
    used = np.flatnonzero(weights > 0)
    return used if len(used) <= size else np.sort(rng.choice(used, size, replace=False))


def _first_components(base: LandmarkMap, x: Any, weights: Array, columns: int) -> tuple[Array, Array, Array]:
    """Leading axes (m, columns) divided by the roots of their eigenvalues, the mean, and what is left of k(x, x)."""
    moments, leaks = replace(base, pairs=0).moments_and_leaks(x, weights)
    values, axes = leading_eigenpairs(moments.scatter, min(columns, base.n_features))
    good = values > 1e-12 * values.max(initial=0.0)
    if moments.leak <= 2 * moments.leak_error:  # only rounding is left
        leaks = np.zeros_like(leaks)
    return axes[:, good] / np.sqrt(values[good]), moments.mean, leaks


def _combinations(base: LandmarkMap, points: Any, x: Any, weights: Array, axes: Array, mean: Array) -> Array:
    """T (s, q) with T^T R T <= I, R what the landmarks leave of the kernel among the points, rounding included."""
    kernel, here = base.kernel, base.rows(points)
    ready = kernel.prepare(points, base.shift)
    offset = mean @ axes
    sums = Tower()

    def products(part: slice) -> Array:
        """K(points, x) w v and Phi^T w v for some rows."""
        rows = kernel.prepare(x[part], base.shift)
        v = (base.dot(x[part], axes) - offset) * weights[part, None]
        return np.vstack(
            [kernel.evaluate(ready, rows) @ v, kernel.evaluate(kernel.prepare(base.points, base.shift), rows) @ v]
        )

    add_in_order(products, row_chunks(x.shape[0], _ROWS), sums.push)
    both = sums.total()
    along = base.triangle.solve(both[len(points) :].T.copy()).T
    right = both[: len(points)] - here.values @ along
    left = kernel.evaluate(ready, ready) - here.values @ here.values.T
    left = (left + left.T) / 2
    lift = _lift(base, points, here, ready)
    factor = _cholesky(left, lift)
    solved = scipy.linalg.cho_solve((factor, True), right)
    # columns orthonormal with respect to R + lift, as far as they are independent
    image = factor.T @ solved
    turned, sizes, _ = np.linalg.svd(image, full_matrices=False)
    kept = turned[:, sizes > 1e-6 * sizes.max(initial=0.0)]
    combinations = scipy.linalg.solve_triangular(factor.T, kept, lower=False)
    image = factor.T @ combinations
    slack = 4 * len(points) * unit_roundoff() * float(np.linalg.norm(factor)) * float(np.linalg.norm(combinations))
    return np.asarray(combinations / ((np.linalg.norm(image, 2) + slack) * (1 + 1e-9)))


def _lift(base: LandmarkMap, points: Any, here: FeatureRows, ready: Any) -> float:
    """What must be added to the diagonal of the computed R so that it exceeds the exact R, after its factorization."""
    s, unit = points.shape[0], unit_roundoff()
    largest = float(base.kernel.diagonal(points).max())
    rounding = base.kernel.rounding(base.kernel.radius(ready), points.shape[1], unit)
    entry = rounding.absolute + (rounding.relative + (base.n_features + 8) * unit) * largest
    return 1.1 * float(s * entry + float(here.rounding.sum()) + growth(s + 4, unit) * float(here.leak.sum()))


def _cholesky(matrix: Array, lift: float) -> Array:
    """Lower factor of ``matrix + lift I``; `lift` grows where that is not positive definite."""
    diagonal = np.diag_indices_from(matrix)
    while True:
        lifted = matrix.copy()
        lifted[diagonal] += lift
        try:
            return np.linalg.cholesky(lifted)
        except np.linalg.LinAlgError:
            lift *= 10


maps.register("sampled")(SampledBuilder())
