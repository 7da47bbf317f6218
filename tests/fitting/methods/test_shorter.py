"""Less time for less accuracy: what the default tolerance gives up, and what a time limit allows."""

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from gramless import KernelPCA, LongFitWarning
from gramless.arrays.durations import parse_seconds
from gramless.eigen import NotConvergedWarning, Outcome, eigsh
from gramless.fitting.methods import make_plan, planning
from gramless.fitting.methods.planning import Plan
from gramless.fitting.methods.shorter import shortened, within_limit
from gramless.kernels import Gaussian
from gramless.problem import Estimate, Problem

PROBLEM = Problem(n=10**6, d=20, kernel=Gaussian(8.0), k=5, tol=1e-10, memory_limit=10**10, peak=0.05)


def priced(seconds):
    """A choice whose only method takes ``seconds(tol)``."""

    def choice(problem):
        took = seconds(problem.tol)
        if took is None:
            raise ValueError("cannot be reached")
        return Plan(problem, "tiled", {"tiled": Estimate(took, 10, problem.tol)})

    return choice


@pytest.mark.parametrize(
    ("seconds", "tol", "cut"),
    [
        (lambda tol: 100.0, 1e-10, False),  # nothing is faster
        (lambda tol: 0.5 if tol < 1e-8 else 0.01, 1e-10, False),  # short enough
        (lambda tol: 100.0 if tol < 1e-8 else 20.0, 1e-8, False),
        (lambda tol: 100.0 if tol < 1e-8 else 30.0, 1e-10, False),  # not a quarter
        (lambda tol: 5000.0 if tol < 1e-5 else 100.0, 1e-5, True),
        (lambda tol: 5000.0 if tol < 1e-5 else 400.0 if tol < 1e-4 else 90.0, 1e-4, True),
        (lambda tol: 5000.0 if tol < 2e-3 else 1.0, 1e-10, False),  # nothing to 1e-3 in a tenth of the time
        (lambda tol: 800.0 if tol < 1e-4 else 100.0, 1e-10, False),
        (lambda tol: 4000.0 if tol < 1e-8 else 700.0 if tol < 1e-3 else 50.0, 1e-3, True),
    ],
)
def test_the_default_gives_up_hours_and_nothing_else(seconds, tol, cut):
    choice = priced(seconds)
    plan = shortened(choice(PROBLEM), choice)
    assert plan.problem.tol == pytest.approx(tol)
    assert plan.cut == cut
    assert bool(plan.rule) == (tol != 1e-10)
    assert plan.rule in str(plan)


def test_a_tolerance_that_was_given_is_kept():
    plan = make_plan(replace(PROBLEM, strict=True, n=3_000_000))
    assert plan.problem.tol == 1e-10
    assert not plan.rule


@pytest.mark.parametrize(("limit", "tol"), [(1000.0, 1e-10), (100.0, 1e-4), (10.0, 1e-2)])
def test_a_limit_takes_the_smallest_tolerance_that_fits(limit, tol):
    choice = priced(lambda tol: 700.0 if tol < 9e-5 else 70.0 if tol < 9e-3 else 7.0)
    assert within_limit(replace(PROBLEM, time_limit=limit), choice).problem.tol == pytest.approx(tol)


def test_a_limit_that_nothing_meets_is_refused_with_the_least():
    choice = priced(lambda tol: 7.0)
    with pytest.raises(ValueError, match=r"time_limit=2 s is too short: the fastest method, 'tiled', takes about 7 s"):
        within_limit(replace(PROBLEM, time_limit=2.0), choice)
    with pytest.raises(ValueError, match="cannot be reached"):
        within_limit(replace(PROBLEM, time_limit=2.0), priced(lambda tol: None))


@pytest.mark.parametrize("text", ["5 days", "-3s", "", "0"])
def test_limits_that_are_none(text):
    with pytest.raises(ValueError, match="time_limit="):
        parse_seconds(text)


def test_an_iteration_stops_at_its_deadline_and_is_certified_as_it_stands():
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.standard_normal((600, 600)))[0]
    matrix = (q * np.linspace(1, 0.9, 600)) @ q.T  # no gap: slow
    with pytest.warns(NotConvergedWarning, match="time limit.*Increase time_limit"):
        found = eigsh(matrix, 3, tol=1e-12, rng=0, deadline=time.perf_counter() - 1)
    assert found.outcome is Outcome.TIME_LIMIT
    truth = np.linalg.eigvalsh(matrix)[::-1][:3]
    assert (found.certificate.lower <= truth).all()
    assert (truth <= found.certificate.upper).all()


def test_estimators_take_a_limit():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((15_000, 12))
    model = KernelPCA(5, kernel="rbf", gamma="median", time_limit="2s", random_state=0)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error", LongFitWarning)
        model.fit(x)
    assert time.perf_counter() - began < 20  # a machine may be busy
    assert model.plan_.seconds <= 2
    with pytest.raises(ValueError, match="is too short"):
        KernelPCA(5, kernel="rbf", time_limit=1e-6).fit(x)
    with pytest.raises(ValueError, match="time_limit"):
        KernelPCA(5, time_limit="soon").fit(x)


def test_a_fit_that_was_cut_says_so_and_names_the_way_to_the_long_one(monkeypatch):
    def cut(plan, choice):
        shorter = choice(replace(plan.problem, tol=1e-3, strict=True))
        return replace(shorter, rule="tol=1e-10, the default, would take about 3 h", cut=True)

    monkeypatch.setattr(planning, "shortened", cut)
    x = np.random.default_rng(0).standard_normal((5000, 5))
    with pytest.warns(LongFitWarning, match=r"certified to 1e-03 .*because tol=1e-10, the default.*pass tol=1e-10 for"):
        model = KernelPCA(3, kernel="rbf", random_state=0).fit(x)
    assert model.plan_.problem.tol == 1e-3
    with warnings.catch_warnings():  # a tolerance that was given is kept without a word
        warnings.simplefilter("error")
        assert KernelPCA(3, kernel="rbf", random_state=0, tol=1e-6).fit(x).plan_.problem.tol == 1e-6
