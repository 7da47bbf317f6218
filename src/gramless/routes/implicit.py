"""The implicit route: eigenpairs of the centred Gram matrix from products with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.eigen import BlockKrylov, Dense, EigenResult, Operator, Solver, eigsh
from gramless.eigen.block_krylov import basis_columns, block_width
from gramless.gram import CenteredGram, DenseGram, TiledGram
from gramless.gram.tiled import TILE
from gramless.kernels import FromCallable, Precomputed, RadialKernel
from gramless.planning import Machine, methods
from gramless.problem import Estimate, Problem, Request
from gramless.routes.fitted import Fitted, settle_spectrum, sign_flips
from gramless.routes.start import landmark_start
from gramless.spaces import Eigenspace, PointSpan

_MACHINE = Machine()
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
        layout = choose_layout(problem)
        least = 8 * problem.n * _peak(_fewest(problem)) + _workspace(problem)
        bytes_ = max(least, min(problem.memory_limit, layout.bytes))
        return Estimate(layout.seconds, int(bytes_), 1e-15 * np.sqrt(problem.n))

    def run(self, problem: Problem, x: Any, weights: Array, request: Request) -> Fitted:
        layout = choose_layout(problem)
        gram = TiledGram(problem.kernel, x, unless_ones(weights), keep_bytes=layout.keep_bytes, draft=layout.draft)
        centered = CenteredGram(gram)
        solver = request.solver or BlockKrylov(max_columns=layout.columns)
        width = block_width(problem.k)
        start = landmark_start(problem, x, weights, width, request.rng) if request.solver is None else None
        result = leading(centered, solver, problem, request, lambda: centered.trace, start)
        return assemble(problem, x, weights, centered, result)


@dataclass(frozen=True)
class Layout:
    """How the tiles of a fit are made and kept.

    Attributes
    ----------
    columns : int
        Of the basis before a restart.
    keep_bytes : int
        For tiles.
    draft : bool
        Whether the space is built in float32, and finished in float64.
    seconds, bytes : float
        What that costs.
    """

    columns: int
    keep_bytes: int
    draft: bool
    seconds: float
    bytes: float


def choose_layout(problem: Problem) -> Layout:
    """The leanest layout, unless memory buys a third of the time."""
    n, width = problem.n, block_width(problem.k)
    room = 0.9 * problem.memory_limit - _workspace(problem)
    most = int(room / (8 * n * 2.2)) - 2 * width - 60
    columns = max(_fewest(problem), min(basis_columns(width), most))
    held = 8 * n * _peak(columns)
    spare = max(0.0, room - held)
    make, multiply = gram_seconds(problem), 2 * n**2 * width / (_MULTIPLY * problem.threads)
    inner = 16 * n * width * columns / (_MACHINE.gemm * problem.threads) + 4 * columns**3 / 1.5e10 + 6e-3
    passes = expected_passes(problem)

    def layout(draft: bool, keep: float) -> Layout:
        tiles = _all_tiles(problem) / (2 if draft else 1)
        kept = min(1.0, keep / tiles) if tiles else 1.0
        made = 1 + (passes - 1) * (1 - kept)
        seconds = made * make + passes * (multiply + inner) + kept * tiles / 4e9
        if draft:  # half the time, then a pass in float64 on the pairs and their neighbours, or several
            more = 1.3 + 0.4 * max(0.0, -np.log10(max(problem.tol, 1e-16)) - 6)
            seconds = seconds / 2 + more * (make + multiply + inner)
        return Layout(columns, int(keep), draft, seconds, held + keep + _workspace(problem))

    choices = [layout(False, min(_all_tiles(problem), spare))]
    if problem.kernel.draftable and not isinstance(problem.kernel, Precomputed):
        choices += [layout(True, min(_all_tiles(problem) / 2, spare)), layout(True, 0)]
    lean = choices[-1]
    best = min(choices, key=lambda choice: choice.seconds)
    return best if best.seconds < 0.67 * lean.seconds else lean


def _fewest(problem: Problem) -> int:
    return problem.k + 2 * block_width(problem.k)


def _peak(columns: int) -> int:
    """Columns of length n alive at once: the basis twice while it grows, a few blocks, the probes."""
    return int(2.2 * columns) + 130


methods.register("dense")(DenseMethod())
methods.register("tiled")(TiledMethod())


def expected_passes(problem: Problem) -> float:
    """Sweeps that block Krylov needs: more for flat spectra and small tolerances (measured for ten components)."""
    digits = -np.log10(min(max(problem.tol, 1e-16), 1e-2))
    bound = float(problem.kernel.bound(0.0))
    rank = (bound if 0 < bound < np.inf else 1.0) / max(problem.peak, 1e-16)
    flatness = np.log2(max(1.0, rank / 45)) if isinstance(problem.kernel, RadialKernel) else 1.0
    return float(2.5 + 0.3 * digits + (1 + 0.35 * digits) * min(flatness, 8.0))


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
    return Fitted(space, vectors, certificate, result.outcome, result.passes)
