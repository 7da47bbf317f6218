"""The problem that a question poses for rows; methods are planned and run from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from gramless.arrays import evenly_spaced, refuse_weights, thread_count
from gramless.arrays.devices import find_device
from gramless.data import Place, Rows, Scaling, Survey
from gramless.data.domain import read_domain, refuse_outside
from gramless.features import Box
from gramless.fitting.methods import Plan
from gramless.fitting.question import Question
from gramless.gram.spectrum import estimate_spectrum, spread
from gramless.kernels import Kernel
from gramless.problem import Problem

_ALL = 1000  # components to plan with, where all components of rows that are not in memory are requested
_SHARE = 16  # components to begin with, where a fraction of the variance is requested
_PLANNED = 1024  # rows of the sample that methods are planned with; twice as many from `_MANY` rows on
_MANY = 50_000
_STREAM = 10**6  # rows to plan a stream for, as their number is not known


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a fit begins with.

    Attributes
    ----------
    plan : Plan
    problem : Problem
        The problem to be solved; the plan may be for fewer components.
    gamma : float
    survey : Survey
        Survey of the centered and scaled rows.
    rows : Rows
        Rows, centered and scaled.
    """

    plan: Plan
    problem: Problem
    gamma: float
    survey: Survey
    rows: Rows


def pose(
    question: Question, kernel: Kernel, survey: Survey, place: Place, scaling: Scaling, *, look: bool = True
) -> Problem:
    """The problem for surveyed rows, which are centered and scaled already.

    Parameters
    ----------
    question : Question
    kernel : Kernel
    survey : Survey
    place : Place
    scaling : Scaling
        Scaling applied to the rows; it is applied to ``domain=`` as well, which is in the units of the input.
    look : bool
        Whether the spectrum is estimated from a sample; methods that are asked for their estimates need it.
    """
    n, view = survey.n, survey.view
    sparse = bool(scipy.sparse.issparse(view))
    refuse_weights(survey.weight)
    domain = domain_of(question, survey, scaling)
    box = survey.box if domain is None else domain
    peak = variance = 1.0
    if look:
        sample, size = (view, n) if domain is None else (spread(domain.low, domain.high), None)
        peak, variance = estimate_spectrum(kernel, sample, size)
    default = 1e-5 if view.dtype == np.float32 else 1e-10
    looked_at = look and survey.box is not None and domain is None and (survey.complete or survey.remote)
    return Problem(
        n=n,
        d=view.shape[1],
        kernel=kernel,
        k=n if question.everything else min(n, question.count or _SHARE),
        tol=default if question.tol is None else question.tol,
        memory_limit=survey.memory_limit,
        solver=question.solver,
        threads=thread_count(),
        sparse=sparse,
        entries=int(view.nnz) if sparse else 0,
        low=None if box is None else box.low,
        high=None if box is None else box.high,
        weight=survey.weight,
        strict=question.strict,
        support=question.support if place.workers else None,
        forget=not question.keep_rows,
        domain=domain is not None,
        peak=peak,
        variance=variance,
        sample=view[evenly_spaced(view.shape[0], _PLANNED if n < _MANY else 2 * _PLANNED)] if looked_at else None,
        device="cpu" if place.workers else find_device(question.device),
        anywhere=question.device == "auto" and not place.workers,
        workers=place.workers,
        partitions=place.partitions,
        block=place.block,
        mapped=place.mapped,
        time_limit=question.time_limit,
    )


def domain_of(question: Question, survey: Survey, scaling: Scaling) -> Box | None:
    """``domain=`` after scaling; raises where surveyed rows lie outside. None without a domain or without a box."""
    if question.domain is None or survey.box is None:
        return None
    given = read_domain(question.domain, survey.view.shape[1])
    domain = Box(scaling(given.low), scaling(given.high))
    seen = survey.box if survey.complete or survey.remote else Box.around(survey.view)
    refuse_outside(domain, seen, scaling.inverse)
    return domain


def posed_for_plan(question: Question, problem: Problem) -> Problem:
    """The problem as it is planned: at most `_ALL` components where all components of out-of-core rows are wanted."""
    few = question.everything and (problem.block or problem.workers)
    return replace(problem, k=min(problem.k, _ALL)) if few else problem


def posed_for_stream(question: Question, problem: Problem) -> Problem:
    """The problem of rows that come in batches and are not kept."""
    support = question.support
    forget = problem.forget and support is None
    here = replace(problem, workers=0, partitions=1)  # batches come to this process, wherever the fit before was made
    return replace(here, streaming=True, support=support, forget=forget, k=question.count, sample=None)


def planned_stream(question: Question, problem: Problem, n: int | None = None) -> Problem:
    """The problem of a stream as it is planned: for at least `_STREAM` rows where `n` is not known."""
    n = max(problem.n, _STREAM) if n is None else n
    return replace(posed_for_stream(question, problem), n=n, k=question.count or _SHARE)
