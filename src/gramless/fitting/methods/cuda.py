"""Products with the Gram matrix on a GPU: blocks and basis are on the GPU, small eigenproblems on the host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays.devices import card_workspace, free_card_memory, rows_on, to_device
from gramless.arrays.gpu_rates import measure_gpu
from gramless.data import Block, Rows, Survey
from gramless.eigen import BlockKrylov, EigenResult
from gramless.eigen.block_krylov import basis_columns, block_width
from gramless.fitting.methods.base import Solved, Traits, methods
from gramless.fitting.methods.exact import assemble, leading, unless_ones
from gramless.fitting.methods.explicit import WAKING
from gramless.fitting.methods.layout import expected_passes
from gramless.fitting.methods.start import card_start
from gramless.gram import CenteredGram, GramOperator
from gramless.machine import Card
from gramless.problem import Estimate, Problem, Request

_WORKSPACE = 1.6  # memory for partial sums and temporary tiles, in units of the workspace for sums
_SLOW = 0.7  # seconds of a float64 pass above which errors are measured instead, where the tolerance allows
_ROWS = 49152  # rows sampled to measure the error of a product
_MEASURED = 2e-5  # the smallest tolerance for which the errors of the fused product are measured


class CudaMethod(Traits):
    """Fused products on a GPU; eigenvectors drafted in half precision, certified in float64 or by measured errors."""

    gpu_only = True

    def estimate(self, problem: Problem) -> Estimate:
        refusal = self._refuse(problem)
        if refusal:
            return Estimate(refusal=refusal)
        n, width = problem.n, card_width(problem.k)
        last = float64_seconds(problem, 2 * width)
        if self._measures(problem):
            last = min(last, 1.5 * fused_seconds(problem, 2 * width))
        seconds = WAKING + expected_passes(problem) * fused_seconds(problem, width) + last
        size = 8 * n * (4 * problem.k + problem.d) + 2**20
        return Estimate(seconds, size, 1e-15 * np.sqrt(n), device=problem.device)

    def _refuse(self, problem: Problem) -> str:
        if problem.sparse:
            return "sparse rows stay on the CPU; pass X.toarray()"
        if problem.solver not in ("auto", "block_krylov"):
            return f"eigen_solver={problem.solver!r} works on the CPU; pass 'auto'"
        if not problem.kernel.tensors:
            return f"{problem.kernel} is not implemented for the GPU"
        needed, free = self._needed(problem, self._fewest(problem)), free_card_memory(problem.device)
        return f"needs {needed / 1e9:.3g} GB of the GPU's {free / 1e9:.3g} GB" if needed > free else ""

    def _fewest(self, problem: Problem) -> int:
        return problem.k + 2 * card_width(problem.k)

    def _needed(self, problem: Problem, columns: int) -> int:
        """Bytes on the GPU: rows in three precisions, the basis twice while it grows, blocks, probes, partial sums."""
        workspace = int(_WORKSPACE * card_workspace(problem.device))
        return 8 * problem.n * (3 * problem.d + int(2.2 * columns) + 200) + workspace

    def _measures(self, problem: Problem) -> bool:
        """Whether to measure the error of the fused product on a sample of rows, rather than repeat it in float64."""
        smooth = problem.kernel.draftable
        return smooth and problem.tol >= _MEASURED and float64_seconds(problem, 2 * card_width(problem.k)) > _SLOW

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solved:
        from gramless.gram.cuda.checked import CheckedGram
        from gramless.gram.cuda.operator import TorchGram

        device, block = problem.device, rows.whole()
        x, plain = rows_on(device, block.x, block.tensor), unless_ones(block.weights)
        start = card_start(problem, x, block.weights, card_width(problem.k), request.rng)
        if self._measures(problem):
            fast = TorchGram(problem.kernel, x, plain, device=device, precision="fp32")
            checked = CheckedGram(fast, np.random.default_rng(request.rng.integers(2**63)), _ROWS)
            centered, result = self._solve(checked, problem, request, start)
            if centered.error <= 0.5 * problem.tol * result.values[0]:
                result = _probable(result, checked.failure_probability)
                return _assembled(problem, block, centered, result)
            start = to_device(result.vectors, device)
            del fast, checked
        gram = TorchGram(problem.kernel, x, plain, device=device, draft=problem.kernel.draftable)
        centered, result = self._solve(gram, problem, request, start)
        return _assembled(problem, block, centered, result)

    def _solve(
        self, gram: GramOperator, problem: Problem, request: Request, start: Any
    ) -> tuple[CenteredGram, EigenResult]:
        width = card_width(problem.k)
        columns = basis_columns(width)
        free = free_card_memory(problem.device)
        while columns > self._fewest(problem) and self._needed(problem, columns) > free:
            columns -= width
        centered = CenteredGram(gram)
        solver = request.solver or BlockKrylov(width=width, max_columns=max(columns, self._fewest(problem)))
        return centered, leading(centered, solver, problem, request, lambda: centered.trace, start)


methods.register("cuda")(CudaMethod())


def _assembled(problem: Problem, block: Block, centered: CenteredGram, result: EigenResult) -> Solved:
    model = assemble(problem, block, centered, result)
    span = replace(model.space.span, device=problem.device)  # type: ignore[type-var]
    return Solved(replace(model, space=replace(model.space, span=span)), block)


def card_width(k: int) -> int:
    """Columns of a block: 63, as a fused product of 64 columns costs the same, and the first has one more for row sums.

    Examples
    --------
    >>> card_width(20), card_width(50)
    (63, 78)
    """
    return max(63, block_width(k))


def _probable(result: EigenResult, failure: float) -> EigenResult:
    """The result with a probabilistic certificate: its bounds rest on samples, and fail with probability `failure`."""
    certificate = result.certificate
    failure += certificate.failure_probability
    kind = np.full(len(certificate), "probabilistic")
    return replace(result, certificate=replace(certificate, kind=kind, failure_probability=failure))


def fused_seconds(problem: Problem, width: int) -> float:
    """Seconds of one fused product, scaled from measurements on an H200 (16 to 784 data columns, 32 or 64 vectors)."""
    slower = Card().halves / measure_gpu(problem.device).halves
    return 1e-4 + slower * float(problem.n) ** 2 * (0.25e-12 + 0.007e-12 * problem.d + 0.012e-12 * width)


def float64_seconds(problem: Problem, width: int) -> float:
    """Seconds of one product in float64, from the GPU's rates of arithmetic and of memory."""
    gpu = measure_gpu(problem.device)
    return 1e-3 + float(problem.n) ** 2 / 2 * ((2 * problem.d + 4 * width) / gpu.float64 + 1 / gpu.sweep)
