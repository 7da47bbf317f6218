"""Streams of any Mercer kernel: the eigenspace of each batch is merged with the eigenspace of all earlier batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramless.arrays import Array, evenly_spaced, unit_roundoff
from gramless.certificates import FAILURE_PROBABILITY, Certificate, angle_bounds, settle
from gramless.data import Block, Rows, Survey
from gramless.eigen import Outcome
from gramless.fitting.methods.base import Solved, State, Traits, methods
from gramless.fitting.methods.bounded import BoundedPoints
from gramless.fitting.methods.explicit import reduction_seconds
from gramless.fitting.model import Model, components_for_share
from gramless.kernels import FromCallable, Kernel, Precomputed
from gramless.machine import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.spaces import Eigenspace, PointSpan, batch_space, count_kept, merge, stack_points
from gramless.spaces.signs import SIGN_ROWS, row_signs

_AT_ONCE = 256  # rows merged in one update
_AT_LEAST = 64  # fewer rows wait for more: an update with one row costs about as much as with this many
_MACHINE = Machine()
_FEWEST = 1000  # least limit of points of an eigenspace merged on a cluster, without max_support=
_LOST = 5e-3  # typical relative error with a limit of a thousand points


@dataclass(frozen=True, eq=False)
class MergedSpaces:
    """An eigenspace on the rows seen, and a few waiting rows that will be merged with it.

    Attributes
    ----------
    kernel : Kernel
    components : int or None
        Number of components of the model. The stream maintains more directions, so that discarding hardly affects these
        components. None: all are kept.
    share : float or None
        Fraction of the variance requested in place of a number of components.
    space : Eigenspace or None
    waiting, waiting_weights : array of shape (m, d), ndarray of shape (m,), or None
    rows : int
    support : int or None
        Maximum number of rows: with more rows, a :class:`BoundedPoints` takes over.
    seed : int
        Seed of the :class:`BoundedPoints`.
    failure_probability : float
        Probability that the bounds of the space of an earlier fit are wrong.
    device : str
        Device on which a :class:`BoundedPoints` will sum its batches; eigenspaces are merged on the CPU.
    """

    keeps: ClassVar[str] = "points"
    carrier: ClassVar[str | None] = "merging"

    kernel: Kernel
    components: int | None
    share: float | None = None
    space: Eigenspace | None = None
    waiting: Any = None
    waiting_weights: Array | None = None
    rows: int = 0
    support: int | None = None
    seed: int = 0
    failure_probability: float = 0.0
    device: str = "cpu"

    @property
    def weight(self) -> float:
        known = 0.0 if self.space is None else self.space.weight
        return known + (0.0 if self.waiting_weights is None else float(self.waiting_weights.sum()))

    @property
    def directions(self) -> int | None:
        """Number of components that the stream maintains (at least, where a fraction was requested); None: all."""
        return None if self.components is None else 2 * self.components + 80

    def add(self, block: Block) -> MergedSpaces | BoundedPoints:
        x, weights = block.x, block.weights
        rows = self.rows + x.shape[0]
        if self.support is not None and rows > self.support:
            if self.rows:
                known = self.all_rows()
                x, weights = stack_points(known.x, x), np.concatenate([known.weights, weights])
            return BoundedPoints.begin(self.kernel, x, weights, self.support, self.seed, self.device)
        if self.waiting is not None and self.waiting_weights is not None:
            x, weights = stack_points(self.waiting, x), np.concatenate([self.waiting_weights, weights])
        space, first = self.space, 0
        while len(weights) - first >= _AT_LEAST:
            last = first + _AT_ONCE if len(weights) - first >= _AT_ONCE + _AT_LEAST else len(weights)
            space = self._merged_with(space, batch_space(self.kernel, x[first:last], weights[first:last]))
            first = last
        wait = first < len(weights)
        return replace(
            self,
            space=space,
            waiting=x[first:] if wait else None,
            waiting_weights=weights[first:] if wait else None,
            rows=rows,
        )

    def remove(self, block: Block) -> MergedSpaces:
        raise ValueError(
            "rows cannot be removed from a stream that merges eigenspaces: it stores no moments. Polynomial kernels "
            "have some, Gaussian and Matern kernels with domain=, and every Mercer kernel with method='landmarks'"
        )

    def scaled(self, factor: float) -> MergedSpaces:
        return replace(
            self,
            space=None if self.space is None else self.space.scaled(factor),
            waiting_weights=None if self.waiting_weights is None else factor * self.waiting_weights,
        )

    def merged(self, other: Any) -> MergedSpaces | BoundedPoints:
        if isinstance(other, BoundedPoints):
            return other.merged(self)
        if (self.support is None) != (other.support is None):
            raise ValueError("one of the two models has a max_support= and the other has none; pass the same to both")
        if self.support is not None and self.rows + other.rows > self.support:
            return self.add(other.all_rows())
        ours, theirs = self.whole(), other.whole()
        return replace(
            self,
            space=self._merged_with(ours, theirs),
            waiting=None,
            waiting_weights=None,
            rows=self.rows + other.rows,
            failure_probability=self.failure_probability + other.failure_probability,
        )

    def finish(self, problem: Problem, request: Request, before: Eigenspace | None) -> Model:
        return model_of_space(self.whole(), self.rows, problem, request, self.failure_probability)

    def whole(self) -> Eigenspace:
        """The eigenspace of all rows, including the waiting rows."""
        if self.waiting is None:
            if self.space is None:
                raise ValueError("no rows have been seen yet")
            return self.space
        return self._merged_with(self.space, batch_space(self.kernel, self.waiting, self.waiting_weights))

    def all_rows(self) -> Block:
        """All rows with their weights; the weights are the coefficients of the mean times the total weight."""
        if self.space is None:
            return Block(self.waiting, self.waiting_weights)  # type: ignore[arg-type]
        points, weights = self.space.span.points, self.space.mean * self.space.weight  # type: ignore[attr-defined]
        if self.waiting is None or self.waiting_weights is None:
            return Block(points, weights)
        return Block(stack_points(points, self.waiting), np.concatenate([weights, self.waiting_weights]))

    def _merged_with(self, space: Eigenspace | None, new: Eigenspace) -> Eigenspace:
        """The merged eigenspace, truncated to `directions`; for a fraction, all but 1/8 of the rest is retained."""
        most = self.directions
        aim = None if self.share is None else 1 - (1 - self.share) / 8
        if space is not None:
            return merge(space, new, most, aim)
        return new.truncate(count_kept(new.scatter, new.trace, most, aim))


def no_spaces(problem: Problem, request: Request) -> MergedSpaces:
    """The state before its first row."""
    components = 16 if request.share is not None else problem.k or None
    seed = int(request.rng.integers(2**62))
    device = methods["merging"].estimate(problem).device
    return MergedSpaces(problem.kernel, components, request.share, support=problem.support, seed=seed, device=device)


class MergingMethod(Traits):
    """Merges eigenspaces of batches, or of partitions in a tree: one pass; the certificate includes the losses."""

    streams = True
    forgets = True
    parts = True
    batches_only = True

    def estimate(self, problem: Problem) -> Estimate:
        refusal = ""
        if isinstance(problem.kernel, Precomputed) or not problem.kernel.mercer:
            refusal = "needs a Mercer kernel"
        elif problem.solver not in ("auto", "dense"):
            refusal = f"eigen_solver={problem.solver!r} works on the Gram matrix"
        elif problem.forget and not problem.workers:  # `forget` is False with max_support=, which keeps some rows
            refusal = "projects through the training rows, and keep_data=False"
        if refusal:
            return Estimate(refusal=refusal)
        value = 1 / _MACHINE.python if isinstance(problem.kernel, FromCallable) else 1 / _MACHINE.kernel
        return _on_workers(problem, value) if problem.workers else _in_batches(problem, value)

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> State | Solved:
        if rows.parts is None:
            state: State = no_spaces(problem, request)
            for block in rows.blocks():
                state = state.add(block)
            return state
        empty = no_spaces(replace(problem, support=point_limit(problem)), request)
        merged: State = rows.parts.reduce(space_of, empty, join=joined)
        model = merged.finish(replace(problem, n=merged.rows), request, None)
        x, weights = survey.sample()
        probes = evenly_spaced(x.shape[0], SIGN_ROWS)
        used = probes[weights[probes] > 0]
        probes = used if len(used) else np.flatnonzero(weights > 0)[:1]
        model, span = model.flipped(row_signs(model.space.project(x[probes]))), model.space.span
        return Solved(model, Block(span.points, weights[weights > 0]) if isinstance(span, PointSpan) else None)


methods.register("merging")(MergingMethod())


def point_limit(problem: Problem) -> int:
    """Maximum number of points of an eigenspace that is merged on a cluster."""
    return problem.support or max(_FEWEST, 20 * problem.k)


def space_of(part: Block, empty: MergedSpaces) -> State:
    """The eigenspace of one part, without rows of weight 0."""
    block = part.present()
    return empty.add(block) if block.x.shape[0] else empty


def joined(a: State, b: State) -> State:
    """The state of the rows of both; either may have no rows."""
    if not (a.rows and b.rows):
        return a if a.rows else b
    return a.merged(b)


def _in_batches(problem: Problem, value: float) -> Estimate:
    """Cost of a stream; `value` is the time to compute a kernel value."""
    pairs = problem.n**2 / 2 if problem.support is None else problem.n * problem.support
    seconds = pairs * (value + 2 * problem.d / _MACHINE.gemm) / problem.threads
    points = min(problem.n, problem.support or 10_000)
    error = 1e-4 if problem.support is None else _LOST  # typical loss by truncation, or by a limit of points
    movable = problem.support is not None and problem.kernel.tensors and not problem.sparse
    device = problem.device if movable else "cpu"
    return Estimate(seconds, 8 * points * (problem.d + 6 * problem.k + 120), error, device=device)


def _on_workers(problem: Problem, value: float) -> Estimate:
    """Cost of one pass over partitions, and of the tree that merges their eigenspaces."""
    support = point_limit(problem)
    row = support * (value + 2 * problem.d / _MACHINE.gemm) + 4 * support**2 / _MACHINE.gemm
    pivoting = 20 * support * (support * value + 2 * support**2 / _MACHINE.gemm)
    each = problem.n / problem.partitions * row + pivoting
    rounds = -(-problem.partitions // problem.workers)
    merge = 10 * support**3 / _MACHINE.gemm + 4 * support**2 * value
    size = 8 * support * (support + problem.d)
    seconds = rounds * (each + merge) + reduction_seconds(problem, size)
    error = 1e-4 if problem.n <= support else _LOST
    return Estimate(seconds, int(40 * support * support * 8 + 6 * size), error)


def model_of_space(
    space: Eigenspace, rows: int, problem: Problem, request: Request, failure_probability: float = 0.0
) -> Model:
    """The model with the requested components, and a certificate from the bounds of the eigenspace.

    Parameters
    ----------
    space : Eigenspace
        Eigenspace with bounds, and usually with more components than requested.
    rows : int
        Number of rows seen: fewer than `rows` eigenvalues can differ from 0.
    problem, request
        Number of components: by ``request.share``, else ``problem.k``, else (0) all.
    failure_probability : float
        Probability that the bounds are wrong.
    """
    bounds = space.bounds
    if bounds is None:
        raise ValueError("the error of this eigenspace is unknown")
    values = space.scatter
    k = _count(values, space.trace, problem, request)
    lower, upper, residual = bounds.intervals(values, space.trace, k + 1)
    values, lower, residual = (_padded(part, k) for part in (values, lower, residual))
    upper = np.append(upper[:-1], np.full(max(0, k + 1 - len(upper) + 1), upper[-1]))[: k + 1]
    upper[np.arange(k + 1) >= rows - 1] = 0.0  # the rank of a centered Gram matrix is at most rows - 1
    upper[:k] = np.maximum(upper[:k], lower)
    values = np.minimum(values, upper[:k])
    certificate = Certificate(
        values=values,
        lower=lower,
        upper=upper[:k],
        angle=angle_bounds(values, residual, lower, upper[:k], float(upper[k])),
        kind=np.full(k, "probabilistic" if failure_probability else "rigorous"),
        failure_probability=max(failure_probability, FAILURE_PROBABILITY) if failure_probability else 0.0,
    )
    values, certificate = settle(values, certificate, True, 50 * unit_roundoff() * space.trace)
    basis = np.hstack([space.basis[:, :k], np.zeros((len(space.basis), max(0, k - space.basis.shape[1])))])
    kept = replace(
        space, basis=basis * (values > 0), scatter=values, offset=_padded(space.offset, k) * (values > 0), bounds=None
    )
    reached = bool((residual[values > 0] <= problem.tol * values.max(initial=0.0)).all())
    return Model(kept, None, certificate, Outcome.CONVERGED if reached else Outcome.APPROXIMATE, 0)


def _count(values: Array, trace: float, problem: Problem, request: Request) -> int:
    if request.share is not None:
        return components_for_share(values, request.share * trace)
    return problem.k or max(1, len(values))


def _padded(values: Array, k: int) -> Array:
    """The leading `k` values, padded with zeros."""
    return np.append(values, np.zeros(max(0, k - len(values))))[:k]
