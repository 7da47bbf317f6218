"""Moments on landmarks: what is left out is measured, and what a change of landmarks loses is bounded."""

import numpy as np
import pytest
from extended import centered_gram
from hypothesis import given
from hypothesis import strategies as st
from inexact import Rounded

from gramless.features import DenseMoments, LandmarkMap, transfer_moments
from gramless.kernels import Gaussian, Laplacian, Linear, Matern

KERNELS = [Gaussian(0.4), Gaussian(2.0), Matern(1.5, 1.0), Laplacian(1.0)]


@given(st.sampled_from(KERNELS), st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 120))
def test_the_measured_norm_bounds_what_is_left_out(kernel, seed, points, n):
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((n, 2)), rng.random(n) + 0.1
    features = LandmarkMap.at(kernel, rng.standard_normal((points, 2)))
    moments, leaks = features.measured_moments(x, w)
    left_out = np.sqrt(w)[:, None] * (kernel(x) - features(x) @ features(x).T) * np.sqrt(w)
    assert np.linalg.eigvalsh(left_out)[-1] <= moments.residual_norm + 1e-12 * w.sum()
    assert moments.residual_norm <= moments.leak
    assert (left_out.diagonal() <= w * leaks + 1e-12 * w.sum()).all()
    np.testing.assert_allclose(moments.scatter, features.moments(x, w).scatter, atol=1e-9 * w.sum())


@given(st.sampled_from(KERNELS), st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 30), st.integers(2, 60))
def test_eigenvalues_stay_within_the_bounds_however_often_landmarks_change(kernel, seed, first, second, n):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    maps = [LandmarkMap.at(kernel, rng.standard_normal((count, 2))) for count in (first, second, first)]
    half = n // 2
    moments = maps[0].measured_moments(x[:half], np.ones(half))[0]
    moments = transfer_moments(moments, maps[0], maps[1])
    moments = moments + maps[1].measured_moments(x[half:], np.ones(n - half))[0]
    moments = transfer_moments(moments, maps[1], maps[2])
    truth = np.linalg.eigvalsh(np.asarray(centered_gram(kernel(x), np.ones(n)), dtype=np.float64))[::-1]
    spectrum = moments.solve(3, 0.0, np.random.default_rng(0))
    k = min(3, n)
    assert (spectrum.lower[:k] <= truth[:k] + 1e-12 * n).all()
    assert (truth[:k] <= spectrum.upper[:k] + 1e-12 * n).all()
    assert moments.trace >= truth.sum() - 1e-9 * n


def test_the_same_landmarks_change_nothing():
    x = np.random.default_rng(0).standard_normal((50, 2))
    features = LandmarkMap.at(Gaussian(1.0), x[:10])
    moments = features.moments(x, np.ones(50))
    assert transfer_moments(moments, features, LandmarkMap.at(Gaussian(1.0), x[:10])) is moments


def test_the_same_span_of_other_points_loses_nothing_but_rounding():
    """Points that span all rows, before and after: the spectrum is that of the rows, leak and slip are small."""
    rng = np.random.default_rng(0)
    x, kernel = rng.standard_normal((80, 3)), Linear()
    old, new = LandmarkMap.at(kernel, np.eye(3)), LandmarkMap.at(kernel, rng.standard_normal((3, 3)))
    moments = old.measured_moments(x, np.ones(80))[0]
    moved = transfer_moments(moments, old, new)
    expected = np.linalg.eigvalsh(np.cov(x.T, bias=True) * 80)
    np.testing.assert_allclose(np.linalg.eigvalsh(moved.scatter), expected, rtol=1e-12)
    np.testing.assert_array_equal(moved.scatter, moved.scatter.T)
    np.testing.assert_allclose(moved.mean @ new.triangle.lower.T, x.mean(axis=0) @ new.points.T, atol=1e-12)
    assert 0 <= moved.leak <= 1e-9
    assert 0 <= moved.likely <= 1e-9
    assert moved.lost == moments.lost + moments.leak
    assert moments.slip + np.sqrt(moments.residual_norm) <= moved.slip <= moments.slip + 1e-5
    assert moved.rounding <= moments.rounding + 1e-9
    assert (moved.weight, moved.rows) == (80.0, 80)


def test_what_the_new_points_do_not_see_is_the_leak():
    """Of rows in the plane, one axis is kept: the leak is the second moment along the other, and so is its norm."""
    rng = np.random.default_rng(0)
    x, weights = rng.standard_normal((60, 2)) + np.array([1.0, 2.0]), rng.uniform(0.5, 2, 60)
    old, new = LandmarkMap.at(Linear(), 3 * np.eye(2)), LandmarkMap.at(Linear(), np.array([[5.0, 0.0]]))
    moments = old.measured_moments(x, weights)[0]
    moved = transfer_moments(moments, old, new)
    gone = float(weights @ x[:, 1] ** 2)
    assert gone <= moved.leak <= gone * (1 + 1e-9)
    assert gone <= moved.likely <= gone * (1 + 1e-9)
    assert moved.leak - moved.leak_error <= gone
    assert moved.scatter[0, 0] == pytest.approx(weights @ (x[:, 0] - np.average(x[:, 0], weights=weights)) ** 2)
    assert moved.mean[0] == pytest.approx(np.average(x[:, 0], weights=weights))
    again = transfer_moments(moved, new, LandmarkMap.at(Linear(), np.array([[0.6, 0.8]])))
    assert again.slip >= moved.slip + np.sqrt(gone)
    assert again.lost >= moved.lost + gone


@pytest.mark.parametrize(("unit", "weight"), [(2.0**20, 1.0), (2.0**-20, 1.0), (1.0, 2.0**20), (1.0, 2.0**-20)])
def test_moments_carried_over_have_no_unit(unit, weight):
    rng = np.random.default_rng(0)
    x, old, new = rng.standard_normal((50, 4)), rng.standard_normal((3, 4)), rng.standard_normal((2, 4))

    def moved(unit, weight):
        first, second = (LandmarkMap.at(Linear(), unit * points) for points in (old, new))
        return transfer_moments(first.measured_moments(unit * x, np.full(50, weight))[0], first, second)

    plain, scaled = moved(1.0, 1.0), moved(unit, weight)
    np.testing.assert_allclose(scaled.scatter, unit**2 * weight * plain.scatter, rtol=1e-9)
    for field in ("leak", "leak_error", "likely", "rounding", "lost", "trace"):
        assert getattr(scaled, field) == pytest.approx(unit**2 * weight * getattr(plain, field), rel=1e-6)
    assert scaled.slip == pytest.approx(unit * np.sqrt(weight) * plain.slip, rel=1e-6)
    assert scaled.mean_error == pytest.approx(unit * plain.mean_error, rel=1e-6)


@pytest.mark.parametrize("lean", [1, -1])
def test_rows_that_no_new_point_sees_leave_out_all_of_themselves(lean):
    kernel = Rounded(1e-6, 0.0, lean)
    old, new = LandmarkMap.at(kernel, np.eye(5)[:4]), LandmarkMap.at(kernel, np.eye(5)[4:])
    x = np.array([[0.5, 0.5, 0.5, 0.5, 0.0]])
    moments = DenseMoments(1.0, old(x)[0], np.zeros((4, 4)), leak=0.0, rounding=0.0, rows=1)
    moved = transfer_moments(moments, old, new)
    combined = np.linalg.solve(old.triangle.lower.T, old(x)[0]) @ old.points  # what the coordinates stand for
    assert combined @ combined <= min(moved.leak, moved.likely)
    assert max(moved.leak, moved.likely) <= (combined @ combined) * (1 + 1e-3)


@pytest.mark.parametrize("lean", [1, -1])
@pytest.mark.parametrize("errors", [(1e-6, 0.0), (0.0, 1e-6)])
def test_errors_of_the_kernel_at_old_and_new_points_are_counted(lean, errors):
    """Second moments of rows that old and new points see wholly, by a kernel as inexact as it says."""
    kernel = Rounded(*errors, lean)
    old, new = LandmarkMap.at(kernel, np.eye(4)), LandmarkMap.at(kernel, 2 * np.eye(4))
    x = np.full((1, 4), 0.5)
    truth = DenseMoments(1.0, old(x)[0], np.zeros((4, 4)), leak=0.0, rounding=0.0, rows=1)
    moved = transfer_moments(truth, old, new)
    combined = np.linalg.solve(old.triangle.lower.T, old(x)[0]) @ old.points  # what the coordinates stand for
    off = abs(float(moved.mean @ moved.mean) - float(combined @ combined))
    assert off <= moved.rounding <= 40 * off
    assert off / 2 <= moved.leak
    assert off / 2 <= moved.mean_error
