"""Rows of another kind than those before them: the same numbers."""

import numpy as np
import pytest
import scipy.sparse
from extended import missed

from gramless import KernelKMeans, KernelPCA, open_source
from gramless.data import FileRows, Look
from gramless.kernels import Gaussian

X = np.random.default_rng(0).standard_normal((40, 2)) + 1.0
CSR = scipy.sparse.csr_array(X)


@pytest.mark.parametrize("method", ["landmarks", "dense", "tiled"])
def test_a_model_of_dense_rows_takes_sparse_ones_and_the_other_way_round(method):
    for rows in (X, CSR):
        model = KernelPCA(3, kernel=Gaussian(1.5), method=method, random_state=0).fit(rows)
        np.testing.assert_allclose(model.transform(CSR), model.transform(X), atol=1e-6)


@pytest.mark.parametrize("more", [{"method": "landmarks"}, {"max_support": 10}, {}], ids=str)
def test_a_stream_of_dense_and_sparse_batches_certifies_the_truth(more):
    for first, second in ((X[:20], CSR[20:]), (CSR[:20], X[20:])):
        stream = KernelPCA(3, kernel=Gaussian(1.5), random_state=0, **more).partial_fit(first)
        stream.partial_fit(second)
        assert not missed(stream.certificate_, Gaussian(1.5), X, np.ones(40)).any()


def test_centres_are_as_far_from_sparse_rows_as_from_dense_ones():
    model = KernelKMeans(3, kernel=Gaussian(1.5), method="landmarks", random_state=0).fit(X + 5)
    np.testing.assert_array_equal(model.predict(scipy.sparse.csr_array(X + 5)), model.predict(X + 5))


def test_a_stream_that_keeps_its_rows_plans_with_all_of_them():
    x = np.random.default_rng(0).random((600, 2))
    for sigma in (0.5, 0.1):
        settings = {"kernel": Gaussian(sigma), "tol": 1e-9, "random_state": 0}
        stream = KernelPCA(3, **settings).partial_fit(x[:2]).partial_fit(x[2:])
        np.testing.assert_allclose(stream.eigenvalues_, KernelPCA(3, **settings).fit(x).eigenvalues_, rtol=1e-6)


def test_rows_that_fade_are_not_scaled_by_the_first_block(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="scale_input=True needs the mean of all rows"):
        KernelPCA(2, kernel="rbf", forget=50.0, scale_input=True).fit(tmp_path / "x.npy")


def test_a_survey_of_scaled_rows_is_the_scaled_survey():
    rows, look = FileRows(open_source(X), 7), Look("scale", 2**30)
    survey = rows.survey(look)
    scaling = survey.scaling("scale")
    moved, seen = survey.moved(scaling), rows.moved(scaling).survey(look)
    np.testing.assert_allclose(moved.variances, seen.variances)
    np.testing.assert_allclose(moved.mean, seen.mean, atol=1e-12)
    np.testing.assert_allclose(moved.box.low, seen.box.low)
