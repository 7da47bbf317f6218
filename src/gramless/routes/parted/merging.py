"""Eigenspaces of every part, merged in a tree: one pass, and the certificate says what the merges cost."""

from __future__ import annotations

from dataclasses import replace

from gramless.execution import Block
from gramless.kernels import FromCallable
from gramless.planning import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.routes.explicit import with_signs
from gramless.routes.fitted import Fitted
from gramless.routes.parted.explicit import reduction_seconds
from gramless.routes.parted.methods import parted_methods
from gramless.routes.parted.rows import PartedRows
from gramless.routes.stream import MergingStream, Stream
from gramless.routes.stream.merging import empty_merging_stream

_MACHINE = Machine()
_FEWEST = 1000  # points of a merged eigenspace, unless max_support= says otherwise
_LOST = 5e-3  # what is usually lost to a thousand points


class PartedMerging:
    """Rows are read once, each part alone; what travels is an eigenspace on a limited number of points.

    Rows that are no more than these points in all are merged as they are, and lose nothing to that limit.
    """

    def estimate(self, problem: Problem) -> Estimate:
        if not problem.kernel.mercer:
            return Estimate(refusal="needs a Mercer kernel")
        if problem.solver not in ("auto", "dense"):
            return Estimate(refusal=f"eigen_solver={problem.solver!r} works on the Gram matrix")
        support = point_limit(problem)
        value = 1 / _MACHINE.python if isinstance(problem.kernel, FromCallable) else 1 / _MACHINE.kernel
        row = support * (value + 2 * problem.d / _MACHINE.gemm) + 4 * support**2 / _MACHINE.gemm
        pivoting = 20 * support * (support * value + 2 * support**2 / _MACHINE.gemm)
        each = problem.n / problem.partitions * row + pivoting
        rounds = -(-problem.partitions // problem.workers)
        merge = 10 * support**3 / _MACHINE.gemm + 4 * support**2 * value
        size = 8 * support * (support + problem.d)
        seconds = rounds * (each + merge) + reduction_seconds(problem, size)
        error = 1e-4 if problem.n <= support else _LOST
        return Estimate(seconds, int(40 * support * support * 8 + 6 * size), error)

    def run(self, problem: Problem, rows: PartedRows, request: Request) -> Fitted:
        empty = empty_merging_stream(replace(problem, support=point_limit(problem)), request)
        stream: Stream = rows.parts.reduce(stream_of, empty, join=merged)
        fitted = stream.conclude(replace(problem, n=stream.rows), request, None)
        return with_signs(fitted, *rows.view())


parted_methods.register("merging")(PartedMerging())


def point_limit(problem: Problem) -> int:
    """Points that a merged eigenspace may lie on."""
    return problem.support or max(_FEWEST, 20 * problem.k)


def stream_of(part: Block, empty: MergingStream) -> Stream:
    """The eigenspace of one part; rows of weight 0 are not there."""
    there = part.weights > 0
    return empty.add(part.x[there], part.weights[there]) if there.any() else empty


def merged(a: Stream, b: Stream) -> Stream:
    """Of both; one of them may have no rows."""
    if not (a.rows and b.rows):
        return a if a.rows else b
    return a.merged(b)
