"""Methods for rows in parts, and the plan among them."""

from __future__ import annotations

from typing import Protocol

from gramless.planning import Plan, methods
from gramless.planning.plan import choose
from gramless.problem import Estimate, Problem, Request
from gramless.registry import Registry
from gramless.routes.fitted import Fitted
from gramless.routes.parted.rows import PartedRows


class PartedMethod(Protocol):
    """A way to solve a problem whose rows lie in parts, on ``problem.workers`` workers."""

    def estimate(self, problem: Problem) -> Estimate:
        """What it would cost, the network included, or why it cannot serve; bytes are those of one worker."""

    def run(self, problem: Problem, rows: PartedRows, request: Request) -> Fitted:
        """Solve it."""


parted_methods: Registry[PartedMethod] = Registry("method for rows in parts")


def plan_parted(problem: Problem, method: str = "auto") -> Plan:
    """The cheapest method for rows in parts; see :func:`gramless.planning.make_plan`."""
    estimates = {name: _ask(name, problem) for name in methods}
    return choose(problem, estimates, method)


def _ask(name: str, problem: Problem) -> Estimate:
    if name not in parted_methods:
        return Estimate(refusal="needs all rows in one place")
    if problem.forget and not (methods[name].forgets or name == "merging"):
        return Estimate(refusal="projects through the training rows, and keep_data=False")
    return parted_methods[name].estimate(problem)
