"""The Taylor map: its features, its two bounds and its moments, against obvious references."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from extended import WIDE, centered_gram, eigenvalues, squared_distances
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless.features import Box, TaylorMap, maps, poisson_bound, raykar_ankur_bound
from gramless.kernels import Gaussian, Linear
from gramless.problem import Problem


def problem_of(x, kernel, tol=1e-10, **changes):
    given = {"threads": 1, "low": x.min(axis=0), "high": x.max(axis=0), "weight": len(x), "peak": 0.1}
    return Problem(len(x), x.shape[1], kernel, 3, tol, 10**9, **(given | changes))


def exact(x, y, sigma):
    return np.exp(-squared_distances(x.astype(WIDE), y.astype(WIDE)) / (2 * WIDE(sigma) ** 2))


@st.composite
def data(draw):
    """Rows far from the origin, with columns of very different scale, perhaps all equal or on a line."""
    d, n = draw(st.sampled_from([1, 2, 3, 5])), draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    scales = 10.0 ** rng.uniform(-draw(st.sampled_from([0, 3])), 0, d)
    x = rng.uniform(-1, 1, (n, d)) * scales * draw(st.sampled_from([0.01, 1.0])) + draw(st.sampled_from([0.0, 1e4]))
    shape = draw(st.sampled_from(["plain", "equal", "line"]))
    if shape == "equal":
        x[:] = x[0]
    elif shape == "line":
        x = x[:1] + np.outer(rng.uniform(-1, 1, n), scales)
    return x


@given(x=data(), sigma=st.sampled_from([0.7, 1.0, 3.0, 100.0]), terms=st.integers(1, 9), seed=st.integers(0, 99))
def test_features_give_the_kernel_within_the_bound_wherever_the_point_lies(x, sigma, terms, seed):
    rng = np.random.default_rng(seed)
    box = Box.around(x)
    phi = TaylorMap(Gaussian(sigma), box.center, terms)
    corner, away = box.high, box.extent.max() + sigma
    new = np.vstack([x, box.center, corner, corner * (1 + 1e-12), corner + away * rng.uniform(0, 3, x.shape[1])])
    new = np.vstack([new, corner + 1e3 * away, corner + 1e155, corner - 1e308])
    assert phi(new).shape == (len(new), phi.n_features)
    assert np.isfinite(phi(new)).all()
    with np.errstate(over="ignore"):
        error = np.abs(phi(new) @ phi(new).T - exact(new, new, sigma))
    bound = phi.error_bound(new, new)
    assert (error <= bound).all()
    assert (bound[: len(x), : len(x)] <= 1.0001 * poisson_bound(_reach(x, box), sigma, terms) + 1e-10).all()
    assert (phi(new)[-2:] == 0).all()
    np.testing.assert_allclose(bound[-2:, -2:], 1, atol=1e-9)


def _reach(x, box):
    return np.sqrt(((x - box.center) ** 2).sum(axis=1).max())


@given(d=st.integers(1, 6), sigma=st.floats(0.2, 5), terms=st.integers(1, 30), seed=st.integers(0, 99))
def test_both_bounds_hold_on_the_unit_cube_and_the_tight_one_is_never_larger(d, sigma, terms, seed):
    radius = np.sqrt(d) / 2
    loose, tight = raykar_ankur_bound(d, sigma, terms), poisson_bound(radius, sigma, terms)
    assert tight <= loose * (1 + 1e-8) + 1e-300
    assert raykar_ankur_bound(d, sigma, terms, radius=radius) == loose
    width = TaylorMap(Gaussian(sigma), np.full(d, 0.5), terms).n_features
    if width <= 3000:
        x = np.random.default_rng(seed).integers(0, 2, (6, d)).astype(float)  # corners are the worst
        phi = TaylorMap(Gaussian(sigma), np.full(d, 0.5), terms)
        error = float(np.abs(phi(x) @ phi(x).T - exact(x, x, sigma)).max())
        assert error <= tight + 1e-13
        assert error <= loose + 1e-13


def poisson(rate, first, last):
    """Pr[first <= Poisson(rate) < last], with sixty digits."""
    with localcontext(prec=60):
        term, total = (-rate).exp(), Decimal(0)
        for k in range(last):
            total += term if k >= first else 0
            term *= rate / (k + 1)
        return total


@pytest.mark.parametrize(
    ("mean", "terms"), [(1e-8, 5), (0.5, 40), (3.0, 2), (30.0, 80), (400.0, 500), (0.0, 1), (1e-3, 300), (900.0, 700)]
)
def test_tails_keep_their_digits_and_rows_leave_out_just_that(mean, terms):
    root = float(np.sqrt(mean))
    truth = poisson(Decimal(root) ** 2, terms, terms + 2000)
    with localcontext(prec=60):
        bound = Decimal(poisson_bound(root, 1.0, terms))
        assert truth * (1 - Decimal("1e-14")) <= bound <= truth * (1 + Decimal("1e-8")) + Decimal("1e-300")
        rows = TaylorMap(Gaussian(1.0), np.zeros(1), terms).rows(np.array([[root]]))
        leak, short = Decimal(float(rows.leak[0])), Decimal(float(rows.leak_error[0]))
        assert leak - short <= truth + Decimal("1e-300")
        assert truth <= leak
        assert short <= leak * Decimal("1e-7")
    assert 0 < rows.error[0] <= 1e-10


def test_at_the_centre_nothing_is_left_out_and_far_away_all():
    phi = TaylorMap(Gaussian(2.0), np.array([3.0, 4.0]), 1)
    assert phi.rows(np.array([[3.0, 4.0]])).leak[0] == 0
    assert poisson_bound(1e3, 1.0, 1) == phi.rows(np.array([[3e3, 4.0]])).leak[0] == 1  # and never more than all
    assert poisson_bound(0.0, 1.0, 1) == raykar_ankur_bound(2, 1.0, 3, radius=0.0) == 0


def test_rows_too_far_for_features_count_those_they_would_have():
    """exp(-|z|^2 / 2) is next to nothing there, yet with a thousand terms the features would not be."""
    phi = TaylorMap(Gaussian(1.0), np.zeros(1), 1150)
    root = np.sqrt(1200.5)
    rows = phi.rows(np.array([[root], [0.9 * root]]))
    assert not rows.values[0].any()
    size = float(poisson(Decimal(float(root)) ** 2, 0, 1150)) ** 0.5
    assert size > 0.1
    assert size <= rows.error[0] <= 1.1 * size
    assert rows.error[1] <= 1e-10
    assert rows.values[1] @ rows.values[1] == pytest.approx(float(poisson(Decimal(float(0.9 * root)) ** 2, 0, 1150)))


@given(x=data(), sigma=st.sampled_from([0.7, 1.0, 30.0]), terms=st.integers(1, 7))
def test_what_is_left_out_is_positive_semidefinite_and_its_diagonal_is_the_leak(x, sigma, terms):
    phi = TaylorMap(Gaussian(sigma), Box.around(x).center, terms)
    rows = phi.rows(x)
    left = (exact(x, x, sigma) - rows.values.astype(WIDE) @ rows.values.astype(WIDE).T).astype(float)
    assert np.linalg.eigvalsh(left).min() >= -1e-14 * len(x)
    slip = 2.01 * rows.error + 1e-17
    assert (left.diagonal() <= rows.leak + slip).all()
    assert (rows.leak - rows.leak_error <= left.diagonal() + slip).all()


@settings(max_examples=40)
@given(
    x=data(),
    sigma=st.sampled_from([0.7, 1.0, 1024.0]),
    tol=st.sampled_from([1e-2, 1e-6, 1e-12]),
    seed=st.integers(0, 9),
)
def test_truth_is_inside(x, sigma, tol, seed):
    x = x[:12]
    weights = np.random.default_rng(seed).integers(0, 3, len(x)).astype(float)
    weights[0] += 1
    problem = problem_of(x, Gaussian(sigma), tol=tol)
    rng = np.random.default_rng(0)
    try:
        phi = maps["taylor"].make(problem, x, weights, rng)
    except ValueError:
        assert maps["taylor"].estimate(problem).refusal
        return
    spectrum = phi.moments(x, weights).solve(3, tol, rng)
    truth = np.append(eigenvalues(centered_gram(exact(x, x, sigma), weights)), np.zeros(4))[:4]
    slack = 64 * np.finfo(WIDE).eps * weights.sum()
    assert (spectrum.lower <= truth + slack).all()
    assert (truth <= spectrum.upper + slack).all()
    assert spectrum.residual[0] <= 0.51 * tol * 0.1 * weights.sum() + 1e-12 * weights.sum()


def test_choice_of_terms_reaches_the_tolerance_and_no_more():
    x = np.random.default_rng(0).uniform(size=(2000, 3))
    weights, rng = np.ones(2000), np.random.default_rng(0)
    problem = problem_of(x, Gaussian(1.0), tol=1e-8)
    phi = maps["taylor"].make(problem, x, weights, rng)
    goal = 1e-8 * 0.1 * 2000
    assert phi.moments(x, weights).leak <= goal
    assert TaylorMap(phi.kernel, phi.center, phi.terms - 2).moments(x, weights).leak > goal
    part = maps["taylor"].make(problem, x[:10], weights[:10], rng)  # more rows will come: for the whole box
    assert part.moments(x, weights).leak <= goal
    assert part.terms >= phi.terms
    estimate = maps["taylor"].estimate(problem)
    assert not estimate.refusal
    assert estimate.error <= 1e-8
    assert phi.same_space(TaylorMap(phi.kernel, phi.center, phi.terms))
    assert not phi.same_space(TaylorMap(phi.kernel, phi.center, phi.terms + 1))


def test_rows_that_are_nearly_all_in_the_middle_take_fewer_terms_than_the_box():
    """The goal is for the mean over rows, by weight, wherever the few stand that are far out."""
    rng = np.random.default_rng(0)
    x, weights = 0.05 * rng.uniform(-1, 1, (9000, 2)), np.ones(9000)
    weights[[0, -1]] = 1e-3
    x[0], x[-1] = -1, 1
    box = problem_of(x, Gaussian(1.0), tol=1e-6)
    phi, every = (maps["taylor"].make(box, rows, weights[: len(rows)], rng) for rows in (x, x[:10]))
    assert phi.moments(x, weights).leak <= 1e-6 * 0.1 * weights.sum()
    assert phi.terms < every.terms - 2
    weights[0] = 1e6  # all that counts is far out
    heavy = maps["taylor"].make(box, x, weights, rng)
    assert heavy.moments(x, weights).leak <= 1e-6 * 0.1 * weights.sum()
    assert abs(heavy.terms - every.terms) <= 1
    assert TaylorMap(heavy.kernel, heavy.center, heavy.terms - 2).moments(x, weights).leak > 1e-7 * weights.sum()


def test_what_is_foretold_is_what_is_made():
    x = np.random.default_rng(0).uniform(size=(3000, 2))
    for tol in (1e-3, 1e-9):
        for sample in (None, x):
            problem = problem_of(x, Gaussian(0.8), tol=tol, sample=sample)
            phi = maps["taylor"].make(problem, x if sample is not None else x[:5], np.ones(len(x)), None)
            estimate = maps["taylor"].estimate(problem)
            assert maps["taylor"].n_features(problem) == phi.n_features
            leak = phi.moments(x, np.ones(3000)).leak / 3000 / 0.1
            assert leak <= estimate.error * 1.05 + 1e-14
            assert estimate.error <= tol


@pytest.mark.parametrize("sigma", [1e-150, 1.0])
def test_widths_next_to_nothing_are_refused_and_not_searched_for_ever(sigma):
    x = np.random.default_rng(0).uniform(size=(50, 2)) * 1e10
    for sample in (None, x):
        problem = problem_of(x, Gaussian(sigma), sample=sample)
        assert "sigma from their center" in maps["taylor"].estimate(problem).refusal
        with pytest.raises(ValueError, match="is not applicable"):
            maps["taylor"].make(problem, x, np.ones(50), None)


def test_refusals_name_the_reason():
    x = np.random.default_rng(0).uniform(size=(50, 8))
    for problem, reason in [
        (problem_of(x, Linear()), "Gaussian"),
        (problem_of(x, Gaussian(1.0), sparse=True), "sparse"),
        (problem_of(x, Gaussian(0.5)), "features"),
        (problem_of(x, Gaussian(0.01)), "sigma from their center"),
        (problem_of(x, Gaussian(1.0), low=None), "box"),
    ]:
        assert reason in maps["taylor"].estimate(problem).refusal
        with pytest.raises(ValueError, match="is not applicable"):
            maps["taylor"].make(problem, x, np.ones(50), np.random.default_rng(0))
