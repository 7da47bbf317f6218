"""What a Fourier map would cost, and how one is made."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.errors import MemoryLimitError
from gramless.features.base import Box, maps
from gramless.features.fourier.grid import Axes, choose_axes, make_grid
from gramless.features.fourier.leading import is_dense
from gramless.features.fourier.map import FourierMap, chunk_rows
from gramless.features.fourier.nufft import asked, promised
from gramless.kernels import Kernel
from gramless.problem import Estimate, Problem

MOST_MODES = 10**6
_MODEST = 60_000  # frequencies where the transform decays too slowly to reach the goal
_SHORT_OF_GOAL = 0.01  # bound that sampled pairs prove on the omitted part, relative to the worst case


def fourier_map(kernel: Kernel, box: Box, error: float, *, seed: int = 0) -> FourierMap:
    """The Fourier map of `kernel` for rows in `box`, with |k(x, y) - phi(x).phi(y)| about `error` or less.

    For kernels that are not smooth at 0, `error` may need too many frequencies. The error is then as small as some
    60,000 frequencies allow, and ``map.grid.error`` bounds it.

    Parameters
    ----------
    kernel : Kernel
    box : Box
    error : float
    seed : int
        Seed of the sample that bounds the omitted part, where `error` was not reached.
    """
    axes, reached = _affordable(kernel, box.extent, error)
    if axes.n_modes > MOST_MODES:
        raise ValueError(_too_many(axes))
    grid = make_grid(kernel, box, axes, reached, goal=error)
    return FourierMap(grid=grid, eps=_accuracy(kernel, error), seed=seed)


class FourierBuilder:
    """Fourier maps: d <= 3, radial kernels whose transform is known and positive."""

    boxed = True
    tensors = False
    leading = False

    def estimate(self, problem: Problem) -> Estimate:
        refusal = _refusal(problem)
        if refusal:
            return Estimate(refusal=refusal)
        kernel, goal = problem.kernel, _goal(problem)
        axes, reached = _affordable(kernel, np.asarray(problem.high) - np.asarray(problem.low), goal)
        if axes.n_modes > MOST_MODES:
            return Estimate(refusal=_too_many(axes))
        eps = _accuracy(kernel, goal)
        short = 1.0 if reached == goal else _SHORT_OF_GOAL
        sums = 3 * promised(eps, axes.shape) * kernel.bound(0.0)
        error = (short * reached / 2 + sums) / max(problem.peak, np.finfo(float).tiny)
        return Estimate(_seconds(problem, axes, eps), _bytes(problem, axes), error)

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> FourierMap:
        refusal = _refusal(problem, known_box=True)
        if refusal:
            raise ValueError(f"the Fourier map is not applicable: {refusal}")
        box = Box.around(x) if problem.low is None else Box(np.asarray(problem.low), np.asarray(problem.high))
        needed = _bytes(problem, _affordable(problem.kernel, box.extent, _goal(problem))[0])
        if needed > problem.memory_limit:
            raise MemoryLimitError(
                f"memory_limit={problem.memory_limit:.1e} bytes is too small for the Fourier map, which needs "
                f"{needed:.1e}; increase memory_limit or tol"
            )
        seed = int(rng.integers(2**31))
        return fourier_map(problem.kernel, box, _goal(problem), seed=seed)


maps.register("fourier")(FourierBuilder())


def _goal(problem: Problem) -> float:
    """Error of a kernel value that changes no eigenvalue by more than tol l_1."""
    return max(0.5 * float(problem.tol * problem.peak), 1e-14 * float(problem.kernel.bound(0.0)))


def _accuracy(kernel: Kernel, error: float) -> float:
    # half of the error is allowed to the sums, which enter the scatter three times
    return asked(error / (3 * kernel.bound(0.0)))


def _affordable(kernel: Kernel, extent: Array, error: float) -> tuple[Axes, float]:
    """The axes for `error`, or for the least larger error that a modest grid reaches; and the error reached."""
    largest = kernel.bound(0.0)
    reached = min(error, 0.1 * largest)
    axes = choose_axes(kernel, extent, reached)
    density = kernel.spectral_density()
    if axes.n_modes > MOST_MODES and density is not None and not density.smooth:
        while axes.n_modes > _MODEST and reached < 2 * largest:
            reached = min(1.5 * reached, 2 * largest)
            axes = choose_axes(kernel, extent, reached)
    return axes, reached


def _refusal(problem: Problem, known_box: bool = False) -> str:
    if problem.d > 3:
        return f"{problem.d} columns; a grid of frequencies supports at most 3"
    if problem.sparse:
        return "sparse rows"
    if problem.kernel.spectral_density() is None:
        return "the Fourier transform of this kernel is unknown"
    if not known_box and problem.low is None:
        return "the bounding box of the data is unknown; pass domain=(low, high)"
    return ""


def _too_many(axes: Axes) -> str:
    return f"the bandwidth is too small for this box: {axes.n_modes:.1e} frequencies exceed {MOST_MODES:.0e}"


def _unknowns(axes: Axes) -> float:
    """Number of frequencies kept: about those in the ellipsoid inscribed in the grid."""
    return axes.n_modes * (1.0, 0.785, 0.524)[len(axes.counts) - 1]


def _seconds(problem: Problem, axes: Axes, eps: float) -> float:
    """Seconds of a fit, from measured rates of one thread."""
    d, threads = problem.d, max(1, problem.threads)
    width = np.ceil(-np.log10(eps)) + 1
    fine = float(np.prod([2.0 * size for size in axes.shape]))
    rows = chunk_rows(problem.n, axes.shape)
    chunks = -(-problem.n // rows)
    spread = problem.n * (2.5e-8 + (2.5e-9 * width, 1.2e-9 * width**2, 3.5e-10 * width**3)[d - 1])
    sums = (spread + chunks * fine * 4e-8) / min(threads, chunks)
    unknowns, k = _unknowns(axes), problem.k
    if is_dense(int(unknowns), k + 1):
        return float(sums + 3e-3 + 4e-8 * unknowns**2 + 4 * unknowns**3 / 3 / 1.5e10)
    products = 60 + 6 * k
    return float(sums + 3e-3 + products * (3e-4 + _product_seconds(axes) + 4e-9 * unknowns * k))


def _product_seconds(axes: Axes) -> float:
    """Seconds of one product with the scatter, axis by axis: by matrix products or by FFT."""
    values, flops = float(np.prod([2.0 * m + 1 for m in axes.counts])), 0.0
    for m, size in zip(axes.counts, axes.shape, strict=True):
        flops += 4 * values * size
        values *= size / (2 * m + 1)
    return min(flops / 5e10, 2.5e-8 * values)


def _bytes(problem: Problem, axes: Axes) -> int:
    d, threads = problem.d, max(1, problem.threads)
    points = float(np.prod(axes.shape))
    rows = min(problem.n, chunk_rows(problem.n, axes.shape))
    transforms = min(threads, -(-problem.n // rows)) * (rows * (16 * d + 48) + 16 * points * (1 + 2.2**d))
    unknowns, k = _unknowns(axes), problem.k
    dense = is_dense(int(unknowns), k + 1)
    solving = 40 * unknowns**2 if dense else 8 * unknowns * (11 * k + 160) + 8 * 6 * points
    return int(2e6 + 16 * 2 * points + max(transforms, solving))
