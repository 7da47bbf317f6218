"""KernelPCA on explicit features: the same model as the Gram matrix gives, in batches, merged, without the data."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless import KernelPCA, kernels
from gramless.features import maps
from gramless.kernels import Gaussian, Matern, Polynomial
from gramless.problem import Estimate

CASES = {
    "monomials": (Polynomial(2, 1.0, 0.5), 3),
    "fourier": (Gaussian(0.8), 2),
}


def rows(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d)) * 2 - 1


@pytest.mark.parametrize("method", CASES)
def test_equals_the_gram_matrix(method):
    kernel, d = CASES[method]
    x, new = rows(300, d), rows(40, d, 1)
    weights = np.random.default_rng(2).integers(0, 3, 300)
    exact = KernelPCA(4, kernel=kernel, method="dense").fit(x, sample_weight=weights)
    model = KernelPCA(4, kernel=kernel, method=method).fit(x, sample_weight=weights)
    assert model.method_ == method
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-8)
    np.testing.assert_allclose(model.transform(new), exact.transform(new), atol=1e-6)
    np.testing.assert_allclose(model.eigenvectors_, exact.eigenvectors_, atol=1e-6)
    np.testing.assert_allclose(model.fit_transform(x, sample_weight=weights), exact.transform(x), atol=1e-6)
    np.testing.assert_allclose(model.reconstruction_error(new), exact.reconstruction_error(new), atol=1e-7)
    assert (model.certificate_.lower <= exact.certificate_.upper).all()
    assert (exact.certificate_.lower <= model.certificate_.upper).all()


@pytest.mark.parametrize("method", CASES)
@settings(max_examples=10)
@given(seed=st.integers(0, 99), cuts=st.lists(st.integers(1, 199), max_size=4))
def test_batches_and_merges_equal_one_fit(method, seed, cuts):
    kernel, d = CASES[method]
    x = rows(200, d, seed)
    settings = {"n_components": 3, "kernel": kernel, "method": method, "domain": (-1.0, 1.0)}
    whole = KernelPCA(**settings).fit(x)
    parts = np.split(x, sorted(set(cuts)))
    stream, models = KernelPCA(**settings), []
    for part in parts:
        stream.partial_fit(part)
        models.append(KernelPCA(**settings).partial_fit(part))
    merged = models[0]
    for model in models[1:]:
        merged = merged.merge(model)
    for other in (stream, merged):
        np.testing.assert_allclose(other.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(np.abs(other.transform(x)), np.abs(whole.transform(x)), atol=1e-7)
        np.testing.assert_allclose(other.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-9)
        assert not hasattr(other, "X_fit_")
        assert not hasattr(other, "eigenvectors_")


def test_a_first_batch_of_one_row_is_fine():
    x = rows(50, 3)
    model = KernelPCA(4, kernel=Polynomial(2))
    for row in x:
        model.partial_fit(row[None])
        assert model.transform(x).shape == (50, 4)
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(4, kernel=Polynomial(2)).fit(x).eigenvalues_, rtol=1e-9)


def test_signs_do_not_flip_between_batches():
    x = rows(400, 2)
    model = KernelPCA(3, kernel=Polynomial(2)).partial_fit(x[:200])
    before = model.transform(x[:20])
    after = model.partial_fit(x[200:]).transform(x[:20])
    assert (np.einsum("ij,ij->j", before, after) > 0).all()


def test_without_the_data():
    x = rows(500, 2)
    model = KernelPCA(3, kernel=Gaussian(0.5), keep_data=False, fit_inverse_transform=True, alpha=1e-3).fit(x)
    kept = KernelPCA(3, kernel=Gaussian(0.5), fit_inverse_transform=True, alpha=1e-3).fit(x)
    assert model.method_ in ("fourier", "taylor")
    assert not hasattr(model, "X_fit_")
    np.testing.assert_allclose(model.transform(x), kept.transform(x), atol=1e-9)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(x)), kept.inverse_transform(kept.transform(x)), atol=1e-6
    )
    assert not hasattr(model, "eigenvectors_")
    with pytest.raises(ValueError, match="keep_data=False"):
        KernelPCA(3, kernel=Gaussian(0.5), keep_data=False, method="dense").fit(x)


def test_merging_what_does_not_fit_says_what_differs():
    x = rows(100, 2)
    exact = {"n_components": 2, "method": "monomials"}
    poly = KernelPCA(**exact, kernel=Polynomial(2)).fit(x)
    with pytest.raises(ValueError, match="kernels differ"):
        poly.merge(KernelPCA(**exact, kernel=Polynomial(3)).fit(x))
    with pytest.raises(ValueError, match="2 columns in this model and 3 in other"):
        poly.merge(KernelPCA(**exact, kernel=Polynomial(2)).fit(rows(100, 3)))
    with pytest.raises(ValueError, match="method='dense'"):
        poly.merge(KernelPCA(2, kernel=Polynomial(2), method="dense").fit(x))
    gauss = {"n_components": 2, "kernel": Gaussian(0.5), "method": "fourier"}
    with pytest.raises(ValueError, match="domain"):
        KernelPCA(**gauss).fit(x).merge(KernelPCA(**gauss).fit(3 * x))


def test_domain():
    x = rows(100, 2)
    with pytest.raises(ValueError, match=r"column 0 has values from .* outside domain=\(0, 1\); widen domain"):
        KernelPCA(2, kernel=Gaussian(0.5), domain=(0, 1)).fit(x)
    with pytest.raises(ValueError, match=r"domain=\(1, 2, 3\) must be a pair"):
        KernelPCA(2, kernel=Gaussian(0.5), domain=(1, 2, 3)).fit(x)
    model = KernelPCA(2, kernel=Gaussian(0.5), domain=([-1, -1], [1, 1]), method="fourier").partial_fit(x)
    with pytest.raises(ValueError, match="domain"):
        model.partial_fit(3 * x)


def test_what_a_stream_cannot_do():
    x = rows(30, 2)
    assert hasattr(KernelPCA(2), "partial_fit")
    for given_settings in (
        {"kernel": "precomputed"},
        {"kernel": "linear", "method": "dense"},
        {"kernel": "linear", "center_input": True},
    ):
        assert not hasattr(KernelPCA(2, **given_settings), "partial_fit")
    with pytest.raises(ValueError, match="stream needs domain"):
        KernelPCA(2, kernel=Gaussian(0.5), method="fourier").partial_fit(x)


def test_a_tolerance_that_nobody_reaches_says_what_can_be_had():
    x = rows(3000, 2)
    with pytest.raises(ValueError, match=r"tol=1.0e-12 is not achievable.*achieves"):
        KernelPCA(2, kernel=Matern(1.5, 1.0), method="fourier", tol=1e-12).fit(x)
    with pytest.raises(ValueError, match="is not achievable"):
        KernelPCA(2, kernel=Gaussian(0.5), tol=1e-30).fit(x)


def test_sparse_rows_in_batches():
    x = rows(200, 5)
    x[np.random.default_rng(0).random(x.shape) < 0.5] = 0
    model = KernelPCA(3, kernel=Polynomial(2)).partial_fit(scipy.sparse.csr_array(x[:100])).partial_fit(x[100:])
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(3, kernel=Polynomial(2)).fit(x).eigenvalues_, rtol=1e-9)


def test_the_plan_lists_every_map():
    plan = KernelPCA(3, kernel=kernels.Laplacian(1.0)).plan(rows(60, 5))
    assert set(maps) <= set(plan.candidates)
    assert "only for polynomial kernels" in str(plan)


def test_a_chosen_method_that_runs_out_of_memory_gives_way(monkeypatch):
    """A sparse matrix is planned from the box; clustered rows may have far more neighbours than that says."""
    from gramless.errors import MemoryLimitError
    from gramless.fitting.methods import SparseMethod

    x = rows(4000, 4) * 10

    def refuse(self, *arguments):
        raise MemoryLimitError("more neighbours than memory_limit holds")

    monkeypatch.setattr(SparseMethod, "estimate", lambda self, problem: Estimate(1e-9, 1, 0.0))
    monkeypatch.setattr(SparseMethod, "begin", refuse)
    model = KernelPCA(2, kernel=Gaussian(0.3), tol=1e-3).fit(x)
    assert model.method_ != "sparse"
    assert "more neighbours" in str(model.plan_)
    with pytest.raises(MemoryLimitError):
        KernelPCA(2, kernel=Gaussian(0.3), tol=1e-3, method="sparse").fit(x[:600])


@pytest.mark.parametrize(("method", "share"), [("monomials", 0.999), ("fourier", 0.99), ("landmarks", 0.99)])
def test_a_share_that_more_components_make_than_were_tried_first(method, share):
    x = np.random.default_rng(0).random((400, 2 if method == "fourier" else 6))
    kernel = Polynomial(3, 1.0) if method == "monomials" else Gaussian(0.2 if method == "fourier" else 0.6)
    model = KernelPCA(share, kernel=kernel, method=method).fit(x)
    whole = KernelPCA(kernel=kernel, method="dense").fit(x)
    captured = whole.explained_variance_ratio_.cumsum()
    k = int(np.searchsorted(captured, share)) + 1
    assert k > 16
    assert len(model.eigenvalues_) == k
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_[:k], rtol=1e-6)
