"""PCA for the linear kernel: from the scatter matrix of the columns, or from an SVD, without the Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from gramless.arrays import (
    Array,
    blas_threads_for,
    inner,
    inner_rounding,
    orthonormalize,
    refuse_squares,
    unit_roundoff,
)
from gramless.certificates import Certificate, angle_bounds, settle
from gramless.data import Block, Rows, Survey
from gramless.eigen import Outcome
from gramless.fitting.methods.base import Solved, Traits, methods
from gramless.fitting.model import Model, components_for_share, less_mean
from gramless.kernels import Kernel, Linear
from gramless.machine import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.progress import observer
from gramless.spaces import Eigenspace, InputSpan
from gramless.spaces.signs import row_signs

_MACHINE = Machine()
_ROWS = 4096


def _refusal(problem: Problem) -> str:
    if problem.solver not in ("auto", "dense"):
        return f"eigen_solver={problem.solver!r} works on the Gram matrix"
    return ""


class CovarianceMethod(Traits):
    """The d x d scatter matrix (Raykar & Ankur, eqs. 9-13): one pass over the data, then LAPACK."""

    forgets = True
    kernels: tuple[type[Kernel], ...] = (Linear,)

    def estimate(self, problem: Problem) -> Estimate:
        n, d = problem.n, problem.d
        seconds = 2 * n * d * d / (_MACHINE.gemm * problem.threads) + 9 * d**3 / _MACHINE.eigh + 4e-4
        size = 8 * (3 * d * d + 3 * n * min(problem.k, d) + 2 * _ROWS * d)
        return Estimate(seconds, size, 1e-15 * np.sqrt(d), _refusal(problem))

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solved:
        block = rows.whole()
        x, weights = block.x, block.weights
        mean = weighted_mean(x, weights)
        scatter, drift, largest = np.zeros((problem.d, problem.d)), np.zeros(problem.d), 0.0
        for first in range(0, problem.n, _ROWS):
            some = slice(first, first + _ROWS)
            moved = _dense(x[some]) - mean
            drift += inner(weights[some, None], moved)[0]  # the error of the rounded mean, removed below
            part = np.sqrt(weights[some, None]) * moved
            largest = max(largest, float(np.abs(part).max(initial=0.0)))
            refuse_squares(largest, "squares of the data")
            scatter += inner(part, part)
            observer().summed(min(problem.n, first + _ROWS), problem.n)
        # the subtraction may cancel nearly everything: the rounding is relative to the size before
        before, total = float(np.trace(scatter)), float(weights.sum())
        size = before + 4 * float(np.linalg.norm(drift)) * np.sqrt(before / total)
        scatter -= np.outer(drift, drift) / total
        scatter = (scatter + scatter.T) / 2
        with blas_threads_for(problem.d):
            values, axes = np.linalg.eigh(scatter)
        trace = float(np.trace(scatter))
        rounding = (inner_rounding(_ROWS) + (problem.n / _ROWS + 40 * problem.d + 8) * unit_roundoff()) * size
        errors = np.full(problem.d, rounding)
        middle = mean, drift / total
        model = _assemble(problem, block, request, middle, values[::-1].clip(0), axes[:, ::-1], trace, errors)
        return Solved(model, block)


class SvdMethod(Traits):
    """The SVD of the centered data (Vasconcelos), which does not square the condition number."""

    forgets = True
    kernels: tuple[type[Kernel], ...] = (Linear,)

    def estimate(self, problem: Problem) -> Estimate:
        if problem.sparse and not _refusal(problem):
            return Estimate(refusal="sparse rows would become dense")
        n, d = problem.n, problem.d
        small, large = sorted((n, d))
        return Estimate(
            6 * large * small**2 / _MACHINE.eigh / 2 + 5e-4, 8 * (4 * n * d + 3 * small**2), 1e-15, _refusal(problem)
        )

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solved:
        block = rows.whole()
        x, weights = block.x, block.weights
        mean = weighted_mean(x, weights)
        roots = np.sqrt(weights[:, None])
        moved = (_dense(x) - mean) * roots
        refuse_squares(float(np.abs(moved).max()), "squares of the data")
        size = float(np.einsum("ij,ij->", moved, moved))
        shift = inner(roots, moved)[0] / weights.sum()  # the mean is rounded
        moved -= roots * shift
        singular, right = scipy.linalg.svd(moved, full_matrices=False, overwrite_a=True, check_finite=False)[1:]
        slip = 40 * max(moved.shape) * unit_roundoff() * singular.max(initial=0.0)  # error of a singular value
        shift2 = 4 * inner_rounding(len(moved)) ** 2 * size  # the error of the mean, common to all rows
        errors = 2 * singular * slip + slip**2 + shift2
        middle, trace = (mean, shift), float((singular**2).sum())
        return Solved(_assemble(problem, block, request, middle, singular**2, right.T, trace, errors), block)


methods.register("covariance")(CovarianceMethod())
methods.register("svd")(SvdMethod())


def weighted_mean(x: Any, weights: Array) -> Array:
    """Mean row (d,)."""
    total = np.zeros((1, x.shape[1]))
    for first in range(0, x.shape[0], _ROWS):
        rows = slice(first, first + _ROWS)
        total += inner(weights[rows, None], _dense(x[rows]))
    mean: Array = total[0] / weights.sum()
    return mean


def _dense(x: Any) -> Array:
    return np.asarray(x.toarray() if scipy.sparse.issparse(x) else x, dtype=np.float64)


def _assemble(
    problem: Problem,
    block: Block,
    request: Request,
    middle: tuple[Array, Array],
    values: Array,
    axes: Array,
    trace: float,
    errors: Array,
) -> Model:
    """An eigenspace from principal axes in the input space, with the eigenvectors of the Gram matrix.

    `middle` is the rounded mean row (d,) and its error: far from the origin this error exceeds all other rounding.
    """
    weights, (mean, shift) = block.weights, middle
    n, k = problem.n, problem.k
    if request.share is not None:
        k = components_for_share(values, request.share * trace)
    k = min(k, n)
    values = np.concatenate([values, np.zeros(max(0, k + 1 - len(values)))])  # the Gram matrix has n eigenvalues
    errors = np.concatenate([errors, np.zeros(len(values) - len(errors))])
    axes = np.hstack([axes, np.zeros((problem.d, len(values) - axes.shape[1]))])
    lower, upper = np.maximum(values - errors, 0.0), values + errors
    certificate = Certificate(
        values=values[:k],
        lower=lower[:k],
        upper=upper[:k],
        angle=angle_bounds(values[:k], errors[:k], lower[:k], upper[:k], float(upper[k]) if k < n else 0.0),
        kind=np.full(k, "rigorous"),
        failure_probability=0.0,
    )
    kept, certificate = settle(values[:k], certificate, True, 50 * unit_roundoff() * trace)
    vectors = _gram_vectors(block.x, weights, mean, axes[:, :k], kept)
    signs = row_signs(vectors, weights)
    basis = axes[:, :k] * np.where(kept > 0, signs, 0.0)
    space = Eigenspace(
        span=InputSpan(mean),
        mean=shift,
        basis=basis,
        scatter=kept,
        offset=shift @ basis,
        mean_norm2=float(shift @ shift),
        weight=float(weights.sum()),
        trace=trace,
    )
    return Model(space, vectors * signs, certificate, Outcome.CONVERGED, 0)


def _gram_vectors(x: Any, weights: Array, mean: Array, axes: Array, values: Array) -> Array:
    """Orthonormal eigenvectors (n, k) of the centered Gram matrix; eigenvectors of eigenvalue 0 come last."""
    n, rank = x.shape[0], int((values > 0).sum())
    vectors = np.zeros((n, len(values)))
    for first in range(0, n, _ROWS):
        rows = slice(first, first + _ROWS)
        scores = (_dense(x[rows]) - mean) @ axes[:, :rank]
        vectors[rows, :rank] = np.sqrt(weights[rows, None]) * scores / np.sqrt(values[:rank])
    vectors[:, :rank] = less_mean(vectors[:, :rank], weights)
    return completed(vectors, rank)


def completed(vectors: Array, rank: int) -> Array:
    """Vectors (n, k) of which all but the first `rank` are replaced by orthonormal ones, as far as there are any."""
    if rank < vectors.shape[1]:
        held = orthonormalize(vectors[:, :rank])[0]
        fill = np.random.default_rng(0).standard_normal((len(vectors), vectors.shape[1] - rank))
        fill = orthonormalize(fill - held @ inner(held, fill), held)[0]
        vectors[:, rank : rank + fill.shape[1]] = fill
    return vectors
