"""Moments: naive sums, addition, subtraction, scaling, threads; for every map that has them written down."""

import numpy as np
import pytest
from extended import WIDE
from hypothesis import given
from hypothesis import strategies as st

from gramless.arrays import use_threads
from gramless.features import CompositeMap, DenseMoments, LandmarkMap, TaylorMap, gather_moments
from gramless.kernels import Gaussian, Matern

RNG = np.random.default_rng(5)
POINTS = RNG.uniform(size=(30, 2))
TAYLOR = TaylorMap(Gaussian(1.0), np.full(2, 0.5), terms=6)
MAPS = {
    "taylor": TAYLOR,
    "landmarks": LandmarkMap.at(Matern(1.5, 1.0), POINTS),
    "sum": CompositeMap(Gaussian(1.0) + Gaussian(1.0), TAYLOR, TAYLOR),
}


def naive(features, weights):
    features, weights = features.astype(WIDE), weights.astype(WIDE)
    mean = weights @ features / weights.sum()
    moved = features - mean
    return mean, (moved * weights[:, None]).T @ moved


@st.composite
def chunks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    n, width = draw(st.integers(2, 300)), draw(st.integers(1, 6))
    features = rng.standard_normal((n, width)) * draw(st.sampled_from([1e-8, 1.0])) + draw(st.sampled_from([0.0, 1.0]))
    if draw(st.booleans()):
        features[:] = features[0]
    weights = rng.choice([0.0, 0.1, 1.0, 3.0], n)
    weights[0], weights[-1] = 1.0, 1.0
    return features, weights, draw(st.integers(1, n - 1))


def norm(matrix):
    return float(np.linalg.norm(matrix.astype(float), 2))


@given(chunks())
def test_rounding_covers_the_error_of_sums_and_of_merging(chunk):
    features, weights, cut = chunk
    mean, scatter = naive(features, weights)
    whole = DenseMoments.of(features, weights, 1.0)
    first, last = (DenseMoments.of(features[p], weights[p], 0.5) for p in (slice(0, cut), slice(cut, None)))
    for moments in (whole, first + last, last + first, (whole + first) - first):
        own = 100 * np.finfo(WIDE).eps  # of the reference
        assert norm(moments.scatter - scatter) <= moments.rounding + own**2 * (weights @ features**2).sum()
        assert np.linalg.norm((moments.mean - mean).astype(float)) <= moments.mean_error + own * np.abs(mean).max()
        assert moments.weight == pytest.approx(weights.sum())
        assert moments.leak == pytest.approx(1.0)
        assert moments.rows == len(features)
        # sharp too: what rounding may do is small against the scatter and the features
        assert moments.rounding <= 1e-12 * (np.trace(scatter) + 1e-3 * np.sqrt(np.trace(scatter)) + 1e-14)


@pytest.mark.parametrize("name", MAPS)
def test_equal_naive_sums_and_add_subtract_scale(name):
    phi = MAPS[name]
    x, weights = RNG.uniform(size=(700, 2)), RNG.uniform(0, 2, 700)
    mean, scatter = naive(phi(x), weights)
    whole, a, b = (phi.moments(x[p], weights[p]) for p in (slice(None), slice(0, 200), slice(200, None)))
    for moments in (whole, a + b, (whole + a) - a, whole.scaled(3.0).scaled(1 / 3)):
        np.testing.assert_allclose(moments.scatter, scatter.astype(float), atol=1e-11)
        np.testing.assert_allclose(moments.mean, mean.astype(float), atol=1e-13)
        assert abs(moments.trace - whole.trace) <= 3 * whole.leak_error + 1e-9 * whole.trace
    kernel = phi.kernel(x)
    leak = weights @ (kernel.diagonal() - (phi(x) ** 2).sum(axis=1))
    assert leak <= whole.leak + 1e-11
    assert whole.leak - whole.leak_error <= leak + 1e-11
    assert whole.scaled(2.0).leak == pytest.approx(2 * whole.leak)


@pytest.mark.parametrize("name", MAPS)
def test_threads_do_not_change_a_bit(name):
    x = RNG.uniform(size=(30_000, 2))
    with use_threads(1):
        alone = MAPS[name].moments(x, np.ones(len(x)))
    with use_threads(3):
        together = MAPS[name].moments(x, np.ones(len(x)))
    assert np.array_equal(alone.scatter, together.scatter)
    assert np.array_equal(alone.mean, together.mean)
    assert alone.leak == together.leak
    axes = np.eye(MAPS[name].n_features)[:, :3]
    with use_threads(1):
        alone = MAPS[name].dot(x, axes)
    with use_threads(3):
        assert np.array_equal(alone, MAPS[name].dot(x, axes))


@pytest.mark.parametrize("name", MAPS)
def test_dot_is_features_times_coefficients(name):
    phi = MAPS[name]
    x, axes = RNG.uniform(size=(50, 2)), np.linalg.qr(RNG.standard_normal((phi.n_features, 2)))[0]
    np.testing.assert_allclose(phi.dot(x, axes), phi(x) @ axes, atol=1e-8)


def test_chunks_of_any_number_are_each_added_once():
    for n in (1, 7, 8, 9, 31):
        made = gather_moments(
            lambda p: DenseMoments.of(np.ones((p.stop - p.start, 1)), np.ones(p.stop - p.start), 1.0), n, 2
        )
        assert made.rows == n
        assert made.leak == -(-n // 2)


def test_likely_norms_add_and_survive_removal():
    from dataclasses import replace

    a, b = (DenseMoments.of(RNG.standard_normal((9, 2)), np.ones(9), 5.0) for _ in range(2))
    a = replace(a, likely=1.0, failure_probability=1e-10)
    assert (a + b).likely == 6.0
    assert ((a + b) - b).likely == 6.0
    assert (b - b.scaled(0.5)).likely is None
    assert (a + a).failure_probability == 2e-10
    spectrum = a.solve(1, 1e-3, RNG)
    assert spectrum.kind == "probabilistic"
    assert spectrum.failure_probability == 1e-10
    assert b.solve(1, 1e-3, RNG).kind == "rigorous"
    with pytest.raises(ValueError, match="leaves nothing"):
        a - a
