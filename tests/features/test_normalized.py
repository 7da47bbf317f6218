"""Cosine as the linear kernel of rows of length 1."""

import numpy as np
import pytest
import scipy.sparse

from gramless import KernelPCA
from gramless.features import NormalizedMap
from gramless.kernels import Cosine


def rows(n=300, d=7):
    x = np.random.default_rng(0).standard_normal((n, d)) + 1.0
    x[5] = 0.0
    return x


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_features_are_within_their_stated_error(scale):
    x = rows() * scale
    found = NormalizedMap(Cosine(), 7).rows(x)
    wide = np.asarray(x / scale, dtype=np.longdouble)
    norms = np.sqrt((wide**2).sum(axis=1, keepdims=True))
    exact = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)
    slack = 0.0 if scale == 1 else 1e-15  # x / scale is rounded
    assert (np.linalg.norm(np.asarray(found.values - exact, dtype=float), axis=1) <= found.error + slack).all()
    assert np.allclose(found.values @ found.values.T, Cosine()(x))


@pytest.mark.parametrize("how", ["array", "batches", "file", "sparse"])
def test_every_way_gives_the_model_of_the_dense_method(how, tmp_path):
    x = rows()
    sure = KernelPCA(4, kernel="cosine", method="dense").fit(x)
    model = KernelPCA(4, kernel="cosine", method="normalized")
    if how == "batches":
        model.partial_fit(x[:100]).partial_fit(x[100:])
    elif how == "file":
        np.save(tmp_path / "x.npy", x)
        model.fit(tmp_path / "x.npy")
    else:
        model.fit(scipy.sparse.csr_matrix(x) if how == "sparse" else x)
    assert model.method_ == "normalized"
    assert np.allclose(model.eigenvalues_, sure.eigenvalues_, rtol=1e-12)
    assert np.allclose(abs(model.transform(x)), abs(sure.transform(x)), atol=1e-10)
    assert (model.certificate_.lower <= sure.certificate_.upper).all()
    assert (sure.certificate_.lower <= model.certificate_.upper).all()


def test_merged_models_are_the_model_of_all_rows():
    x = rows()
    parts = [KernelPCA(3, kernel="cosine", method="normalized").fit(part) for part in (x[:120], x[120:])]
    whole = KernelPCA(3, kernel="cosine", method="normalized").fit(x)
    assert np.allclose(parts[0].merge(parts[1]).eigenvalues_, whole.eigenvalues_, rtol=1e-12)


def test_only_the_cosine_kernel_and_not_too_many_columns():
    with pytest.raises(ValueError, match="only for the cosine kernel"):
        KernelPCA(2, kernel="rbf", method="normalized").fit(rows())
    with pytest.raises(ValueError, match="columns are more than"):
        KernelPCA(2, kernel="cosine", method="normalized").fit(np.ones((5, 4001)) + np.eye(5, 4001))
