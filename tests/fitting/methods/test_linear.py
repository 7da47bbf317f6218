"""PCA both ways: covariance, dot-product and SVD forms agree (Raykar & Ankur, section 3; Vasconcelos)."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from gramless import KernelPCA

FORMS = ["covariance", "svd", "dense", "tiled"]


@settings(max_examples=40)
@given(n=st.integers(3, 60), d=st.integers(1, 40), seed=st.integers(0, 99), offset=st.sampled_from([0.0, 100.0]))
def test_all_forms_agree(n, d, seed, offset):
    rng = np.random.default_rng(seed)
    x, weights = rng.standard_normal((n, d)) + offset, rng.integers(0, 3, n)
    weights[:3] = 1
    k = min(n - 1, d, 4)
    models = [KernelPCA(k, method=form).fit(x, sample_weight=weights) for form in FORMS]
    new = rng.standard_normal((5, d)) + offset
    scale = models[0].eigenvalues_[0]
    for other in models[1:]:
        np.testing.assert_allclose(other.eigenvalues_, models[0].eigenvalues_, atol=1e-9 * scale * (1 + offset))
        np.testing.assert_allclose(other.explained_variance_ratio_, models[0].explained_variance_ratio_, atol=1e-8)
    values = models[0].eigenvalues_
    gaps = -np.diff(np.append(values, 0)) > 1e-2 * values[0]
    if gaps.all():
        for other in models[1:]:
            np.testing.assert_allclose(other.transform(new), models[0].transform(new), atol=1e-5 * (1 + offset))
            np.testing.assert_allclose(np.abs(other.eigenvectors_), np.abs(models[0].eigenvectors_), atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_equals_pca(form):
    x = np.random.default_rng(0).standard_normal((100, 6)) * np.arange(1, 7)
    pca = PCA(3).fit(x)
    model = KernelPCA(3, method=form).fit(x)
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_ * 99 / 100)
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_)
    np.testing.assert_allclose(np.abs(model.transform(x)), np.abs(pca.transform(x)), atol=1e-8)


def test_the_cheapest_form_is_taken():
    tall, wide = np.random.default_rng(0).standard_normal((2, 2000, 3))[0], np.zeros((30, 5000))
    wide[:, :40] = np.random.default_rng(1).standard_normal((30, 40))
    assert KernelPCA(2).fit(tall).method_ == "covariance"
    assert KernelPCA(2).fit(wide).method_ in ("dense", "tiled")


def test_sparse_rows():
    x = scipy.sparse.random_array((200, 10), density=0.2, random_state=np.random.default_rng(0), format="csr")
    sparse, dense = KernelPCA(3).fit(x), KernelPCA(3).fit(x.toarray())
    assert sparse.method_ == "covariance"
    np.testing.assert_allclose(sparse.transform(x), dense.transform(x.toarray()), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_components_beyond_the_rank_are_zero(form):
    x = np.random.default_rng(0).standard_normal((12, 2))
    model = KernelPCA(6, method=form).fit(x)
    assert (model.eigenvalues_[2:] == 0).all()
    np.testing.assert_allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(6), atol=1e-8)
    assert (model.transform(x)[:, 2:] == 0).all()
    assert (model.certificate_.upper[2:] < 1e-11).all()


@pytest.mark.filterwarnings("ignore::gramless.errors.UncertifiedWarning")
@pytest.mark.parametrize("method", ["covariance", "svd"])
def test_equal_rows_with_weights_have_no_variance(method):
    """Their mean is off by rounding, and what is left after it is taken out is rounding of that: 0 must be inside."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 40)), int(rng.integers(1, 6))
        x = np.tile(rng.standard_normal((1, d)), (n, 1))
        model = KernelPCA(1, kernel="linear", method=method).fit(x, sample_weight=rng.random(n) + 0.01)
        assert model.certificate_.lower[0] <= 0 <= model.certificate_.upper[0]
