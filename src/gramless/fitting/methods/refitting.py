"""Streams that store all rows and fit them when the model is needed; kernels need not be positive semidefinite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramless.arrays import Array
from gramless.data import Block, MemoryRows, Rows, Survey
from gramless.fitting.methods.base import Traits, methods
from gramless.fitting.methods.layout import gram_seconds
from gramless.fitting.methods.planning import Plan, make_plan
from gramless.fitting.model import Model
from gramless.gram.spectrum import estimate_spectrum
from gramless.kernels import Kernel, Precomputed
from gramless.problem import Estimate, Problem, Request
from gramless.spaces import Eigenspace, stack_points
from gramless.spaces.signs import agreeing_signs


@dataclass(frozen=True, eq=False)
class KeptRows:
    """All rows seen, with their weights.

    Attributes
    ----------
    kernel : Kernel
    x : array of shape (n, d)
    weights : ndarray of shape (n,)
    """

    keeps: ClassVar[str] = "rows"
    carrier: ClassVar[str | None] = "refitting"

    kernel: Kernel
    x: Any
    weights: Array

    @property
    def rows(self) -> int:
        return len(self.weights)

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    def add(self, block: Block) -> KeptRows:
        return replace(self, x=stack_points(self.x, block.x), weights=np.concatenate([self.weights, block.weights]))

    def remove(self, block: Block) -> KeptRows:
        raise ValueError(
            f"rows cannot be removed from a stream of {self.kernel}: it has no moments; refit the remaining rows"
        )

    def scaled(self, factor: float) -> KeptRows:
        return replace(self, weights=factor * self.weights)

    def merged(self, other: KeptRows) -> KeptRows:
        return self.add(Block(other.x, other.weights))

    def finish(self, problem: Problem, request: Request, before: Eigenspace | None) -> Model:
        n = self.rows
        k = min(n, problem.k or n)
        problem = replace(problem, n=n, k=k, streaming=False, weight=self.weight, forget=False)
        if n == 1:  # the solvers need two rows; a row twice, with half its weight, gives the same model
            twice = Block(stack_points(self.x, self.x), np.tile(self.weights / 2, 2))
            return _solved("dense", replace(problem, n=2), twice, request)
        block = Block(self.x, self.weights)
        if not problem.domain:  # what is known of the rows was learned from the first batch
            survey = MemoryRows(block).survey()
            peak, variance = estimate_spectrum(self.kernel, self.x)
            low, high = (None, None) if survey.box is None else (survey.box.low, survey.box.high)
            problem = replace(problem, low=low, high=high, peak=peak, variance=variance)

        def run(plan: Plan, placed: Problem) -> Model:
            return _solved(plan.chosen, placed, block, request)

        model = make_plan(problem).carry_out(run)[1]
        return model if before is None else model.flipped(agreeing_signs(model.space, before, self.x[:1000]))


def _solved(method: str, problem: Problem, block: Block, request: Request) -> Model:
    rows = MemoryRows(block)
    return methods[method].begin(problem, rows, rows.survey(), request).finish(problem, request, None)


class RefittingMethod(Traits):
    """Stores every row; the model of a stream is a fit of all rows."""

    streams = True
    batches_only = True

    def estimate(self, problem: Problem) -> Estimate:
        if isinstance(problem.kernel, Precomputed):
            return Estimate(refusal="a precomputed matrix has no rows to add")
        if problem.support is not None:
            return Estimate(refusal="stores every row, but max_support= was given")
        if problem.kernel.mercer and problem.solver in ("auto", "dense") and not problem.strict:
            return Estimate(refusal="needs a fit for every batch, and tol= was not given: merging suffices")
        points = min(problem.n, 10_000)
        return Estimate(100 * gram_seconds(problem), 8 * points * (problem.d + 10 * problem.k + 100), 1e-12)

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> KeptRows:
        block = rows.whole()
        return KeptRows(problem.kernel, block.x, block.weights)


methods.register("refitting")(RefittingMethod())
