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


@pytest.mark.parametrize(("mean", "terms"), [(1e-8, 5), (0.5, 40), (3.0, 2), (30.0, 80), (400.0, 500), (0.0, 1)])
def test_tiny_tails_keep_their_digits(mean, terms):
    with localcontext(prec=60):
        rate = Decimal(float(np.sqrt(mean))) ** 2
        term = (-rate).exp()
        for k in range(1, terms + 1):
            term *= rate / k
        truth = Decimal(0)
        for k in range(terms + 1, terms + 2000):
            truth += term
            term *= rate / k
        bound = Decimal(poisson_bound(np.sqrt(mean), 1.0, terms))
        assert truth * (1 - Decimal("1e-14")) <= bound <= truth * (1 + Decimal("1e-8")) + Decimal("1e-300")


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


def test_refusals_name_the_reason():
    x = np.random.default_rng(0).uniform(size=(50, 8))
    for problem, reason in [
        (problem_of(x, Linear()), "Gaussian"),
        (problem_of(x, Gaussian(1.0), sparse=True), "sparse"),
        (problem_of(x, Gaussian(0.5)), "features"),
        (problem_of(x, Gaussian(0.01)), "sigma from their middle"),
        (problem_of(x, Gaussian(1.0), low=None), "box"),
    ]:
        assert reason in maps["taylor"].estimate(problem).refusal
        with pytest.raises(ValueError, match="cannot be used here"):
            maps["taylor"].make(problem, x, np.ones(50), np.random.default_rng(0))
