"""Phi (Phi^T v) equals K v within the error it states, for maps naive enough to be read at a glance."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless import kernels
from gramless.eigen import eigsh
from gramless.features import FeatureMap
from gramless.gram import CenteredGram, FactoredGram, fast_product


class NaiveMap(FeatureMap):
    def moments(self, x, weights):
        raise NotImplementedError

    def same_space(self, other):
        return self == other


class NaiveSquares(NaiveMap):
    """(x.y + c)^2: all products of two of the coordinates (sqrt c, x_1, .., x_d)."""

    def __init__(self, d, c=1.0):
        self.kernel, self.c, self.n_features = kernels.Polynomial(2, c), c, (d + 1) ** 2

    def __call__(self, x):
        z = np.hstack([np.full((len(x), 1), math.sqrt(self.c)), x])
        return (z[:, :, None] * z[:, None]).reshape(len(x), -1)


class NaiveTaylor(NaiveMap):
    """Raykar & Ankur, section 11: every monomial of degree below p, about a centre."""

    def __init__(self, d, sigma, p, center):
        self.kernel, self.sigma, self.center = kernels.Gaussian(sigma), sigma, center
        self.powers = [a for a in itertools.product(range(p), repeat=d) if sum(a) < p]
        self.n_features = len(self.powers)

    def __call__(self, x):
        z = (x - self.center) / self.sigma
        scale = np.exp(-(z**2).sum(axis=1) / 2)
        columns = [
            scale * (z ** np.array(a)).prod(axis=1) / math.sqrt(math.prod(math.factorial(e) for e in a))
            for a in self.powers
        ]
        return np.stack(columns, axis=1)


@st.composite
def drawn(draw):
    n, d = draw(st.integers(1, 200)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    x = rng.random((n, d))
    weights = rng.integers(0, 3, n).astype(float) if draw(st.booleans()) else np.ones(n)
    weights[0] = 1.0
    if draw(st.booleans()):
        return x, weights, NaiveSquares(d, draw(st.sampled_from([0.0, 1.0, 3.0])))
    return x, weights, NaiveTaylor(d, draw(st.sampled_from([0.4, 1.0, 5.0])), draw(st.integers(1, 12)), 0.5)


@given(data=drawn(), keep=st.sampled_from([0, 2000, 2**28]))
def test_equals_the_dense_matrix_within_its_error(data, keep):
    x, weights, features = data
    roots = np.sqrt(weights)
    gram = roots[:, None] * features.kernel(x) * roots
    operator = FactoredGram(features, x, weights, keep_bytes=keep)
    v = np.random.default_rng(0).standard_normal((len(x), 3))
    slack = 1e-13 * np.trace(gram)  # of the dense reference
    for column in v.T:
        assert np.linalg.norm(operator @ column - gram @ column) <= (operator.error + slack) * np.linalg.norm(column)
    assert np.linalg.norm(operator.to_dense() - gram, 2) <= operator.error + slack
    np.testing.assert_allclose(operator.diagonal(), gram.diagonal(), rtol=1e-12)
    assert (gram**2).sum() <= operator.frobenius2 * (1 + 1e-12)
    assert np.linalg.norm(gram, 2) <= operator.statistics().norm * (1 + 1e-12)


@pytest.mark.parametrize("p", [1, 3, 6, 10, 20])
def test_error_falls_with_the_terms_and_is_not_wildly_above_the_truth(p):
    x = np.random.default_rng(0).random((300, 2))
    operator = FactoredGram(NaiveTaylor(2, 0.7, p, 0.5), x)
    off = np.linalg.norm(operator.to_dense() - kernels.Gaussian(0.7)(x), 2)
    assert off <= operator.error <= 30 * off + 1e-10


def test_an_exact_map_leaks_only_rounding():
    x = np.random.default_rng(1).standard_normal((500, 3))
    operator = FactoredGram(NaiveSquares(3), x)
    assert operator.error < 1e-12 * operator.statistics().norm


def test_features_made_anew_give_the_same_bits():
    x = np.random.default_rng(2).random((3000, 2))
    v = np.random.default_rng(3).standard_normal((3000, 2))
    kept, anew = (FactoredGram(NaiveTaylor(2, 1.0, 30, 0.5), x, keep_bytes=keep) for keep in (2**30, 0))
    for _ in range(2):
        np.testing.assert_array_equal(kept @ v, anew @ v)


@pytest.mark.parametrize("solver", ["lanczos", "arpack", "block_krylov"])
def test_lanczos_with_the_fast_product_finds_the_eigenvalues(solver):
    x = np.random.default_rng(4).random((200, 2))
    operator = CenteredGram(FactoredGram(NaiveTaylor(2, 0.7, 16, 0.5), x))
    gram = kernels.Gaussian(0.7)(x)
    gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    truth = np.linalg.eigvalsh(gram)[::-1][:4]
    result = eigsh(operator, 4, solver, tol=1e-9, rng=0)
    np.testing.assert_allclose(result.values, truth, rtol=1e-8)
    assert (result.certificate.lower <= truth + 1e-12).all()
    assert (truth - 1e-12 <= result.certificate.upper).all()


@settings(max_examples=20)
@given(data=drawn(), single=st.booleans())
def test_fast_product_with_twice_as_many_targets(data, single):
    y, _, features = data
    rng = np.random.default_rng(5)
    x, v = rng.random((2 * len(y), y.shape[1])), rng.standard_normal(len(y) if single else (len(y), 3))
    exact = features(x) @ (features(y).T @ v)
    np.testing.assert_allclose(fast_product(features, x, y, v), exact, atol=1e-10 * (1 + np.abs(exact).max()))


def test_fast_product_needs_one_number_a_source():
    with pytest.raises(ValueError, match="v has 3 rows, y has 4"):
        fast_product(NaiveSquares(1), np.zeros((2, 1)), np.zeros((4, 1)), np.zeros(3))
