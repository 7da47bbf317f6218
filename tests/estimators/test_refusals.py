"""What estimators refuse, with the argument, the value and the remedy in the message."""

import numpy as np
import pytest
import scipy.sparse

from gramless import KernelICA, KernelKMeans, KernelPCA, SeriesDensity, SourceError, select_bandwidth
from gramless.kernels import Gaussian, Tanh

ROWS = np.random.default_rng(0).standard_normal((60, 3))
NOTHING = np.zeros(60)
WEIGHTLESS = "sample_weight is 0 for every row|must contain at least one non-zero"  # ours, or scikit-learn's


@pytest.mark.parametrize(
    "model",
    [KernelPCA(2), KernelPCA(2, kernel="rbf", method="landmarks"), KernelICA(), KernelKMeans(2), SeriesDensity()],
    ids=["dense", "landmarks", "ica", "kmeans", "density"],
)
def test_no_row_has_a_weight(model):
    with pytest.raises(ValueError, match=WEIGHTLESS):
        model.fit(ROWS, sample_weight=NOTHING)


def test_no_row_of_a_file_has_a_weight(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    for settings in ({"kernel": "poly"}, {"kernel": "rbf", "gamma": 0.1}):
        with pytest.raises(ValueError, match=WEIGHTLESS):
            KernelPCA(2, **settings).fit(tmp_path / "x.npy", sample_weight=NOTHING)
    with pytest.raises(ValueError, match="one finite, non-negative number per row"):
        KernelPCA(2, kernel="poly").fit(tmp_path / "x.npy", sample_weight=NOTHING - 1)
    for rows in (ROWS, tmp_path / "x.npy"):
        with pytest.raises(ValueError, match=WEIGHTLESS):
            select_bandwidth(rows, "rbf", "gap", n_components=2, sample_weight=NOTHING)


@pytest.mark.parametrize("rows", [iter(()), np.zeros((0, 3))], ids=["iterator", "file"])
def test_no_rows_at_all(rows, tmp_path):
    if isinstance(rows, np.ndarray):
        np.save(tmp_path / "x.npy", rows)
        rows = tmp_path / "x.npy"
    with pytest.raises((SourceError, ValueError), match=r"has no rows|is empty"):
        KernelPCA(2, kernel="poly").fit(rows)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelPCA(2, domain=(0, np.inf)), "must be finite, with low <= high in every column"),
        (KernelPCA(2, domain=(1, 0)), "must be finite, with low <= high"),
        (KernelPCA(2, domain=(0, 1, 2)), "must be a pair"),
        (KernelPCA(2, memory_limit="-1GB"), "memory_limit='-1GB'"),
        (KernelPCA(2, memory_limit=0), "'memory_limit' parameter of KernelPCA must be"),
        (KernelPCA(2, n_jobs=0), "n_jobs=0 is invalid; pass a positive number, or -1"),
        (KernelPCA(2, method="merging"), "use partial_fit"),
        (KernelPCA(2, method="refitting"), "use partial_fit"),
        (KernelICA(whiten=True), "whiten=True is invalid; pass 'unit-variance' or False"),
    ],
    ids=str,
)
def test_settings(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(ROWS)


def test_sparse_rows_have_no_dense_way_back():
    sparse = scipy.sparse.csr_array(np.where(np.abs(ROWS) > 1, ROWS, 0.0))
    with pytest.raises(ValueError, match=r"not implemented for sparse matrices: pass X\.toarray\(\)"):
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(sparse)
    model = KernelPCA(2, kernel="rbf").fit(sparse)
    with pytest.raises(ValueError, match=r"pre-images are dense: .*X\.toarray\(\)"):
        model.denoise(sparse)
    clusters = KernelKMeans(2, random_state=0).fit(sparse)
    with pytest.raises(ValueError, match="a pre-image of sparse rows is dense"):
        clusters.prototypes()
    with pytest.raises(ValueError, match="method='best' is invalid; pass 'preimage' or 'nearest'"):
        clusters.prototypes("best")


def test_measures_of_reconstruction():
    model = KernelPCA(2, kernel="rbf", gamma=0.3).fit(ROWS)
    with pytest.raises(ValueError, match=r"scores of shape \(60, 1\) for 60 rows; pass \(60, 2\)"):
        model.preimage_error(model.transform(ROWS)[:, :1], ROWS)
    given = KernelPCA(2, kernel="precomputed").fit(Gaussian(1.0)(ROWS))
    with pytest.raises(ValueError, match="which kernel='precomputed' does not give"):
        given.reconstruction_error(Gaussian(1.0)(ROWS))


def test_what_a_stream_cannot_do():
    stream = KernelPCA(2, kernel="poly", fit_inverse_transform=True).partial_fit(ROWS)
    with pytest.raises(ValueError, match="stores a sample of the rows: they cannot be removed"):
        stream.partial_unfit(ROWS[:5])
    forgetful = KernelPCA(2, keep_data=False).fit(ROWS)
    with pytest.raises(ValueError, match=r"cannot be continued; .* fit with keep_data=True"):
        forgetful.partial_fit(ROWS)
    bounded, free = (KernelPCA(2, kernel=Gaussian(1.0), max_support=m).partial_fit(ROWS) for m in (100, None))
    with pytest.raises(ValueError, match="one of the two models has a max_support= and the other has none"):
        bounded.merge(free)
    narrow = KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(ROWS[:, :2])
    with pytest.raises(ValueError, match="columns"):
        free.merge(narrow)
    with pytest.warns(match="not positive semidefinite"):
        indefinite = KernelPCA(2, kernel=Tanh(0.1, 0.5)).partial_fit(ROWS)
    with pytest.raises(ValueError, match=r"it has no moments; refit the remaining rows"):
        indefinite.partial_unfit(ROWS[:5])
