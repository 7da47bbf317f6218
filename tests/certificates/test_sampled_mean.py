"""Bounds on means from samples hold as often as they say, and the one by entropy is the narrower near 0."""

import numpy as np
import pytest
from scipy.special import rel_entr

from gramless.certificates import bernstein_upper, hoeffding_upper


@pytest.mark.parametrize("bound", [bernstein_upper, hoeffding_upper])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.02, 2), (5, 0.1), (0.001, 0.1)])
def test_a_mean_exceeds_its_bound_no_more_often_than_stated(bound, a, b):
    rng = np.random.default_rng(0)
    missed = [bound(rng.beta(a, b, 200), 0.05) < a / (a + b) for _ in range(400)]
    assert np.mean(missed) <= 0.05


@pytest.mark.parametrize("mean", [1e-5, 0.02, 0.5, 0.9])
def test_hoeffdings_bound_is_where_the_relative_entropy_is_what_is_allowed(mean):
    samples = np.full(1000, mean)
    q = hoeffding_upper(samples, 1e-6)
    assert mean < q < 1
    assert rel_entr(mean, q) + rel_entr(1 - mean, 1 - q) == pytest.approx(np.log(1e6) / 1000, rel=1e-9)


def test_samples_at_the_ends():
    assert hoeffding_upper(np.ones(10), 1e-3) == 1
    assert hoeffding_upper(np.zeros(1000), 1e-10) == pytest.approx(1 - 1e-10 ** (1 / 1000))
    small = np.full(50_000, 1e-5)
    assert small.mean() < hoeffding_upper(small, 1e-10) < 0.5 * bernstein_upper(small, 1e-10)


def test_bernsteins_bound_is_that_of_maurer_and_pontil():
    """Few samples, so that every 1 counts: theorem 4 of their paper, for n = 40."""
    samples = np.linspace(0.0, 1e-3, 40)
    log = np.log(2 / 0.5)
    expected = samples.mean() + np.sqrt(2 * samples.var(ddof=1) * log / 40) + 7 * log / (3 * 39)
    assert bernstein_upper(samples, 0.5) == pytest.approx(expected, rel=1e-12)
