"""Monomials: their dot products are the kernel, and their moments are plain sums, whatever the offset of the data."""

from math import comb

import mpmath
import numpy as np
import pytest
import scipy.sparse
from extended import WIDE
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless.arrays import use_threads
from gramless.features import Monomials, maps
from gramless.kernels import Gaussian, Linear, Polynomial
from gramless.problem import Problem

builder = maps["monomials"]
rng0 = np.random.default_rng(0)


def problem(kernel, x, **settings):
    return Problem(n=x.shape[0], d=x.shape[1], kernel=kernel, k=3, tol=1e-10, memory_limit=10**10, **settings)


def make(kernel, x, **settings):
    return builder.make(problem(kernel, x, **settings), x, np.ones(x.shape[0]), rng0)


def exact_eigenvalues(kernel, x, weights, digits=40):
    """Of the centred Gram matrix of a polynomial kernel, descending."""
    with mpmath.workdps(digits):
        n = len(x)
        points = [[mpmath.mpf(float(value)) for value in row] for row in x]
        w = [mpmath.mpf(float(value)) for value in weights]
        total = mpmath.fsum(w)
        scale, c, degree = mpmath.mpf(float(kernel.scale)), mpmath.mpf(float(kernel.c)), int(kernel.degree)
        gram = [[(scale * mpmath.fdot(a, b) + c) ** degree for b in points] for a in points]
        means = [mpmath.fdot(row, w) / total for row in gram]
        both = mpmath.fdot(means, w) / total
        centered = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                centered[i, j] = mpmath.sqrt(w[i] * w[j]) * (gram[i][j] - means[i] - means[j] + both)
        return sorted(mpmath.eigsy(centered, eigvals_only=True), reverse=True)


polynomials = st.builds(
    Polynomial,
    degree=st.integers(0, 6),
    c=st.sampled_from([0.0, 1e-3, 1.0, 7.3]),
    scale=st.sampled_from([0.0, 0.01, 1.0, 3.7]),
)


@settings(max_examples=80)
@given(
    polynomials,
    st.integers(1, 8),
    st.integers(0, 9),
    st.sampled_from([1e-3, 1.0, 1e3]),
    st.sampled_from([0.0, 1.0, 100.0]),
    st.sampled_from([1.0, 0.3, 12.0]),
)
def test_dot_products_are_the_kernel(kernel, d, seed, size, offset, factor):
    x = size * (np.random.default_rng(seed).standard_normal((7, d)) + offset)
    phi = Monomials(factor * kernel, d)
    features = phi(x)
    base = WIDE(kernel.scale) * (x.astype(WIDE) @ x.astype(WIDE).T) + WIDE(kernel.c)
    exact = WIDE(factor) * base ** int(kernel.degree)
    wide = features.astype(WIDE)
    norms = np.sqrt(np.diag(exact))
    assert (np.abs(wide @ wide.T - exact) <= (2.01 * phi.error) * np.outer(norms, norms) + 1e-290).all()


@pytest.mark.parametrize("d", [1, 2, 5, 10])
@pytest.mark.parametrize("p", [0, 1, 2, 3])
def test_counts(d, p):
    assert Monomials(Polynomial(degree=p, c=1.0), d).n_features == comb(d + p, p)
    homogeneous = Monomials(Polynomial(degree=p, c=0.0), d)
    assert homogeneous.n_features == comb(d + p - 1, p) == homogeneous(np.ones((2, d))).shape[1]


def test_linear_is_the_identity():
    x = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_array_equal(Monomials(Linear(), 3)(x), x)
    np.testing.assert_allclose(Monomials(4.0 * Linear(), 3)(x), 2 * x)


def naive(phi, x, weights):
    features, weights = phi(x).astype(WIDE), np.asarray(weights, dtype=WIDE)
    mean = weights @ features / weights.sum()
    moved = np.sqrt(weights)[:, None] * (features - mean)
    return mean, moved.T @ moved


weightings = st.sampled_from(["ones", "some zero", "fractional"])


def draw_weights(kind, n, rng):
    if kind == "ones":
        return np.ones(n)
    return rng.integers(0, 3, n) + 1.0 * (np.arange(n) < 2) if kind == "some zero" else rng.uniform(0.01, 2, n)


@settings(max_examples=30)
@given(polynomials, st.integers(1, 3), st.integers(0, 9), weightings, st.sampled_from([0.0, 3.0]))
def test_moments_are_naive_sums(kernel, d, seed, kind, offset):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((30, d)) + offset
    weights = draw_weights(kind, 30, rng)
    phi = make(kernel, x)
    moments = phi.moments(x, weights)
    mean, scatter = naive(phi, x, weights)
    assert moments.weight == pytest.approx(weights.sum())
    assert moments.rows == 30
    size = float(np.sqrt(kernel.diagonal(x).max()))
    np.testing.assert_allclose(moments.mean, mean.astype(float), atol=1e-11 * size, rtol=1e-10)
    assert moments.mean_norm2 == pytest.approx(float(mean @ mean), rel=1e-9, abs=1e-11 * size**2)
    assert moments.trace == pytest.approx(float(np.trace(scatter)), rel=1e-10, abs=1e-13 * size**2)
    spectrum = moments.solve(4, 1e-10, rng)
    expected = np.linalg.eigvalsh(scatter.astype(float))[::-1]
    expected = np.concatenate([expected, np.zeros(5)])[:5]
    slack = 1e-13 * float(np.trace(scatter)) * len(scatter) + 1e-13 * size**2
    assert (spectrum.lower <= expected + slack).all()
    assert (spectrum.upper >= expected - slack).all()
    rebuilt = spectrum.axes.T @ scatter.astype(float) @ spectrum.axes
    np.testing.assert_allclose(rebuilt, np.diag(spectrum.values), atol=1e-9 * size**2 * 30)


@settings(max_examples=12)
@given(
    st.sampled_from([(1, 3), (2, 2), (2, 4), (3, 3), (5, 2)]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([0.0, 5.0, 100.0, 1e4]),
    st.sampled_from([1e-3, 1.0, 1e3]),
    weightings,
    st.integers(0, 9),
)
def test_intervals_hold_the_eigenvalues_of_the_exact_gram_matrix(shape, c, offset, size, kind, seed):
    d, p = shape
    rng = np.random.default_rng(seed)
    n, k = 9, 5
    x = size * (rng.standard_normal((n, d)) + offset)
    weights = draw_weights(kind, n, rng)
    kernel = Polynomial(degree=p, c=c)
    exact = exact_eigenvalues(kernel, x, weights)
    spectrum = make(kernel, x).moments(x, weights).solve(k, 1e-10, rng)
    slack = 1e-30 * float(exact[0])  # the reference is not exact either
    for low, value, high, true in zip(spectrum.lower, [*spectrum.values, None], spectrum.upper, exact, strict=False):
        assert low <= true + slack
        assert true <= high + slack
        assert value is None or low <= value <= high
    assert spectrum.upper[0] - spectrum.lower[0] <= 1e-10 * spectrum.upper[0]


def test_offset_data_keep_their_digits():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((16, 2)) + 100
    kernel, k = Polynomial(degree=3, c=1.0), 8
    exact = np.array([float(value) for value in exact_eigenvalues(kernel, x, np.ones(16))[:k]])
    spectrum = make(kernel, x).moments(x, np.ones(16)).solve(k, 1e-10, rng)
    error = np.abs(spectrum.values / exact - 1)
    gram = kernel(x)
    centered = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
    dense = np.abs(np.linalg.eigvalsh(centered)[::-1][:k] / exact - 1)
    assert error[:4].max() < 1e-9
    assert (error[3:] < 1e-3 * dense[3:]).all()
    assert ((spectrum.upper - spectrum.lower)[:4] < 1e-6 * spectrum.values[:4]).all()


@settings(max_examples=25)
@given(polynomials, st.integers(1, 3), st.integers(0, 9), st.integers(1, 39))
def test_moments_add_and_subtract(kernel, d, seed, cut):
    rng = np.random.default_rng(seed)
    x, weights = rng.standard_normal((40, d)) + 1.0, rng.uniform(0, 2, 40)
    phi = make(kernel, x)
    a, b = phi.moments(x[:cut], weights[:cut]), phi.moments(x[cut:], weights[cut:])
    every = phi.moments(x, weights)
    both = a + b
    assert both.rows == 40
    np.testing.assert_allclose(both.sums, every.sums, rtol=1e-12, atol=1e-12)
    again, first = (both - b).solve(3, 1e-10, rng), a.solve(3, 1e-10, rng)
    assert (again.lower <= first.upper).all()
    assert (first.lower <= again.upper).all()
    twice, once = every.scaled(2.5), every.solve(3, 1e-10, rng)
    assert twice.weight == 2.5 * every.weight
    np.testing.assert_allclose(twice.solve(3, 1e-10, rng).values, 2.5 * once.values, rtol=1e-9, atol=1e-9 * every.trace)
    np.testing.assert_allclose(twice.mean, every.mean, rtol=1e-12, atol=1e-12)


def test_nothing_is_left_when_all_is_taken_out():
    x = np.ones((3, 2))
    moments = Monomials(Linear(), 2).moments(x, np.ones(3))
    with pytest.raises(ValueError, match="leaves no rows"):
        moments - moments


@pytest.mark.parametrize("c", [0.0, 1.0])
def test_moments_about_another_point_add_once_moved(c):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 3)) + 20
    x[25:] *= [3.0, 1.0, 0.2]
    kernel, weights = Polynomial(degree=3, c=c), np.ones(50)
    first, second = make(kernel, x[:25]), make(kernel, x[25:])
    assert not first.same_space(second)
    a, b = first.moments(x[:25], weights[:25]), second.moments(x[25:], weights[25:])
    with pytest.raises(ValueError, match="cannot be added"):
        a + b
    merged, every = (a + b.moved(first)).solve(5, 1e-10, rng), first.moments(x, weights).solve(5, 1e-10, rng)
    np.testing.assert_allclose(merged.values, every.values, rtol=1e-8)
    assert (merged.lower <= every.upper).all()
    assert (every.lower <= merged.upper).all()


def test_same_bits_for_any_number_of_threads():
    x = np.random.default_rng(0).standard_normal((40_000, 5))
    weights = np.random.default_rng(1).uniform(0, 1, 40_000)
    sums = []
    for threads in (1, 2, 5):
        with use_threads(threads):
            sums.append(make(Polynomial(degree=3), x).moments(x, weights).sums)
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], sums[2])


def test_many_features_take_the_squared_form():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 50)) + 3
    kernel = Polynomial(degree=2, scale=0.02)
    gram = kernel(x)
    centered = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
    phi = make(kernel, x)
    assert phi.n_features > 1200
    spectrum = phi.moments(x, np.ones(40)).solve(5, 1e-10, rng)
    expected = np.linalg.eigvalsh(centered)[::-1]
    np.testing.assert_allclose(spectrum.values, expected[:5], rtol=1e-10)
    assert (spectrum.lower <= expected[:6] * (1 + 1e-12)).all()
    assert (spectrum.upper >= expected[:6] * (1 - 1e-12)).all()
    assert spectrum.upper[0] - spectrum.lower[0] < 1e-10 * expected[0]


def test_sparse_rows():
    x = scipy.sparse.random_array((300, 4), density=0.3, random_state=np.random.default_rng(0), format="csr")
    kernel = Polynomial(degree=2)
    sparse, dense = make(kernel, x, sparse=True), make(kernel, x.toarray())
    assert sparse.same_space(dense)
    np.testing.assert_array_equal(sparse(x), dense(x.toarray()))
    np.testing.assert_array_equal(sparse.moments(x, np.ones(300)).sums, dense.moments(x.toarray(), np.ones(300)).sums)
    np.testing.assert_allclose(sparse.dot(x, np.eye(15)), dense(x.toarray()))


def test_constant_columns_and_equal_rows_have_no_scatter():
    x = np.full((20, 3), 123.456)
    spectrum = make(Polynomial(degree=3), x).moments(x, np.ones(20)).solve(2, 1e-10, rng0)
    assert not spectrum.values.any()
    assert not make(Polynomial(degree=0), x).moments(x, np.ones(20)).solve(2, 1e-10, rng0).upper.any()
    empty = make(Polynomial(degree=2), x).moments(x, np.zeros(20))
    assert empty.trace == 0
    assert not empty.solve(2, 1e-10, rng0).values.any()


def test_degree_20_of_moderate_data():
    rng = np.random.default_rng(0)
    x = rng.uniform(-10, 10, (200, 2)) + 50
    kernel = Polynomial(degree=20)
    spectrum = make(kernel, x).moments(x, np.ones(200)).solve(3, 1e-10, rng)
    gram = kernel(x)
    centered = gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()
    np.testing.assert_allclose(spectrum.values, np.linalg.eigvalsh(centered)[::-1][:3], rtol=1e-6)


def test_overflow_is_said():
    x = np.random.default_rng(0).standard_normal((10, 2)) * 1e20
    kernel = Polynomial(degree=20)
    with pytest.raises(ValueError, match="overflow"):
        make(kernel, x)(x)
    with pytest.raises(ValueError, match="overflow"):
        make(kernel, x).moments(x, np.ones(10)).solve(2, 1e-10, rng0)
    with pytest.raises(ValueError, match="overflow"):
        Monomials(kernel, 2).moments(x, np.ones(10))


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (Gaussian(), "only for polynomial"),
        (Polynomial(degree=2.5), "not an integer"),
        (Polynomial(degree=3, c=-1.0), "c=-1.0 is negative"),
        (Polynomial(degree=3, scale=-1.0), "scale=-1.0 is negative"),
        (Polynomial(degree=3, c=-1.0, scale=-1.0), "c=-1.0 is negative"),
        (Polynomial(degree=2, c=-1.0), "c=-1.0 is negative"),
        (Polynomial(degree=2, scale=-1.0, c=1.0), "scale=-1.0 is negative"),
        (-1.0 * Linear(), "factor=-1.0 is negative"),
        (Polynomial(degree=9), "monomials are more than"),
    ],
)
def test_refusals(kernel, reason):
    assert reason in builder.estimate(problem(kernel, np.zeros((5, 20)))).refusal


def test_even_degree_takes_two_minus_signs():
    x = np.random.default_rng(0).standard_normal((5, 2))
    kernel = Polynomial(degree=2, c=-1.0, scale=-2.0)
    features = Monomials(kernel, 2)(x)
    np.testing.assert_allclose(features @ features.T, kernel(x))


def test_estimates_grow_with_the_work():
    x = np.zeros((1000, 10))
    small, large = (
        builder.estimate(problem(Polynomial(degree=2), x)),
        builder.estimate(problem(Polynomial(degree=4), x)),
    )
    assert not small.refusal
    assert small.seconds < large.seconds
    assert small.bytes < large.bytes
