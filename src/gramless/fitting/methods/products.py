"""PCA of the rows by products with them, for the linear and the cosine kernel: sparse rows are never filled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, unit_roundoff
from gramless.certificates import settle
from gramless.data import Rows, Survey
from gramless.eigen import BlockKrylov, Dense, EigenResult, Lanczos, Solver
from gramless.eigen.block_krylov import block_width
from gramless.features import NormalizedMap
from gramless.fitting.methods.base import Solved, Traits, methods
from gramless.fitting.methods.exact import leading
from gramless.fitting.methods.layout import expected_passes
from gramless.fitting.methods.linear import completed
from gramless.fitting.model import Model
from gramless.gram import CenteredRows, RowProducts
from gramless.kernels import Cosine, Kernel, Linear
from gramless.kernels.rounding import growth
from gramless.machine import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.spaces import Eigenspace, FeatureSpan, InputSpan
from gramless.spaces.signs import row_signs

_MACHINE = Machine()
_SPARSE = 3e9  # operations of products with sparse rows, per second and thread
_FEW = 30  # components up to which single vectors are faster than blocks
_FIXED = 0.15  # seconds of orthonormalizing the basis and of its certificate, for some thousand rows
_COLUMNS = 250  # most columns of a basis by single vectors


class ProductsMethod(Traits):
    """Lanczos on B B^T or B^T B, whichever is smaller, for centered rows B that are never formed."""

    forgets = True
    kernels: tuple[type[Kernel], ...] = (Linear, Cosine)

    def estimate(self, problem: Problem) -> Estimate:
        n, d, k = problem.n, problem.d, problem.k
        if problem.solver == "dense":
            return Estimate(refusal="eigen_solver='dense' needs the full matrix")
        entries = problem.entries if problem.sparse else n * d
        single = k <= _FEW
        width, passes = (1, 6 * expected_passes(problem)) if single else (block_width(k), expected_passes(problem))
        rate = (_SPARSE if problem.sparse else (0.1 if single else 1.0) * _MACHINE.gemm) * problem.threads
        columns = _COLUMNS if single else passes * width
        basis = 8 * min(n, d) * columns**2 / (_MACHINE.gemm * problem.threads)
        wide = 2 * (columns + 60)  # the certificate multiplies the basis once, and some random vectors
        seconds = 4 * entries * (passes * width + wide) / rate + basis + _FIXED
        numbers = (
            min(n, d) * 6 * columns + 2 * (n + d) * (columns + 30) + n * k + (3 if problem.sparse else 1) * entries
        )
        spread = max(1.0, problem.variance / max(problem.peak, 1e-300))
        return Estimate(seconds, int(8 * numbers), float(10_000 * unit_roundoff() * min(spread, 30.0)))

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solved:
        block = rows.whole()
        cosine = isinstance(problem.kernel, Cosine)
        x = problem.kernel.prepare(block.x).values
        x = x if scipy.sparse.issparse(x) else np.asarray(x)
        normalized = growth(_longest_row(x) / 2 + 8, unit_roundoff()) if cosine else 0.0
        centred = CenteredRows(x, block.weights, normalized)
        operator = RowProducts(centred)
        solver = request.solver or _solver_for(problem.k, operator.shape[0])
        result, axes, vectors = _solve(problem, request, operator, solver)
        if request.share is None and problem.k > operator.shape[0]:  # the Gram matrix has n eigenvalues
            result, axes, vectors = _padded(result, axes, vectors, min(problem.k, problem.n), operator.error)
        values, certificate = settle(result.values, result.certificate, True, 50 * unit_roundoff() * centred.trace)
        signs = row_signs(vectors, block.weights)
        basis = axes * np.where(values > 0, signs, 0.0)
        span = FeatureSpan(NormalizedMap(problem.kernel, problem.d)) if cosine else InputSpan(centred.mean)
        mean = centred.mean if cosine else np.zeros(problem.d)
        space = Eigenspace(
            span=span,
            mean=mean,
            basis=basis,
            scatter=values,
            offset=mean @ basis,
            mean_norm2=float(mean @ mean),
            weight=centred.weight,
            trace=centred.trace,
        )
        model = Model(space, vectors * signs, certificate, result.outcome, result.passes, residuals=result.residuals)
        return Solved(model, block)


def _solver_for(k: int, size: int) -> Solver:
    if k > size // 4:
        return Dense()
    return Lanczos() if k <= _FEW else BlockKrylov()


def _solve(
    problem: Problem, request: Request, operator: RowProducts, solver: Solver
) -> tuple[EigenResult, Array, Array]:
    """Eigenpairs of the operator, with principal axes (d, k) and eigenvectors (n, k) of the Gram matrix."""
    rows, start = operator.rows, None if operator.by_columns else request.start
    problem = replace(problem, n=operator.shape[0], k=min(problem.k, operator.shape[0]))

    def solve(problem: Problem) -> EigenResult:
        return leading(operator, solver, problem, request, lambda: rows.trace, start)

    def scale(result: EigenResult) -> Array:
        values = result.values
        return np.asarray(np.divide(1.0, np.sqrt(values.clip(0)), out=np.zeros_like(values), where=values > 0))

    result = solve(problem)
    if not operator.by_columns:
        return result, rows.transposed(result.vectors) * scale(result), result.vectors
    vectors = rows @ result.vectors * scale(result)
    residuals = _residuals(rows, result, vectors)
    worst = float(residuals.max(initial=0.0)) / float(result.values[0] or 1.0)
    if worst > problem.tol and result.outcome.ok:  # small for an axis, not for the vector that it gives
        result = solve(replace(problem, tol=0.5 * problem.tol**2 / worst))
        vectors = rows @ result.vectors * scale(result)
        residuals = _residuals(rows, result, vectors)
    return replace(result, residuals=residuals), result.vectors, vectors


def _padded(result: EigenResult, axes: Array, vectors: Array, k: int, error: float) -> tuple[EigenResult, Array, Array]:
    """The same with eigenvalues 0 up to `k` pairs."""
    rank, before = len(result.values), result.certificate
    missing = k - rank

    def padded(array: Array, value: float) -> Array:
        return np.concatenate([array, np.full(missing, value)])

    certificate = replace(
        before,
        values=padded(before.values, 0.0),
        lower=padded(before.lower, 0.0),
        upper=padded(before.upper, error),
        angle=padded(before.angle, np.pi / 2),
        kind=np.concatenate([before.kind, np.full(missing, "rigorous", dtype=before.kind.dtype)]),
    )
    axes = np.hstack([axes, np.zeros((len(axes), missing))])
    vectors = completed(np.hstack([vectors, np.zeros((len(vectors), missing))]), rank)
    values, residuals = padded(result.values, 0.0), padded(result.residuals, error)
    return replace(result, values=values, residuals=residuals, certificate=certificate), axes, vectors


def _residuals(rows: CenteredRows, result: EigenResult, vectors: Array) -> Array:
    """Norms of B B^T v - l v."""
    return np.asarray(np.linalg.norm(rows @ rows.transposed(vectors) - vectors * result.values, axis=0))


def _longest_row(x: Any) -> int:
    return int(np.diff(x.indptr).max(initial=0)) if scipy.sparse.issparse(x) else int(x.shape[1])


methods.register("products")(ProductsMethod())
