"""What KernelPCA promises beyond scikit-learn's own tests."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_circles
from sklearn.metrics.pairwise import pairwise_kernels

from gramless import IndefiniteKernelWarning, KernelPCA, MemoryLimitError, kernels, select_bandwidth
from gramless.kernels import Gaussian

METHODS = ["dense", "tiled"]


def rows(n=60, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.filterwarnings("ignore::gramless.IndefiniteKernelWarning")
@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "linear"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "poly", "degree": 2, "coef0": 0.5},
        {"kernel": "sigmoid", "gamma": 0.01},
        {"kernel": "cosine"},
    ],
    ids=str,
)
def test_same_numbers_and_signs_as_scikit_learn(settings, method):
    x, new = rows(90), rows(20, seed=1)
    ours = KernelPCA(3, method=method, **settings).fit(x)
    theirs = sklearn.decomposition.KernelPCA(3, eigen_solver="dense", **settings).fit(x)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(ours.eigenvectors_, theirs.eigenvectors_, atol=1e-7)
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), atol=1e-7)
    np.testing.assert_allclose(ours.fit_transform(x), theirs.fit_transform(x), atol=1e-7)


@pytest.mark.parametrize("gamma", [None, 0.3])
def test_the_laplacian_by_name_is_that_of_scikit_learn(gamma):
    x, new = rows(90), rows(20, seed=1)
    ours = KernelPCA(3, kernel="laplacian", gamma=gamma).fit(x)
    gram, other = (pairwise_kernels(part, x, metric="laplacian", gamma=gamma) for part in (x, new))
    theirs = sklearn.decomposition.KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit(gram)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(ours.transform(new), theirs.transform(other), atol=1e-7)


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_the_width_of_a_laplacian_of_a_file_is_that_of_its_rows(tmp_path, gamma):
    x = rows(300, 3)
    np.save(tmp_path / "rows.npy", x)
    asked = KernelPCA(3, kernel="laplacian", gamma=gamma)
    assert asked.fit(tmp_path / "rows.npy").gamma_ == pytest.approx(select_bandwidth(x, "laplacian", gamma).gamma)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=20)
@given(seed=st.integers(0, 1000), n=st.integers(5, 40))
def test_whole_weights_repeat_rows_and_zero_deletes_them(method, seed, n):
    rng = np.random.default_rng(seed)
    x, weights = rng.standard_normal((n, 3)), rng.integers(0, 4, n)
    weights[:2] = 1
    settings = {"n_components": 2, "kernel": Gaussian(2.0), "method": method, "fit_inverse_transform": True}
    weighted = KernelPCA(**settings).fit(x, sample_weight=weights)
    repeated = KernelPCA(**settings).fit(np.repeat(x, weights, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-8, atol=1e-10
    )
    if weights.sum() > 4 and np.diff(repeated.certificate_.values) < -1e-3:
        new = rng.standard_normal((5, 3))
        np.testing.assert_allclose(np.abs(weighted.transform(new)), np.abs(repeated.transform(new)), atol=1e-6)
        scores = weighted.fit_transform(x, sample_weight=weights)
        np.testing.assert_allclose(scores, weighted.transform(x), atol=1e-6)
        np.testing.assert_allclose(
            weighted.inverse_transform(scores), repeated.inverse_transform(repeated.transform(x)), atol=1e-5
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.999])
def test_a_share_of_the_variance(method, share):
    x = rows(200)
    model = KernelPCA(share, kernel=Gaussian(3.0), method=method).fit(x)
    everything = KernelPCA(kernel=Gaussian(3.0)).fit(x)
    captured = model.explained_variance_ratio_.cumsum()
    assert captured[-1] >= share
    assert len(captured) == 1 or captured[-2] < share
    k = len(captured)
    np.testing.assert_allclose(model.eigenvalues_, everything.eigenvalues_[:k], rtol=1e-8)
    np.testing.assert_allclose(captured, everything.explained_variance_ratio_[:k].cumsum(), rtol=1e-8)


def test_explained_variance_is_of_the_exact_total():
    x = rows(150)
    few, everything = KernelPCA(2, kernel="rbf").fit(x), KernelPCA(kernel="rbf").fit(x)
    assert everything.explained_variance_ratio_.sum() == pytest.approx(1)
    np.testing.assert_allclose(few.explained_variance_ratio_, everything.explained_variance_ratio_[:2])
    np.testing.assert_allclose(few.explained_variance_, few.eigenvalues_ / 150)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), kernels.Linear(), kernels.Polynomial(2)], ids=str)
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_reconstruction_errors_sum_to_what_was_not_kept(kernel, method):
    x, weights = rows(80), np.random.default_rng(3).integers(0, 3, 80)
    model = KernelPCA(3, kernel=kernel, method=method).fit(x, sample_weight=weights)
    total = model.eigenvalues_.sum() / model.explained_variance_ratio_.sum()
    kept = (weights * model.reconstruction_error(x)).sum()
    assert kept == pytest.approx(total - model.eigenvalues_.sum(), rel=1e-8, abs=1e-8)
    assert model.reconstruction_error(rows(5, seed=9)).shape == (5,)


def test_truncate_equals_a_smaller_fit():
    x = rows(100)
    large = KernelPCA(8, kernel="rbf", fit_inverse_transform=True).fit(x)
    small, fitted = large.truncate(3), KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(x)
    np.testing.assert_allclose(small.transform(x), fitted.transform(x), atol=1e-8)
    np.testing.assert_allclose(
        small.inverse_transform(small.transform(x)), fitted.inverse_transform(fitted.transform(x)), atol=1e-8
    )
    assert len(large.eigenvalues_) == 8
    assert len(small.certificate_) == 3
    with pytest.raises(ValueError, match=r"k=9 .*pass 1 to 8"):
        large.truncate(9)


def test_inverse_transform_equals_scikit_learn_and_fits_the_memory_limit():
    x, _ = make_circles(300, factor=0.3, noise=0.05, random_state=0)
    settings = {"n_components": 5, "kernel": "rbf", "gamma": 3.0, "fit_inverse_transform": True, "alpha": 0.1}
    theirs = sklearn.decomposition.KernelPCA(**settings).fit(x)
    expected = theirs.inverse_transform(theirs.transform(x))
    ours = KernelPCA(**settings).fit(x)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(x)), expected, atol=1e-6)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-5)
    # 300 x 300 twice does not fit 1.4 MB beside the rest: conjugate gradients on tiles
    tiled = KernelPCA(**settings, memory_limit="100MB").fit(x).set_params(memory_limit=1000).truncate(5)
    np.testing.assert_allclose(tiled.inverse_transform(tiled.transform(x)), expected, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_float32_stays_float32_and_finds_the_same_components(method):
    x = rows(300, 5).astype(np.float32)
    single = KernelPCA(4, kernel=Gaussian(2.0), method=method).fit(x)
    double = KernelPCA(4, kernel=Gaussian(2.0)).fit(x.astype(np.float64))
    assert single.eigenvectors_.dtype == single.eigenvalues_.dtype == single.transform(x).dtype == np.float32
    np.testing.assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-6)
    everything = KernelPCA(kernel="linear").fit(x + np.float32(100))
    assert len(everything.eigenvalues_) == 5


def test_center_input_matters_for_dot_products_only():
    x = rows(50) + 3
    poly = {"kernel": "poly", "degree": 2, "n_components": 3}
    moved = KernelPCA(**poly, center_input=True).fit(x)
    np.testing.assert_allclose(moved.eigenvalues_, KernelPCA(**poly).fit(x - x.mean(axis=0)).eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(moved.transform(x), moved.fit_transform(x), atol=1e-7)
    assert not np.allclose(moved.eigenvalues_, KernelPCA(**poly).fit(x).eigenvalues_, rtol=1e-2)
    plain = KernelPCA(3, kernel="rbf").fit(x)
    np.testing.assert_allclose(KernelPCA(3, kernel="rbf", center_input=True).fit(x).eigenvalues_, plain.eigenvalues_)
    with pytest.raises(ValueError, match="center_input=True"):
        KernelPCA(3, center_input=True).fit(scipy.sparse.csr_array(x))


def test_gamma_from_the_data():
    x = rows(300, 3) * 5
    assert KernelPCA(2, kernel="rbf", gamma="scale").fit(x).gamma_ == pytest.approx(1 / (3 * x.var()))
    assert KernelPCA(2, kernel="rbf", gamma="scale").fit(scipy.sparse.csr_array(x)).gamma_ == pytest.approx(
        1 / (3 * x.var())
    )
    distances = np.linalg.norm(x[:, None] - x[None], axis=-1)[np.triu_indices(300, 1)]
    assert KernelPCA(2, kernel="rbf", gamma="median").fit(x).gamma_ == pytest.approx(
        0.5 / np.median(distances) ** 2, rel=0.02
    )
    assert KernelPCA(1, kernel="rbf", gamma="median").fit(np.ones((5, 2))).gamma_ == 1


@pytest.mark.parametrize("kernel", [Gaussian(1.0), kernels.Polynomial(2), kernels.Laplacian(1.0)], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_sparse_equals_dense(kernel, method):
    x = rows(120, 6)
    x[np.random.default_rng(1).random(x.shape) < 0.6] = 0
    dense = KernelPCA(3, kernel=kernel, method=method).fit(x)
    sparse = KernelPCA(3, kernel=kernel, method=method).fit(scipy.sparse.csr_array(x))
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    for left in (sparse, dense):
        np.testing.assert_allclose(left.transform(scipy.sparse.csr_array(x[:9])), dense.transform(x[:9]), atol=1e-7)


def test_transform_never_holds_all_kernel_values():
    model = KernelPCA(3, kernel=Gaussian(2.0)).fit(rows(1000, 3))
    new = rows(100_000, 3, seed=1)
    tracemalloc.start()
    model.transform(new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # all values together would be 800e6 bytes


def test_same_seed_same_bits_whatever_the_threads():
    x = rows(1200, 6)
    models = [KernelPCA(5, kernel="rbf", method="tiled", random_state=3, n_jobs=jobs).fit(x) for jobs in (1, 1, 2)]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].eigenvectors_, other.eigenvectors_)
        np.testing.assert_array_equal(models[0].transform(x[:50]), other.transform(x[:50]))


def test_pickle():
    model = KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(rows())
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(rows()), model.transform(rows()))


@pytest.mark.parametrize("method", METHODS)
def test_residuals_meet_the_tolerance(method):
    x = load_digits().data[:800]
    gram = Gaussian(30.0)(x)
    centered = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    for tol in (1e-3, 1e-6, 1e-10):
        model = KernelPCA(12, kernel=Gaussian(30.0), method=method, tol=tol).fit(x)
        residual = centered @ model.eigenvectors_ - model.eigenvectors_ * model.eigenvalues_
        assert (np.linalg.norm(residual, axis=0) <= tol * model.eigenvalues_[0]).all()


@pytest.mark.parametrize(
    "settings", [{"method": "dense"}, {"method": "tiled"}, {"memory_limit": "50MB", "method": "tiled"}]
)
def test_digits_are_certified_rigorously_and_narrowly(settings):
    x = load_digits().data
    model = KernelPCA(20, kernel="rbf", gamma="median", tol=1e-8, **settings).fit(x)
    certificate = model.certificate_
    assert (certificate.kind == "rigorous").all()
    assert certificate.failure_probability == 0
    assert certificate.width.max() < 1e-8
    assert (certificate.upper[1:] < certificate.lower[:-1]).all()
    assert (certificate.angle < np.pi / 2).all()
    gram = Gaussian.from_gamma(model.gamma_)(x)
    truth = np.linalg.eigvalsh(gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean())[::-1][:20]
    slack = 1e-14 * np.trace(gram)
    assert (certificate.lower - slack <= truth).all()
    assert (truth <= certificate.upper + slack).all()
    assert "rigorous" in str(certificate)
    assert "<table>" in certificate._repr_html_()


def test_plan_prints_as_a_table_with_reasons():
    model = KernelPCA(3, kernel="rbf")
    plan = model.plan(rows(100))
    text = str(plan)
    assert plan.chosen == model.fit(rows(100)).method_ == "dense"
    assert "only for the linear kernel" in text
    assert "times slower" in text
    assert set(plan.candidates) >= {"dense", "tiled", "covariance", "svd"}
    assert "<table>" in plan._repr_html_()


def test_memory_limit_chooses_the_method():
    x = rows(600, 3)
    assert KernelPCA(3, kernel="rbf", memory_limit="1GB", eigen_solver="dense").fit(x).method_ == "dense"
    with pytest.raises(MemoryLimitError, match=r"memory_limit=.*needs"):
        KernelPCA(3, kernel="rbf", memory_limit=10_000).fit(x)
    with pytest.raises(MemoryLimitError):
        KernelPCA(kernel="rbf", memory_limit="5MB").fit(rows(2000, 3))


BAD = {
    "nan": ({}, lambda x: np.where(x == x[0, 0], np.nan, x), "NaN"),
    "inf": ({}, lambda x: np.where(x == x[0, 0], np.inf, x), "infinity"),
    "empty": ({}, lambda x: x[:0], "0 sample"),
    "one sample": ({}, lambda x: x[:1], r"n_samples=1|1 sample"),
    "too many components": (
        {"n_components": 61},
        None,
        "n_components=61 is more than the 60 samples given; pass at most 60",
    ),
    "no components": ({"n_components": 0}, None, "n_components.*Got 0"),
    "all of it": ({"n_components": 1.0}, None, "n_components.*Got 1.0"),
    "negative gamma": ({"kernel": "rbf", "gamma": -1.0}, None, "gamma.*Got -1.0"),
    "unknown kernel": ({"kernel": "gauss"}, None, "kernel.*'rbf'.*Got 'gauss'"),
    "unknown solver": ({"eigen_solver": "magic"}, None, "eigen_solver.*Got 'magic'"),
    "unknown method": ({"method": "magic"}, None, "method.*Got 'magic'"),
    "method of another kernel": ({"method": "svd", "kernel": "rbf"}, None, "method='svd' .*only for the linear kernel"),
    "memory": ({"memory_limit": "much"}, None, "memory_limit='much'.*'2GiB'"),
    "not square": ({"kernel": "precomputed"}, None, r"square.*\(60, 4\)"),
    "not symmetric": ({"kernel": "precomputed"}, lambda x: x[:4], r"symmetric.*K\["),
    "sparse matrix of values": (
        {"kernel": "precomputed"},
        lambda x: scipy.sparse.eye_array(5, format="csr"),
        "toarray",
    ),
    "sparse inverse": ({"fit_inverse_transform": True}, scipy.sparse.csr_array, "toarray"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_an_error_that_names_it(case):
    settings, spoil, message = BAD[case]
    x = rows()
    with pytest.raises(ValueError, match=f"(?s){message}"):
        KernelPCA(**settings).fit(x if spoil is None else spoil(x))


def test_bad_sigma_weights_and_width():
    with pytest.raises(ValueError, match=r"sigma=0"):
        Gaussian(0)
    with pytest.raises(ValueError, match=r"(?i)negative"):
        KernelPCA(2).fit(rows(), sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match=r"sample_weight is 0|non-zero"):
        KernelPCA(2).fit(rows(), sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match="features"):
        KernelPCA(2).fit(rows()).transform(rows(5, 3))
    with pytest.raises(ValueError, match="expects 2 columns"):
        KernelPCA(2, fit_inverse_transform=True).fit(rows()).inverse_transform(rows(5, 3))


def test_indefinite_kernels_warn_and_raise_only_where_a_negative_value_would_be_kept():
    x = rows(40, 2)
    with pytest.warns(IndefiniteKernelWarning, match="not positive semidefinite"):
        model = KernelPCA(2, kernel=kernels.Tanh(1.0, -1.0)).fit(x)
    assert (model.eigenvalues_ > 0).all()
    with (
        pytest.warns(IndefiniteKernelWarning),
        pytest.raises(ValueError, match="There are significant negative eigenvalues"),
    ):
        KernelPCA(40, kernel=kernels.Tanh(1.0, -1.0)).fit(x)


def test_what_did_not_converge_says_so():
    from gramless.eigen import NotConvergedWarning

    x = rows(900, 10)
    with pytest.warns(NotConvergedWarning, match="tolerance"):
        model = KernelPCA(5, kernel=Gaussian(1.0), eigen_solver="power", max_iter=2).fit(x)
    truth = KernelPCA(5, kernel=Gaussian(1.0), eigen_solver="dense").fit(x).eigenvalues_
    assert (model.certificate_.lower <= truth).all()
    assert (truth <= model.certificate_.upper).all()


@pytest.mark.parametrize(
    "x", [np.ones((6, 3)), np.vstack([np.ones((5, 3)), np.zeros((1, 3))])], ids=["equal", "all but one"]
)
@pytest.mark.parametrize("method", METHODS)
def test_degenerate_data(x, method):
    model = KernelPCA(2, kernel=Gaussian(1.0), method=method).fit(x)
    rank = len(np.unique(x, axis=0)) - 1
    assert (model.eigenvalues_ > 0).sum() == rank
    assert np.isfinite(model.transform(x)).all()
    assert KernelPCA(kernel=Gaussian(1.0)).fit(x).eigenvalues_.shape == (rank,)


def test_many_duplicates_and_more_columns_than_rows():
    x = np.repeat(rows(5, 3000), 40, axis=0)
    model = KernelPCA(kernel="linear").fit(x)
    assert len(model.eigenvalues_) == 4
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
