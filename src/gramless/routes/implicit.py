"""The implicit route: eigenpairs of the centred Gram matrix from products with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.eigen import BlockKrylov, Dense, EigenResult, Operator, Solver, eigsh
from gramless.gram import CenteredGram, DenseGram, TiledGram
from gramless.planning import Machine, methods
from gramless.problem import Estimate, Problem, Request
from gramless.routes.fitted import Fitted, settle_spectrum, sign_flips
from gramless.routes.layout import choose_layout, gram_seconds, workspace
from gramless.routes.start import landmark_start
from gramless.spaces import Eigenspace, PointSpan

_MACHINE = Machine()


class DenseMethod:
    """Write the centred Gram matrix down. Right for small N, for all components, and for matrices that were given."""

    streams = False
    forgets = False
    maps = True

    def estimate(self, problem: Problem) -> Estimate:
        n, k = problem.n, problem.k
        make = gram_seconds(problem)
        if problem.solver in ("auto", "dense"):
            solve = (4 / 3 * n**3 + 4 * n * n * k) / _MACHINE.eigh + 5e-2 * min(1.0, n / 1000) ** 2
        else:
            solve = 60 * 2 * n * n * max(1, k) / (_MACHINE.gemm * problem.threads) / 10
        return Estimate(make + solve + 5e-4, 8 * n * n + 40 * n * k + workspace(problem), 1e-15 * np.sqrt(n))

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
    maps = True

    def estimate(self, problem: Problem) -> Estimate:
        if problem.solver == "dense":
            return Estimate(refusal="eigen_solver='dense' needs the whole matrix")
        layout = choose_layout(problem)
        return Estimate(layout.seconds, int(layout.bytes), 1e-15 * np.sqrt(problem.n))

    def run(self, problem: Problem, x: Any, weights: Array, request: Request) -> Fitted:
        layout = choose_layout(problem)
        gram = TiledGram(
            problem.kernel,
            x,
            unless_ones(weights),
            keep_bytes=layout.keep_bytes,
            prepare_bytes=layout.prepare_bytes,
            draft=layout.draft,
        )
        centered = CenteredGram(gram)
        solver = request.solver or BlockKrylov(width=layout.width, max_columns=layout.columns)
        start = None
        if request.solver is None and layout.landmarks:
            start = landmark_start(problem, x, weights, layout.width, request.rng)
        result = leading(centered, solver, problem, request, lambda: centered.trace, start)
        return assemble(problem, x, weights, centered, result)


methods.register("dense")(DenseMethod())
methods.register("tiled")(TiledMethod())


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
    basis = vectors * scale
    if unless_ones(weights) is not None:
        basis *= centered.roots[:, None]
    # a trace of the mean, of the size of rounding, would be magnified by the kernel, which is not centred
    basis -= np.outer(weights / centered.weight, basis.sum(axis=0))
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
