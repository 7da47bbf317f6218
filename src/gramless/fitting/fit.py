"""How rows become a fit: survey, plan, begin, finish. The steps are the same for arrays, files and clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array, read_seed, refuse_weights
from gramless.data import FileRows, Look, MemoryRows, Rows, Scaling
from gramless.data.dominance import remedy_for
from gramless.data.scaling import refuse_sparse
from gramless.eigen import Outcome
from gramless.errors import LongFitWarning, SourceError, UncertifiedWarning
from gramless.features import maps
from gramless.fitting import out_of_core
from gramless.fitting.fitted import Fit, make_request, refuse_overflow, trimmed
from gramless.fitting.methods import InaccurateError, Plan, Solution, Solved, make_plan, methods, straight_plan
from gramless.fitting.methods.fading import faded
from gramless.fitting.posing import Prepared, pose, posed_for_plan
from gramless.fitting.preimages import learn_preimage, sampled
from gramless.fitting.question import Question
from gramless.problem import Problem, Request
from gramless.warning import warn

Planner = Callable[[Problem, str], Plan]
_WIDE = 0.05  # width of an interval, relative to its eigenvalue, that users are warned of


def fit(question: Question, rows: Rows) -> Fit:
    """The fit of all rows."""
    if rows.begun is not None:
        plan, gamma, moved, solution = out_of_core.resume(question, rows)
        return _finish(question, plan, gamma, moved, solution, make_request(question))
    if rows.place.block and question.half_life is not None:  # a row's weight depends on the rows after it
        return out_of_core.fit_in_batches(question, rows)
    prepared = prepare(question, rows, straight=True)
    if prepared.plan.problem.streaming and prepared.plan.chosen not in maps:  # rows that can be read only once
        return out_of_core.fit_in_batches(question, rows)
    warn_of_dominance(question, prepared)

    before: list[Fit] = []  # of a method that missed the tolerance

    def run(plan: Plan, placed: Problem) -> Fit:
        request = make_request(question)
        if before:
            request = replace(request, start=_vectors(before[-1], prepared.rows))
        if isinstance(rows, FileRows):
            request = out_of_core.with_keeping(question, prepared, plan, request)
        solution = methods[plan.chosen].begin(placed, prepared.rows, prepared.survey, request)
        if prepared.rows.place.block:  # a resumed fit finishes with a new generator, and must give the same result
            request = make_request(question)
        found = _finish(question, plan, prepared.gamma, prepared.rows, solution, request)
        leads_on = question.strict and not plan.forced and question.time_limit is None
        if leads_on and found.finished.outcome is Outcome.APPROXIMATE and isinstance(prepared.rows, MemoryRows):
            before.append(found)
            raise InaccurateError("missed the tolerance", found)
        return found

    plan, found = prepared.plan.carry_out(run, prepared.problem)
    if plan.cut:
        _warn_of_cut(plan, found, prepared.problem.tol)
    elif not question.strict and question.time_limit is None:  # less was not asked for
        _warn_of_wide(found)
    return found


def prepare(question: Question, rows: Rows, planner: Planner = make_plan, *, straight: bool = False) -> Prepared:
    """Survey the rows and make a plan; ``planner(problem, method)`` chooses the method.

    A small problem is solved by :func:`~gramless.fitting.methods.straight_plan`; with `straight`, no other method is
    compared then.
    """
    refuse_number(question, rows)
    if isinstance(rows, FileRows):
        once = out_of_core.plan_one_pass(question, rows)
        if once is not None:
            return once
    elif isinstance(rows, MemoryRows) and question.half_life is not None:
        rows = rows.weighted(faded(rows.block.weights, question.half_life))
    measures = question.moves or ("scale" if question.kernel.measures and rows.place.block else "")
    survey = rows.survey(Look(measures, question.memory_limit, lambda: read_seed(question.seed)))
    if rows.place.block:  # the survey has counted the rows
        refuse_number(question, rows)
    scaling, seen = Scaling(), survey
    if question.moves:
        refuse_sparse(f"{question.moves}_input", rows.sparse)
        scaling = survey.scaling(question.moves)
        rows = rows.moved(scaling)
        seen = rows.survey(Look("", question.memory_limit)) if survey.complete else survey.moved(scaling)
    gamma, kernel = question.kernel.of(seen if question.moves == "scale" else survey)
    short = None
    if planner is make_plan and survey.complete:
        problem = pose(question, kernel, seen, rows.place, scaling, look=False)
        short = straight_plan(problem, question.method)
        if straight and short is not None:
            return Prepared(short, problem, gamma, seen, rows)
    problem = pose(question, kernel, seen, rows.place, scaling)
    planned = problem if survey.complete else posed_for_plan(question, problem)
    plan = planner(planned, question.method)
    if short is not None:
        plan = replace(plan, problem=planned, chosen=short.chosen, rule=short.rule, cut=False)
    return Prepared(plan, problem, gamma, seen, rows)


def warn_of_dominance(question: Question, prepared: Prepared) -> None:
    """Warn where one column dominates the distances from which the bandwidth was chosen."""
    if question.kernel.looks and question.moves != "scale":
        rows, streaming = prepared.rows, prepared.plan.problem.streaming
        remedy = remedy_for(rows.place.workers, question.scalable and not streaming)
        question.kernel.warn(prepared.survey, rows.names, remedy)


def _vectors(found: Fit, rows: Rows) -> Array:
    """Components of the rows, times the roots of their weights: where another method begins."""
    block = rows.whole()
    return np.asarray(found.finished.space.project(block.x) * np.sqrt(block.weights)[:, None], dtype=np.float64)


def _warn_of_cut(plan: Plan, found: Fit, default: float) -> None:
    """Warn about a fit that is less accurate than the default, and how to request the default."""
    reached = "certified to" if found.finished.outcome.ok else "not certified to"
    warn(
        f"the residuals are {reached} {plan.problem.tol:.0e} of the largest eigenvalue, because {plan.rule}; pass "
        f"tol={default:.0e} for that fit, or any other tol or time_limit",
        LongFitWarning,
    )


def _warn_of_wide(found: Fit) -> None:
    """Say which eigenvalues are known only roughly; :func:`~gramless.certificates.settle` warns of those near 0."""
    certificate = found.finished.certificate
    values = certificate.values
    wide = (certificate.width > _WIDE) & (values > 1e-6 * values.max(initial=0.0)) & (certificate.lower > 0)
    if wide.any():
        first, last = np.flatnonzero(wide)[[0, -1]] + 1
        warn(
            f"{wide.sum()} of {len(values)} eigenvalues (components {first} to {last}) are known only to within "
            f"{certificate.width[wide].max():.0%}, see certificate_. Either many eigenvalues are nearly equal: ask for "
            "fewer components or a larger bandwidth (a smaller gamma). Or they are hardly larger than rounding errors "
            "of kernel values: ask for fewer components or a smaller bandwidth, or pass float64 rows",
            UncertifiedWarning,
        )


def _finish(question: Question, plan: Plan, gamma: float, rows: Rows, solution: Solution, request: Request) -> Fit:
    """The fit with the model of a solution, and with the training rows where the question stores them."""
    block = None
    if isinstance(solution, Solved):
        block = solution.block
    elif rows.place.block or rows.place.workers:
        _refuse_sums(question, rows, solution)
    model = trimmed(question, solution.finish(replace(plan.problem, k=question.count), request, None))
    refuse_overflow(model, rows.dtype)
    sample = getattr(solution, "sample", None)
    found = Fit(plan, gamma, rows.scaling, rows.dtype, model, sample=sample)
    block = rows.block if isinstance(rows, MemoryRows) else block
    if block is None:
        return found
    found = replace(found, x=block.x if block.given is None else block.given, weights=block.weights)
    if question.ridge is not None:
        found = learn_preimage(question, sampled(question, found, found.x, found.weights, first=True))
    return found if question.keep_rows else replace(found, x=None, weights=None)


def refuse_number(question: Question, rows: Rows) -> None:
    """Raise where there are too few rows; pass where their number is not known yet."""
    if rows.n is None or isinstance(rows, MemoryRows):
        return
    n, name = rows.n, rows.name
    if n == 0:
        raise SourceError(f"{name} has no rows")
    if n < 2:
        raise ValueError(f"{name} has {n} row; at least 2 are needed")
    if question.count > n:
        raise ValueError(f"n_components={question.count} is more than the {n} rows of {name}; pass at most {n}")


def _refuse_sums(question: Question, rows: Rows, solution: Any) -> None:
    """Raise where too few rows have a positive weight."""
    refuse_weights(solution.weight)
    if question.count > solution.rows:
        raise ValueError(
            f"n_components={question.count} is more than the {solution.rows} rows of {rows.name}; pass at most "
            f"{solution.rows}"
        )
