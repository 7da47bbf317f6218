"""Every registered method: what it says of a problem, it can do; what it claims of itself is true."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from adversaries import KERNELS
from extended import missed

from gramless import IndefiniteKernelWarning, UncertifiedWarning, open_source
from gramless.data import Block, ClusterRows, FileRows, LocalParts, Look, MemoryRows, Rows, Scaling, Survey
from gramless.eigen import NotConvergedWarning
from gramless.fitting.methods import methods
from gramless.fitting.methods.planning import ask
from gramless.fitting.model import Model
from gramless.fitting.posing import pose, posed_for_stream
from gramless.fitting.question import FixedKernel, Question
from gramless.kernels import FromCallable, Gaussian, Kernel, Precomputed
from gramless.problem import Estimate, Problem, Request

EVERY_METHOD = pytest.mark.parametrize("name", list(methods))
N, D, K = 14, 2, 3
X = np.random.default_rng(0).standard_normal((N, D))
WEIGHTS = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0, 1.0, 3.0, 1.0, 0.0, 1.0, 1.0, 2.0, 1.0])
COSTLY = {("laplacian", "fourier"), ("matern", "fourier")}  # tens of thousands of frequencies


# --------------------------------------------------------------------------------------------------------------- traits


@EVERY_METHOD
def test_a_method_has_the_traits_of_the_protocol(name: str) -> None:
    method = methods[name]
    for trait in ("streams", "forgets", "maps", "parts", "batches_only", "gpu_only"):
        assert isinstance(getattr(method, trait), bool), trait
    assert isinstance(method.kernels, tuple)
    assert all(issubclass(kernel, Kernel) for kernel in method.kernels)
    assert method.streams or not method.batches_only
    assert type(method).__doc__


# ------------------------------------------------------------------------------------------------------------ estimates


def imagined() -> Iterator[Problem]:
    """Problems of many shapes, which nobody solves here."""
    kernels = [*KERNELS.values(), Precomputed(), FromCallable(np.dot)]
    plain = Problem(n=1000, d=3, kernel=Gaussian(1.0), k=5, tol=1e-10, memory_limit=2**30, threads=2)
    boxed = replace(plain, low=np.zeros(3), high=np.ones(3), weight=1000.0, peak=0.1, variance=0.5)
    places = [
        {},
        {"streaming": True},
        {"streaming": True, "domain": True},
        {"streaming": True, "support": 100},
        {"forget": True},
        {"workers": 4, "partitions": 16},
        {"workers": 4, "partitions": 16, "support": 50},
        {"block": 256},
        {"block": 256, "mapped": True},
        {"solver": "lanczos"},
        {"solver": "dense"},
        {"strict": True, "tol": 1e-3},
    ]
    sizes = [{"n": 2, "k": 1}, {"n": 10**7, "k": 100}, {"memory_limit": 10**5}, {"tol": 1e-16}, {"k": 1000}]
    for kernel in kernels:
        for changes in (*places, *sizes):
            yield replace(boxed, kernel=kernel, **changes)
        yield replace(plain, kernel=kernel, sparse=True, d=10_000)
        yield replace(boxed, kernel=kernel, low=np.full(3, -1e200), high=np.full(3, 1e200))
        yield replace(boxed, kernel=kernel, low=np.ones(3), high=np.ones(3), peak=0.0, variance=0.0)


def assert_sensible(estimate: Estimate, problem: Problem) -> None:
    if estimate.refusal:
        assert isinstance(estimate.refusal, str)
        return
    unboxed = problem.low is None  # nothing is known of where the rows lie: then a method may say that nobody knows
    assert estimate.seconds > 0
    assert np.isfinite(estimate.seconds) or unboxed
    assert np.isfinite(estimate.bytes)
    assert estimate.bytes > 0
    assert np.isfinite(estimate.error)
    assert estimate.error >= 0
    assert estimate.device == "cpu" or problem.device != "cpu"


@EVERY_METHOD
def test_an_estimate_is_a_reason_or_a_price(name: str) -> None:
    refused = []
    for problem in imagined():
        with np.errstate(all="raise", under="ignore", over="ignore"):
            estimate = ask(methods[name], problem)
        assert_sensible(estimate, problem)
        refused.append(bool(estimate.refusal))
    assert all(refused) == methods[name].gpu_only


@EVERY_METHOD
def test_traits_are_refusals(name: str) -> None:
    """What a method says of itself is what a plan says of it."""
    method = methods[name]
    for problem in imagined():
        if (
            (problem.streaming and not method.streams)
            or (problem.workers and not method.parts)
            or (problem.forget and not method.forgets)
            or (method.batches_only and not (problem.streaming or problem.workers))
            or (method.gpu_only and problem.device == "cpu")
            or (method.kernels and not isinstance(problem.kernel, method.kernels))
        ):
            assert ask(method, problem).refusal


# --------------------------------------------------------------------------------------------------------- what they do


@dataclass(frozen=True, eq=False)
class Case:
    """Rows in some place, and how a fit asks for their components.

    Attributes
    ----------
    rows : Rows
    streaming : bool
        Whether more rows may follow: then none of these has weight 0.
    settings : dict
        Of the question.
    """

    rows: Rows
    streaming: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


def in_memory(x: Any = X) -> MemoryRows:
    return MemoryRows(Block(x, WEIGHTS))


def batch() -> MemoryRows:
    return MemoryRows(Block(X, WEIGHTS).present())


def in_file(source: Any) -> FileRows:
    return FileRows(open_source(source), 5, WEIGHTS)


def in_parts() -> ClusterRows:
    """Four partitions, one of them empty."""
    pieces = zip(np.split(X, [4, 4, 9]), np.split(WEIGHTS, [4, 4, 9]), strict=True)
    return ClusterRows(LocalParts([Block(x, weights, number, -1) for number, (x, weights) in enumerate(pieces)]))


BOX = {"domain": (-4.0, 4.0)}
CASES: dict[str, Callable[[Path], Case]] = {
    "array": lambda folder: Case(in_memory()),
    "float32": lambda folder: Case(in_memory(X.astype(np.float32))),
    "csr": lambda folder: Case(in_memory(scipy.sparse.csr_array(X))),
    "forget": lambda folder: Case(in_memory(X.copy()), settings={"keep_rows": False}),
    "domain": lambda folder: Case(in_memory(), settings=BOX),
    "stream": lambda folder: Case(batch(), streaming=True),
    "stream, domain": lambda folder: Case(batch(), streaming=True, settings=BOX),
    "stream, few points": lambda folder: Case(batch(), streaming=True, settings={"support": 5}),
    "stream, strict": lambda folder: Case(batch(), streaming=True, settings={"tol": 1e-9, "strict": True}),
    "map": lambda folder: Case(in_file(folder / "rows.npy")),
    "blocks": lambda folder: Case(in_file(lambda: iter(np.array_split(X, 3)))),
    "partitions": lambda folder: Case(in_parts()),
    "partitions, few points": lambda folder: Case(in_parts(), settings={"support": 5}),
    "torch": lambda folder: Case(in_memory(), settings={"device": "torch"}),
}
NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
EVERY_CASE = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[NEEDS_TORCH] * (case == "torch")) for case in CASES]
)
HERE = [case for case in CASES if case != "torch"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows, as a file in a folder."""
    made = tmp_path_factory.mktemp("methods")
    np.save(made / "rows.npy", X)
    return made


def posed(case: Case, kernel: Kernel) -> tuple[Problem, Survey]:
    """The problem as a fit would pose it."""
    question = Question(FixedKernel(kernel), K, memory_limit=2**28, seed=0, **case.settings)
    survey = case.rows.survey(Look("", 2**28, lambda: np.random.default_rng(0)))
    problem = pose(question, kernel, survey, case.rows.place, Scaling())
    return (posed_for_stream(question, problem) if case.streaming else problem), survey


@cache
def served(name: str, case: str, folder: Path) -> tuple[str, ...]:
    """Kernels that a method does not refuse in a case."""
    made, found = CASES[case](folder), []
    for kernel in KERNELS:
        problem, _ = posed(made, KERNELS[kernel])
        estimate = ask(methods[name], problem)
        assert_sensible(estimate, problem)
        if not estimate.refusal:
            found.append(kernel)
    return tuple(found)


def solve(name: str, case: Case, kernel: Kernel) -> tuple[Any, Model]:
    """What a method makes of the rows, and the model that this finishes as."""
    problem, survey = posed(case, kernel)
    request = Request(np.random.default_rng(0))
    with warnings.catch_warnings():
        for expected in (IndefiniteKernelWarning, UncertifiedWarning, NotConvergedWarning):
            warnings.simplefilter("ignore", expected)
        solution = methods[name].begin(problem, case.rows, survey, request)
        return solution, solution.finish(problem, request, None)


def wrong(model: Model, kernel: Kernel, form: Any) -> str:
    """What is wrong with a model of the rows, which came in some form; empty where nothing is."""
    x = form.toarray() if scipy.sparse.issparse(form) else form
    certificate, values = model.certificate, model.space.scatter
    if len(certificate) != K or not np.isfinite([certificate.lower, certificate.upper, values]).all():
        return f"not {K} numbers: {certificate}"
    if missed(certificate, kernel, x, WEIGHTS).any():
        return f"the true eigenvalues are outside: {certificate}"
    slack = 1e-9 * float(values.max())
    if (values < certificate.lower - slack).any() or (values > certificate.upper + slack).any():
        return f"the eigenvalues {values} are outside their own intervals: {certificate}"
    if abs(model.space.weight - WEIGHTS.sum()) > 1e-9:
        return f"the weight is {model.space.weight}"
    variances = WEIGHTS @ np.asarray(model.space.project(form), dtype=np.float64) ** 2
    width = certificate.upper - certificate.lower
    sure = width <= 1e-6 * values.max()
    if (np.abs(variances - values)[sure] > (1e-5 * values.max() + width)[sure]).any():
        return f"the rows project to variances {variances}, not {values}"
    return ""


@EVERY_CASE
@EVERY_METHOD
def test_what_a_method_does_not_refuse_it_can_do(name: str, case: str, folder: Path) -> None:
    """The true eigenvalues are in the intervals of its model, whatever the kernel."""
    complaints = {}
    for kernel in served(name, case, folder):
        if (kernel, name) in COSTLY:
            continue
        made = CASES[case](folder)
        try:
            _, model = solve(name, made, KERNELS[kernel])
        except ValueError as error:
            if "significant negative eigenvalues" not in str(error) or KERNELS[kernel].mercer:
                complaints[kernel] = repr(error)
            continue
        form = made.rows.whole().x if case in ("float32", "csr") else X
        if text := wrong(model, KERNELS[kernel], form):
            complaints[kernel] = text
    assert not complaints


@EVERY_METHOD
def test_every_method_serves_somebody(name: str, folder: Path) -> None:
    if methods[name].gpu_only and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    assert any(served(name, case, folder) for case in (["torch"] if methods[name].gpu_only else HERE))


@EVERY_METHOD
def test_a_method_serves_where_its_traits_say(name: str, folder: Path) -> None:
    method = methods[name]

    def serves(*cases: str) -> bool:
        return any(served(name, case, folder) for case in cases)

    assert serves("partitions") == method.parts
    assert serves("stream", "stream, domain", "stream, few points", "stream, strict") == method.streams
    assert serves("array") == (not (method.batches_only or method.gpu_only))
    if not (method.batches_only or method.gpu_only):
        assert serves("forget") == method.forgets
    for case in HERE:
        for kernel in served(name, case, folder):
            assert isinstance(KERNELS[kernel], method.kernels or Kernel)


@EVERY_METHOD
def test_a_method_that_streams_makes_a_state(name: str, folder: Path) -> None:
    """To which rows can be added; it has counted those it has seen."""
    for case in ("stream", "stream, domain", "stream, few points", "stream, strict"):
        for kernel in served(name, case, folder):
            if (kernel, name) in COSTLY:
                continue
            made = CASES[case](folder)
            rows, state = made.rows.whole(), solve(name, made, KERNELS[kernel])[0]
            assert (state.rows, state.weight) == (len(rows.x), pytest.approx(rows.weights.sum()))
            assert state.add(rows).rows == 2 * state.rows
            break


@EVERY_METHOD
def test_a_method_that_forgets_does_without_the_rows(name: str, folder: Path) -> None:
    for kernel in served(name, "forget", folder):
        if (kernel, name) in COSTLY:
            continue
        made = CASES["forget"](folder)
        _, model = solve(name, made, KERNELS[kernel])
        before = model.space.project(X)
        made.rows.whole().x[:] = np.nan
        np.testing.assert_array_equal(model.space.project(X), before)


@EVERY_METHOD
def test_a_method_that_maps_is_not_charged_for_the_rows_of_a_map(name: str, folder: Path) -> None:
    """Where rows can be had in any order, only methods that need all of them in memory pay for that."""
    for kernel in served(name, "map", folder):
        problem, _ = posed(CASES["map"](folder), KERNELS[kernel])
        assert problem.mapped
        mapped, read = (ask(methods[name], replace(problem, mapped=mapped)) for mapped in (True, False))
        assert (mapped.bytes < read.bytes) == methods[name].maps


@EVERY_METHOD
def test_a_given_matrix_is_solved_or_refused(name: str) -> None:
    kernel = Gaussian(1.0)
    rows = MemoryRows(Block(kernel(X), WEIGHTS), boxed=False)
    for streaming in (False, True):
        case = Case(rows, streaming)
        if not ask(methods[name], posed(case, Precomputed())[0]).refusal:
            _, model = solve(name, case, Precomputed())
            assert not missed(model.certificate, kernel, X, WEIGHTS).any()
            assert not streaming


@pytest.mark.parametrize("share", [0.3, 0.9])
@EVERY_METHOD
def test_a_share_of_the_variance_is_captured(name: str, share: float, folder: Path) -> None:
    """By as many components as that takes, and no more."""
    for kernel in set(served(name, "array", folder)) & {"gaussian", "polynomial", "linear", "sum"}:
        case = CASES["array"](folder)
        problem, survey = posed(case, KERNELS[kernel])
        request = Request(np.random.default_rng(0), share=share)
        solution = methods[name].begin(problem, case.rows, survey, request)
        space = solution.finish(replace(problem, k=0), request, None).space
        captured = np.cumsum(space.scatter) / space.trace
        assert captured[-1] >= share * (1 - 1e-9)
        assert len(captured) == 1 or captured[-2] < share
