import numpy as np
import pytest
import scipy.stats
from scipy.integrate import trapezoid

from gramless import SeriesDensity
from gramless.densities import Moment, Series, Shape, fit_series, held_out_count, retained_by_rule
from gramless.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial

KERNELS = [Gaussian(0.4), Laplacian(0.5), Matern(1.5, 0.6), Matern(0.8, 0.5), 2.0 * Gaussian(0.5)]


def rows(n=120, d=1, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def series(kernel, x, count=None, truncation="held_out", weights=None):
    n = len(x)
    weights = np.ones(n) if weights is None else weights
    return fit_series(kernel, x, weights, count, truncation, np.arange(n) % 5, np.random.default_rng(0))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_integral_is_that_of_the_profile(kernel, d):
    """In polar coordinates: the area of the sphere times the integral of k(r) r^(d-1)."""
    r = np.linspace(0, 60, 2_000_001)
    values = kernel(np.zeros((1, 1)), r[:, None])[0] * r ** (d - 1)
    sphere = 2 * np.pi ** (d / 2) / scipy.special.gamma(d / 2)
    assert np.exp(Shape.of(kernel, d).log_integral) == pytest.approx(sphere * trapezoid(values, r), rel=1e-5)


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=str)
def test_two_kernels_overlap_as_the_spread_one_says(kernel):
    grid = np.linspace(-40, 40, 400_001)[:, None]
    wide, log = Shape.of(kernel, 1).spread()
    for apart in (0.0, 0.3, 1.7):
        product = kernel(grid, np.zeros((1, 1))) * kernel(grid, np.full((1, 1), apart))
        exact = trapezoid(product[:, 0], grid[:, 0])
        value = wide(np.zeros((1, 1)), np.full((1, 1), apart))[0, 0]
        assert np.exp(log) * value == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=str)
def test_samples_of_a_shape_have_its_distribution(kernel):
    points = Shape.of(kernel, 2).sample(4000, np.random.default_rng(0))
    r = np.linspace(0, 30, 300_001)
    density = kernel(np.zeros((1, 1)), r[:, None])[0] * r
    steps = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    distribution = scipy.stats.kstest(np.linalg.norm(points, axis=1), lambda t: np.interp(t, r, steps / steps[-1]))
    assert distribution.pvalue > 1e-3


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("count", [1, 4, 9])
def test_the_weights_are_those_of_the_leading_eigenvectors(kernel, count):
    """Girolami: 1^T U_M U_M^T k(x) / N, with the eigenvectors of the Gram matrix as it is."""
    x = rows(80, 2)
    vectors = np.linalg.eigh(kernel(x))[1][:, ::-1][:, :count]
    naive = vectors @ (vectors.T @ np.full(80, 1 / 80))
    np.testing.assert_allclose(series(kernel, x, count).weights, naive, atol=1e-6)


def test_with_all_terms_it_is_the_parzen_estimate():
    x = rows(60, 2)
    whole = series(Laplacian(1.0), x, 60)
    np.testing.assert_allclose(whole.weights, 1 / 60, atol=1e-9)
    assert whole.mass == (pytest.approx(1.0), 0.0)


def test_the_rule_is_that_of_the_paper():
    x, kernel = rows(100), Gaussian(0.3)
    values, vectors = np.linalg.eigh(kernel(x))
    kept = vectors.sum(axis=0) ** 2 > 2 * 100 / 101
    kept[-1] = True
    kept &= values > 1e-9 * values[-1]
    assert series(kernel, x, None, "rule").count == kept.sum()


def test_the_count_has_the_least_error_on_rows_held_out():
    x, kernel = rows(100), Gaussian(0.5)
    grid = np.linspace(-12, 12, 20_001)[:, None]
    scale = np.sqrt(2 * np.pi) * 0.5
    errors = np.zeros(12)
    for fold in range(5):
        train, held = x[np.arange(100) % 5 != fold], x[np.arange(100) % 5 == fold]
        for count in range(1, 13):
            part = series(kernel, train, count)
            square = trapezoid((part.raw(grid) / scale) ** 2, grid[:, 0])
            errors[count - 1] += square - 2 * (part.raw(held) / scale).mean()
    assert series(kernel, x).count == int(np.argmin(errors)) + 1


def test_moments_add():
    phi = rows(30, 4)

    def moment(part):
        return Moment(float(len(part)), part.sum(axis=0), part.T @ part)

    whole = moment(phi[:10]) + moment(phi[10:])
    np.testing.assert_allclose(whole.square, phi.T @ phi)
    np.testing.assert_allclose((whole - moment(phi[:10])).total, phi[10:].sum(axis=0))
    values, axes = whole.eigen()
    assert retained_by_rule(whole, values, axes)[0]
    assert 1 <= held_out_count([moment(phi[:10]), moment(phi[10:])], np.eye(4)) <= 4


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(float("inf"))], ids=str)
def test_what_is_not_a_density_is_refused(kernel):
    with pytest.raises(ValueError, match="is not the density of a translation-invariant kernel"):
        Shape.of(kernel, 2)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(0.5)], ids=str)
def test_what_lies_below_zero_is_cut_off_and_the_rest_scaled(kernel):
    below = Series(kernel, Shape.of(kernel, 1), np.array([[0.0], [1.5], [3.0]]), np.array([0.9, -0.4, 0.5]), 1)
    grid = np.linspace(-15, 18, 330_001)
    raw = below.raw(grid[:, None])
    assert raw.min() < 0
    density = np.exp(below.log(grid[:, None]))
    mass, error = below.mass
    assert 0 < error < 0.01
    assert trapezoid(density, grid) == pytest.approx(1.0, abs=4 * error / mass)
    assert np.isneginf(below.log(grid[raw < 0][:1, None])).all()
    drawn = below.sample(3000, np.random.default_rng(0))
    assert (below.raw(drawn) > 0).all()
    steps = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    assert scipy.stats.kstest(drawn[:, 0], lambda t: np.interp(t, grid, steps / steps[-1])).pvalue > 1e-3


def test_fewer_landmarks_of_many_rows_change_little(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 2))[rng.integers(0, 30, 12_000)] * 3 + 0.2 * rng.standard_normal((12_000, 2))
    quick = SeriesDensity(bandwidth=0.5, random_state=0).fit(x)
    monkeypatch.setattr("gramless.densities.series._LEAK_OF_MANY", 1e-10)
    exact = SeriesDensity(bandwidth=0.5, random_state=0).fit(x)
    assert quick.n_components_ == exact.n_components_
    found, expected = np.exp(quick.score_samples(x[:500])), np.exp(exact.score_samples(x[:500]))
    assert 0 < np.abs(found - expected).max() <= 1e-3 * expected.max()
