"""The parts of a fit that only out-of-core rows need: one pass instead of two, and checkpoints."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array, read_seed
from gramless.data import FileRows, Look, MemoryRows, Rows, Scaling, affordable_rows
from gramless.data.domain import read_domain
from gramless.errors import CheckpointWarning, IndefiniteKernelWarning, MemoryLimitError
from gramless.features import FeatureMap, maps
from gramless.features.monomials import as_power
from gramless.fitting.fitted import Fit
from gramless.fitting.methods import ExplicitMethod, MomentState, Plan, make_plan, methods
from gramless.fitting.posing import Prepared, domain_of, planned_stream, pose
from gramless.fitting.preimages import sample_size
from gramless.fitting.question import Question
from gramless.fitting.stream import extend
from gramless.kernels import warn_if_indefinite
from gramless.problem import Keeping, Request
from gramless.progress import observer
from gramless.warning import warn


@dataclass(frozen=True, eq=False)
class Begun:
    """What a checkpoint stores so that another process can resume a pass for moments.

    Attributes
    ----------
    plan : Plan
    features : FeatureMap
    gamma : float
    rows : int or None
        Number of rows of the source, where it is known.
    mean, scale : ndarray of shape (d,) or None
        Mean and scale of the scaling.
    """

    plan: Plan
    features: FeatureMap
    gamma: float
    rows: int | None
    mean: Array | None = None
    scale: Array | None = None


def plan_one_pass(question: Question, rows: FileRows) -> Prepared | None:
    """A plan that reads every row once, made from the first block; None where a survey of all rows is better.

    Only monomials, and feature maps for a declared domain, need no survey.
    """
    again = rows.place.again and not rows.sparse
    if again:
        named = question.kernel.looks or bool(question.moves) or question.method not in ("auto", *maps)
        if named or (rows.checkpoint is not None and rows.checkpoint.task):
            return None
    if question.moves:
        raise ValueError(
            f"{question.moves}_input=True takes two passes over dense rows, which {rows.name} does not allow"
        )
    head = rows.head()
    survey = MemoryRows(head).survey(Look("", question.memory_limit))
    with warnings.catch_warnings():  # the warning comes below, or from the survey of all rows
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        gamma, kernel = question.kernel.of(survey)
    if again and question.domain is None and isinstance(as_power(kernel), str):
        return None
    rows.work_on(head, lambda block: domain_of(question, survey, Scaling()))  # raises for rows outside the domain
    try:
        problem = pose(question, kernel, survey, rows.place, Scaling())
        problem = planned_stream(question, problem, rows.n or max(10**6, head.x.shape[0]))
        plan = make_plan(problem, question.method)
    except (ValueError, MemoryLimitError):
        if again:
            return None
        raise
    boxed = plan.chosen in maps and maps[plan.chosen].boxed
    if again and not (plan.chosen == "monomials" or boxed):
        return None
    warn_if_indefinite(kernel)
    return Prepared(plan, problem, gamma, survey, rows)


def with_keeping(question: Question, prepared: Prepared, plan: Plan, request: Request) -> Request:
    """The request of a fit from a file: what its pass stores of the rows, and what a checkpoint needs to resume."""
    rows = prepared.rows
    if isinstance(rows, FileRows):
        _warn_unused(rows, plan.chosen)

    def begun(features: FeatureMap) -> Begun:
        return Begun(plan, features, prepared.gamma, rows.n, rows.scaling.mean, rows.scaling.scale)

    return replace(request, keeping=_keeping(question, rows, plan, begun))


def resume(question: Question, rows: Rows) -> tuple[Plan, float, Rows, MomentState]:
    """Resume an interrupted pass for moments; returns its plan, its gamma, its rows and their moments."""
    begun: Begun = rows.begun
    plan, scaling = begun.plan, Scaling(begun.mean, begun.scale)
    method, moved = methods[plan.chosen], rows.moved(scaling)
    if not isinstance(method, ExplicitMethod) or not isinstance(moved, FileRows):
        raise TypeError(f"method {plan.chosen!r} has no moments to continue from")
    moved.n = begun.rows
    observer().begins(plan.chosen, plan.seconds)
    keeping = _keeping(question, moved, plan, lambda features: begun)
    request = Request(np.random.default_rng(), keeping=keeping)  # no seed: the features have been drawn already
    return plan, begun.gamma, moved, method.gather(plan.placed, moved, begun.features, request)


def fit_in_batches(question: Question, rows: Rows) -> Fit:
    """A stream whose batches are the blocks, for methods whose work is not a sum over blocks."""
    if question.moves:
        raise ValueError(
            f"{question.moves}_input=True needs the mean of all rows before the first batch, which forget= and rows "
            "that are read once do not give; pass an array, or rows that are already standardized"
        )
    if isinstance(rows, FileRows) and rows.checkpoint is not None:
        raise ValueError(
            f"checkpoint={str(rows.checkpoint.path)!r} needs a method that sums over blocks, but {rows.name} leads to "
            "a "
            "stream; pass a source that can be read again, or domain="
        )
    return extend(question, None, rows)


def _keeping(question: Question, rows: Rows, plan: Plan, begun: Any) -> Keeping:
    """What a pass over a file stores of its rows."""
    size = 0
    if question.ridge is not None:
        room = affordable_rows(plan.problem.memory_limit, rows.d)
        size = max(1, min(sample_size(question, rows.d), room))
    domain = None if question.domain is None or rows.sparse else read_domain(question.domain, rows.d)
    return Keeping(domain, size, lambda: read_seed(question.seed), begun)


def _warn_unused(rows: FileRows, method: str) -> None:
    """Warn, before the work begins, where the method cannot be resumed from a checkpoint."""
    if rows.checkpoint is not None and method not in maps:
        warn(
            f"checkpoint={str(rows.checkpoint.path)!r} has no effect with method {method!r}, which is not a sum over "
            "blocks: after an interruption, the same call starts over. Methods with explicit features resume; for any "
            "Mercer kernel method='landmarks' is one",
            CheckpointWarning,
        )
