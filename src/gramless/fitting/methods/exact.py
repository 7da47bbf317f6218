"""Eigenpairs of the centered Gram matrix, from the whole matrix or from products tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gramless.arrays import Array, blas_threads_for, unit_roundoff
from gramless.certificates import EXACT, settle
from gramless.data import Block, ClusterRows, Rows, Survey
from gramless.eigen import BlockKrylov, Davidson, Dense, EigenResult, Operator, Solver, eigsh
from gramless.eigen.dense import few_pairs
from gramless.fitting.methods.base import Solved, Traits, methods
from gramless.fitting.methods.layout import (
    Layout,
    choose_layout,
    correction_norm,
    expected_passes,
    expected_peak,
    float32_norm,
    float32_share,
    gram_seconds,
    most_pairs,
    preconditioned,
    workspace,
)
from gramless.fitting.methods.partitions import PartedGram, block_count, parted_start
from gramless.fitting.methods.start import draw_landmarks, landmark_start
from gramless.fitting.model import Model, components_for_share, solve_for_share
from gramless.gram import CenteredGram, DenseGram, Float32Gram, Nystroem, TiledGram
from gramless.gram.tiled import TILE
from gramless.machine import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.spaces import Eigenspace, PointSpan
from gramless.spaces.signs import row_signs

_MACHINE = Machine()
_KEPT = 2048  # rows up to which tiles are kept beside the matrix that is made of them
_READ = 2.5e10  # bytes of a matrix read per second, by products with vectors


class DenseMethod(Traits):
    """Forms the centered Gram matrix. For small N, for all components, and for precomputed matrices."""

    maps = True

    def estimate(self, problem: Problem) -> Estimate:
        n, k = problem.n, problem.k
        make = gram_seconds(problem)
        size = 8 * n * n
        if problem.solver not in ("auto", "dense"):
            solve = 60 * 2 * n * n * max(1, k) / (_MACHINE.gemm * problem.threads) / 10
        elif few_pairs(n, k):  # Lanczos, which reads one triangle a step; Cholesky where other bounds fail, for many
            steps = 25 + 6 * k
            solve = steps * (size / 2 / _READ + 8 * n * steps / _MACHINE.eigh + 2 * n * n / (2 * _MACHINE.gemm))
            solve += n**3 / (4.5 * _MACHINE.eigh) * min(1.0, k / 10)
        else:  # part of LAPACK's reduction runs at the speed of memory
            solve = (2 / 3 * n**3 + 4 * n * n * k) / _MACHINE.eigh + 2e-2 * min(1.0, n / 1000) ** 2
        kept = _kept_bytes(problem)
        return Estimate(1.5 * make + solve + 5e-4, size + kept + 40 * n * k + workspace(problem), 1e-15 * np.sqrt(n))

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solved:
        block = rows.whole()
        with blas_threads_for(problem.n):  # once for all steps: for few rows the steps take microseconds
            return Solved(self._model(problem, block, request), block)

    def _model(self, problem: Problem, block: Block, request: Request) -> Model:
        kept = _kept_bytes(problem)
        centered = CenteredGram(TiledGram(problem.kernel, block.x, unless_ones(block.weights), keep_bytes=kept))
        if request.solver is None:
            operator: Operator = centered
            solver: Solver = Dense()
        else:
            operator, solver = DenseGram(centered.to_dense(), centered.error), request.solver
        if request.share is not None and isinstance(solver, Dense):  # LAPACK finds all eigenpairs at once
            result = _solve(operator, problem.n, solver, problem, request, None)
            result = _cut(result, request.share * centered.trace)
        else:
            total = centered.trace
            result = leading(operator, solver, problem, request, lambda: total)
        return assemble(problem, block, centered, result)


def _kept_bytes(problem: Problem) -> int:
    """Memory for the tiles of few rows, which the matrix and its statistics share; 0 where memory is short."""
    size = 8 * (problem.n + TILE) ** 2
    return size if problem.n <= _KEPT and 8 * size < problem.memory_limit else 0


class TiledMethod(Traits):
    """Never forms the full Gram matrix: recomputes its tiles in each pass, or stores as many as memory allows.

    For rows in partitions the workers compute the tiles; only vectors are sent out, and products sent back.
    """

    maps = True
    parts = True

    def estimate(self, problem: Problem) -> Estimate:
        if problem.solver == "dense":
            return Estimate(refusal="eigen_solver='dense' needs the full matrix")
        layout = choose_layout(problem)
        if problem.workers:
            return _on_workers(problem, layout)
        return Estimate(layout.seconds, int(layout.bytes), 1e-15 * np.sqrt(problem.n))

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solved:
        layout = choose_layout(problem)
        if isinstance(rows, ClusterRows):
            return _in_parts(problem, rows, layout, request)
        block, start = rows.whole(), request.start
        solver: Solver | None = request.solver
        if solver is None and layout.landmarks and preconditioned(problem):
            landmarks = block.x[draw_landmarks(block.weights, layout.landmarks, request.rng)]
            near = Nystroem(problem.kernel, block.x, block.weights, landmarks)
            if near.resolves(problem.k):
                solver = Davidson(near, layout.width, layout.columns)
            elif start is None:
                start = near.vectors(layout.width)
        elif solver is None and layout.landmarks and start is None:
            start = landmark_start(problem, block.x, block.weights, layout.width, request.rng)
        if solver is None:
            solver = BlockKrylov(layout.width, layout.columns)
        gram = _tiles(problem, block, layout)
        if layout.float32 and gram.rough is not None and _checked(problem, gram.rough, request.rng):
            centered = CenteredGram(gram.rough)
            sharper = replace(problem, tol=float32_share(problem) * problem.tol)  # the rest is for float32
            result = leading(centered, solver, sharper, request, lambda: centered.trace, start)
            if gram.rough.perturbation.norm <= float32_norm(problem, float(result.values[0])):
                return Solved(assemble(problem, block, centered, result), block)
            start = result.vectors
        elif gram.rough is not None and (norm := correction_norm(problem, layout)):
            _compare(gram.rough, norm, request.rng)
        centered = CenteredGram(gram)
        result = leading(centered, solver, problem, request, lambda: centered.trace, start)
        return Solved(assemble(problem, block, centered, result), block)


def _in_parts(problem: Problem, rows: ClusterRows, layout: Layout, request: Request) -> Solved:
    """The fit of rows in partitions, whose tiles the workers compute."""
    started = request.solver is None and layout.landmarks and request.start is None
    start = parted_start(problem, rows, layout.width, request.rng) if started else None
    solver = request.solver or BlockKrylov(layout.width, layout.columns)
    centered = CenteredGram(PartedGram(problem.kernel, rows, draft=layout.draft))
    result = leading(centered, solver, problem, request, lambda: centered.trace, start)
    block = rows.whole()
    return Solved(assemble(problem, block, centered, result), block)


def _tiles(problem: Problem, block: Block, layout: Layout) -> TiledGram:
    return TiledGram(
        problem.kernel,
        block.x,
        unless_ones(block.weights),
        keep_bytes=layout.keep_bytes,
        prepare_bytes=layout.prepare_bytes,
        draft=layout.draft,
    )


def _checked(problem: Problem, rough: Float32Gram, rng: np.random.Generator) -> bool:
    """Whether float32 tiles suffice for the tolerance; has them compared with float64 where the worst case does not."""
    norm = 0.9 * float32_norm(problem, expected_peak(problem))
    if rough.spot_check.pairs_for(norm) > most_pairs(problem.n) and rough.spot_check.worst > norm:
        return False
    _compare(rough, norm, rng)
    return True


def _compare(rough: Float32Gram, norm: float, rng: np.random.Generator) -> None:
    """Have as many float32 entries compared with float64 as prove an error of at most `norm`."""
    if rough.spot_check.worst > norm:
        pairs = max(1000, int(rough.spot_check.pairs_for(norm)))
        rough.check(pairs, np.random.default_rng(rng.integers(2**63)))


def _on_workers(problem: Problem, layout: Layout) -> Estimate:
    """Cost of passes over tiles that workers compute in every pass."""
    n, workers = problem.n, problem.workers
    passes = expected_passes(problem) + (0 if layout.landmarks else 2)
    made = gram_seconds(replace(problem, threads=workers)) + 2 * n**2 * layout.width / (_MACHINE.gemm * workers)
    here = 16 * n * layout.width * passes * layout.width / (_MACHINE.gemm * problem.threads)
    blocks = block_count(workers)
    moved = 8 * n * layout.width * (3 + blocks / workers) / _MACHINE.network + 2 * blocks**2 * _MACHINE.task
    rows = 8 * n * problem.d * min(1.0, np.sqrt(2 / workers))
    return Estimate(
        seconds=float(passes * ((0.6 if layout.draft else 1.0) * made + here + moved) + rows / _MACHINE.network),
        bytes=int(max(layout.bytes, rows + 32 * n * layout.width / blocks)),
        error=1e-15 * np.sqrt(n),
    )


methods.register("dense")(DenseMethod())
methods.register("tiled")(TiledMethod())


def unless_ones(weights: Array) -> Array | None:
    """The weights, or None where all weights are 1."""
    return None if (weights == 1).all() else weights


def _solve(
    operator: Operator, k: int, solver: Solver, problem: Problem, request: Request, start: Array | None
) -> EigenResult:
    return eigsh(
        operator,
        k,
        solver,
        tol=problem.tol,
        start=start,
        rng=request.rng,
        max_iter=request.max_iter,
        deadline=request.deadline,
    )


def leading(
    operator: Operator,
    solver: Solver,
    problem: Problem,
    request: Request,
    trace: Callable[[], float],
    start: Array | None = None,
) -> EigenResult:
    """The leading eigenpairs: ``problem.k`` pairs, or as many as explain the fraction of the variance."""
    share = request.share
    if share is None:
        return _solve(operator, problem.k, solver, problem, request, start)

    def solve(k: int, before: EigenResult | None) -> EigenResult:
        return _solve(operator, k, solver, problem, request, start if before is None else before.vectors)

    def enough(found: EigenResult, k: int) -> bool:
        noise = getattr(operator, "error", None) or 0.0
        return bool(found.values.clip(0).sum() >= share * trace() or found.values[-1] <= noise)

    return _cut(solve_for_share(solve, enough, problem.k, problem.n), share * trace())


def _cut(result: EigenResult, goal: float) -> EigenResult:
    """As many leading pairs as sum to `goal`."""
    k = components_for_share(result.values, goal)
    return replace(
        result,
        values=result.values[:k],
        vectors=result.vectors[:, :k],
        residuals=result.residuals[:k],
        certificate=result.certificate[:k],
    )


def assemble(problem: Problem, block: Block, centered: CenteredGram, result: EigenResult) -> Model:
    """An eigenspace from eigenpairs of the centered Gram matrix of the rows of `block`."""
    weights = block.weights
    unit = 50 * unit_roundoff() if centered.perturbation == EXACT else 2 * unit_roundoff(np.float32)
    noise = unit * centered.gram.statistics().norm
    values, certificate = settle(result.values, result.certificate, problem.kernel.mercer, noise)
    vectors = result.vectors * row_signs(result.vectors, weights)
    scale = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
    basis = vectors * scale
    if unless_ones(weights) is not None:
        basis *= centered.roots[:, None]
    # the kernel is not centered, and would magnify the rounding that leaves some of the mean in the basis
    basis -= np.outer(weights / centered.weight, basis.sum(axis=0))
    space = Eigenspace(
        span=PointSpan(problem.kernel, block.x),
        mean=weights / centered.weight,
        basis=basis,
        scatter=values,
        offset=centered.offset(basis),
        mean_norm2=centered.mean_norm2,
        weight=centered.weight,
        trace=centered.trace,
    )
    return Model(space, vectors, certificate, result.outcome, result.passes, residuals=result.residuals)
