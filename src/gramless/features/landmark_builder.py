"""How many landmarks a problem needs, which rows they are, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gramless.arrays import Array, squares_overflow
from gramless.arrays.gpu_rates import machine_for
from gramless.features.base import Box, maps
from gramless.features.landmark_sizes import choose_sizes
from gramless.features.landmarks import LandmarkMap
from gramless.features.pivots import choose_pivots
from gramless.features.taylor import box_radius, dense_estimate, poisson_bound
from gramless.kernels import FromCallable, Gaussian, Precomputed
from gramless.problem import Estimate, Problem

_MOST = 1000


class LandmarkBuilder:
    """Landmarks by randomly pivoted Cholesky on a sample of the rows, or drawn uniformly.

    Parameters
    ----------
    choice : {"cholesky", "uniform"}
    """

    def __init__(self, choice: Literal["cholesky", "uniform"] = "cholesky") -> None:
        self.choice = choice

    boxed = False
    tensors = True
    leading = False

    def estimate(self, problem: Problem) -> Estimate:
        refusal = self.refusal(problem)
        if refusal:
            return Estimate(refusal=refusal)
        rank, sizes = self.rank(problem), choose_sizes(problem, [0])
        estimate = landmark_estimate(problem, rank, self.pairs(problem), self.error(problem, rank))
        if sizes is None:
            return estimate
        error = min(sizes.error, self.error(problem, rank))
        return replace(
            estimate, seconds=estimate.seconds + sizes.seconds, bytes=estimate.bytes + sizes.bytes, error=error
        )

    def make(
        self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator, rank: int | None = None
    ) -> LandmarkMap:
        refusal = self.refusal(problem)
        if refusal:
            raise ValueError(f"landmarks are not applicable: {refusal}")
        goal = 0.5 * problem.tol * problem.peak
        rank = self.rank(problem) if rank is None else rank
        pivots = choose_pivots(problem.kernel, x, weights, rank, goal, rng, self.choice, problem.device)
        chosen = pivots.indices if len(pivots.indices) else np.flatnonzero(weights > 0)[:1]
        return LandmarkMap.at(
            problem.kernel,
            x[chosen],
            pairs=self.pairs(problem),
            seed=int(rng.integers(2**62)),
            expected_leak=pivots.leak,
        )

    def rank(self, problem: Problem) -> int:
        """Landmarks at most: as many as the tolerance needs by a sample of the rows, else by experience."""
        sizes = choose_sizes(problem, [0])
        if sizes is not None:
            return sizes.landmarks
        wanted = int(min(_MOST, max(300, 20 * problem.k) * (1 + max(0.0, -np.log10(max(problem.tol, 1e-16)) - 3) / 3)))
        affordable = int(np.sqrt(problem.memory_limit / 8 / 80))  # a sample of 20 r rows, twice; a few r x r matrices
        return max(1, min(wanted, problem.n, max(16, affordable)))

    def pairs(self, problem: Problem) -> int:
        """Pairs of rows drawn for a bound on the norm of what is left out."""
        return int(np.clip(problem.n // 8, 1000, 50_000))

    def error(self, problem: Problem, rank: int) -> float:
        """The error that landmarks reach without drawn rows.

        Proved for a Gaussian on this box, else by experience with real data. The residual is at most twice that of the
        best third as many features. Taylor features are no better than the best, so their error bounds it.
        """
        if rank >= problem.n:
            return 1e-10
        known = 1.0
        kernel = problem.kernel
        if isinstance(kernel, Gaussian) and problem.low is not None:
            terms, width = 1, 1
            while width * (terms + problem.d) // terms <= rank // 3:
                width = width * (terms + problem.d) // terms
                terms += 1
            radius = box_radius(Box(problem.low, problem.high))
            known = 2 * poisson_bound(radius, kernel.sigma, terms) / max(problem.peak, 1e-300)
        return float(np.clip(known, 1e-9, 1e-2))

    def refusal(self, problem: Problem) -> str:
        """Why landmarks cannot be used; empty if they can."""
        if isinstance(problem.kernel, Precomputed):
            return "a precomputed matrix has no points to project onto"
        if not problem.kernel.mercer:
            return "needs a Mercer kernel"
        if problem.kernel.shift_invariant and squares_overflow(problem.low, problem.high):
            return "squares of distances overflow: rescale the data"
        return ""


def landmark_estimate(problem: Problem, rank: int, pairs: int, error: float) -> Estimate:
    """Cost of choosing `rank` landmarks, and of the pass that sums their features."""
    machine = machine_for(problem.device)
    value = 1 / machine.python if isinstance(problem.kernel, FromCallable) else 1 / machine.kernel
    row = rank * (value + 2 * problem.d / machine.gemm) + 2.5 * rank**2 / machine.gemm
    sample = min(problem.n, 20 * rank)
    again = 1 + 2 * pairs / problem.n  # the features of both rows of a pair
    estimate = dense_estimate(problem, rank, row * again, error)
    pivoting = sample * (rank * value + 2 * rank**2 / machine.gemm) + 2e-3 * rank
    size = estimate.bytes + 8 * (2 * sample * rank + problem.n)
    return replace(estimate, seconds=estimate.seconds + pivoting, bytes=size)


maps.register("landmarks")(LandmarkBuilder())
