"""Angles between subspaces of feature space."""

import numpy as np
import pytest
import scipy.linalg

from gramless import KernelPCA, principal_angles, subspace_distance
from gramless.kernels import Gaussian, Linear, Polynomial


def rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1)


def test_with_the_linear_kernel_they_are_those_of_the_axes():
    x, y = rows(80, 6), rows(90, 6, 1)
    axes = [np.linalg.svd(part - part.mean(axis=0), full_matrices=False)[2] for part in (x, y)]
    exact = scipy.linalg.subspace_angles(axes[0][:3].T, axes[1][:2].T)
    for first in ("dense", "svd", "monomials"):
        for second in ("dense", "covariance", "monomials"):
            a = KernelPCA(3, kernel="linear", method=first).fit(x)
            b = KernelPCA(2, kernel="linear", method=second).fit(y)
            np.testing.assert_allclose(principal_angles(a, b), np.sort(exact), atol=1e-7)
            np.testing.assert_allclose(subspace_distance(b, a), np.sqrt(np.mean(np.sin(exact) ** 2)), atol=1e-7)


def test_one_model_by_many_methods_is_one_subspace():
    x = np.random.default_rng(0).random((300, 2))
    models = [KernelPCA(4, kernel=Gaussian(0.7), method=m).fit(x) for m in ("dense", "fourier", "taylor", "landmarks")]
    for model in models[1:]:
        assert subspace_distance(models[0], model) < 1e-3
        assert subspace_distance(model, model) < 1e-6
    stream = KernelPCA(4, kernel=Gaussian(0.7)).partial_fit(x[:100]).partial_fit(x[100:])
    assert stream.method_ == "merging"
    assert subspace_distance(stream, models[0]) < 1e-6


def test_orthogonal_and_equal():
    x = np.zeros((40, 2))
    x[:20, 0], x[20:, 1] = np.arange(20), np.arange(20)
    a, b = KernelPCA(1, kernel="linear").fit(x[:20]), KernelPCA(1, kernel="linear").fit(x[20:])
    assert subspace_distance(a, b) == pytest.approx(1.0)
    assert subspace_distance(a, a) == pytest.approx(0.0, abs=1e-7)
    np.testing.assert_allclose(principal_angles(a, b), [np.pi / 2])


def test_small_angles_are_not_lost_in_a_cosine():
    tilt = 1e-5
    x = np.outer(np.arange(-5.0, 6), [1, 0])
    y = np.outer(np.arange(-5.0, 6), [np.cos(tilt), np.sin(tilt)])
    a, b = (KernelPCA(1, kernel="linear", method="dense").fit(part) for part in (x, y))
    np.testing.assert_allclose(principal_angles(a, b), [tilt], rtol=1e-3)


def test_what_differs_is_said():
    x = rows(30, 2)
    model = KernelPCA(2, kernel=Gaussian(1.0), method="dense").fit(x)
    with pytest.raises(ValueError, match="kernels differ"):
        principal_angles(model, KernelPCA(2, kernel=Gaussian(2.0), method="dense").fit(x))
    with pytest.raises(ValueError, match="2 columns in one model and 3"):
        principal_angles(model, KernelPCA(2, kernel=Gaussian(1.0), method="dense").fit(rows(30, 3)))
    with pytest.raises(ValueError, match="different boxes"):
        subspace_distance(
            *(KernelPCA(2, kernel=Gaussian(1.0), method="fourier").fit(scale * x) for scale in (1.0, 3.0))
        )
    given = KernelPCA(2, kernel="precomputed").fit(Linear()(x))
    with pytest.raises(ValueError, match="precomputed"):
        subspace_distance(given, given)
    settings = {"n_components": 2, "kernel": Polynomial(2), "center_input": True, "method": "dense"}
    with pytest.raises(ValueError, match="center_input"):
        subspace_distance(KernelPCA(**settings).fit(x), KernelPCA(**settings).fit(x + 1))
