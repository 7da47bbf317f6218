"""The linear and the cosine kernel by products with the rows: against the dense method."""

import numpy as np
import pytest
import scipy.sparse

import gramless
from gramless import KernelPCA


def words(n, d, seed=0):
    """Rows with a decaying spectrum, one entry in ten."""
    rng = np.random.default_rng(seed)
    x = scipy.sparse.random(n, d, 0.1, format="csr", random_state=seed)
    topics = rng.random((6, d)) < 0.3
    return x.multiply(1.0 + 5 * topics[rng.integers(0, 6, n)]).tocsr()


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("shape", [(400, 900), (900, 400)], ids=str)
def test_equals_the_dense_method(kernel, shape):
    x = words(*shape)
    weights = np.random.default_rng(1).choice([0.0, 1.0, 3.0], shape[0])
    settings = {"kernel": kernel, "random_state": 0}
    quick = KernelPCA(4, method="products", **settings).fit(x, sample_weight=weights)
    sure = KernelPCA(4, method="dense", **settings).fit(x, sample_weight=weights)
    one, other = quick.certificate_, sure.certificate_
    assert (one.lower <= other.upper).all()
    assert (other.lower <= one.upper).all()
    assert np.allclose(quick.eigenvalues_, sure.eigenvalues_, rtol=1e-9)
    assert np.allclose(quick.transform(x[:50]), sure.transform(x[:50]), atol=1e-7)
    assert np.allclose(quick.eigenvectors_, sure.eigenvectors_, atol=1e-7)
    assert quick.plan_.problem.tol * quick.eigenvalues_[0] >= quick._fit.model.residuals.max()
    total = quick.eigenvalues_ / quick.explained_variance_ratio_
    assert np.allclose(total, sure.eigenvalues_ / sure.explained_variance_ratio_)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_chosen_for_wide_sparse_rows_and_saved(kernel, tmp_path):
    x = words(4000, 3000)
    model = KernelPCA(3, kernel=kernel, random_state=0).fit(x)
    assert model.plan_.chosen == "products"
    model.save(tmp_path / "model.gramless")
    again = gramless.load(tmp_path / "model.gramless")
    assert np.array_equal(again.transform(x[:20]), model.transform(x[:20]))


def test_a_share_of_the_variance():
    x = words(500, 800)
    model = KernelPCA(0.3, kernel="linear", method="products", random_state=0).fit(x)
    sure = KernelPCA(0.3, kernel="linear", method="dense").fit(x)
    assert len(model.eigenvalues_) == len(sure.eigenvalues_)
    assert np.allclose(model.eigenvalues_, sure.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("k", [30, 50, None])
def test_many_components(k):
    x = words(90, 40)
    model = KernelPCA(k, kernel="linear", method="products", random_state=0, remove_zero_eig=False).fit(x)
    sure = KernelPCA(k, kernel="linear", method="covariance", remove_zero_eig=False).fit(x)
    assert np.allclose(model.eigenvalues_, sure.eigenvalues_)
    assert np.allclose(model.transform(x), sure.transform(x), atol=1e-6)
    count = len(model.eigenvalues_)
    assert np.allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(count), atol=1e-8)
