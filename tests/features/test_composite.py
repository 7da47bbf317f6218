"""Features of sums, products and multiples."""

import numpy as np
import pytest
from extended import WIDE, centered_gram, eigenvalues, squared_distances
from hypothesis import given
from hypothesis import strategies as st

from gramless.features import CompositeMap, LandmarkMap, Monomials, TaylorMap, maps
from gramless.kernels import Gaussian, Laplacian, Linear, Polynomial
from gramless.problem import Problem


def gauss(x, sigma):
    return np.exp(-squared_distances(x, x) / (2 * WIDE(sigma) ** 2))


CASES = {
    "sum": (Gaussian(1.0) + Gaussian(2.0), lambda x: gauss(x, 1) + gauss(x, 2)),
    "product": (Gaussian(2.0) * Gaussian(3.0), lambda x: gauss(x, 2) * gauss(x, 3)),
    "multiple": (0.25 * Gaussian(1.0), lambda x: gauss(x, 1) / 4),
    "nested": (
        Gaussian(4.0) * (2.0 * Gaussian(5.0)) + Gaussian(1.0),
        lambda x: 2 * gauss(x, 4) * gauss(x, 5) + gauss(x, 1),
    ),
    "nothing": (0.0 * Gaussian(1.0), lambda x: 0 * gauss(x, 1)),
}


def problem_of(x, kernel, tol, **changes):
    given = {"low": x.min(axis=0), "high": x.max(axis=0), "weight": len(x), "peak": 0.1}
    return Problem(len(x), x.shape[1], kernel, 3, tol, 10**9, **(given | changes))


@pytest.mark.parametrize("name", CASES)
@given(
    n=st.integers(1, 12),
    d=st.integers(1, 2),
    offset=st.sampled_from([0.0, 1e3]),
    tol=st.sampled_from([1e-2, 1e-5]),
    seed=st.integers(0, 99),
)
def test_truth_is_inside_and_the_tolerance_reached(name, n, d, offset, tol, seed):
    kernel, formula = CASES[name]
    rng = np.random.default_rng(seed)
    x, weights = rng.uniform(size=(n, d)) + offset, rng.uniform(0.5, 2, n)
    phi = maps["composite"].make(problem_of(x, kernel, tol), x, weights, rng)
    moments = phi.moments(x, weights)
    spectrum = moments.solve(3, tol, rng)
    truth = np.append(eigenvalues(centered_gram(formula(x.astype(WIDE)), weights)), np.zeros(4))[:4]
    slack = 64 * np.finfo(WIDE).eps * weights.sum() * 4
    assert (spectrum.lower <= truth + slack).all()
    assert (truth <= spectrum.upper + slack).all()
    assert moments.leak <= 1.01 * tol * 0.1 * weights.sum()
    assert phi.same_space(phi)


def test_product_with_landmarks_counts_every_error():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(30, 2))
    smooth, rough = TaylorMap(Gaussian(1.0), np.full(2, 0.5), 4), LandmarkMap.at(Laplacian(1.0), x[:12])
    phi = CompositeMap(smooth.kernel * rough.kernel, smooth, rough)
    rows = phi.rows(x)
    left = phi.kernel(x) - rows.values @ rows.values.T
    assert np.linalg.eigvalsh(left).min() >= -1e-12
    assert (left.diagonal() <= rows.leak + 1e-12).all()
    assert (rows.leak - rows.leak_error <= left.diagonal() + 1e-12).all()


@pytest.mark.parametrize("low", [-4.0, 0.5, 3.0])
def test_an_error_counts_by_how_large_the_other_factor_may_be(low):
    """A Gaussian times a polynomial on a box far from the origin: the polynomial is large where its rows are."""
    rng = np.random.default_rng(0)
    x = rng.uniform(low, low + 1, (400, 2))
    for kernel in (Gaussian(1.5) * Polynomial(2, 1.0), Polynomial(2, 1.0) * Gaussian(1.5)):
        peak = float(kernel.diagonal(x).max())
        problem = problem_of(x, kernel, 1e-4, peak=peak, sample=x)
        phi = maps["composite"].make(problem, x, np.ones(400), rng)
        rows = phi.rows(x)
        left = kernel.diagonal(x) - (rows.values**2).sum(axis=1)
        assert (left <= rows.leak + 1e-9 * peak).all()
        assert phi.moments(x, np.ones(400)).leak <= 1e-4 * peak * 400
        assert maps["composite"].n_features(problem) == phi.n_features
        assert maps["composite"].estimate(problem).error <= 1e-4


def test_a_multiple_takes_as_many_features_as_its_tolerance_needs():
    x = np.random.default_rng(0).uniform(size=(200, 2))
    counts = []
    for factor in (1e-6, 1.0, 1e6):
        kernel = factor * Gaussian(1.0)
        problem = problem_of(x, kernel, 1e-5, peak=0.1 * factor, sample=x)
        phi = maps["composite"].make(problem, x, np.ones(200), None)
        assert phi.moments(x, np.ones(200)).leak <= 1e-5 * 0.1 * factor * 200
        assert maps["composite"].n_features(problem) == phi.n_features
        counts.append(phi.n_features)
    assert counts[0] == counts[1] == counts[2]


def test_monomials_as_parts_have_their_rounding_stated():
    x = np.random.default_rng(0).standard_normal((20, 2)) + 3
    phi = CompositeMap(Polynomial(3, 1.0) + Linear(), Monomials(Polynomial(3, 1.0), 2), Monomials(Linear(), 2))
    rows = phi.rows(x)
    wide = x.astype(WIDE)
    exact = (wide @ wide.T + 1) ** 3 + wide @ wide.T
    off = np.abs(rows.values.astype(WIDE) @ rows.values.astype(WIDE).T - exact)
    norms = np.sqrt(np.diag(exact))
    assert (off <= np.add.outer(rows.error, rows.error) * np.maximum.outer(norms, norms) * 1.01).all()
    assert (rows.error <= 1e-13 * norms).all()
    assert not rows.leak.any()


def test_refusals_name_the_reason():
    x = np.random.default_rng(0).uniform(size=(20, 3))
    for kernel, reason in [
        (Gaussian(1.0), "sums, products"),
        (-1.0 * Gaussian(1.0), "negative"),
        (Gaussian(1.0) + Laplacian(1.0), "no small explicit map"),
        (Gaussian(0.8) * Gaussian(0.9), "features"),
    ]:
        assert reason in maps["composite"].estimate(problem_of(x, kernel, 1e-10)).refusal
    assert "dense" in maps["composite"].estimate(problem_of(x, Gaussian(1.0) + Gaussian(2.0), 1e-3, low=None)).refusal
