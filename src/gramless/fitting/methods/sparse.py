"""A sparse Gram matrix of near neighbors, for small bandwidths; its error is below the tolerance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.special
from scipy.spatial import cKDTree

from gramless.arrays import Array, diagonal_of_box, squares_overflow, unit_roundoff
from gramless.data import Rows, Survey
from gramless.eigen import BlockKrylov
from gramless.eigen.block_krylov import basis_columns, block_width
from gramless.fitting.methods.base import Solved, Traits, methods
from gramless.fitting.methods.exact import assemble, leading, unless_ones
from gramless.fitting.methods.layout import basis_bytes, expected_passes
from gramless.gram import CenteredGram, SparseGram
from gramless.gram.cutoff import cut_radius
from gramless.kernels.base import RadialKernel
from gramless.machine import Machine
from gramless.problem import Estimate, Problem, Request

_MACHINE = Machine()
_MOST_COLUMNS = 8  # with more columns, a tree finds neighbors no faster than a search over all pairs
_SHARE = 0.05  # share of the tolerance that the cutoff may take
_CLUSTERED = 4.0  # neighbors of real data, relative to points spread uniformly over their box
_SEARCH, _STORE = 2e-8, 6e-8  # seconds to examine a pair, and to store an entry
_MULTIPLY, _FROM_MEMORY = 0.8e-10, 2.5e-10  # seconds to multiply an entry by a number, from cache and from memory
_CACHED = 10**7  # entries that stay in cache
_UNSTARTED = 4  # more passes than from a start by landmarks
_FEWEST_PAIRS = 20  # near pairs of the sample that tell how many neighbors there are


class SparseMethod(Traits):
    """Stores the entries of near neighbors only: exact for compactly supported kernels, and within a fraction of the
    tolerance for kernels that decay fast.
    """

    def estimate(self, problem: Problem) -> Estimate:
        refusal = self._refusal(problem)
        if refusal:
            return Estimate(refusal=refusal)
        n, width = problem.n, block_width(problem.k)
        basis = basis_bytes(n, _columns(problem), width)
        if problem.low is None:  # without a box the cost is unknown: the method is used only when named
            return Estimate(np.inf, basis, problem.tol)
        radius = cut_radius(problem.kernel, _SHARE * max(problem.tol, 1e-15) / n)
        neighbours = expected_neighbours(problem, radius)
        passes = expected_passes(problem) + _UNSTARTED
        pairs = n / 2 * neighbours
        multiply = (_MULTIPLY if pairs < _CACHED else _FROM_MEMORY) * 2 * pairs * width / problem.threads
        orthogonalise = 8 * n * width * 5 * width / (_MACHINE.gemm * problem.threads)
        looked_at = min(n * n / 2, pairs * (1 + problem.d) ** 1.5)  # the tree's boxes that a ball meets are larger
        search = (_SEARCH * looked_at + _STORE * pairs) / problem.threads
        seconds = search + passes * (multiply + orthogonalise + 6e-3) + 2.5e-2
        return Estimate(seconds, int(basis + 12 * pairs + 2**24), max(problem.tol, 1e-15 * np.sqrt(n)))

    def _refusal(self, problem: Problem) -> str:
        if not isinstance(problem.kernel, RadialKernel):
            return "only for radial kernels"
        if problem.sparse:
            return "neighbor search is not supported for sparse rows"
        if problem.d > _MOST_COLUMNS:
            return f"neighbor search by a tree supports at most {_MOST_COLUMNS} columns"
        if squares_overflow(problem.low, problem.high):
            return "squares of distances overflow: rescale the data"
        if problem.solver == "dense":
            return "eigen_solver='dense' needs the full matrix"
        try:
            cut_radius(problem.kernel, 0.0)
        except ValueError:
            return "the kernel does not decay to 0"
        return ""

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solved:
        """Solve with a cutoff for an estimated largest eigenvalue; increase the radius if the estimate was too high."""
        block = rows.whole()
        x, weights = block.x, block.weights
        columns = _columns(problem)
        solver = request.solver or BlockKrylov(max_columns=columns)
        room = max(0, int(problem.memory_limit - basis_bytes(problem.n, columns, block_width(problem.k))))
        tol, diagonal = max(problem.tol, 1e-15), diagonal_of_box(problem.low, problem.high)
        narrower = replace(problem, tol=(1 - 2 * _SHARE) * problem.tol)
        peak = peak_guess(problem.kernel, x, weights)
        while True:
            gram = SparseGram(
                problem.kernel,
                x,
                unless_ones(weights),
                _SHARE * tol * peak,
                memory_limit=room,
            )
            if diagonal * unit_roundoff() > 1e-3 * gram.radius and gram.entries > (weights > 0).sum():
                raise ValueError(
                    f"rows spread over {diagonal:.1g} have neighbors within {gram.radius:.1g}: projections, "
                    "which center them, could not distinguish those; scale the data, or remove outliers"
                )
            centered = CenteredGram(gram)
            result = leading(centered, solver, narrower, request, partial(float, centered.trace))
            found = float(result.values[0])
            if gram.cut <= 2 * _SHARE * tol * found or gram.cut <= gram.error / 2 or found <= 0 or peak < 1e-280:
                return Solved(assemble(problem, block, centered, result), block)
            peak = min(found, peak / 16)
            del gram, centered


methods.register("sparse")(SparseMethod())


def expected_neighbours(problem: Problem, radius: float) -> float:
    """Expected number of neighbors of a row within `radius`: from the sample, else for rows spread over their box."""
    if problem.sample is not None and len(problem.sample) > 1:
        tree, m = cKDTree(np.asarray(problem.sample, dtype=np.float64)), len(problem.sample)
        near = float(tree.count_neighbors(tree, radius)) - m
        if near >= 2 * _FEWEST_PAIRS:
            return min(float(problem.n), 1 + near / (m * (m - 1)) * problem.n)
    extent = np.maximum(np.asarray(problem.high) - np.asarray(problem.low), 0.0)
    wide = extent > 2 * radius
    m = int(wide.sum())
    # logarithms, as the volumes of the ball and of the box in its wide directions may overflow or underflow
    ball = m / 2 * np.log(np.pi) - scipy.special.gammaln(m / 2 + 1) + m * np.log(max(radius, 1e-300))
    share = float(np.exp(min(0.0, ball - np.log(extent[wide]).sum())))
    return min(float(problem.n), 1 + _CLUSTERED * problem.n * share)


def peak_guess(kernel: RadialKernel, x: Any, weights: Array) -> float:
    """A lower estimate of the largest eigenvalue: that of the densest of a few neighborhoods.

    A principal submatrix has no larger eigenvalue than the whole matrix.
    """
    used = np.flatnonzero(weights > 0)
    rows = np.asarray(x[used], dtype=np.float64)
    size = min(64, len(rows))
    sample = rows[:: max(1, len(rows) // 64)]
    distances, near = (a.reshape(len(sample), size) for a in cKDTree(rows).query(sample, k=size))
    with np.errstate(over="ignore"):  # kernel values at such distances are 0
        sums = (kernel.profile(distances**2) * weights[used][near]).sum(axis=1)
    group = near[int(np.argmax(sums))]
    roots = np.sqrt(weights[used][group])
    return float(np.linalg.eigvalsh(roots[:, None] * kernel(rows[group]) * roots)[-1])


def _columns(problem: Problem) -> int:
    """Columns of the Krylov basis; fewer where the basis would take more than half of the memory limit."""
    width = block_width(problem.k)
    most = int((problem.memory_limit / 2 / (8 * problem.n) - 8 * width) / 2.2)
    return max(problem.k + 2 * width, min(basis_columns(width), most))
