"""The plan: the cheapest of the registered methods, with the reason why each other method was not chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gramless.arrays.memory import enough_bytes, readable_bytes
from gramless.errors import LongFitWarning, MemoryLimitError
from gramless.features import maps
from gramless.fitting.methods.base import Method, methods
from gramless.fitting.methods.shorter import shortened, within_limit
from gramless.problem import Estimate, Problem
from gramless.progress import observer
from gramless.tables import html_table, text_table
from gramless.warning import warn

_LONG = 600.0  # seconds
_MOST = 2.0**50  # bytes
_QUICK = 0.1  # seconds: a fit that takes less is not planned any further
_QUICK_FLAT = 0.03  # the same for up to three columns, where explicit features are often faster
_STRAIGHT = ("dense", "covariance", "normalized")

Result = TypeVar("Result")


class InaccurateError(Exception):
    """A method has missed the tolerance that its estimate promised; another method continues from its result.

    Attributes
    ----------
    result : object
        The result, for the case that there is no other method.
    """

    def __init__(self, text: str, result: Any) -> None:
        super().__init__(text)
        self.result = result


@dataclass(frozen=True)
class Plan:
    """The chosen method, and the estimates of all methods.

    Attributes
    ----------
    problem : Problem
    chosen : str
        Name of the method; empty in the plan of a MemoryLimitError, where no method fits.
    candidates : dict of str to Estimate
        Estimate of each method.
    forced : bool
        Whether the user named the method.
    rule : str
        Why the tolerance is not the requested one, or not the default, or why no other method was compared; empty
        where all methods were compared, for that tolerance.
    cut : bool
        Whether the default tolerance was given up for a fit of minutes instead of hours.
    """

    problem: Problem
    chosen: str
    candidates: dict[str, Estimate]
    forced: bool = False
    rule: str = ""
    cut: bool = False

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the table's columns; with the device, unless the problem is for the CPU."""
        placed = ("device",) if self.problem.device != "cpu" else ()
        return ("method", *placed, "seconds", "memory", "error", "verdict")

    def rows(self) -> list[tuple[str, ...]]:
        """The table, one row of strings per candidate."""
        return [
            (
                name,
                *(() if self.problem.device == "cpu" else ("-" if estimate.refusal else estimate.device,)),
                "-" if estimate.refusal else f"{estimate.seconds:.2g}",
                "-" if estimate.refusal else readable_bytes(estimate.bytes),
                "-" if estimate.refusal else f"{estimate.error:.0e}",
                self._verdict(name, estimate),
            )
            for name, estimate in self.candidates.items()
        ]

    def _verdict(self, name: str, estimate: Estimate) -> str:
        if name == self.chosen:
            return "chosen by method=" if self.forced else "chosen"
        if estimate.refusal:
            return estimate.refusal
        if estimate.bytes > self.problem.memory_limit:
            return f"needs more than memory_limit ({readable_bytes(self.problem.memory_limit)})"
        if self.forced:
            return "not requested"
        if estimate.error > self.problem.tol:
            return f"reaches only {estimate.error:.0e}"
        ratio = estimate.seconds / self.candidates[self.chosen].seconds
        return f"{ratio:.1f} times slower" if ratio >= 1 else "faster by less than the time to estimate it"

    @property
    def strong(self) -> set[int]:
        """Number of the chosen method's row."""
        return {number for number, name in enumerate(self.candidates) if name == self.chosen}

    @property
    def placed(self) -> Problem:
        """The problem for the chosen method, on the device of its estimate."""
        return replace(self.problem, device=self.candidates[self.chosen].device, anywhere=False)

    def without(self, name: str, reason: str) -> Plan:
        """The next best plan, after the method `name` has failed for `reason`."""
        return choose(self.problem, {**self.candidates, name: Estimate(refusal=reason)})

    @property
    def seconds(self) -> float:
        """Estimated seconds of the chosen method."""
        return self.candidates[self.chosen].seconds

    def carry_out(self, run: Callable[[Plan, Problem], Result], problem: Problem | None = None) -> tuple[Plan, Result]:
        """The plan carried out, and the result of `run`: for this plan, or for the next best.

        The next best is tried after a MemoryLimitError and after an InaccurateError. A MemoryLimitError is raised for a
        method that the user named, and for rows that can be read only once.

        Parameters
        ----------
        run : callable
            ``run(plan, problem)``; the problem has the device of the plan's estimate.
        problem : Problem, optional
            The problem to be solved, where it differs from the planned problem.
        """
        plan = self
        self.warn_if_long()
        while True:
            estimate = plan.candidates[plan.chosen]
            observer().begins(plan.chosen, estimate.seconds)
            posed = self.problem if problem is None or plan.chosen in maps else problem
            placed = replace(posed, tol=plan.problem.tol, device=estimate.device, anywhere=False)
            try:
                return plan, run(plan, placed)
            except MemoryLimitError as error:
                if self.forced or self.problem.streaming:
                    raise
                plan = plan.without(plan.chosen, str(error))
            except InaccurateError as error:
                try:
                    plan = plan.without(plan.chosen, str(error))
                except (ValueError, MemoryLimitError):
                    return plan, error.result

    def warn_if_long(self) -> None:
        """Warn before a fit of many minutes, and name a faster method."""
        seconds = self.candidates[self.chosen].seconds
        if not _LONG < seconds < math.inf:
            return
        able = {n: e for n, e in self.candidates.items() if not e.refusal and e.bytes <= self.problem.memory_limit}
        sooner = {n: e for n, e in able.items() if e.seconds < seconds / 4}
        text = f"this fit may take about {seconds / 60:.0f} minutes by method {self.chosen!r}"
        if sooner:
            name = min(sooner, key=lambda n: sooner[n].error)
            text += (
                f"; method={name!r} takes about {sooner[name].seconds:.2g} s and reaches {sooner[name].error:.0e}, "
                f"where tol={self.problem.tol:.0e} is requested"
            )
        warn(text + ". A larger tol is reached sooner", LongFitWarning)

    def title(self) -> str:
        """The problem in a line."""
        problem = self.problem
        text = f"{problem.n} rows x {problem.d} columns, k={problem.k}, tol={problem.tol:.0e}, {problem.kernel}"
        return f"{text} ({self.rule})" if self.rule else text

    def __str__(self) -> str:
        return self.title() + "\n" + text_table(self.header, self.rows(), left=True)

    def _repr_html_(self) -> str:
        return html_table(self.header, self.rows(), caption=self.title(), strong=self.strong)


def straight_plan(problem: Problem, method: str = "auto") -> Plan | None:
    """The plan for a problem so small that asking all methods would take longer than to solve it.

    Only methods are compared whose estimates do not need the rows. None where these take longer or are not applicable,
    and where the user named a method or a device.
    """
    free = method == "auto" and problem.solver in ("auto", "dense") and (problem.device == "cpu" or problem.anywhere)
    if not free or problem.workers or problem.block or problem.streaming or problem.domain:
        return None
    asked = {name: ask(methods[name], replace(problem, device="cpu")) for name in _STRAIGHT}
    quick = _QUICK_FLAT if problem.d <= 3 else _QUICK
    room = quick if problem.time_limit is None else min(quick, problem.time_limit)
    able = {
        name: estimate.seconds
        for name, estimate in asked.items()
        if not estimate.refusal
        and estimate.seconds <= room
        and estimate.error <= problem.tol
        and estimate.bytes <= problem.memory_limit
    }
    if not able:
        return None
    return Plan(problem, min(able, key=lambda n: able[n]), asked, rule="too small to compare more methods")


def make_plan(problem: Problem, method: str = "auto") -> Plan:
    """The plan with the cheapest method that reaches the tolerance within memory, or with the named method.

    Where no method reaches the tolerance, a tolerance that the user passed is an error. With the default tolerance the
    most accurate method is chosen, and the certificate says how accurate the result is.

    Raises
    ------
    ValueError
        If the named method cannot be used, or no method reaches the tolerance; the message says what is achievable.
    MemoryLimitError
        If no method fits in memory; the message names a sufficient limit.
    """

    def choice(problem: Problem) -> Plan:
        return choose(problem, _asked(problem), method)

    try:
        if problem.time_limit is not None:
            return within_limit(problem, choice)
        plan = choice(problem)
    except MemoryLimitError as error:
        least = least_memory(problem, method)
        if least is None:
            raise
        raise MemoryLimitError(
            f"{_too_little(problem)}: method {least[0]!r} needs memory_limit='{enough_bytes(least[1])}', the minimum "
            "for this fit; increase memory_limit or reduce n_components",
            error.plan,
        ) from None
    whole = problem.strict or problem.streaming or method != "auto" or problem.solver != "auto"
    return plan if whole else shortened(plan, choice)


def _asked(problem: Problem) -> dict[str, Estimate]:
    return {name: ask(candidate, problem) for name, candidate in methods.items()}


def least_memory(problem: Problem, method: str = "auto") -> tuple[str, float] | None:
    """The method with the minimum memory limit, and this limit to a few per cent; None where no method ever fits.

    The memory that a method needs depends on the limit. The minimum limit is therefore searched for, by doubling, then
    by bisection.
    """

    def serves(limit: float) -> str:
        size = min(problem.block * limit / problem.memory_limit, 2**26 / (8 * max(1, problem.d)))
        roomy = replace(problem, memory_limit=int(limit), block=max(problem.block, int(size)) if problem.block else 0)
        asked = _asked(roomy)
        wanted = asked if method == "auto" else {method: asked[method]}
        fitting = [name for name, found in wanted.items() if not found.refusal and found.bytes <= limit]
        return min(fitting, key=lambda name: wanted[name].bytes, default="")

    low, high = float(problem.memory_limit), 2.0 * problem.memory_limit
    while not serves(high):
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high > 1.03 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    return serves(high), high


def carried_on(problem: Problem, method: str) -> Plan:
    """The plan of a fit that is continued by `method`, without a choice."""
    others = {name: Estimate(refusal=f"continues the previous fit by {method}") for name in methods}
    return Plan(problem, method, {**others, method: methods[method].estimate(replace(problem, solver="auto"))})


def choose(problem: Problem, estimates: dict[str, Estimate], method: str = "auto") -> Plan:
    """The plan by given estimates; see :func:`make_plan`."""
    if method != "auto":
        methods[method]  # raises for an unknown name
        if estimates[method].refusal:
            raise ValueError(f"method={method!r} is not applicable: {estimates[method].refusal}; pass method='auto'")
    wanted = estimates if method == "auto" else {method: estimates[method]}
    candidates = {name: estimate for name, estimate in wanted.items() if not estimate.refusal}
    if not candidates:
        raise ValueError(f"no method is applicable: {'; '.join(f'{n}: {e.refusal}' for n, e in wanted.items())}")
    fitting = {name: e for name, e in candidates.items() if e.bytes <= problem.memory_limit}
    if not fitting:
        name, least = min(candidates.items(), key=lambda item: item[1].bytes)
        raise MemoryLimitError(
            f"{_too_little(problem)}: method {name!r} needs {readable_bytes(least.bytes)}; increase memory_limit or "
            "reduce "
            "n_components",
            Plan(problem, "", estimates, forced=method != "auto"),
        )
    exact = {name: e for name, e in fitting.items() if e.error <= problem.tol}
    if exact:
        chosen = min(exact, key=lambda name: exact[name].seconds)
    else:
        chosen = min(fitting, key=lambda name: fitting[name].error)
        if problem.strict:
            raise ValueError(
                f"tol={problem.tol:.1e} is not achievable; method={chosen!r} achieves "
                f"{fitting[chosen].error:.1e}. Increase tol" + ("" if method == "auto" else " or pass method='auto'")
            )
    return Plan(problem, chosen, estimates, forced=method != "auto")


def _too_little(problem: Problem) -> str:
    limit = readable_bytes(problem.memory_limit)
    return f"memory_limit={limit} is too small for {problem.k} components of {problem.n} rows"


def ask(method: Method, problem: Problem) -> Estimate:
    """The estimate of a method; a refusal where the method does not support the rows, the kernel or the device."""
    if problem.workers and not method.parts:
        return Estimate(refusal="needs all rows in one place")
    if problem.streaming and not method.streams:
        return Estimate(refusal="needs all rows at once")
    if problem.forget and not method.forgets:
        return Estimate(refusal="projects through the training rows, and keep_data=False")
    if method.batches_only and not (problem.streaming or problem.workers):
        return Estimate(refusal="for rows that come in batches: use partial_fit")
    if method.gpu_only and problem.device == "cpu":
        return Estimate(refusal="device='cpu'")
    if method.kernels and not isinstance(problem.kernel, method.kernels):
        return Estimate(refusal=f"only for the {method.kernels[0].__name__.lower()} kernel")
    if problem.workers:
        return method.estimate(problem)
    return where_asked(_from_blocks(method, problem) if problem.block else method.estimate(problem), problem)


def where_asked(estimate: Estimate, problem: Problem) -> Estimate:
    """The estimate, or a refusal where it is for the CPU and another device was asked for; streams may use the CPU."""
    if estimate.device == "cpu" != problem.device and not (problem.anywhere or problem.streaming or estimate.refusal):
        return Estimate(refusal=f"works on the CPU, and device={problem.device!r}; pass device='auto' or 'cpu'")
    return estimate


def _from_blocks(method: Method, problem: Problem) -> Estimate:
    """The estimate for rows that are read in blocks: a streaming method holds two blocks, other methods all rows."""
    estimate = method.estimate(problem)
    if estimate.refusal:
        return estimate
    if method.streams:
        held = method.estimate(replace(problem, n=min(problem.n, problem.block)))
        return replace(estimate, bytes=(estimate if held.refusal else held).bytes + 32 * problem.block * problem.d)
    if problem.mapped and method.maps:
        return estimate
    return replace(estimate, bytes=estimate.bytes + 16 * problem.n * problem.d)
