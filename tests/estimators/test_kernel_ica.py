import numpy as np
import pytest
import scipy.sparse
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramless import KernelICA
from gramless.datasets import independent_source
from gramless.independence import amari_error
from gramless.kernels import Gaussian, Laplacian, Matern, Polynomial


def mixed(names="cb", n=500, seed=0, d=None):
    random = np.random.default_rng(seed)
    sources = np.column_stack([independent_source(name, n, rng=random) for name in names])
    mixing = random.standard_normal((d or len(names), len(names)))
    return sources @ mixing.T + 3.0, sources, mixing


@parametrize_with_checks([KernelICA(n_components=2), KernelICA(n_components=1, contrast="kcc", whiten="unit-variance")])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("contrast", ["kgv", "kcc"])
def test_four_sources_are_found(contrast):
    x, _, mixing = mixed("cbgj", 800)
    model = KernelICA(contrast=contrast, n_restarts=1, random_state=0).fit(x)
    assert amari_error(model.components_, mixing) < 10
    assert model.n_iter_ >= 1


def test_sources_that_fastica_mistakes():
    """Density q has hardly any kurtosis, which FastICA lives on."""
    ours, theirs = [], []
    for seed in range(5):
        x, _, mixing = mixed("qq", 1000, seed)
        ours.append(amari_error(KernelICA(random_state=0).fit(x).components_, mixing))
        theirs.append(amari_error(FastICA(whiten="unit-variance", random_state=0).fit(x).components_, mixing))
    assert np.median(ours) < 10 < np.median(theirs)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nearer_to_the_sources_than_fastica_over_the_densities_of_the_paper():
    ours, theirs = [], []
    for name in "abcdefghijklmnopqr":
        for seed in range(3):
            x, _, mixing = mixed(2 * name, 1000, seed)
            ours.append(amari_error(KernelICA(random_state=0).fit(x).components_, mixing))
            theirs.append(amari_error(FastICA(whiten="unit-variance", random_state=0).fit(x).components_, mixing))
    assert np.median(ours) < np.median(theirs)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(0.7), Polynomial(4, 1.0), Matern(1.5, 1.0), Laplacian(1.0), Gaussian(1.0) * Polynomial(2)],
    ids=str,
)
def test_every_mercer_kernel_separates(kernel):
    x, _, mixing = mixed("cb")
    assert amari_error(KernelICA(kernel=kernel, random_state=0).fit(x).components_, mixing) < 25


def test_the_attributes_belong_together():
    x, _, _ = mixed("cbg", d=5)
    model = KernelICA(3, random_state=0)
    sources = model.fit_transform(x)
    np.testing.assert_allclose(sources, (x - model.mean_) @ model.components_.T, atol=1e-10)
    np.testing.assert_allclose(sources, model.transform(x), atol=1e-12)
    np.testing.assert_allclose(sources.var(axis=0), 1, atol=1e-10)
    np.testing.assert_allclose(np.cov(sources.T, bias=True), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(model.mixing_, np.linalg.pinv(model.components_), atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(sources), x, atol=1e-8)
    assert model.whitening_.shape == (3, 5)
    assert list(model.get_feature_names_out()) == ["kernelica0", "kernelica1", "kernelica2"]


def test_seeds_and_weights():
    x, _, _ = mixed("cb", 200)
    weights = np.random.default_rng(1).integers(0, 3, 200)
    first, second = (KernelICA(random_state=3).fit(x).components_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    weighted = KernelICA(random_state=0).fit(x, sample_weight=weights)
    repeated = KernelICA(random_state=0).fit(np.repeat(x, weights, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, atol=1e-10)
    assert amari_error(weighted.components_, repeated.mixing_) < 1


def test_sparse_rows_and_single_precision():
    x, _, _ = mixed("cb", 300)
    x = np.where(np.abs(x - 3) < 0.5, 0.0, x)
    dense = KernelICA(random_state=0).fit(x)
    sparse = KernelICA(random_state=0).fit(scipy.sparse.csr_array(x))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-6)
    np.testing.assert_allclose(sparse.transform(scipy.sparse.csr_array(x)), dense.transform(x), atol=1e-6)
    single = KernelICA(random_state=0).fit(x.astype(np.float32))
    assert single.components_.dtype == single.transform(x.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.components_, dense.components_, atol=1e-3)


def test_white_rows_are_taken_as_they_are():
    x, _, mixing = mixed("cb", 1000)
    white = (x - x.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(x.T, bias=True))).T
    model = KernelICA(whiten=False, random_state=0).fit(white)
    assert not hasattr(model, "mean_")
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)
    turned = model.components_ @ np.linalg.inv(np.linalg.cholesky(np.cov(x.T, bias=True)))
    assert amari_error(turned, mixing) < 10


def test_fewer_rows_than_columns():
    x = np.random.default_rng(0).standard_normal((20, 50))
    assert KernelICA(3, random_state=0, n_restarts=0).fit(x).components_.shape == (3, 50)


def test_what_is_refused():
    x, _, _ = mixed("cb", 50)
    with pytest.raises(ValueError, match="n_components=3 is too large for 50 rows and 2 columns"):
        KernelICA(3).fit(x)
    with pytest.raises(ValueError, match="all rows are equal"):
        KernelICA().fit(np.ones((20, 2)))
    with pytest.raises(ValueError, match="expects 2 columns"):
        KernelICA().fit(x).inverse_transform(np.ones((3, 3)))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        KernelICA(max_iter=1, tol=1e-12, random_state=0).fit(mixed("cbgj", 300)[0])


@pytest.mark.parametrize("name", list("abcdefghijklmnopqr"))
def test_sources_have_mean_zero_and_variance_one(name):
    signal = independent_source(name, 200_000, rng=0)
    assert abs(signal.mean()) < 0.02
    assert abs(signal.std() - 1) < (0.2 if name == "a" else 0.03)


def test_there_are_eighteen_densities():
    with pytest.raises(ValueError, match="from 'a' to 'r'"):
        independent_source("s", 10)
