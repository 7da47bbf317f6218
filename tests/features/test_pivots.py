"""Landmarks are drawn as the theory wants them: by what is left, from rows drawn by weight, in any unit."""

from itertools import permutations
from math import comb

import numpy as np
import pytest

from gramless.features import LandmarkBuilder, choose_pivots, poisson_bound
from gramless.kernels import Gaussian, Laplacian, Linear
from gramless.problem import Problem

ROWS = np.array([[2.0, 0.0, 0.0], [1.9, 0.5, 0.0], [0.0, 1.0, 1.0], [0.3, 0.0, 0.7]])
WEIGHTS = np.array([1.0, 3.0, 2.0, 6.0])


def left_by(x, chosen):
    """Diagonal of what these rows leave of x x^T."""
    basis = np.linalg.qr(x[list(chosen)].T)[0] if len(chosen) else np.zeros((x.shape[1], 0))
    return (x**2).sum(axis=1) - ((x @ basis) ** 2).sum(axis=1)


def chance(x, weights, chosen):
    """That these rows are drawn in this order, each in proportion to its weight times what is left of it."""
    found = 1.0
    for i, row in enumerate(chosen):
        left = weights * left_by(x, chosen[:i]).clip(1e-12)
        found *= left[row] / left.sum()
    return found


def test_the_choice_is_distributed_as_if_made_one_by_one():
    rng, times = np.random.default_rng(0), 1500
    counts = dict.fromkeys(permutations(range(4), 2), 0)
    for _ in range(times):
        counts[tuple(choose_pivots(Linear(), ROWS, WEIGHTS, 2, 0.0, rng).indices)] += 1
    for pair, count in counts.items():
        expected = chance(ROWS, WEIGHTS, pair)
        assert abs(count - times * expected) <= 4.5 * np.sqrt(times * expected) + 1


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_the_choice_has_no_unit(unit):
    x = np.random.default_rng(1).standard_normal((60, 5))
    plain = choose_pivots(Linear(), x, np.ones(60), 4, 0.1, np.random.default_rng(2))
    for rows, weights, goal in ((unit * x, np.ones(60), 0.1 * unit**2), (x, np.full(60, unit), 0.1)):
        other = choose_pivots(Linear(), rows, weights, 4, goal, np.random.default_rng(2))
        np.testing.assert_array_equal(other.indices, plain.indices)
        assert other.leak == pytest.approx(plain.leak * goal / 0.1)


def test_what_is_left_is_that_of_the_rows_not_chosen():
    x = np.random.default_rng(1).standard_normal((40, 6)) * [8.0, 4.0, 2.0, 1.0, 0.5, 0.25]
    for most in (1, 3, 5):
        pivots = choose_pivots(Linear(), x, np.ones(40), most, 0.0, np.random.default_rng(most))
        assert len(pivots.indices) == most
        rest = np.delete(left_by(x, pivots.indices), pivots.indices)
        assert pivots.leak == pytest.approx(rest.mean(), rel=1e-9)
    all_but_one = choose_pivots(Linear(), x[:6], np.ones(6), 5, 0.0, np.random.default_rng(0))
    assert all_but_one.leak == pytest.approx(left_by(x[:6], all_but_one.indices).sum(), rel=1e-6)


def test_the_choice_goes_on_until_the_goal_and_no_further():
    x = np.random.default_rng(1).uniform(size=(500, 2))
    for goal in (0.1, 1e-2, 1e-4):
        few = choose_pivots(Gaussian(0.5), x, np.ones(500), 400, goal, np.random.default_rng(0))
        count = len(few.indices)
        assert few.leak * (500 - count) / 500 <= goal
        if count > 128:  # a block may go too far, but not two
            fewer = choose_pivots(Gaussian(0.5), x, np.ones(500), count - 128, goal, np.random.default_rng(0))
            assert fewer.leak > goal


def test_of_many_rows_a_sample_is_drawn_by_weight():
    x = np.arange(50_000.0)[:, None]
    weights = np.where(np.arange(50_000) % 50 == 7, 1 + 2.0**-10, 2.0**-10)
    chosen = choose_pivots(Gaussian(1.0), x, weights, 100, 0.0, np.random.default_rng(0), "uniform").indices
    assert len(np.unique(chosen)) == 100
    assert 10 <= np.count_nonzero(chosen % 50 == 7) <= 30  # a fifth of the sample; of the rows a fiftieth
    small = choose_pivots(Gaussian(1.0), x, 1e-6 * weights, 30, 0.0, np.random.default_rng(0)).indices
    assert len(np.unique(small)) == 30


def problem_of(x, kernel, **changes):
    given = {"tol": 1e-6, "memory_limit": 10**9, "k": 3, "peak": 0.1}
    return Problem(x.shape[0], x.shape[1], kernel, **(given | changes))


def test_a_row_of_no_weight_is_never_a_landmark():
    """Not even where the kernel vanishes at all others, so that none stands out."""
    x, weights = np.array([[5.0, 1.0], [0.0, 0.0], [0.0, 0.0]]), np.array([0.0, 1.0, 1.0])
    phi = LandmarkBuilder().make(problem_of(x, Linear()), x, weights, np.random.default_rng(0))
    np.testing.assert_array_equal(phi.points, [[0.0, 0.0]])
    assert phi.moments(x[1:], weights[1:]).trace <= 1e-12
    half = np.arange(40) % 2 * 1.0
    for choice in ("cholesky", "uniform"):
        chosen = choose_pivots(Laplacian(1.0), half[:, None], half, 10, 0.0, np.random.default_rng(0), choice).indices
        assert half[chosen].all()


@pytest.mark.parametrize("memory", [10**5, 10**6, 10**7, 10**8])
def test_landmarks_fit_the_memory(memory):
    """A sample of twenty rows for each of them, twice, and as much again."""
    x = np.zeros((10**6, 3))
    rank = LandmarkBuilder().rank(problem_of(x, Laplacian(1.0), memory_limit=memory, tol=1e-12))
    assert rank <= 16 or 8 * 2 * 20 * rank**2 <= memory / 2
    assert rank >= min(16, 0.9 * np.sqrt(memory / 640))


def test_more_components_and_digits_take_more_landmarks_but_never_more_than_rows():
    x, builder = np.zeros((10**5, 3)), LandmarkBuilder()

    def rank(**changes):
        return builder.rank(problem_of(x, Laplacian(1.0), memory_limit=10**11, **changes))

    assert rank(tol=1e-2) == rank(tol=1e-3) < rank(tol=1e-6) < rank(tol=1e-9) <= 1000
    assert rank(tol=1e-2, k=3) < rank(tol=1e-2, k=30) <= 1000
    assert rank(tol=1e-16, k=500) == rank(tol=0.0, k=5000) == 1000
    assert builder.rank(problem_of(x[:20], Laplacian(1.0))) == 20


@pytest.mark.parametrize("peak", [0.05, 0.5])
def test_landmarks_leave_out_half_of_what_the_tolerance_allows(peak):
    """All rows are looked at, so that the choice knows."""
    x = np.random.default_rng(0).uniform(size=(800, 2))
    problem = problem_of(x, Gaussian(0.7), tol=1e-3, peak=peak)
    phi = LandmarkBuilder().make(problem, x, np.ones(800), np.random.default_rng(0))
    assert phi.n_features < LandmarkBuilder().rank(problem)
    assert phi.moments(x, np.ones(800)).leak / 800 <= 0.5 * 1e-3 * peak * (1 + 1e-9)


@pytest.mark.parametrize(("d", "sigma"), [(1, 0.13), (2, 0.9), (2, 2.0), (5, 3.0), (9, 6.0)])
def test_the_error_foretold_of_a_gaussian_is_twice_that_of_a_third_as_many_monomials(d, sigma):
    x = np.zeros((10**4, d))
    box = {"low": np.full(d, -1.0), "high": np.full(d, 1.0)}
    problem = problem_of(x, Gaussian(sigma), tol=1e-2, peak=0.2, **box)
    builder = LandmarkBuilder()
    terms = max(p for p in range(1, 400) if comb(p - 1 + d, d) <= builder.rank(problem) // 3)
    expected = 2 * poisson_bound(np.sqrt(d) * (1 + 1e-12), sigma, terms) / 0.2
    assert builder.estimate(problem).error == pytest.approx(np.clip(expected, 1e-9, 1e-2), rel=1e-9)
    nowhere = problem_of(x, Gaussian(sigma), tol=1e-2, peak=0.2)
    rough = problem_of(x, Laplacian(sigma), tol=1e-2, peak=0.2, **box)
    for unknown in (nowhere, rough):
        assert builder.estimate(unknown).error == 1e-2
    assert builder.estimate(problem_of(x[:50], Laplacian(1.0))).error <= 1e-9  # all rows are landmarks
