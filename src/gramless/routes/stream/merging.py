"""A stream of any Mercer kernel: the eigenspace of each batch is merged with that of all before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramless.arrays import Array
from gramless.kernels import FromCallable, Kernel, Precomputed
from gramless.machine import Machine
from gramless.planning import methods
from gramless.problem import Estimate, Problem, Request
from gramless.routes.fitted import Fitted
from gramless.routes.stream.concluding import conclude_space
from gramless.routes.stream.support import LandmarkStream
from gramless.spaces import Eigenspace, batch_space, count_kept, merge, stack_points

_AT_ONCE = 256  # rows merged in one go
_AT_LEAST = 64  # fewer wait for more: an update costs about the same for one row as for this many
_MACHINE = Machine()


@dataclass(frozen=True, eq=False)
class MergingStream:
    """An eigenspace on the rows seen, and a few rows that wait to be merged with it.

    Attributes
    ----------
    kernel : Kernel
    components : int or None
        How many a model will be asked for; the stream keeps more, so that what it discards hardly touches
        these. None: all are kept.
    share : float or None
        Of the variance, where that was asked for instead.
    space : Eigenspace or None
    waiting, waiting_weights : array of shape (m, d), ndarray of shape (m,), or None
    rows : int
    support : int or None
        Rows at most: when there are more, a :class:`LandmarkStream` takes over.
    seed : int
        For its choices.
    failure_probability : float
        Chance that the bounds of a space that was taken over are wrong.
    device : str
        Where a :class:`LandmarkStream` will sum its batches; eigenspaces are merged on the CPU.
    """

    keeps: ClassVar[str] = "points"

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
        """Components that are kept, at the least where a share was asked for; None: all."""
        return None if self.components is None else 2 * self.components + 80

    def add(self, x: Any, weights: Array) -> MergingStream | LandmarkStream:
        rows = self.rows + x.shape[0]
        if self.support is not None and rows > self.support:
            if self.rows:
                known, heights = self.all_rows()
                x, weights = stack_points(known, x), np.concatenate([heights, weights])
            return LandmarkStream.begin(self.kernel, x, weights, self.support, self.seed, self.device)
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

    def remove(self, x: Any, weights: Array) -> MergingStream:
        raise ValueError(
            "rows cannot be taken out of a stream that merges eigenspaces: it keeps no moments. Polynomial kernels "
            "have some, Gaussian and Matern kernels with domain=, and every Mercer kernel with method='landmarks'"
        )

    def scaled(self, factor: float) -> MergingStream:
        return replace(
            self,
            space=None if self.space is None else self.space.scaled(factor),
            waiting_weights=None if self.waiting_weights is None else factor * self.waiting_weights,
        )

    def merged(self, other: Any) -> MergingStream | LandmarkStream:
        if isinstance(other, LandmarkStream):
            return other.merged(self)
        if (self.support is None) != (other.support is None):
            raise ValueError("one of the two models has a max_support= and the other has none; give both the same")
        if self.support is not None and self.rows + other.rows > self.support:
            return self.add(*other.all_rows())
        ours, theirs = self.whole(), other.whole()
        return replace(
            self,
            space=self._merged_with(ours, theirs),
            waiting=None,
            waiting_weights=None,
            rows=self.rows + other.rows,
            failure_probability=self.failure_probability + other.failure_probability,
        )

    def conclude(self, problem: Problem, request: Request, before: Eigenspace | None) -> Fitted:
        return conclude_space(self.whole(), self.rows, problem, request, self.failure_probability)

    def whole(self) -> Eigenspace:
        """The eigenspace of all rows, those that wait included."""
        if self.waiting is None:
            if self.space is None:
                raise ValueError("no rows were seen yet")
            return self.space
        return self._merged_with(self.space, batch_space(self.kernel, self.waiting, self.waiting_weights))

    def all_rows(self) -> tuple[Any, Array]:
        """Every row and its weight: they are the points of the span, and their parts in the mean."""
        if self.space is None:
            return self.waiting, self.waiting_weights  # type: ignore[return-value]
        points, weights = self.space.span.points, self.space.mean * self.space.weight  # type: ignore[attr-defined]
        if self.waiting is None or self.waiting_weights is None:
            return points, weights
        return stack_points(points, self.waiting), np.concatenate([weights, self.waiting_weights])

    def _merged_with(self, space: Eigenspace | None, new: Eigenspace) -> Eigenspace:
        """Both, with twice the components asked for and some; seven eighths more of the variance, where a share was."""
        most = self.directions
        aim = None if self.share is None else 1 - (1 - self.share) / 8
        if space is not None:
            return merge(space, new, most, aim)
        return new.truncate(count_kept(new.scatter, new.trace, most, aim))


def empty_merging_stream(problem: Problem, request: Request) -> MergingStream:
    """A stream before its first row; components and limit from `problem`, share and seed from `request`."""
    components = 16 if request.share is not None else problem.k or None
    seed = int(request.rng.integers(2**62))
    device = methods["merging"].estimate(problem).device
    return MergingStream(problem.kernel, components, request.share, support=problem.support, seed=seed, device=device)


class MergingMethod:
    """The plan's word for :class:`MergingStream`."""

    streams = True
    forgets = False
    maps = False

    def estimate(self, problem: Problem) -> Estimate:
        refusal = ""
        if not problem.streaming:
            refusal = "for rows that come in batches: use partial_fit"
        elif isinstance(problem.kernel, Precomputed) or not problem.kernel.mercer:
            refusal = "needs a Mercer kernel"
        elif problem.solver not in ("auto", "dense"):
            refusal = f"eigen_solver={problem.solver!r} works on the Gram matrix"
        if refusal:
            return Estimate(refusal=refusal)
        value = 1 / _MACHINE.python if isinstance(problem.kernel, FromCallable) else 1 / _MACHINE.kernel
        pairs = problem.n**2 / 2 if problem.support is None else problem.n * problem.support
        seconds = pairs * (value + 2 * problem.d / _MACHINE.gemm) / problem.threads
        points = min(problem.n, problem.support or 10_000)
        error = 1e-4 if problem.support is None else 5e-3  # what is usually lost to truncation; to a thousand points
        card = problem.support is not None and problem.kernel.tensors and not problem.sparse
        device = problem.device if card else "cpu"
        return Estimate(seconds, 8 * points * (problem.d + 6 * problem.k + 120), error, device=device)

    def run(self, problem: Problem, x: Any, weights: Array, request: Request) -> Fitted:
        raise ValueError("method='merging' takes rows in batches: use partial_fit")


methods.register("merging")(MergingMethod())
