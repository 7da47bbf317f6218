"""Bounds from Chebyshev polynomials of random vectors hold, fail as seldom as stated, and close in with the degree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.certificates import ChebyshevProbe
from gramless.certificates.outside import chi2_lower

SPECTRA = {
    "decaying": 1 / np.arange(1.0, 301) ** 2,
    "flat": np.ones(300),
    "one above": np.r_[1.0, 0.5 * np.ones(299)],
    "slow": np.exp(-0.01 * np.arange(300)),
    "nothing": np.zeros(300),
}


def bounds(spectrum, top, degree, *, seed=0, r=4, rounding=1e-14, probability=1e-10, below=0.0):
    start = np.random.default_rng(seed).standard_normal((len(spectrum), r))
    probe = ChebyshevProbe(lambda v: spectrum[:, None] * v, start, top, rounding, probability, below)
    found = [probe.advance() for _ in range(degree)]
    assert probe.degree == degree
    return np.array(found)


@pytest.mark.parametrize("name", list(SPECTRA))
@pytest.mark.parametrize("top", [0.3, 1.0, 1.3])
def test_the_largest_eigenvalue_is_bounded(name, top):
    for seed in range(10):
        found = bounds(SPECTRA[name], top, 25, seed=seed)
        assert (found >= SPECTRA[name].max()).all()
        assert (np.diff(found) <= 0).all()


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=40),
    st.floats(0.05, 2),
    st.integers(1, 30),
    st.sampled_from([2.0**-200, 1.0, 2.0**200]),
)
def test_drawn_spectra_in_any_unit(values, top, degree, unit):
    spectrum = np.array(values)
    here = bounds(spectrum, top, degree)
    assert here[-1] >= spectrum.max()
    np.testing.assert_allclose(
        bounds(unit * spectrum, unit * top, degree, rounding=unit * 1e-14), unit * here, rtol=1e-9
    )


def test_high_degrees_come_close():
    for name in ("flat", "slow", "decaying"):
        found = bounds(SPECTRA[name], 1.02, 40)
        assert found[-1] <= 1.08
        assert found[4] > 1.5  # a few products are not enough


def test_a_top_that_is_too_low_is_no_error():
    """Eigenvalues above it make the vectors grow, and the bound rises with them."""
    found = bounds(SPECTRA["flat"], 0.5, 40)
    assert 1.0 <= found[-1] <= 1.2


def test_the_bound_fails_as_seldom_as_stated():
    """One eigenvalue far above the top, at a probability that can be seen."""
    spectrum = np.r_[1.0, np.zeros(19)]
    found = np.array([bounds(spectrum, 0.01, 1, seed=seed, rounding=0.0, probability=0.3)[-1] for seed in range(400)])
    # T_1(x) is x, of which rho / 2 is a little less than all
    assert 0.05 < (found < 1).mean() <= 0.3


def test_one_product_of_one_eigenvalue_is_bounded_by_the_quantile():
    """Z_1 = (2 c / a - 1) u u^T G - (I - u u^T) G: with one axis, |Z_1| = x |G|."""
    start = np.array([[3.0, 4.0]])
    probe = ChebyshevProbe(lambda v: 10.0 * v, start, 1.0, 0.0, 0.1)
    rho = 2 * 19 * 5.0 / np.sqrt(chi2_lower(2, 0.1))
    assert probe.advance() == pytest.approx((1 + (rho + 1 / rho) / 2) / 2, rel=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 5, 12])
def test_errors_that_hide_an_eigenvalue_are_covered(degree):
    """Every product is wrong by as much as stated, where that hides the largest eigenvalue."""
    spectrum, rounding = np.r_[1.0, 0.5 * np.ones(99)], 1e-3
    start = np.random.default_rng(0).standard_normal((100, 8))

    def product(v):
        found = spectrum[:, None] * v
        found[0] -= np.sign(found[0]) * np.minimum(np.abs(found[0]), rounding * np.linalg.norm(v, axis=0))
        return found

    probe = ChebyshevProbe(product, start, 0.6, rounding, 1e-10)
    for _ in range(degree):
        bound = probe.advance()
    assert bound >= 1.0


def test_negative_eigenvalues_as_large_as_stated_are_covered():
    spectrum = np.r_[1.0, np.linspace(-0.02, 0.5, 99)]
    found = bounds(spectrum, 0.9, 20, below=0.02, rounding=1e-6)
    assert 1.0 <= found[-1] <= 1.5


def test_probes_that_are_not_finite_prove_nothing():
    probe = ChebyshevProbe(lambda v: np.full_like(v, np.nan), np.ones((5, 2)), 1.0, 0.0, 1e-10)
    assert probe.advance() == np.inf
