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
    with pytest.raises(ValueError, match="leaves no rows"):
        a - a


def test_a_likely_bound_that_gains_nothing_is_not_used():
    """Where the trace is nearly as good, the interval is rigorous; where rows were carried over, it cannot be."""
    from dataclasses import replace

    moments = stated(6.0, [1.0], [[4.0]], leak=0.5, rounding=0.0, likely=0.4, failure_probability=1e-6)
    found = moments.solve(1, 1e-3, RNG)
    assert (found.kind, found.failure_probability) == ("rigorous", 0.0)
    assert found.upper[0] == pytest.approx(4.5)
    carried = replace(moments, slip=0.1).solve(1, 1e-3, RNG)
    assert (carried.kind, carried.failure_probability) == ("probabilistic", 1e-6)
    measured = replace(moments, failure_probability=0.0).solve(1, 1e-3, RNG)
    assert measured.kind == "rigorous"
    assert measured.upper[0] == pytest.approx(4.4)


def stated(weight, mean, scatter, **errors):
    """Moments of which each error is as large as it says."""
    return DenseMoments(weight=weight, mean=np.array(mean), scatter=np.array(scatter), rows=3, **errors)


@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_means_are_carried_as_far_as_they_can_go(sign):
    """Two means on one axis, each off by its error so that their distance, or that of both, is off the most."""
    a = stated(6.0, [0.0], [[5.0]], leak=0.0, rounding=0.125, mean_error=0.01)
    b = stated(2.0, [3.0], [[1.0]], leak=0.0, rounding=0.25, mean_error=0.02)
    made = a + b if sign > 0 else a - b
    weight = 6 + sign * 2
    apart = 3 + 0.03
    truth = 5 + sign * 1 + sign * 12 / weight * apart**2 + sign * 0.375
    assert made.scatter[0, 0] + sign * made.rounding == pytest.approx(truth, rel=1e-12)
    both = (6 * 0.01 + 2 * sign * (3 + sign * 0.02)) / weight
    assert made.mean[0] + made.mean_error == pytest.approx(both, rel=1e-12)
    assert made.weight == weight
    assert made.rows == 3 + sign * 3


def test_what_is_left_out_adds():
    a = stated(6.0, [0.0], [[5.0]], leak=0.5, rounding=0.0, leak_error=0.125, slip=0.3, lost=0.25)
    b = stated(2.0, [3.0], [[1.0]], leak=0.25, rounding=0.0, leak_error=0.0625, slip=0.4, lost=1.0)
    made = a + b
    assert (made.leak, made.leak_error, made.lost) == (0.75, 0.1875, 1.25)
    assert made.slip == pytest.approx(0.5)
    assert made.trace == pytest.approx(5 + 1 + 12 / 8 * 9 + 0.75 + 1.25)
    less = a - b  # of b, at least 0.1875 goes
    assert (less.leak, less.leak_error) == (0.3125, 0.1875)


@pytest.mark.parametrize("likely", [None, 0.0625])
def test_intervals_are_attained_and_have_no_unit(likely):
    """All that is left out, and all rounding, may lie on the first axis, and the slip along it."""
    chance = 0.0 if likely is None else 1e-6
    moments = stated(
        6.0, [1.0, 2.0], [[4.0, 0.0], [0.0, 1.0]], leak=0.5, rounding=0.25, slip=0.1, lost=0.5, mean_error=0.5,
        leak_error=0.25, likely=likely, failure_probability=chance,
    )  # fmt: skip
    found = moments.solve(1, 1e-3, RNG)
    left = 0.25 + (0.5 if likely is None else likely)
    assert found.upper[0] == pytest.approx((np.sqrt(4 + left) + 0.1) ** 2)
    assert found.lower[0] == pytest.approx((np.sqrt(4 - 0.25) - 0.1) ** 2)
    assert found.upper[1] == pytest.approx((np.sqrt(1 + left) + 0.1) ** 2)
    assert found.residual[0] == pytest.approx(left + 2 * np.sqrt(found.upper[0]) * 0.1 + 0.01)
    assert found.failure_probability == chance
    unit = 2.0**-60
    scaled = moments.scaled(unit)
    other = scaled.solve(1, 1e-3, RNG)
    for field in ("values", "lower", "upper", "residual"):
        np.testing.assert_allclose(getattr(other, field), unit * getattr(found, field), rtol=1e-12)
    assert scaled.trace == pytest.approx(unit * moments.trace)
    assert scaled.weight == 6 * unit
    assert scaled.leak_error == 0.25 * unit
    assert scaled.mean_error == 0.5


@pytest.mark.parametrize("by_row", [False, True])
def test_errors_of_the_features_are_attained(by_row):
    """On one axis, about 0: all features too small by the part that is stated, or each by its own error."""
    exact, weights, part = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0, 1.0]), 0.01
    found = (1 - part) * exact
    if by_row:
        moments = DenseMoments.of(found, weights, 0.5, errors=part * np.abs(exact[:, 0]))
    else:
        moments = DenseMoments.of(found, weights, 0.5, part / (1 - part))
    assert moments.scatter[0, 0] + moments.rounding == pytest.approx(12.0, rel=1e-12)
    assert moments.mean_error == pytest.approx(part * np.sqrt(12 / 6), rel=1e-9)  # were all errors of one sign
    assert (moments.leak, moments.leak_error) == (0.5, 0.0)
    more = DenseMoments.of(found, weights, 0.5, part / (1 - part), rounding=0.25, leak_error=0.125)
    assert more.rounding == pytest.approx(12.0 - moments.scatter[0, 0] + 0.25, rel=1e-12)
    assert more.leak_error == 0.125


def test_errors_of_all_features_and_of_single_rows_add():
    exact, weights, part = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0, 1.0]), 0.01
    found = (1 - part) * exact
    moments = DenseMoments.of(found, weights, 0.5, part / 2 / (1 - part), errors=part / 2 * np.abs(exact[:, 0]))
    assert moments.scatter[0, 0] + moments.rounding == pytest.approx(12.0, rel=1e-12)


def test_rows_of_no_weight_add_nothing_but_their_number():
    some = DenseMoments.of(RNG.standard_normal((9, 2)), np.ones(9), 5.0, leak_error=0.5)
    none = DenseMoments.of(RNG.standard_normal((4, 2)), np.zeros(4), 3.0, rounding=1.0, leak_error=0.25)
    assert (none.weight, none.leak, none.rounding, none.leak_error, none.mean_error, none.trace) == (0.0,) * 6
    for made in (some + none, none + some):
        assert made.rows == 13
        assert (made.weight, made.leak, made.rounding, made.trace) == (9.0, 5.0, some.rounding, some.trace)
    assert (some - none).rows == 5
    assert not (none + none).solve(1, 0.0, RNG).upper.any()


@pytest.mark.parametrize(("size", "leak", "rounding"), [(1e200, 0.0, 0.0), (1.0, np.inf, 0.0), (1.0, 0.0, np.inf)])
def test_what_overflows_is_refused(size, leak, rounding):
    features = size * np.array([[1.0], [-1.0]])
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match="overflows"):
        DenseMoments.of(features, np.ones(2), leak, rounding=rounding)
