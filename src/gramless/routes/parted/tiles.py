"""The implicit route in parts: block Krylov here, products with the Gram matrix on the workers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array
from gramless.eigen import BlockKrylov
from gramless.execution import Block
from gramless.gram import CenteredGram, rectangular_product
from gramless.kernels import Kernel
from gramless.planning import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.routes.fitted import Fitted
from gramless.routes.implicit import assemble, leading
from gramless.routes.layout import Layout, choose_layout, expected_passes, gram_seconds
from gramless.routes.parted.gram import PartedGram, block_count
from gramless.routes.parted.methods import parted_methods
from gramless.routes.parted.rows import PartedRows
from gramless.routes.start import landmark_start, landmark_sums

_MACHINE = Machine()


class PartedTiled:
    """Tiles are made where the rows are, anew in each pass; vectors go out and products come back."""

    def estimate(self, problem: Problem) -> Estimate:
        if problem.solver == "dense":
            return Estimate(refusal="eigen_solver='dense' needs the whole matrix")
        n, workers, layout = problem.n, problem.workers, _layout(problem)
        shared = replace(problem, threads=workers)
        passes = expected_passes(problem) + (0 if layout.landmarks else 2)
        made = gram_seconds(shared) + 2 * n**2 * layout.width / (_MACHINE.gemm * workers)
        here = 16 * n * layout.width * passes * layout.width / (_MACHINE.gemm * problem.threads)
        blocks = block_count(workers)
        moved = 8 * n * layout.width * (3 + blocks / workers) / _MACHINE.network + 2 * blocks**2 * _MACHINE.task
        rows = 8 * n * problem.d * min(1.0, np.sqrt(2 / workers))
        return Estimate(
            seconds=float(passes * ((0.6 if layout.draft else 1.0) * made + here + moved) + rows / _MACHINE.network),
            bytes=int(max(layout.bytes, rows + 32 * n * layout.width / blocks)),
            error=1e-15 * np.sqrt(n),
        )

    def run(self, problem: Problem, rows: PartedRows, request: Request) -> Fitted:
        layout, weights = _layout(problem), rows.weights
        centered = CenteredGram(PartedGram(problem.kernel, rows, draft=layout.draft))
        solver = request.solver or BlockKrylov(width=layout.width, max_columns=layout.columns)
        start = None
        if request.solver is None and layout.landmarks:
            start = _start(problem, rows, layout.width, request.rng)
        result = leading(centered, solver, problem, request, lambda: centered.trace, start)
        return assemble(problem, rows.gathered(), weights, centered, result)


parted_methods.register("tiled")(PartedTiled())


def _layout(problem: Problem) -> Layout:
    """Widths, and whether to draft; tiles are not kept."""
    return choose_layout(replace(problem, threads=max(1, problem.threads)))


def _start(problem: Problem, rows: PartedRows, width: int, rng: np.random.Generator) -> Array | None:
    kernel, parts = problem.kernel, rows.parts

    def sums(landmarks: Array) -> tuple[Array, Array]:
        both = parts.reduce(sums_of, kernel, landmarks)
        return both[:, :-1], both[:, -1]

    def product(landmarks: Array, v: Array) -> Array:
        return np.concatenate(parts.map(products_of, kernel, landmarks, v))

    return landmark_start(problem, rows, rows.weights, width, rng, sums, product)


def sums_of(part: Block, kernel: Kernel, landmarks: Array) -> Array:
    """Sums over one part for a start from landmarks: C^T D C, and C^T D 1 as one more column."""
    return np.column_stack(landmark_sums(kernel, part.x, landmarks, part.weights))


def products_of(part: Block, kernel: Kernel, points: Array, v: Array) -> Array:
    """K(x, points) v for the rows of one part."""
    return rectangular_product(kernel, part.x, points, v)
