"""Widths chosen from distances that one column makes alone: who is warned, in which words, and who is not."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramless import (
    BiasedDiscriminantAnalysis,
    DominantColumnWarning,
    KernelDiscriminantAnalysis,
    KernelKMeans,
    KernelPCA,
    SeriesDensity,
)
from gramless.kernels import Gaussian

ROWS = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 100.0, 1.0]
CLASSES = np.arange(60) % 2
SHARE = np.floor(1000 * ROWS[:, 1].var() / ROWS.var(axis=0).sum()) / 10


def told(work):
    """What is said of columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [str(warning.message) for warning in caught if warning.category is DominantColumnWarning]


@pytest.mark.parametrize("gamma", ["median", "scale", "gap", "preimage"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_kernel_pca_names_the_column_and_the_remedy(kernel, gamma):
    said = told(lambda: KernelPCA(2, kernel=kernel, gamma=gamma).fit(ROWS))
    assert said == [
        f"column 1 accounts for {SHARE:.1f} % of the distances from which gamma={gamma!r} is chosen: "
        "pass scale_input=True, or drop it"
    ]


def test_a_column_with_a_name_is_called_by_it():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["age", "income", "height"])
    said = told(lambda: KernelPCA(2, kernel="rbf", gamma="median").fit(frame))
    assert len(said) == 1
    assert said[0].startswith("column 'income' accounts for")


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda: KernelKMeans(2, random_state=0).fit(ROWS), "pass scale_input=True"),
        (lambda: KernelDiscriminantAnalysis().fit(ROWS, CLASSES), "StandardScaler"),
        (lambda: BiasedDiscriminantAnalysis().fit(ROWS, CLASSES), "StandardScaler"),
        (lambda: SeriesDensity(3).fit(ROWS), "StandardScaler"),
        (lambda: KernelPCA(2, kernel="rbf", gamma="median").partial_fit(ROWS).partial_fit(ROWS), "StandardScaler"),
        (lambda: KernelPCA(2, kernel="rbf", gamma="median").fit(iter([ROWS, ROWS])), "StandardScaler"),
        (lambda: KernelPCA(2, kernel="rbf", gamma="scale").fit(scipy.sparse.csr_array(ROWS)), "pass scale_input"),
    ],
)
def test_every_chosen_width_warns_once(make, remedy):
    said = told(make)
    assert len(said) == 1
    assert said[0].startswith(f"column 1 accounts for {SHARE:.1f} %")
    assert remedy in said[0]


def test_files_warn_as_arrays_do(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    for model in (KernelPCA(2, kernel="rbf", gamma="median"), KernelKMeans(2, random_state=0)):
        assert told(lambda model=model: model.fit(tmp_path / "rows.npy")) == told(lambda model=model: model.fit(ROWS))


@pytest.mark.parametrize(
    "make",
    [
        lambda: KernelPCA(2, kernel="rbf").fit(ROWS),
        lambda: KernelPCA(2, kernel="rbf", gamma=0.1).fit(ROWS),
        lambda: KernelPCA(2, kernel=Gaussian(3.0)).fit(ROWS),
        lambda: KernelPCA(2, gamma="median").fit(ROWS),
        lambda: KernelPCA(2, kernel="rbf", gamma="median", scale_input=True).fit(ROWS),
        lambda: make_pipeline(StandardScaler(), KernelPCA(2, kernel="rbf", gamma="median")).fit(ROWS),
        lambda: KernelPCA(2, kernel="rbf", gamma="median").plan(ROWS),
        lambda: KernelKMeans(2, gamma=0.1, random_state=0).fit(ROWS),
        lambda: SeriesDensity(3, bandwidth=20.0).fit(ROWS),
        lambda: SeriesDensity(3).fit(ROWS / ROWS.std(axis=0)),
    ],
)
def test_nobody_is_nagged_without_a_reason(make):
    assert told(make) == []


@pytest.mark.parametrize(("weight", "warned"), [(20.0, True), (18.0, False)])
def test_the_limit_is_ninety_five_percent(weight, warned):
    x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) * [1.0, np.sqrt(weight)]
    assert bool(told(lambda: KernelPCA(2, kernel="rbf", gamma="scale").fit(x))) is warned


def test_a_column_among_constant_ones_drowns_nothing():
    x = np.column_stack([ROWS[:, 1], np.full(60, 0.1), np.full(60, 1e6)])
    assert told(lambda: KernelPCA(2, kernel="rbf", gamma="median").fit(x)) == []
    assert told(lambda: KernelPCA(2, kernel="rbf", gamma="median").fit(ROWS[:, 1:2])) == []


def test_rows_of_no_weight_are_not_looked_at():
    x = np.vstack([ROWS / ROWS.std(axis=0), [[0.0, 1e3, 0.0]]])
    weights = np.r_[np.ones(60), 0.0]
    model = KernelPCA(2, kernel="rbf", gamma="median")
    assert told(lambda: model.fit(x, sample_weight=weights)) == []
    assert len(told(lambda: model.fit(x))) == 1
