"""Streaming fits: batches of rows are added to a fit or removed from it, and two fits are joined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramless.data import Block, Look, MemoryRows, Rows, Scaling
from gramless.data.dominance import remedy_for
from gramless.errors import SourceError
from gramless.fitting.fitted import Fit, make_request, refuse_overflow, trimmed
from gramless.fitting.methods import State, carried_on, make_plan, methods, state_of
from gramless.fitting.methods.fading import faded, fading, lasting
from gramless.fitting.posing import domain_of, planned_stream, pose, posed_for_stream
from gramless.fitting.preimages import sampled
from gramless.fitting.question import Question
from gramless.progress import observer


def extend(question: Question, found: Fit | None, rows: Rows) -> Fit:
    """The fit `found` (None: an empty one) with `rows` added; every block of `rows` is a batch."""
    found = None if found is None else going_on(question, found)
    for block in rows.blocks():
        if block.weights.any():
            found = _open(question, block, rows.names) if found is None else _grown(question, found, block)
    if found is None:
        raise SourceError(f"{rows.name} has no rows of positive weight")
    return found


def shrunk(question: Question, found: Fit, rows: Rows) -> Fit:
    """The fit with `rows` removed."""
    found = going_on(question, found)
    state = _state(found)
    for block in rows.blocks():
        block = replace(block, x=found.scaling(block.x), given=block.x).present()
        state = state.remove(lasting(found.kernel, block, block.weights))
    return _followed(found, state, found.dtype)


def finish(question: Question, found: Fit) -> Fit:
    """The fit with its model."""
    if found.model is not None:
        return found
    problem = replace(found.plan.problem, k=question.count)
    model = trimmed(question, _state(found).finish(problem, make_request(question), found.before))
    refuse_overflow(model, found.dtype)
    return replace(found, model=model)


def join(question: Question, ours: Fit, other_question: Question, theirs: Fit) -> Fit:
    """The fit of the rows of both fits; each fit comes with the question that it answered.

    Raises a ValueError that names the difference where the two fits cannot be joined.
    """
    states = []
    for asked, found, name in ((question, ours, "this model"), (other_question, theirs, "other")):
        state = _continued(asked, found)
        if state is None:
            if found.compression is not None:
                raise ValueError(f"{name} is compressed: its rows are gone; merge the originals, and compress that")
            raise ValueError(
                f"{name} was fitted by method={found.plan.chosen!r}, which stores nothing that could be added; "
                "fit both with the same, other, method="
            )
        states.append(state)
    if ours.dtype != theirs.dtype:
        raise ValueError(f"dtypes differ: {ours.dtype} and {theirs.dtype}; convert the rows of one of them")
    if states[0].keeps != states[1].keeps:
        raise ValueError(
            f"features differ: this model was fitted by method={ours.plan.chosen!r} and other by "
            f"method={theirs.plan.chosen!r}; fit both with the same method="
        )
    sample = None
    if question.ridge is not None and ours.sample is not None and theirs.sample is not None:
        sample = ours.sample + theirs.sample
    both = _carried(question, ours, states[0].merged(states[1]))
    return replace(both, sample=sample, before=None)  # the signs of the two models may differ


def going_on(question: Question, found: Fit) -> Fit:
    """The fit as a stream: from the state of its method, or from its rows where its method leaves no state."""
    if found.state is not None:
        return found
    state = _continued(question, found)
    if state is not None:
        return _carried(question, found, state)
    if found.compression is not None and found.x is None:
        raise ValueError(
            "a compressed model cannot be continued: its rows are gone; continue the original model, and compress that"
        )
    if found.x is None or found.weights is None:
        raise ValueError(
            f"a fit by method={found.plan.chosen!r} without its rows (keep_data=False) cannot be continued; "
            "start with partial_fit, or fit with keep_data=True"
        )
    return _open(question, Block(found.scaling(found.x), found.weights, given=found.x), None, seen=found)


def _continued(question: Question, found: Fit) -> State | None:
    """The state of a finished fit, to which rows can be added; None where its method leaves no state."""
    if found.state is not None:
        return found.state
    if found.scaling and found.scaling.scale is None:  # centered input: every batch would have a mean of its own
        return None
    problem = posed_for_stream(question, found.plan.problem)
    return state_of(found.finished, found.weights, problem, make_request(question))


def _carried(question: Question, found: Fit, state: State) -> Fit:
    """The fit as a stream with this state; the state may belong to another method."""
    plan, carrier = found.plan, state.carrier or found.plan.chosen
    if carrier != plan.chosen:
        plan = carried_on(posed_for_stream(question, plan.problem), carrier)
    return replace(_followed(found, state, found.dtype), plan=plan, sample=found.sample)


def _followed(found: Fit, state: State, dtype: Any) -> Fit:
    """The stream with another state; :func:`finish` computes its model."""
    before = found.before if found.model is None else found.model.space
    return Fit(found.plan, found.gamma, found.scaling, np.dtype(dtype), state=state, before=before)


def _state(found: Fit) -> State:
    assert found.state is not None
    return found.state


def _open(question: Question, block: Block, names: Any, seen: Fit | None = None) -> Fit:
    """A new stream, planned for its first batch; the rows of the fit `seen` have been checked and faded already."""
    scaling = Scaling() if seen is None else seen.scaling
    if question.support is not None and question.support < max(1, question.count):
        raise ValueError(
            f"max_support={question.support} points cannot span n_components={question.count} components; increase "
            "max_support"
        )
    if question.domain is not None:
        domain_of(question, MemoryRows(block).survey(), scaling)  # raises for rows outside the domain
    rows = MemoryRows(block.present())
    block, survey = rows.block, rows.survey(Look("", question.memory_limit))
    if seen is None and question.kernel.looks:
        question.kernel.check_first(survey)
        question.kernel.warn(survey, names, remedy_for(rows.place.workers, scalable=False))
    gamma, kernel = question.kernel.of(survey)
    weights = block.weights if seen is not None else faded(block.weights, question.half_life)
    lasts = lasting(kernel, block, weights)
    if lasts is not block:
        rows = MemoryRows(lasts)
        survey = rows.survey(Look("", question.memory_limit))
    problem = planned_stream(question, pose(question, kernel, survey, rows.place, scaling))
    plan = make_plan(problem, question.method)
    observer().begins(plan.chosen, np.inf)
    first = replace(plan.placed, k=question.count) if plan.chosen == "merging" else plan.placed
    state: Any = methods[plan.chosen].begin(first, rows, survey, make_request(question))
    original = block.x if block.given is None else block.given
    found = Fit(plan, gamma, scaling, np.dtype(original.dtype), state=state)
    if seen is not None:
        return replace(found, sample=seen.sample)
    return sampled(question, found, original, weights, first=True) if question.ridge is not None else found


def _grown(question: Question, found: Fit, block: Block) -> Fit:
    """The stream with one more batch."""
    original, kernel, state = block.x, found.plan.problem.kernel, _state(found)
    if found.scaling.mean is not None:
        block = replace(block, x=found.scaling(original), given=original)
    if question.domain is not None:
        domain_of(question, MemoryRows(block).survey(), found.scaling)  # raises for rows outside the domain
    if not (block.weights > 0).all():
        block = block.present()
        original = block.original
    weights, sample = block.weights, found.sample
    if question.half_life is not None:
        weights = faded(weights, question.half_life)
        factor = fading(state.weight, len(weights), question.half_life)
        state, sample = state.scaled(factor), None if sample is None else sample.scaled(factor)
    observer().begins(found.plan.chosen, np.inf)
    state = state.add(lasting(kernel, block, weights))
    found = replace(_followed(found, state, np.result_type(found.dtype, original.dtype)), sample=sample)
    return sampled(question, found, original, weights, first=False) if question.ridge is not None else found
