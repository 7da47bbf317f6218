import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.gram import TiledGram
from gramless.kernels import Gaussian, Laplacian, Linear, Manhattan, Matern, Polynomial, Tanh
from gramless.spaces import (
    Combinations,
    Eigenspace,
    PointSpan,
    RidgePreimage,
    RowSample,
    descend,
    expand,
    fixed_points,
    from_distances,
    preimage_errors,
)
from gramless.spaces.preimage.distances import invert_profile


def rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def dense_space(kernel, x, k):
    """Kernel PCA written down."""
    n = len(x)
    gram = kernel(x)
    middle = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(middle @ gram @ middle)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    basis = middle @ vectors / np.sqrt(values)
    mean = np.full(n, 1 / n)
    trace = float(np.trace(middle @ gram @ middle))
    return Eigenspace(PointSpan(kernel, x), mean, basis, values, mean @ gram @ basis, mean @ gram @ mean, n, trace)


def naive_fixed_point(sigma, points, coefficients, z):
    for _ in range(500):
        pull = [c * np.exp(-((p - z) ** 2).sum() / (2 * sigma**2)) for c, p in zip(coefficients, points, strict=True)]
        z = sum(w * p for w, p in zip(pull, points, strict=True)) / sum(pull)
    return z


def test_the_fixed_point_is_that_of_the_formula():
    x = rows(25, 3)
    space = dense_space(Gaussian(1.5), x, 4)
    new = rows(6, 3, seed=1)
    scores = space.project(new)
    found = fixed_points(expand(space), scores, new, tol=1e-9)
    assert found.converged.all()
    for s, z, start in zip(scores, found.points, new, strict=True):
        np.testing.assert_allclose(z, naive_fixed_point(1.5, x, space.mean + space.basis @ s, start), atol=1e-6)


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Matern(1.5, 2.0), Matern(2.5, 2.0)])
def test_no_point_around_a_fixed_point_is_nearer(kernel):
    x = rows(40, 3)
    space = dense_space(kernel, x, 4)
    new = rows(6, 3, seed=1)
    scores = space.project(new)
    found = fixed_points(expand(space), scores, new, tol=1e-8)
    assert found.converged.sum() >= 5
    for s, z in zip(scores[found.converged], found.points[found.converged], strict=True):
        around = np.vstack([z, z + 0.01 * rows(50, 3, seed=2)])
        distances = kernel.diagonal(around) - 2 * kernel(around, x) @ (space.mean + space.basis @ s)
        assert distances.argmin() == 0


@pytest.mark.parametrize("back", ["fixed_point", "distances"])
def test_with_all_components_a_training_point_is_its_own_preimage(back):
    x = rows(30, 3)
    space = dense_space(Gaussian(1.0), x, 29)
    scores = space.project(x)
    found = (
        fixed_points(expand(space), scores).points if back == "fixed_point" else from_distances(expand(space), scores)
    )
    np.testing.assert_allclose(found, x, atol=1e-4)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(1.3), Matern(1.5, 0.9)])
def test_distances_are_read_off_the_kernel(kernel):
    squared = np.array([[0.0, 0.1], [1.0, 4.0]])
    np.testing.assert_allclose(invert_profile(kernel, kernel.profile(squared.copy())), squared, atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Matern(2.5, 0.9)])
def test_a_point_among_its_neighbours_is_found_from_distances(kernel):
    x = rows(60, 2)
    space = dense_space(kernel, x, 59)
    inside = 0.3 * rows(5, 2, seed=3)
    found = from_distances(expand(space), space.project(inside))
    assert np.abs(found - inside).max() < 0.1


def test_duplicate_neighbours_do_no_harm():
    x = np.repeat(rows(8, 2), 5, axis=0)
    space = dense_space(Gaussian(1.0), x, 3)
    assert np.isfinite(from_distances(expand(space), space.project(x))).all()


def test_ridge_on_landmarks_is_the_exact_one():
    scores, x = rows(2000, 3), rows(2000, 4, seed=1)
    weights = np.random.default_rng(2).integers(0, 3, 2000).astype(float)
    new = rows(40, 3, seed=3)
    exact = RidgePreimage.fit(Gaussian(2.0), scores, x, weights, 0.1, 10**9)
    few = RidgePreimage.fit(Gaussian(2.0), scores, x, weights, 0.1, 2 * 10**7)
    assert len(few.scores) < len(exact.scores) / 2
    assert few.left_out < 0.1
    np.testing.assert_allclose(few(new), exact(new), atol=1e-3)


def test_ridge_of_an_indefinite_kernel_needs_no_features():
    scores, x = rows(200, 2), rows(200, 3, seed=1)
    exact = RidgePreimage.fit(Tanh(0.1, 0.5), scores, x, np.ones(200), 5.0, 10**9)
    lean = RidgePreimage.fit(Tanh(0.1, 0.5), scores, x, np.ones(200), 5.0, 10**5)
    np.testing.assert_allclose(lean(scores), exact(scores), atol=1e-6)


def test_ridge_is_the_formula():
    scores, x = rows(20, 2), rows(20, 3, seed=1)
    weights = np.random.default_rng(2).uniform(0.5, 2, 20)
    gram = TiledGram(Polynomial(2), scores).to_dense()
    naive = gram @ np.linalg.solve(gram + np.diag(0.3 / weights), x)
    np.testing.assert_allclose(RidgePreimage.fit(Polynomial(2), scores, x, weights, 0.3, 10**9)(scores), naive)


def test_distances_name_the_kernels_they_are_for():
    space = dense_space(Linear(), rows(10, 3), 2)
    with pytest.raises(ValueError, match="distances' is for radial kernels that decay with the distance"):
        from_distances(expand(space), np.zeros((1, 2)))


def test_a_sample_of_few_rows_is_all_of_them():
    x, weights = rows(50, 2), np.random.default_rng(1).uniform(0, 2, 50)
    sample = RowSample.of(x, weights, 60)
    np.testing.assert_array_equal(sample.rows, x)
    np.testing.assert_array_equal(sample.weights, weights)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 30))
def test_a_sample_is_never_too_large_and_never_holds_weight_zero(sizes, size):
    total = None
    for seed, n in enumerate(sizes):
        weights = np.random.default_rng(seed).integers(0, 3, n).astype(float)
        part = RowSample.of(np.column_stack([rows(n, 1, seed), weights]), weights, size, seed=seed)
        total = part if total is None else total + part
    assert len(total.rows) <= size
    assert (total.rows[:, 1] > 0).all()
    assert (total.weights >= total.own).all()


def test_sums_over_a_sample_estimate_sums_over_all_rows():
    x, weights = rows(400, 1) + 2, np.random.default_rng(1).exponential(size=400)
    estimates = []
    for seed in range(400):
        half = RowSample.of(x[:150], weights[:150], 60, seed=seed)
        sample = half + RowSample.of(x[150:], weights[150:], 60, seed=seed + 1000)
        estimates.append(sample.weights @ sample.rows[:, 0])
    truth, error = weights @ x[:, 0], np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - truth) < 4 * error
    assert error < 0.02 * truth


def test_a_scaled_sample_is_that_of_scaled_weights():
    x, weights = rows(100, 1), np.random.default_rng(1).uniform(0.1, 2, 100)
    scaled, direct = RowSample.of(x, weights, 30).scaled(0.5), RowSample.of(x, 0.5 * weights, 30)
    np.testing.assert_array_equal(scaled.rows, direct.rows)
    np.testing.assert_allclose(scaled.weights, direct.weights)


def test_without_a_ridge_the_rows_are_met_or_the_remedy_is_named():
    scores = rows(30, 3)
    met = RidgePreimage.fit(Laplacian(1.0), scores, rows(30, 5, seed=1), np.ones(30), 0.0, 10**6)
    np.testing.assert_allclose(met(scores), rows(30, 5, seed=1), atol=1e-6)
    flat = RidgePreimage.fit(Linear(), scores, scores @ rows(3, 5, seed=1), np.ones(30), 0.0, 10**6)
    np.testing.assert_allclose(flat(scores), scores @ rows(3, 5, seed=1), atol=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="pass a larger alpha \\(not 0\\)"):
        RidgePreimage.fit(Gaussian(100.0), scores, rows(30, 5, seed=1), np.ones(30), 0.0, 10**6)
    near = RidgePreimage.fit(Gaussian(100.0), scores, rows(30, 5, seed=1), np.ones(30), 1e-6, 10**6)
    assert np.isfinite(near(scores)).all()


@pytest.mark.parametrize(
    "kernel", [Polynomial(2), Polynomial(3, 0.0), Linear(), Gaussian(1.5) + Linear(), Manhattan(3.0)]
)
def test_descent_ends_nearer_than_it_began_in_few_steps(kernel):
    x = rows(40, 3)
    space = dense_space(kernel, x, 3)
    new = rows(6, 3, seed=1)
    scores = space.project(new)
    found = fixed_points(expand(space), scores, new)
    assert found.iterations < 200
    distances = preimage_errors(space, scores, found.points)
    assert (distances <= preimage_errors(space, scores, new) + 1e-12).all()
    if not isinstance(kernel, Manhattan):  # whose minima lie where it is not smooth
        assert found.converged.all()
        for j in range(20):
            away = found.points + 0.01 * rows(6, 3, seed=10 + j)
            assert (distances <= preimage_errors(space, scores, away) + 1e-9).all()


def test_a_descent_stops_at_the_limit_of_steps_and_at_values_that_are_not_finite():
    x = rows(20, 3)
    target = Combinations(Polynomial(3), x, np.full((2, 20), 1 / 20))
    z, converged, steps = descend(target, x[:2], shortest=1e-12, max_iter=3)
    assert steps == 3
    assert not converged.any()
    assert np.isfinite(z).all()
    with np.errstate(all="ignore"):
        z, converged, _ = descend(target, np.full((2, 3), 1e200), shortest=1e-6, max_iter=50)
    assert not converged.any()
