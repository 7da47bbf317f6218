"""A stream of a kernel that need not be positive semidefinite: it keeps its rows, and solves for all when asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramless.arrays import Array
from gramless.errors import MemoryLimitError
from gramless.kernels import Kernel, Precomputed
from gramless.planning import make_plan, methods
from gramless.problem import Estimate, Problem, Request
from gramless.routes.fitted import Fitted
from gramless.routes.layout import gram_seconds
from gramless.routes.stream.signs import agreeing_signs
from gramless.spaces import Eigenspace, stack_points


@dataclass(frozen=True, eq=False)
class RefittingStream:
    """Rows and weights.

    Attributes
    ----------
    kernel : Kernel
    x : array of shape (n, d)
    weights : ndarray of shape (n,)
    """

    keeps: ClassVar[str] = "rows"

    kernel: Kernel
    x: Any
    weights: Array

    @property
    def rows(self) -> int:
        return len(self.weights)

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    def add(self, x: Any, weights: Array) -> RefittingStream:
        return replace(self, x=stack_points(self.x, x), weights=np.concatenate([self.weights, weights]))

    def remove(self, x: Any, weights: Array) -> RefittingStream:
        raise ValueError(
            f"rows cannot be taken out of a stream of {self.kernel}: it has no moments; fit the others anew"
        )

    def scaled(self, factor: float) -> RefittingStream:
        return replace(self, weights=factor * self.weights)

    def merged(self, other: RefittingStream) -> RefittingStream:
        return self.add(other.x, other.weights)

    def conclude(self, problem: Problem, request: Request, before: Eigenspace | None) -> Fitted:
        n = self.rows
        k = min(n, problem.k or n)
        problem = replace(problem, n=n, k=k, streaming=False, weight=self.weight, forget=False)
        if n == 1:  # a point alone has no scatter, and the solvers want two
            return self._alone(problem, request)
        plan = make_plan(problem)
        while True:
            try:
                fitted: Fitted = methods[plan.chosen].run(plan.placed, self.x, self.weights, request)
                break
            except MemoryLimitError as error:
                plan = plan.without(plan.chosen, str(error))
        if before is None:
            return fitted
        return fitted.flipped(agreeing_signs(fitted.space, before, self.x[:1000]))

    def _alone(self, problem: Problem, request: Request) -> Fitted:
        twice = replace(problem, n=2)
        x, weights = stack_points(self.x, self.x), np.tile(self.weights / 2, 2)
        fitted: Fitted = methods["dense"].run(twice, x, weights, request)
        return fitted


class RefittingMethod:
    """The plan's word for :class:`RefittingStream`."""

    streams = True
    forgets = False
    maps = False

    def estimate(self, problem: Problem) -> Estimate:
        if not problem.streaming:
            return Estimate(refusal="for rows that come in batches: use partial_fit")
        if isinstance(problem.kernel, Precomputed):
            return Estimate(refusal="a given matrix has no rows to add")
        if problem.support is not None:
            return Estimate(refusal="keeps every row, and max_support= was given")
        if problem.kernel.mercer and problem.solver in ("auto", "dense") and not problem.strict:
            return Estimate(refusal="costs a fit each time, and no tol= was asked for: merging will do")
        points = min(problem.n, 10_000)
        return Estimate(100 * gram_seconds(problem), 8 * points * (problem.d + 10 * problem.k + 100), 1e-12)

    def run(self, problem: Problem, x: Any, weights: Array, request: Request) -> Fitted:
        raise ValueError("method='refitting' takes rows in batches: use partial_fit")


methods.register("refitting")(RefittingMethod())
