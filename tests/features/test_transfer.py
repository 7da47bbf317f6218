"""Moments on landmarks: what is left out is measured, and what a change of landmarks loses is bounded."""

import numpy as np
from extended import centered_gram
from hypothesis import given
from hypothesis import strategies as st

from gramless.features import LandmarkMap, transfer_moments
from gramless.kernels import Gaussian, Laplacian, Matern

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
