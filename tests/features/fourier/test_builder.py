"""What a Fourier map is expected to cost, beside what it costs: errors and bytes, not seconds."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from gramless.errors import MemoryLimitError
from gramless.features import Box, fourier_map, maps
from gramless.kernels import Epanechnikov, Gaussian, Laplacian, Linear, Matern
from gramless.problem import Problem

BUILDER = maps["fourier"]


def problem(kernel, d, tol, k=3, n=300):
    x = np.random.default_rng(0).random((n, d))
    gram = kernel(x[:300])
    moved = gram - gram.mean(axis=0)
    peak = float(np.linalg.eigvalsh(moved - moved.mean(axis=1)[:, None])[-1]) / len(gram)
    box = {"low": np.zeros(d), "high": np.ones(d)}
    return x, Problem(n=n, d=d, kernel=kernel, k=k, tol=tol, memory_limit=10**9, weight=float(n), peak=peak, **box)


CASES = [
    problem(Gaussian(0.1), 1, 1e-8),
    problem(3.0 * Gaussian(0.1), 1, 1e-4),
    problem(Gaussian(0.2), 2, 1e-6),
    problem(Gaussian(0.2), 2, 1e-2),
    problem(Gaussian(0.4), 3, 1e-3),
    problem(Matern(1.5, 0.5), 1, 1e-3),
]


@pytest.mark.parametrize("case", CASES)
def test_the_error_that_is_expected_is_the_one_that_is_proved(case):
    x, asked = case
    estimate = BUILDER.estimate(asked)
    phi = BUILDER.make(asked, x, np.ones(len(x)), np.random.default_rng(0))
    spectrum = phi.moments(x, np.ones(len(x))).solve(asked.k, asked.tol, np.random.default_rng(0))
    reached = float(spectrum.residual.max()) / (asked.weight * asked.peak)
    assert reached <= estimate.error <= 2 * reached
    assert estimate.error <= 0.51 * asked.tol


@pytest.mark.parametrize(
    "case",
    [
        problem(Gaussian(0.3), 1, 1e-8, n=200_000),  # rows and angles
        problem(Gaussian(0.12), 2, 1e-8, k=70),  # vectors of an iteration
        problem(Gaussian(0.12), 2, 1e-3, k=70),  # a matrix
        problem(Gaussian(0.8), 3, 1e-3),
    ],
)
def test_no_more_memory_is_taken_than_expected(case):
    x, asked = case
    tracemalloc.start()
    try:
        phi = BUILDER.make(asked, x, np.ones(len(x)), np.random.default_rng(0))
        phi.moments(x, np.ones(len(x))).solve(asked.k, asked.tol, np.random.default_rng(0))
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken <= BUILDER.estimate(asked).bytes <= 4 * taken


def test_more_threads_take_more_memory_and_less_time():
    _, asked = problem(Gaussian(0.3), 2, 1e-8)
    one, four = (BUILDER.estimate(replace(asked, n=10**8, threads=threads)) for threads in (1, 4))
    assert one.bytes < four.bytes < 4.1 * one.bytes
    assert one.seconds / 4.1 < four.seconds < one.seconds


def test_a_limit_that_just_holds_the_map_is_enough():
    x, asked = problem(Gaussian(0.3), 2, 1e-6)
    needed = BUILDER.estimate(asked).bytes
    weights, rng = np.ones(len(x)), np.random.default_rng(0)
    assert BUILDER.make(replace(asked, memory_limit=needed), x, weights, rng).n_features > 0
    with pytest.raises(MemoryLimitError, match="increase memory_limit or tol"):
        BUILDER.make(replace(asked, memory_limit=needed - 1), x, weights, rng)


def test_the_box_is_that_of_the_problem_or_of_the_rows():
    x, asked = problem(Gaussian(0.3), 2, 1e-6)
    weights = np.ones(len(x))
    phi = BUILDER.make(asked, x, weights, np.random.default_rng(0))
    np.testing.assert_array_equal([phi.grid.box.low, phi.grid.box.high], [[0, 0], [1, 1]])
    phi = BUILDER.make(replace(asked, low=None, high=None), x, weights, np.random.default_rng(0))
    np.testing.assert_array_equal([phi.grid.box.low, phi.grid.box.high], [x.min(axis=0), x.max(axis=0)])
    with pytest.raises(ValueError, match="the Fourier map is not applicable: 4 columns"):
        BUILDER.make(replace(asked, d=4), x, weights, np.random.default_rng(0))


def test_a_box_that_is_moved_costs_the_same():
    _, asked = problem(Gaussian(0.3), 2, 1e-6)
    moved = replace(asked, low=asked.low + 100, high=asked.high + 100)
    assert BUILDER.estimate(moved) == BUILDER.estimate(asked)


def test_the_goal_is_a_share_of_the_peak_but_no_less_than_finufft_can_do():
    x, asked = problem(2.0 * Gaussian(0.3), 1, 1e-6)
    weights = np.ones(len(x))
    assert BUILDER.make(asked, x, weights, np.random.default_rng(0)).grid.goal == pytest.approx(5e-7 * asked.peak)
    least = BUILDER.make(replace(asked, tol=1e-30), x, weights, np.random.default_rng(0))
    assert least.grid.goal == pytest.approx(2e-14)
    assert BUILDER.estimate(replace(asked, peak=0.0)).error > 1e100  # of nothing, no share is small


def test_a_tail_that_is_too_long_falls_short_of_the_goal_as_little_as_a_modest_grid_allows():
    box = Box(np.zeros(1), np.ones(1))
    phi = fourier_map(Laplacian(0.5), box, 1e-9)
    assert 20_000 <= phi.n_features <= 60_000
    assert phi.grid.goal == 1e-9
    assert phi.grid.error <= 7 / phi.n_features
    _, asked = problem(Laplacian(0.5), 1, 1e-9)
    fine, coarse = BUILDER.estimate(asked), BUILDER.estimate(replace(asked, tol=0.1))
    assert 1e-9 < fine.error < 0.1 * phi.grid.error / asked.peak  # most of it moves all eigenvalues alike
    assert coarse.error <= 0.051
    with pytest.raises(ValueError, match="too small for this box"):
        fourier_map(Gaussian(1e-7), box, 1e-3)


def test_the_accuracy_of_the_sums_leaves_half_of_the_error_to_the_grid():
    """An error of the sums enters the scatter three times."""
    box = Box(np.zeros(1), np.ones(1))
    for factor in (1.0, 4.0):
        phi = fourier_map(factor * Gaussian(0.3), box, 1e-4)
        moments = phi.moments(np.linspace(0, 1, 9)[:, None], np.ones(9))
        assert 0.4e-4 * 9 <= moments.rounding <= 0.51e-4 * 9
        assert phi.grid.error <= 0.55e-4
    assert fourier_map(Gaussian(0.3), box, 1e3).grid.error <= 0.11  # a map for any goal is one of the kernel


def problem_of(kernel, x, **more):
    given = {"k": 3, "tol": 1e-8, "memory_limit": 10**9, "low": x.min(axis=0), "high": x.max(axis=0), "peak": 0.1}
    return Problem(n=len(x), d=x.shape[1], kernel=kernel, weight=float(len(x)), **{**given, **more})


@pytest.mark.parametrize(
    ("kernel", "x", "more", "reason"),
    [
        (Gaussian(1.0), np.zeros((3, 4)), {}, "at most 3"),
        (Linear(), np.zeros((3, 2)), {}, "the Fourier transform of this kernel is unknown"),
        (Epanechnikov(1.0), np.zeros((3, 2)), {}, "the Fourier transform of this kernel is unknown"),
        (Gaussian(float("inf")), np.zeros((3, 2)), {}, "the Fourier transform of this kernel is unknown"),
        (-1.0 * Gaussian(1.0), np.zeros((3, 2)), {}, "the Fourier transform of this kernel is unknown"),
        (Gaussian(1.0), np.zeros((3, 2)), {"sparse": True}, "sparse"),
        (Gaussian(1e-4), np.eye(3), {}, "too small"),
        (Gaussian(1.0), np.eye(3), {"low": None, "high": None}, "domain"),
    ],
)
def test_refusals_say_why(kernel, x, more, reason):
    assert reason in BUILDER.estimate(problem_of(kernel, x, **more)).refusal


def test_memory_is_refused_before_it_is_taken():
    x = np.stack([np.zeros(3), np.ones(3)])
    problem = problem_of(Gaussian(0.1), x, memory_limit=10**6)
    assert BUILDER.estimate(problem).bytes > 10**6
    with pytest.raises(MemoryLimitError, match="memory_limit"):
        BUILDER.make(problem, x, np.ones(2), np.random.default_rng(0))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_estimates_grow_with_the_work(d):
    x = np.stack([np.zeros(d), np.ones(d)])
    coarse, fine, long = (
        BUILDER.estimate(replace(problem_of(Gaussian(sigma), x, tol=tol), n=n))
        for sigma, tol, n in [(0.5, 1e-4, 10**5), (0.15, 1e-10, 10**5), (0.15, 1e-10, 10**7)]
    )
    assert coarse.seconds < fine.seconds < long.seconds
    assert coarse.bytes < fine.bytes <= long.bytes
    assert coarse.error <= 1.1e-4
    assert long.error <= 1.2e-10
