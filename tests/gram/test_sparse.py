"""A Gram matrix with far pairs left out is as near to the whole one as it says, and no farther."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless import IndefiniteKernelWarning, KernelPCA, kernels
from gramless.arrays import use_threads
from gramless.eigen import NotConvergedWarning
from gramless.errors import MemoryLimitError
from gramless.fitting.methods import make_plan
from gramless.gram import CenteredGram, SparseGram
from gramless.gram.cutoff import cut_radius
from gramless.problem import Problem

KERNELS = {
    "gaussian": lambda width: kernels.Gaussian(width),
    "epanechnikov": lambda width: kernels.Epanechnikov(3 * width),
    "laplacian": lambda width: kernels.Laplacian(width / 4),
    "matern": lambda width: kernels.Matern(1.5, width / 3),
    "bessel": lambda width: kernels.Matern(0.7, width / 3),
}


@st.composite
def drawn_rows(draw):
    """Rows in 1 to 8 columns: spread out, repeated, isolated, all equal, far from the origin; perhaps weighted."""
    n, d = draw(st.integers(1, 300)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    x = rng.random((n, d))
    shape = draw(st.sampled_from(["spread", "duplicates", "isolated", "equal", "far", "clusters"]))
    if shape == "duplicates":
        x[n // 2 :] = x[: n - n // 2]
    elif shape == "isolated":
        x[:: max(1, n // 5)] += 1e6 * (1 + np.arange(len(x[:: max(1, n // 5)])))[:, None]
    elif shape == "equal":
        x[:] = x[0]
    elif shape == "far":
        x += 1000.0
    elif shape == "clusters":
        x = rng.integers(0, 3, (n, 1)) + 0.05 * x
    weights = rng.integers(0, 4, n) * rng.random(n) if draw(st.booleans()) else None
    if weights is not None:
        weights[0] = 1.0
    return x, weights


def dense_gram(kernel, x, weights):
    """The whole matrix, from distances formed by differences."""
    squared = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    roots = np.ones(len(x)) if weights is None else np.sqrt(weights)
    return roots[:, None] * kernel.profile(squared) * roots


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=25)
@given(
    data=drawn_rows(),
    width=st.sampled_from([1e-3, 0.02, 0.1, 0.5, 3.0]),
    cutoff=st.sampled_from([0.0, 1e-12, 1e-6, 1e-2]),
)
def test_equals_the_dense_matrix_within_its_error(name, data, width, cutoff):
    x, weights = data
    kernel = KERNELS[name](width)
    gram, operator = dense_gram(kernel, x, weights), SparseGram(kernel, x, weights, cutoff)
    reference = 1e-14 * len(x) * (1 if weights is None else weights.max())  # rounding of the dense one itself
    off = operator.to_dense() - gram
    assert np.linalg.norm(off, 2) <= operator.error + reference
    v = np.random.default_rng(0).standard_normal((len(x), 3))
    for column in v.T:
        assert np.linalg.norm(operator @ column - gram @ column) <= (operator.error + reference) * np.linalg.norm(
            column
        )
    np.testing.assert_allclose(operator.diagonal(), gram.diagonal(), rtol=1e-14)
    statistics = operator.statistics()
    assert (gram**2).sum() <= statistics.frobenius2 * (1 + 1e-13)
    assert np.linalg.norm(gram, 2) <= statistics.norm * (1 + 1e-13)
    assert np.linalg.norm(statistics.sums - gram @ operator.roots) <= (operator.error + reference) * np.linalg.norm(
        operator.roots
    )


@settings(max_examples=40)
@given(data=drawn_rows(), width=st.sampled_from([0.01, 0.1, 1.0]), cutoff=st.sampled_from([1e-10, 1e-4]))
def test_error_is_what_was_asked_for(data, width, cutoff):
    x, weights = data
    operator = SparseGram(kernels.Gaussian(width), x, weights, cutoff)
    assert operator.cut <= cutoff * (1 + 1e-9)
    assert operator.error <= cutoff + 1e-11 * operator.statistics().norm
    gram = dense_gram(kernels.Gaussian(width), x, weights)
    assert operator.statistics().frobenius2 <= (np.linalg.norm(gram) + 1.1 * cutoff) ** 2 * (1 + 1e-10)


def test_compact_support_leaves_nothing_out_and_stores_only_neighbours():
    x = np.random.default_rng(0).random((2500, 2))
    kernel = kernels.Epanechnikov(0.05)
    operator = SparseGram(kernel, x)
    gram = dense_gram(kernel, x, None)
    assert operator.entries == np.count_nonzero(gram)
    assert operator.error < 1e-12
    np.testing.assert_allclose(operator.to_dense(), gram, atol=1e-14)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(1)
    x, v = rng.random((5000, 3)), rng.standard_normal((5000, 4))
    with use_threads(1):
        one = SparseGram(kernels.Gaussian(0.02), x, None, 1e-8)
        product = one @ v
    with use_threads(3):
        three = SparseGram(kernels.Gaussian(0.02), x, None, 1e-8)
        np.testing.assert_array_equal(product, three @ v)
    assert one.statistics().frobenius2 == three.statistics().frobenius2


def test_centered_total_is_exact():
    x = np.random.default_rng(2).random((400, 2))
    kernel = kernels.Gaussian(0.05)
    gram = dense_gram(kernel, x, None)
    operator = CenteredGram(SparseGram(kernel, x, None, 1e-9))
    assert operator.trace == pytest.approx(np.trace(gram) - gram.sum() / 400, abs=2e-9)


def test_memory_is_refused_before_it_is_taken():
    x = np.zeros((4000, 2))
    with pytest.raises(MemoryLimitError, match=r"about .* increase memory_limit.*method='tiled'"):
        SparseGram(kernels.Gaussian(0.1), x, memory_limit=10**7)


@pytest.mark.parametrize("place", [1e4, 2e4, 3e4, 4e4, 6e4])
def test_memory_is_refused_whether_or_not_the_sample_sees_a_crowd(place):
    rng = np.random.default_rng(3)
    x = np.vstack([rng.random((51_100, 2)) * 1e5, np.full((90, 2), place)])
    kernel = kernels.Epanechnikov(1e-3)
    with pytest.raises(MemoryLimitError, match="memory_limit"):
        SparseGram(kernel, x, memory_limit=SparseGram(kernel, x).nbytes - 1)


def test_refuses_what_it_cannot_search():
    x = np.random.default_rng(4).random((30, 2))
    with pytest.raises(TypeError, match="distance"):
        SparseGram(kernels.Polynomial(2), x)
    with pytest.raises(TypeError, match="toarray"):
        SparseGram(kernels.Gaussian(1.0), scipy.sparse.csr_array(x))
    with pytest.raises(ValueError, match="cutoff_error=-1"):
        SparseGram(kernels.Gaussian(1.0), x, None, -1.0)
    with pytest.raises(ValueError, match="does not decay"):
        cut_radius(kernels.Gaussian(np.inf), 1e-3)


def fit(x, kernel, k, weights=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)
        return KernelPCA(k, kernel=kernel, random_state=0, **settings).fit(x, sample_weight=weights)


@settings(max_examples=30)
@given(data=drawn_rows(), width=st.sampled_from([0.03, 0.2, 2.0]), name=st.sampled_from(list(KERNELS)))
def test_eigenvalues_equal_the_dense_ones_and_lie_in_the_certificate(data, width, name):
    x, weights = data
    if len(x) < 5:
        return
    kernel = KERNELS[name](width)
    roots = np.ones(len(x)) if weights is None else np.sqrt(weights)
    unit = roots / np.linalg.norm(roots)
    off = np.eye(len(x)) - np.outer(unit, unit)
    truth = np.linalg.eigvalsh(off @ dense_gram(kernel, x, weights) @ off)[::-1]
    model = fit(x, kernel, 3, weights, method="sparse", n_jobs=1)
    slack = 1e-13 * (roots**2).sum()  # of the reference
    assert model.method_ == "sparse"
    np.testing.assert_allclose(model.eigenvalues_, truth[:3], atol=1e-9 * truth[0] + slack)
    assert (model.certificate_.lower <= truth[:3] + slack).all()
    assert (truth[:3] - slack <= model.certificate_.upper).all()


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_residuals_of_the_exact_operator_meet_the_tolerance(tol):
    x = np.random.default_rng(5).standard_normal((1500, 4))
    kernel = kernels.Gaussian(0.3)
    model = fit(x, kernel, 4, method="sparse", tol=tol)
    gram = dense_gram(kernel, x, None)
    gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    residual = gram @ model.eigenvectors_ - model.eigenvectors_ * model.eigenvalues_
    assert np.linalg.norm(residual, axis=0).max() <= tol * model.eigenvalues_[0]
    scores = fit(x, kernel, 4, method="dense").transform(x[:20])
    np.testing.assert_allclose(model.transform(x[:20]), scores, atol=200 * tol)


def test_a_share_of_the_variance():
    x = np.random.default_rng(6).random((300, 1))
    kernel = kernels.Gaussian(0.05)
    sparse, dense = (fit(x, kernel, 0.9, method=method) for method in ("sparse", "dense"))
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-8)


def test_fit_refuses_memory_with_a_remedy():
    x = np.random.default_rng(7).random((3000, 2))
    with pytest.raises(MemoryLimitError, match="increase memory_limit"):
        fit(x, kernels.Gaussian(1.0), 2, method="sparse", memory_limit="20MB")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kernel": kernels.Linear()}, "radial kernels"),
        ({"kernel": kernels.Gaussian(np.inf)}, "decay"),
        ({"d": 9}, "8 columns"),
        ({"sparse": True}, "sparse"),
        ({"solver": "dense"}, "full matrix"),
    ],
)
def test_says_why_it_cannot_serve(changes, reason):
    easy = {"n": 100, "d": 2, "kernel": kernels.Gaussian(0.1), "k": 2, "tol": 1e-6, "memory_limit": 10**9}
    problem = Problem(**easy | changes)
    with pytest.raises(ValueError, match=reason):
        make_plan(problem, "sparse")


def test_is_chosen_for_narrow_kernels_in_a_known_box_only():
    def plan(sigma):
        rows = {"n": 100_000, "d": 5, "low": np.zeros(5), "high": np.ones(5)}
        kernel = kernels.Gaussian(sigma)
        return make_plan(Problem(**rows, kernel=kernel, k=5, tol=1e-6, memory_limit=4 * 10**9, threads=2))

    assert plan(0.01).candidates["sparse"].seconds < plan(0.01).candidates["tiled"].seconds
    assert plan(0.5).chosen != "sparse"
