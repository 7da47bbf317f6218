import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from scipy.integrate import trapezoid
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramless import SeriesDensity
from gramless.kernels import Gaussian, Laplacian, Linear, Matern


def two_heaps(n=400, d=1, seed=0):
    random = np.random.default_rng(seed)
    return np.where(random.random((n, 1)) < 0.3, -2.0, 1.0) + 0.5 * random.standard_normal((n, d))


@parametrize_with_checks([SeriesDensity(), SeriesDensity(3, kernel=Matern(1.5, 1.0)), SeriesDensity(truncation="rule")])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.4), Matern(2.5, 0.5), 3.0 * Gaussian(0.3)], ids=str)
@pytest.mark.parametrize("settings", [{"n_components": 3}, {"truncation": "rule"}, {}], ids=str)
def test_it_is_a_density_on_the_line(kernel, settings):
    model = SeriesDensity(kernel=kernel, random_state=0, **settings).fit(two_heaps())
    grid = np.linspace(-15, 15, 30_001)[:, None]
    density = np.exp(model.score_samples(grid))
    assert (density >= 0).all()
    assert trapezoid(density, grid[:, 0]) == pytest.approx(1.0, abs=1e-3 + 5 * model.normalization_error_)


def test_it_is_a_density_in_the_plane():
    model = SeriesDensity(4, kernel=Gaussian(0.35), random_state=0).fit(two_heaps(300, 2))
    side = np.linspace(-7, 7, 281)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    mass = np.exp(model.score_samples(grid)).sum() * (side[1] - side[0]) ** 2
    assert mass == pytest.approx(1.0, abs=2e-3 + 5 * model.normalization_error_)


def test_all_terms_are_scikit_learns_estimate():
    x, new = two_heaps(100, 2), two_heaps(20, 2, seed=1)
    model = SeriesDensity(100, bandwidth=0.8, random_state=0).fit(x)
    theirs = KernelDensity(bandwidth=0.8).fit(x)
    np.testing.assert_allclose(model.score_samples(new), theirs.score_samples(new), atol=1e-4)
    assert model.score(new) == pytest.approx(theirs.score(new), abs=1e-2)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.4)], ids=str)
def test_samples_come_from_the_density(kernel):
    model = SeriesDensity(3, kernel=kernel, random_state=0).fit(two_heaps())
    grid = np.linspace(-20, 20, 40_001)
    density = np.exp(model.score_samples(grid[:, None]))
    steps = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    drawn = model.sample(3000, random_state=0)
    assert drawn.shape == (3000, 1)
    assert scipy.stats.kstest(drawn[:, 0], lambda t: np.interp(t, grid, steps / steps[-1])).pvalue > 1e-3
    np.testing.assert_array_equal(drawn, model.sample(3000, random_state=0))


def test_fewer_terms_come_nearer_to_the_truth_with_a_wide_kernel():
    def truth(t):
        return 0.3 * scipy.stats.norm.pdf(t, -2, 0.5) + 0.7 * scipy.stats.norm.pdf(t, 1, 0.5)

    x, grid = two_heaps(2000), np.linspace(-8, 8, 4001)
    ours = SeriesDensity(bandwidth=0.6, random_state=0).fit(x)
    parzen = KernelDensity(bandwidth=0.6).fit(x)
    errors = [trapezoid((np.exp(m.score_samples(grid[:, None])) - truth(grid)) ** 2, grid) for m in (ours, parzen)]
    assert errors[0] < 0.8 * errors[1]


def test_weights_rules_sparse_and_single():
    x = two_heaps(200, 2)
    weights = np.random.default_rng(1).integers(0, 3, 200)
    weighted = SeriesDensity(4, random_state=0).fit(x, sample_weight=weights)
    repeated = SeriesDensity(4, random_state=0).fit(np.repeat(x, weights, axis=0))
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_)
    np.testing.assert_allclose(weighted.score_samples(x[:9]), repeated.score_samples(x[:9]), atol=1e-2)
    plain = SeriesDensity(4, random_state=0).fit(x)
    sparse = SeriesDensity(4, random_state=0).fit(scipy.sparse.csr_array(x))
    np.testing.assert_allclose(sparse.score_samples(x), plain.score_samples(x), atol=1e-2)
    assert sparse.sample(5, random_state=0).shape == (5, 2)
    single = SeriesDensity(4, random_state=0).fit(x.astype(np.float32))
    np.testing.assert_allclose(single.score_samples(x.astype(np.float32)), plain.score_samples(x), atol=1e-2)
    wide = SeriesDensity(4, bandwidth="silverman").fit(x)
    assert wide.bandwidth_ == pytest.approx(plain.bandwidth_)  # the two rules agree in two dimensions


def test_what_is_refused():
    x = two_heaps(30)
    with pytest.raises(ValueError, match="Gaussian, Laplacian or Matern"):
        SeriesDensity(kernel=Linear()).fit(x)
    with pytest.raises(ValueError, match="n_samples=0 is invalid"):
        SeriesDensity().fit(x).sample(0)
    with pytest.raises(ValueError, match=r"non-zero|0 for every row"):
        SeriesDensity().fit(x, sample_weight=np.zeros(30))
