"""The implicit route: eigenpairs of the centred Gram matrix from products with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.eigen import BlockKrylov, Dense, EigenResult, Operator, Solver, eigsh
from gramless.eigen.block_krylov import block_width
from gramless.gram import CenteredGram, DenseGram, TiledGram, rectangular_product
from gramless.gram.tiled import TILE
from gramless.kernels import FromCallable, Precomputed, RadialKernel
from gramless.planning import Machine, methods
from gramless.problem import Estimate, Problem, Request
from gramless.routes.fitted import Fitted, settle_spectrum, sign_flips
from gramless.spaces import Eigenspace, PointSpan

_MACHINE = Machine()
_SAMPLE = 512  # rows a start is made from
_MULTIPLY, _VALUES = 4e10, 4.5e8  # operations in tile products, and kernel values, a second and thread in float64


class DenseMethod:
    """Write the centred Gram matrix down. Right for small N, for all components, and for matrices that were given."""

    streams = False
    forgets = False

    def estimate(self, problem: Problem) -> Estimate:
        n, k = problem.n, problem.k
        make = gram_seconds(problem)
        if problem.solver in ("auto", "dense"):
            solve = (4 / 3 * n**3 + 4 * n * n * k) / _MACHINE.eigh
        else:
            solve = 60 * 2 * n * n * max(1, k) / (_MACHINE.gemm * problem.threads) / 10
        return Estimate(make + solve + 5e-4, 8 * n * n + 40 * n * k + _workspace(problem), 1e-15 * np.sqrt(n))

    def run(self, problem: Problem, x: Any, weights: Array, request: Request) -> Fitted:
        gram = TiledGram(problem.kernel, x, unless_ones(weights))
        centered = CenteredGram(gram)
        if request.solver is None:
            operator: Operator = centered
            solver: Solver = Dense()
        else:
            operator, solver = DenseGram(centered.to_dense(), centered.error), request.solver
        if request.share is not None and isinstance(solver, Dense):  # LAPACK finds them all in one go
            result = _solve(operator, problem.n, solver, problem, request, None)
            result = _cut(result, request.share * centered.trace)
        else:
            result = leading(operator, solver, problem, request, centered.trace)
        return assemble(problem, x, weights, centered, result)


class TiledMethod:
    """Never write the Gram matrix down: make its tiles anew each pass, or keep as many as memory allows."""

    streams = False
    forgets = False

    def estimate(self, problem: Problem) -> Estimate:
        if problem.solver == "dense":
            return Estimate(refusal="eigen_solver='dense' needs the whole matrix")
        columns, keep = self._budget(problem)
        n, width = problem.n, block_width(problem.k)
        passes = expected_passes(problem)
        small = 8 * n * width * min(columns, 10 * width) / (_MACHINE.gemm * problem.threads) + 6e-3
        if self._drafts(problem, keep):
            seconds = passes * (sweep_seconds(problem, width, 0.5) + small) + 1.2 * sweep_seconds(problem, 2 * width)
        else:
            make = gram_seconds(problem)
            seconds = make + passes * (sweep_seconds(problem, width) - make + small)
        least = 8 * n * self._peak(self._fewest(problem)) + _workspace(problem)
        bytes_ = max(least, min(problem.memory_limit, 8 * n * self._peak(columns) + keep + _workspace(problem)))
        return Estimate(seconds, int(bytes_), 1e-15 * np.sqrt(n))

    def run(self, problem: Problem, x: Any, weights: Array, request: Request) -> Fitted:
        columns, keep = self._budget(problem)
        draft = self._drafts(problem, keep)
        gram = TiledGram(problem.kernel, x, unless_ones(weights), keep_bytes=keep, draft=draft)
        centered = CenteredGram(gram)
        solver = request.solver or BlockKrylov(max_columns=columns)
        start = sampled_start(problem, x, weights, request.rng) if request.solver is None else None
        result = leading(centered, solver, problem, request, lambda: centered.trace, start)
        return assemble(problem, x, weights, centered, result)

    def _drafts(self, problem: Problem, keep: int) -> bool:
        """Whether to build the space in float32: where tiles are made anew, and float32 serves."""
        given = isinstance(problem.kernel, Precomputed)
        return problem.kernel.draftable and keep < _all_tiles(problem) and not given

    def _budget(self, problem: Problem) -> tuple[int, int]:
        """Columns of the basis, and bytes left for tiles."""
        room = 0.9 * problem.memory_limit - _workspace(problem)
        wanted = 10 * block_width(problem.k)
        most = int(room / (8 * problem.n * 2.2)) - 4 * block_width(problem.k) // 2 - 60
        columns = max(self._fewest(problem), min(wanted, most))
        if not _worth_keeping(problem):
            return columns, 0
        return columns, max(0, min(_all_tiles(problem), int(room - 8 * problem.n * self._peak(columns))))

    def _fewest(self, problem: Problem) -> int:
        return problem.k + 2 * block_width(problem.k)

    def _peak(self, columns: int) -> int:
        """Columns of length n alive at once: the basis twice while it grows, a few blocks, the probes."""
        return int(2.2 * columns) + 130


methods.register("dense")(DenseMethod())
methods.register("tiled")(TiledMethod())


def expected_passes(problem: Problem) -> float:
    """Sweeps that block Krylov needs: more for flat spectra and small tolerances (measured for ten components)."""
    digits = -np.log10(min(max(problem.tol, 1e-16), 1e-2))
    bound = float(problem.kernel.bound(0.0))
    rank = (bound if 0 < bound < np.inf else 1.0) / max(problem.peak, 1e-16)
    flatness = np.log2(max(1.0, rank / 12)) if isinstance(problem.kernel, RadialKernel) else 1.0
    return float(3.5 + 0.2 * digits + (1.5 + 0.45 * digits) * min(flatness, 8.0))


def sweep_seconds(problem: Problem, width: int, factor: float = 1.0) -> float:
    """Time of one sweep over all tiles with a block of vectors; `factor` 1/2 in float32."""
    multiply = 2 * problem.n**2 * width / (_MULTIPLY * problem.threads)
    return factor * (gram_seconds(problem) + multiply)


def gram_seconds(problem: Problem) -> float:
    """Time to make every tile once."""
    values = problem.n**2 / 2
    if isinstance(problem.kernel, Precomputed):
        return 0.0
    if isinstance(problem.kernel, FromCallable):
        return values / _MACHINE.python
    return values * (2 * problem.d / _MULTIPLY + 1 / _VALUES) / problem.threads


def _workspace(problem: Problem) -> int:
    """Tiles in the making, and rows made ready."""
    return problem.threads * 4 * 8 * min(TILE, problem.n) ** 2 + min(2**25, 8 * problem.n * (problem.d + 4)) + 2**20


def _worth_keeping(problem: Problem) -> bool:
    """Whether tiles are cheaper to keep than to make again.

    In float32 a tile of a plain kernel of up to a hundred columns or so is made as fast as it is read from memory; not
    so one of many columns or of a costly formula, nor where the tolerance takes many passes in float64.
    """
    return problem.d > 128 or problem.tol < 1e-8 or not problem.kernel.draftable


def _all_tiles(problem: Problem) -> int:
    """Bytes of the symmetric half in float64; a matrix that was given is there already."""
    blocks = -(-problem.n // TILE)
    return 0 if isinstance(problem.kernel, Precomputed) else 8 * TILE**2 * blocks * (blocks + 1) // 2


def unless_ones(weights: Array) -> Array | None:
    """The weights, or None where they change nothing."""
    return None if (weights == 1).all() else weights


def _solve(
    operator: Operator, k: int, solver: Solver, problem: Problem, request: Request, start: Array | None
) -> EigenResult:
    return eigsh(operator, k, solver, tol=problem.tol, start=start, rng=request.rng, max_iter=request.max_iter)


def leading(
    operator: Operator,
    solver: Solver,
    problem: Problem,
    request: Request,
    trace: float | Callable[[], float],
    start: Array | None = None,
) -> EigenResult:
    """The components asked for: a number of them, or as many as capture the share of the variance."""
    if request.share is None:
        return _solve(operator, problem.k, solver, problem, request, start)
    k = problem.k
    while True:
        result = _solve(operator, k, solver, problem, request, start)
        goal = request.share * (trace() if callable(trace) else trace)
        noise = getattr(operator, "error", None) or 0.0
        if result.values.clip(0).sum() >= goal or k == problem.n or result.values[-1] <= noise:
            return _cut(result, goal)
        k, start = min(problem.n, 2 * k), result.vectors


def _cut(result: EigenResult, goal: float) -> EigenResult:
    """As many leading pairs as sum to `goal`."""
    k = min(len(result.values), int(np.searchsorted(np.cumsum(result.values), goal)) + 1)
    return replace(
        result,
        values=result.values[:k],
        vectors=result.vectors[:, :k],
        residuals=result.residuals[:k],
        certificate=result.certificate[:k],
    )


def sampled_start(problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> Array | None:
    """Leading vectors of a sample of rows, carried over to all of them (Nystroem): saves passes over the whole."""
    n, width = problem.n, block_width(problem.k)
    size = max(_SAMPLE, 4 * width)
    if isinstance(problem.kernel, (Precomputed, FromCallable)) or 8 * size > n:
        return None
    rows = np.sort(
        rng.choice(n, size, replace=False, p=weights / weights.sum() if (weights > 0).sum() >= size else None)
    )
    gram = TiledGram(problem.kernel, x[rows]).to_dense()
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]
    vectors = np.linalg.eigh(gram)[1][:, : -width - 1 : -1]
    start = rectangular_product(problem.kernel, x, x[rows], vectors)
    start -= weights @ start / weights.sum()
    start *= np.sqrt(weights)[:, None]
    return start


def assemble(problem: Problem, x: Any, weights: Array, centered: CenteredGram, result: EigenResult) -> Fitted:
    """An eigenspace from eigenpairs of the centred Gram matrix."""
    noise = 50 * unit_roundoff() * centered.gram.statistics().norm
    values, certificate = settle_spectrum(result.values, result.certificate, problem.kernel.mercer, noise)
    vectors = result.vectors * sign_flips(result.vectors, weights)
    scale = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
    basis = centered.roots[:, None] * vectors * scale
    space = Eigenspace(
        span=PointSpan(problem.kernel, x),
        mean=weights / centered.weight,
        basis=basis,
        scatter=values,
        offset=centered.offset(basis),
        mean_norm2=centered.mean_norm2,
        weight=centered.weight,
        trace=centered.trace,
    )
    return Fitted(space, vectors, certificate, result.outcome, result.passes, residuals=result.residuals)
