"""Widths that the data choose: against the obvious computation, and where there is little to choose from."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramless import KernelPCA, select_bandwidth
from gramless.kernels import (
    Cosine,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Linear,
    Manhattan,
    Matern,
    Polynomial,
    Tanh,
)

KERNELS = [
    (Gaussian(), "sigma"),
    (Laplacian(), "lengthscale"),
    (Manhattan(), "lengthscale"),
    (Matern(nu=1.5), "lengthscale"),
    (Epanechnikov(), "width"),
]


@pytest.fixture(scope="module")
def clusters():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, (90, 1)) * [2.0, -1.0, 0.5] + 0.3 * rng.standard_normal((90, 3))


def naive_gap(kernel, x, k, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    centring = np.eye(len(x)) - weights / weights.sum()
    roots = np.sqrt(weights)
    gram = kernel(x)
    values = np.linalg.eigvalsh(roots[:, None] * (centring @ gram @ centring.T) * roots)[::-1]
    return (values[k - 1] - values[k]) / (weights.sum() * gram.diagonal().max())


@pytest.mark.parametrize(("kernel", "parameter"), KERNELS)
def test_median_and_scale_are_what_they_say(clusters, kernel, parameter):
    median = select_bandwidth(clusters, kernel, "median")
    assert median.parameter == parameter
    metric = "cityblock" if isinstance(kernel, Manhattan) else "euclidean"
    assert median.value == pytest.approx(np.median(pdist(clusters, metric)))
    assert getattr(median.kernel, parameter) == median.value
    scale = select_bandwidth(clusters, kernel, "scale")
    assert scale.value == pytest.approx(np.sqrt(clusters.shape[1] * clusters.var() / 2))


@pytest.mark.parametrize("kernel", ["rbf", "gaussian", "laplacian"])
@pytest.mark.parametrize("criterion", ["median", "scale", "preimage", "gap"])
def test_the_estimator_takes_the_same_names(clusters, kernel, criterion):
    model = KernelPCA(3, kernel=kernel, gamma=criterion).fit(clusters)
    chosen = select_bandwidth(clusters, kernel, criterion, n_components=3)
    assert model.gamma_ == pytest.approx(chosen.gamma, rel=1e-12)
    np.testing.assert_allclose(
        model.eigenvalues_, KernelPCA(3, kernel=chosen.kernel).fit(clusters).eigenvalues_, rtol=1e-8
    )


@pytest.mark.parametrize("kernel", [Gaussian(), Matern(nu=0.5), Polynomial(degree=2), Manhattan()])
@pytest.mark.parametrize("k", [1, 4])
def test_gap_equals_eigenvalues_of_the_centred_matrix(clusters, kernel, k):
    chosen = select_bandwidth(clusters, kernel, "gap", n_components=k)
    name = chosen.parameter
    naive = [naive_gap(type(kernel)(**{**vars(kernel), name: v}), clusters, k) for v in chosen.candidates]
    np.testing.assert_allclose(chosen.scores, naive, atol=2e-6)
    assert chosen.value == chosen.candidates[np.argmax(naive)]


def test_preimage_error_equals_cross_validation(clusters):
    """The same numbers as a grid search over gamma with the estimator's own score, fold by fold."""
    chosen = select_bandwidth(clusters, "rbf", "preimage", n_components=3, alpha=0.01)
    part = np.random.default_rng(0).permutation(np.arange(90) % 3)
    folds = [(np.flatnonzero(part != fold), np.flatnonzero(part == fold)) for fold in range(3)]
    model = KernelPCA(3, kernel="rbf", fit_inverse_transform=True, alpha=0.01)
    search = GridSearchCV(model, {"gamma": 0.5 / chosen.candidates**2}, cv=folds).fit(clusters)
    np.testing.assert_allclose(chosen.scores, -search.cv_results_["mean_test_score"], rtol=1e-5)
    assert chosen.gamma == pytest.approx(search.best_params_["gamma"])


def test_the_best_of_several_ridges_counts(clusters):
    best = select_bandwidth(clusters, "rbf", "preimage").scores
    each = [select_bandwidth(clusters, "rbf", "preimage", alpha=a).scores for a in (1e-6, 1e-4, 1e-2, 1.0)]
    np.testing.assert_allclose(best, np.min(each, axis=0))


@given(factor=st.floats(1e-3, 1e3), shift=st.floats(-100, 100))
def test_widths_follow_the_unit_of_the_data_and_not_its_origin(clusters, factor, shift):
    for criterion in ("median", "scale", "gap"):
        before = select_bandwidth(clusters, "rbf", criterion).value
        after = select_bandwidth(factor * (clusters + shift), "rbf", criterion).value
        if criterion == "scale":  # the variance of all entries together: a shift common to all columns changes nothing
            after = select_bandwidth(factor * clusters + shift, "rbf", criterion).value
        assert after == pytest.approx(factor * before, rel=1e-6)


@pytest.mark.parametrize("criterion", ["median", "gap"])
def test_weights_are_repetitions(clusters, criterion):
    times = np.random.default_rng(1).integers(0, 4, len(clusters))
    weighted = select_bandwidth(clusters, "rbf", criterion, sample_weight=times)
    repeated = select_bandwidth(np.repeat(clusters, times, axis=0), "rbf", criterion)
    assert weighted.value == pytest.approx(repeated.value)
    np.testing.assert_allclose(weighted.scores, repeated.scores, atol=1e-6)


@pytest.mark.parametrize("criterion", ["median", "scale", "preimage", "gap"])
def test_weight_zero_is_absence(clusters, criterion):
    outlier = np.vstack([clusters, [[1e6, 0, 0]]])
    weights = np.append(np.ones(len(clusters)), 0.0)
    with_it = select_bandwidth(outlier, "rbf", criterion, sample_weight=weights)
    assert with_it.value == pytest.approx(select_bandwidth(clusters, "rbf", criterion).value)


@pytest.mark.parametrize("criterion", ["median", "scale", "gap"])
def test_sparse_rows_are_rows(clusters, criterion):
    dense = np.where(np.abs(clusters) < 0.5, 0.0, clusters)
    sparse = select_bandwidth(scipy.sparse.csr_array(dense), "rbf", criterion)
    assert sparse.value == pytest.approx(select_bandwidth(dense, "rbf", criterion).value)


@pytest.mark.parametrize("criterion", ["median", "scale", "preimage", "gap"])
def test_single_precision_chooses_the_same(clusters, criterion):
    single = clusters.astype(np.float32)
    chosen = select_bandwidth(single, "rbf", criterion).value
    assert chosen == pytest.approx(select_bandwidth(single.astype(np.float64), "rbf", criterion).value, rel=1e-5)


@pytest.mark.parametrize("criterion", ["median", "scale", "preimage", "gap"])
@pytest.mark.parametrize("value", [0.0, 7.5])
def test_constant_rows_leave_the_default(criterion, value):
    assert select_bandwidth(np.full((12, 2), value), "rbf", criterion).gamma == pytest.approx(1.0)


def test_one_row():
    assert select_bandwidth([[1.0, 1.0]]).gamma == pytest.approx(1.0)
    assert select_bandwidth([[0.0, 2.0]], criterion="scale").gamma == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"criterion='gap'.*there are 1; pass criterion='median'"):
        select_bandwidth([[1.0]], criterion="gap")
    with pytest.raises(ValueError, match=r"criterion='preimage'.*there are 1; pass criterion='median'"):
        select_bandwidth([[1.0]], criterion="preimage")


def test_a_sample_stands_for_many_rows():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (20_000, 1)) * [2.0, -1.0] + 0.3 * rng.standard_normal((20_000, 2))
    some = select_bandwidth(x, "rbf", "gap")
    every = select_bandwidth(x, "rbf", "gap", max_samples=None, candidates=some.candidates)
    np.testing.assert_allclose(some.scores, every.scores, atol=0.03)
    assert abs(np.log2(some.value / every.value)) <= 0.51


class TestSources:
    """Rows of files, read once."""

    @pytest.fixture
    def file(self, clusters, tmp_path):
        np.save(tmp_path / "rows.npy", clusters)
        return tmp_path / "rows.npy"

    @pytest.mark.parametrize("criterion", ["median", "scale", "gap", "preimage"])
    def test_a_small_file_is_its_rows(self, clusters, file, criterion):
        assert select_bandwidth(file, "rbf", criterion).value == pytest.approx(
            select_bandwidth(clusters, "rbf", criterion).value
        )

    def test_an_iterator_is_read_once_and_to_the_end(self):
        x = np.random.default_rng(0).standard_normal((20_000, 2)) + np.repeat([[0.0], [5.0]], 10_000, axis=0)
        read = []

        def blocks():
            for part in np.array_split(x, 7):
                read.append(len(part))
                yield part

        assert select_bandwidth(blocks(), "rbf", "scale").value == pytest.approx(np.sqrt(x.var()))
        assert sum(read) == len(x)
        median = select_bandwidth(iter(np.array_split(x, 7)), "rbf", "median").value
        assert median == pytest.approx(select_bandwidth(x, "rbf", "median").value, rel=0.1)

    def test_weights_belong_to_rows(self, clusters, file):
        times = np.random.default_rng(1).integers(0, 4, len(clusters)).astype(float)
        for criterion in ("median", "scale", "gap"):
            assert select_bandwidth(file, "rbf", criterion, sample_weight=times).value == pytest.approx(
                select_bandwidth(clusters, "rbf", criterion, sample_weight=times).value
            )

    def test_fits_of_files_search_too(self, clusters, file):
        model = KernelPCA(2, kernel="rbf", gamma="gap").fit(file)
        assert model.gamma_ == pytest.approx(select_bandwidth(clusters, "rbf", "gap").gamma)

    def test_all_rows_at_once_are_refused(self, file):
        with pytest.raises(ValueError, match="max_samples=None"):
            select_bandwidth(file, "rbf", "gap", max_samples=None)


def test_all_rows_through_explicit_features_equal_the_matrix():
    x = np.random.default_rng(0).random((800, 2))
    every = select_bandwidth(x, Polynomial(degree=2, c=1.0), "gap", max_samples=None, candidates=[0.5, 1.0])
    naive = [naive_gap(Polynomial(degree=2, c=1.0, scale=s), x, 2) for s in (0.5, 1.0)]
    np.testing.assert_allclose(every.scores, naive, rtol=1e-5)


def test_in_a_pipeline_the_width_is_that_of_what_arrives_there(clusters):
    units = clusters * [1.0, 100.0, 0.01]
    pipeline = make_pipeline(StandardScaler(), KernelPCA(2, kernel="rbf", gamma="gap")).fit(units)
    arrives = pipeline[:-1].transform(units)
    assert pipeline[-1].gamma_ == pytest.approx(select_bandwidth(arrives, "rbf", "gap").gamma)


def test_grid_search_over_criteria(clusters):
    model = make_pipeline(StandardScaler(), KernelPCA(2, kernel="rbf", fit_inverse_transform=True, alpha=1e-3))
    names = ["median", "scale", "preimage", "gap"]
    search = GridSearchCV(model, {"kernelpca__gamma": names}, cv=3, error_score="raise").fit(clusters)
    scores = dict(zip(names, search.cv_results_["mean_test_score"], strict=True))
    assert search.best_params_["kernelpca__gamma"] in names
    assert scores["preimage"] >= 1.1 * max(scores.values())  # errors are negative scores: within a tenth of the best


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "best"}, "criterion='best' is invalid; pass one of 'median', 'scale', 'preimage', 'gap'"),
        ({"kernel": Linear()}, "has no bandwidth"),
        ({"kernel": Cosine()}, "has no bandwidth"),
        ({"kernel": "linear"}, "has no bandwidth"),
        ({"kernel": "precomputed"}, "has no bandwidth"),
        ({"kernel": Gaussian() + Linear()}, "has no bandwidth"),
        ({"criterion": "gap", "n_components": 0}, "n_components=0"),
        ({"criterion": "gap", "n_components": 2.5}, "n_components=2.5"),
        ({"criterion": "gap", "n_components": 500}, "more than 500 rows"),
        ({"criterion": "gap", "candidates": []}, "candidates"),
        ({"criterion": "gap", "candidates": [1.0, -2.0]}, "positive"),
        ({"criterion": "gap", "max_samples": 0}, "max_samples=0"),
        ({"sample_weight": np.zeros(90)}, "sample_weight is 0|non-zero number"),
    ],
)
def test_wrong_arguments_are_named(clusters, settings, message):
    with pytest.raises(ValueError, match=message):
        select_bandwidth(clusters, **settings)


def test_sparse_rows_have_no_preimages(clusters):
    with pytest.raises(ValueError, match="toarray"):
        select_bandwidth(scipy.sparse.csr_array(clusters), "rbf", "preimage")


@pytest.mark.parametrize("settings", [{"n_components": None}, {"n_components": 0.5}, {"kernel": "linear"}])
def test_estimators_say_what_a_search_needs(clusters, settings):
    with pytest.raises(ValueError, match="gamma='gap'"):
        KernelPCA(**{"n_components": 2, "kernel": "rbf", "gamma": "gap", **settings}).fit(clusters)


def test_tables(clusters):
    chosen = select_bandwidth(clusters, Tanh(scale=1.0, b=0.0), "median")
    assert str(chosen) == f"median: scale={chosen.value:.4g} (gamma={chosen.gamma:.4g})"
    searched = select_bandwidth(clusters, "rbf", "gap")
    assert str(searched).count("chosen") == 1
    assert len(str(searched).splitlines()) == 2 + len(searched.candidates)
    assert searched._repr_html_().count("<tr>") == 1 + len(searched.candidates)
