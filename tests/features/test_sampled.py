"""Landmarks and a second level: the stated residual is that of the kernel, and the second level lowers it."""

from dataclasses import replace

import numpy as np
import pytest

from gramless.certificates import from_frobenius
from gramless.features import LandmarkMap, SampledBuilder, SampledMap, choose_pivots, maps
from gramless.features import landmark_sizes as sizes
from gramless.features.landmark_curve import landmark_curve
from gramless.gram import CenteredGram, Nystroem, TiledGram
from gramless.kernels import Gaussian, Linear, Matern
from gramless.problem import Problem


def mixture(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return 1.5 * rng.standard_normal((8, d))[rng.integers(0, 8, n)] + rng.standard_normal((n, d))


def pose(x, kernel, **more):
    return Problem(len(x), x.shape[1], kernel, 4, 1e-4, 10**9, weight=len(x), peak=0.05, threads=2, **more)


def made(x, kernel=None):
    kernel = Gaussian(3.0) if kernel is None else kernel
    return SampledBuilder().make(pose(x, kernel), x, np.ones(len(x)), np.random.default_rng(0))


INPUTS = {
    "plain": mixture(900),
    "repeated": mixture(300)[np.arange(900) % 300],
    "outliers": mixture(900) * np.where(np.arange(900) % 90 == 0, 100.0, 1.0)[:, None],
    "clusters": np.repeat(mixture(9), 100, axis=0) + 1e-5 * mixture(900, seed=1),
    "line": np.outer(np.linspace(-1, 1, 900), np.ones(6)) + 1e-7 * mixture(900),
}


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Matern(1.5, 3.0)], ids=str)
@pytest.mark.parametrize("name", INPUTS)
def test_what_is_left_is_positive_semidefinite_with_the_stated_diagonal(name, kernel):
    x = INPUTS[name]
    features = made(x, kernel)
    rows = features.rows(x)
    left = kernel(x) - rows.values @ rows.values.T
    blur = 2 * (rows.error * np.sqrt(rows.norms2)).sum() + rows.rounding.sum() + 1e-11
    assert np.linalg.eigvalsh((left + left.T) / 2)[0] >= -blur
    assert (left.diagonal() <= rows.leak + rows.rounding + 1e-12).all()
    assert (left.diagonal() >= rows.leak - rows.leak_error - rows.rounding - 1e-12).all()


def test_the_second_level_lowers_the_residual_of_the_leading_components():
    x, kernel = mixture(1500), Gaussian(3.0)
    features = made(x, kernel)
    assert isinstance(features, SampledMap)

    def residual(phi):
        values = phi(x) - phi(x).mean(axis=0)
        basis, sizes, _ = np.linalg.svd(values, full_matrices=False)
        centred = kernel(x) - kernel(x).mean(axis=0)
        centred -= centred.mean(axis=1)[:, None]
        return np.linalg.norm(centred @ basis[:, :4] - basis[:, :4] * sizes[:4] ** 2, axis=0).max() / sizes[0] ** 2

    assert residual(features) < residual(features.landmarks) / 5


def test_products_are_those_of_the_features_within_the_stated_error():
    x = mixture(700)
    features = made(x)
    axes = np.random.default_rng(1).standard_normal((features.n_features, 3))
    plain = features(x) @ axes
    away = np.linalg.norm(features.dot(x, axes) - plain, axis=0)
    rounding = float(features.rows(x).rounding.sum())
    bound = features.dot_error(axes, 10.0, 1.0, float(len(x)), rounding)
    slack = np.linalg.norm(features.rows(x).error) * np.linalg.norm(axes, axis=0)
    assert (away <= bound + slack).all()
    points, coefficients = features.on_points(axes)
    np.testing.assert_allclose(features.kernel(x, points) @ coefficients, plain, atol=1e-7)


def test_where_landmarks_leave_nothing_there_is_no_second_level():
    features = made(mixture(400), Linear())
    assert features.combinations.shape[1] == 0
    x = mixture(20, seed=3)
    np.testing.assert_allclose(features(x) @ features(x).T, x @ x.T.copy(), atol=1e-8)


def test_rows_that_are_not_all_at_hand_are_refused():
    x = mixture(400)
    for there in ({"block": 100}, {"workers": 2}, {"streaming": True}, {"sparse": True}):
        assert "needs dense rows in memory" in maps["sampled"].estimate(pose(x, Gaussian(1.0), **there)).refusal


# ------------------------------------------------------------------------------------------------------------ estimates


def test_a_curve_from_a_sample_predicts_the_accuracy_on_all_rows():
    x, kernel = mixture(6000, d=10), Gaussian(7.0)
    curve = landmark_curve(kernel, x[::3].copy(), 4)
    for size in (100, 400):
        pivots = choose_pivots(kernel, x, np.ones(len(x)), size, 0.0, np.random.default_rng(0))
        features = LandmarkMap.at(kernel, x[pivots.indices])
        phi = features(x)
        centred = phi - phi.mean(axis=0)
        basis, values, _ = np.linalg.svd(centred, full_matrices=False)
        v = basis[:, :4]
        left = kernel(x) @ v - phi @ (phi.T @ v)
        trace = (1 - (phi**2).sum(axis=1)).sum()
        assert curve.residual(size) == pytest.approx(np.linalg.norm(left, axis=0).max() / values[0] ** 2, rel=0.6)
        assert curve.trace(size) == pytest.approx(trace / values[0] ** 2, rel=0.3)
    assert curve.residual(4000) < curve.residual(1000) < curve.residual(500)


@pytest.mark.parametrize(("d", "width"), [(10, 4.0), (30, 8.0)])
def test_a_curve_from_a_sample_predicts_what_landmarks_prove_outside_the_leading_vectors(d, width):
    rng, k, neighbors = np.random.default_rng(0), 5, 16
    x, kernel = rng.standard_normal((4000, d)), Gaussian(width)
    curve = landmark_curve(kernel, x[:2048], k)
    values = np.linalg.eigvalsh(CenteredGram(TiledGram(kernel, x)).to_dense())[::-1]
    for size in (128, 512):
        floors = Nystroem(kernel, x, np.ones(len(x)), x[rng.choice(len(x), size, replace=False)]).floors
        basis = values[: k + neighbors]
        bound = from_frobenius((values**2).sum(), basis, np.zeros((0, len(basis))), 0.0, floors=floors)
        assert 0.6 < curve.outside(size, len(x)) * values[0] / bound < 1.4


def test_smaller_tolerances_cost_more():
    x, kernel = mixture(4096, d=10), Gaussian(7.0)
    problem = pose(x, kernel, sample=x[::2].copy())
    found = [sizes.choose_sizes(replace(problem, n=10**6, tol=tol), (0, 1000, 3000)) for tol in (1e-2, 1e-3, 1e-4)]
    assert found[0].whole < found[1].whole < found[2].whole
    for tol, choice in zip((1e-2, 1e-3, 1e-4), found, strict=True):
        assert choice.error <= tol


def test_few_rows_have_no_curve():
    x = mixture(2048)
    assert sizes.curve_of(pose(x, Gaussian(3.0), sample=x)) is None
