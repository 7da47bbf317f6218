"""A model fitted to a file is the model fitted to the same rows in memory."""

import numpy as np
import pytest
import scipy.sparse

import gramless.estimators.checking as source_rows
from gramless import IndefiniteKernelWarning, KernelKMeans, KernelPCA, MemoryLimitError, SourceError, open_source
from gramless.kernels import Gaussian, Matern, Polynomial
from gramless.progress import Silent, observed_by

RNG = np.random.default_rng(0)
FLAT = RNG.random((3000, 2))
TALL = RNG.standard_normal((700, 6))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Many blocks, though the tables are small."""
    monkeypatch.setattr(source_rows, "block_rows_for", lambda n_features, limit=None: 256)


class Counted:
    """Rows in memory as a source that counts what is read of it."""

    restartable, n_features, n_rows = True, 2, 3000

    def __init__(self, x=FLAT):
        self.x, self.read = x, 0

    def blocks(self, rows, start=0):
        for first in range(start, len(self.x), rows):
            part = self.x[first : first + rows]
            self.read += len(part)
            yield part


SETTINGS = {
    "fourier": ({"kernel": "rbf", "gamma": 20.0, "method": "fourier"}, 2),
    "fourier, domain": ({"kernel": "rbf", "gamma": 20.0, "method": "fourier", "domain": (0, 1)}, 1),
    "taylor": ({"kernel": "rbf", "gamma": 0.5, "method": "taylor"}, 2),
    "taylor, domain": ({"kernel": "rbf", "gamma": 0.5, "method": "taylor", "domain": (0, 1)}, 1),
    "matern": ({"kernel": Matern(nu=2.5, lengthscale=0.5), "method": "fourier", "tol": 1e-5}, 2),
    "monomials": ({"kernel": "poly", "degree": 3}, 1),
    "linear": ({"kernel": "linear", "method": "monomials"}, 1),
    "composite": ({"kernel": Gaussian(2.0) + Polynomial(2, 1.0), "method": "composite", "domain": (0, 1)}, 1),
    "scale": ({"kernel": "poly", "degree": 2, "gamma": "scale"}, 2),
    "centred": ({"kernel": "poly", "degree": 2, "center_input": True}, 2),
    "landmarks": ({"kernel": "rbf", "gamma": 2.0, "method": "landmarks"}, 2),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "matern")) for n in SETTINGS])
def test_a_file_gives_the_model_of_its_rows_in_as_few_passes_as_promised(name):
    settings, passes = SETTINGS[name]
    inside = KernelPCA(2, random_state=0, **settings).fit(FLAT)
    source = Counted()
    outside = KernelPCA(2, random_state=0, **settings).fit(source)
    assert source.read == passes * 3000
    bound = 1e-8 if name == "landmarks" else 1e-10
    np.testing.assert_allclose(outside.eigenvalues_, inside.eigenvalues_, rtol=bound)
    np.testing.assert_allclose(outside.explained_variance_ratio_, inside.explained_variance_ratio_, rtol=1e-6)
    scores = inside.transform(FLAT)
    np.testing.assert_allclose(outside.transform(FLAT), scores, atol=1e-5 * np.abs(scores).max())
    assert (outside.certificate_.lower <= inside.eigenvalues_ * (1 + 1e-12)).all()
    assert (outside.certificate_.upper >= inside.eigenvalues_ * (1 - 1e-12)).all()
    assert not hasattr(outside, "X_fit_")


def test_float32_and_integer_weights_and_weights_by_name(tmp_path):
    weights = RNG.integers(0, 3, len(FLAT)).astype(float)
    settings = {"kernel": "rbf", "gamma": 3.0}
    inside = KernelPCA(3, **settings).fit(FLAT, sample_weight=weights)
    np.save(tmp_path / "x.npy", FLAT)
    outside = KernelPCA(3, **settings).fit(tmp_path / "x.npy", sample_weight=weights)
    np.testing.assert_allclose(outside.eigenvalues_, inside.eigenvalues_, rtol=1e-10)
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"w": weights, "a": FLAT[:, 0], "b": FLAT[:, 1]}).to_parquet(tmp_path / "x.parquet")
    named = KernelPCA(3, **settings).fit(tmp_path / "x.parquet", sample_weight="w")
    np.testing.assert_allclose(named.eigenvalues_, inside.eigenvalues_, rtol=1e-10)
    assert list(named.feature_names_in_) == ["a", "b"]
    np.save(tmp_path / "single.npy", FLAT.astype(np.float32))
    single = KernelPCA(3, **settings).fit(str(tmp_path / "single.npy"))
    assert single.eigenvalues_.dtype == np.float32
    assert single.transform(tmp_path / "single.npy").dtype == np.float32


def test_the_exact_route_takes_its_tiles_from_a_memory_map(tmp_path):
    np.save(tmp_path / "x.npy", TALL)
    settings = {"kernel": "rbf", "gamma": 0.1, "tol": 1e-8, "memory_limit": "60MB"}
    inside = KernelPCA(4, **settings).fit(TALL)
    outside = KernelPCA(4, **settings).fit(tmp_path / "x.npy")
    assert outside.method_ in ("tiled", "dense")
    assert isinstance(outside.X_fit_, np.memmap)
    np.testing.assert_allclose(outside.eigenvalues_, inside.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(outside.transform(TALL), inside.transform(TALL), atol=1e-6)
    np.testing.assert_allclose(outside.fit_transform(tmp_path / "x.npy"), inside.fit_transform(TALL), atol=1e-6)


def test_a_memory_map_is_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", TALL)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model = KernelPCA(4, kernel="rbf", gamma=0.1).fit(mapped)
    assert np.shares_memory(model.X_fit_, mapped)


def test_rows_that_fit_are_read_to_memory_where_only_exact_methods_serve(tmp_path):
    pytest.importorskip("pyarrow")
    np.savetxt(tmp_path / "x.csv", TALL, delimiter=",", fmt="%.17g")
    settings = {"kernel": "rbf", "gamma": 0.1, "tol": 1e-8}
    outside = KernelPCA(4, **settings).fit(tmp_path / "x.csv")
    inside = KernelPCA(4, **settings).fit(TALL)
    assert outside.method_ in ("tiled", "dense")
    np.testing.assert_array_equal(outside.eigenvalues_, inside.eigenvalues_)


def test_rows_that_come_once_are_planned_onto_single_pass_methods_only():
    batches = np.array_split(FLAT, 9)
    model = KernelPCA(3, kernel="poly", degree=2).fit(iter(batches))
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(3, kernel="poly", degree=2).fit(FLAT).eigenvalues_)
    for name in ("dense", "tiled", "covariance", "svd", "sparse"):
        assert "needs all rows at once" in model.plan_.candidates[name].refusal
    assert "domain" in KernelPCA(2, kernel="rbf").fit(iter(batches)).plan_.candidates["fourier"].refusal
    with pytest.raises(ValueError, match="method='tiled' is not applicable: needs all rows at once"):
        KernelPCA(3, kernel="rbf", method="tiled").fit(iter(batches))
    with pytest.raises(ValueError, match="center_input=True takes two passes"):
        KernelPCA(3, kernel="rbf", center_input=True).fit(iter(batches))


def test_rows_that_come_once_are_merged_where_they_have_no_features():
    exact = KernelPCA(3, kernel="rbf", gamma=0.05).fit(TALL)
    model = KernelPCA(3, kernel="rbf", gamma=0.05, max_support=300).fit(iter(np.array_split(TALL, 5)))
    assert model.method_ == "merging"
    assert (model.certificate_.lower <= exact.eigenvalues_).all()
    assert (exact.eigenvalues_ <= model.certificate_.upper).all()


def test_partial_fit_goes_on_with_a_file_and_a_fit_with_batches(tmp_path):
    np.save(tmp_path / "a.npy", FLAT[:2000])
    whole = KernelPCA(3, kernel="rbf", gamma=3.0, domain=(0, 1)).fit(FLAT)
    model = KernelPCA(3, kernel="rbf", gamma=3.0, domain=(0, 1)).partial_fit(tmp_path / "a.npy")
    np.testing.assert_allclose(model.partial_fit(FLAT[2000:]).eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    model = KernelPCA(3, kernel="rbf", gamma=3.0, domain=(0, 1)).fit(tmp_path / "a.npy")
    np.testing.assert_allclose(model.partial_fit(FLAT[2000:]).eigenvalues_, whole.eigenvalues_, rtol=1e-10)


def test_forgetting_follows_the_order_of_the_rows(tmp_path):
    np.save(tmp_path / "a.npy", FLAT)
    settings = {"kernel": "poly", "degree": 2, "forget": 400.0}
    inside, outside = KernelPCA(3, **settings).fit(FLAT), KernelPCA(3, **settings).fit(tmp_path / "a.npy")
    np.testing.assert_allclose(outside.eigenvalues_, inside.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".csv"])
def test_transform_streams_out(tmp_path, suffix):
    if suffix != ".npy":
        pytest.importorskip("pyarrow")
    np.save(tmp_path / "x.npy", FLAT)
    model = KernelPCA(3, kernel="poly", degree=2).fit(FLAT)
    out = tmp_path / f"scores{suffix}"
    assert model.transform(tmp_path / "x.npy", out=out) == out
    scores = np.concatenate(list(open_source(out).blocks(10**4)))
    np.testing.assert_allclose(scores, model.transform(FLAT), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.transform(tmp_path / "x.npy"), scores)
    if suffix != ".npy":
        assert open_source(out).feature_names == ("kernelpca0", "kernelpca1", "kernelpca2")


def test_nothing_is_written_when_a_later_block_is_bad(tmp_path):
    bad = FLAT.copy()
    bad[2000, 1] = np.inf
    np.save(tmp_path / "x.npy", bad)
    model = KernelPCA(3, kernel="poly").fit(FLAT)
    with pytest.raises(SourceError, match=r"x\.npy, block 7 \(rows 1792 to 2047\): column 1 has an infinite value"):
        model.transform(tmp_path / "x.npy", out=tmp_path / "z.npy")
    assert [file.name for file in tmp_path.iterdir()] == ["x.npy"]
    with pytest.raises(SourceError, match="block 7"):
        KernelPCA(3, kernel="poly").fit(tmp_path / "x.npy")


def test_inverse_transform_from_a_sample_of_the_rows(tmp_path):
    np.save(tmp_path / "x.npy", FLAT)
    model = KernelPCA(8, kernel="rbf", gamma=2.0, fit_inverse_transform=True, alpha=1e-6, domain=(0, 1))
    model.fit(tmp_path / "x.npy")
    back = model.inverse_transform(model.transform(FLAT[:50]))
    assert np.abs(back - FLAT[:50]).max() < 0.05


@pytest.mark.parametrize("moved", [{}, {"scale_input": True}, {"center_input": True}], ids=str)
@pytest.mark.parametrize(
    ("settings", "kept"),
    [({"kernel": "rbf", "gamma": 0.1, "method": "dense"}, True), ({"method": "svd", "keep_data": False}, False)],
    ids=["dense", "svd"],
)
def test_methods_that_want_all_rows_keep_of_a_file_what_they_keep_of_an_array(tmp_path, moved, settings, kept):
    x = TALL + np.array([0, 0, 0, 0, 0, 5])
    np.save(tmp_path / "x.npy", x)
    settings = dict(fit_inverse_transform=True, random_state=0, **settings, **moved)
    inside = KernelPCA(4, **settings).fit(x)
    outside = KernelPCA(4, **settings).fit(tmp_path / "x.npy")
    assert hasattr(outside, "X_fit_") == hasattr(inside, "X_fit_") == kept
    np.testing.assert_allclose(outside.eigenvalues_, inside.eigenvalues_, rtol=1e-12)
    scores = inside.transform(x[:9])
    np.testing.assert_allclose(outside.transform(x[:9]), scores, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(outside.inverse_transform(scores), inside.inverse_transform(scores), atol=1e-6)


def test_a_model_from_a_file_is_saved_and_loaded(tmp_path):
    from gramless import load

    np.save(tmp_path / "x.npy", FLAT)
    model = KernelPCA(3, kernel="rbf", gamma=3.0).fit(tmp_path / "x.npy")
    model.save(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "m.safetensors").transform(FLAT), model.transform(FLAT))


def test_what_does_not_fit_is_named(tmp_path):
    np.save(tmp_path / "x.npy", FLAT)
    np.save(tmp_path / "y.npy", TALL)
    model = KernelPCA(3, kernel="poly").fit(tmp_path / "x.npy")
    with pytest.raises(SourceError, match=r"y\.npy has 6 columns, but the model was fitted to 2"):
        model.transform(tmp_path / "y.npy")
    with pytest.raises(SourceError, match=r"block 0 .*: column 0 has values from .* outside domain=\(0, 0\.5\)"):
        KernelPCA(3, kernel="rbf", domain=(0, 0.5)).fit(open_source(lambda: iter([FLAT[:1] / 4, FLAT])))
    with pytest.raises(ValueError, match="n_components=5000 is more than the 3000 rows"):
        KernelPCA(5000, kernel="rbf").fit(tmp_path / "x.npy")
    with pytest.raises(ValueError, match="kernel='precomputed' needs the whole matrix"):
        KernelPCA(3, kernel="precomputed").fit(tmp_path / "x.npy")
    with pytest.raises(SourceError, match="sample_weight='w' is not a column"):
        KernelPCA(3).fit(tmp_path / "x.npy", sample_weight="w")
    with pytest.raises(ValueError, match="sample_weight is 0 for every row"):
        KernelPCA(3, kernel="rbf").fit(tmp_path / "x.npy", sample_weight=np.zeros(3000))


def test_few_rows_and_none(tmp_path):
    for n, message in ((0, "has no rows"), (1, "has 1 row; at least 2 are needed")):
        np.save(tmp_path / "x.npy", FLAT[:n])
        with pytest.raises(ValueError, match=rf"x\.npy {message}"):
            KernelPCA(1, kernel="rbf").fit(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", FLAT[:2])
    expected = KernelPCA(1, kernel="rbf").fit(FLAT[:2]).eigenvalues_
    np.testing.assert_allclose(KernelPCA(1, kernel="rbf").fit(tmp_path / "x.npy").eigenvalues_, expected)


def test_sparse_rows_in_blocks():
    x = scipy.sparse.random_array((600, 30), density=0.1, random_state=np.random.default_rng(0), format="csr")
    whole = KernelPCA(3, kernel="poly", degree=2).fit(x)
    for given in (open_source(x), iter([x[:100], x[100:]])):
        model = KernelPCA(3, kernel="poly", degree=2).fit(given)
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_allclose(whole.transform(open_source(x)), whole.transform(x))


def test_frames_are_asked_for_or_files_not_both(tmp_path):
    model = KernelPCA(2, kernel="poly").fit(FLAT).set_output(transform="pandas")
    with pytest.raises(ValueError, match="out= returns a path, not a data frame"):
        model.transform(FLAT, out=tmp_path / "z.npy")


def test_all_components_and_a_share_of_the_variance(tmp_path):
    np.save(tmp_path / "x.npy", FLAT)
    inside, outside = (KernelPCA(kernel="poly", degree=2).fit(rows) for rows in (FLAT, tmp_path / "x.npy"))
    np.testing.assert_allclose(outside.eigenvalues_, inside.eigenvalues_, rtol=1e-8)
    share = KernelPCA(0.9, kernel="rbf", gamma=2.0)
    inside, outside = share.fit(FLAT).eigenvalues_, share.fit(tmp_path / "x.npy").eigenvalues_
    np.testing.assert_allclose(outside, inside, rtol=1e-9)


def test_median_gamma_of_few_rows_is_that_of_all(tmp_path):
    np.save(tmp_path / "x.npy", FLAT)
    inside, outside = (KernelPCA(2, kernel="rbf", gamma="median").fit(rows) for rows in (FLAT, tmp_path / "x.npy"))
    assert outside.gamma_ == pytest.approx(inside.gamma_, rel=1e-12)


def test_clusters_of_a_file_are_those_of_its_rows(tmp_path):
    np.save(tmp_path / "x.npy", FLAT)
    inside = KernelKMeans(4, gamma=3.0, random_state=0).fit(FLAT)
    outside = KernelKMeans(4, gamma=3.0, random_state=0).fit(tmp_path / "x.npy")
    np.testing.assert_array_equal(outside.labels_, inside.labels_)
    np.testing.assert_array_equal(outside.predict(tmp_path / "x.npy"), inside.predict(FLAT))
    np.testing.assert_allclose(outside.transform(tmp_path / "x.npy"), inside.transform(FLAT), atol=1e-7)
    once = KernelKMeans(4, gamma=3.0, random_state=0).fit(iter(np.array_split(FLAT, 5)))
    np.testing.assert_array_equal(once.labels_, inside.labels_)
    with pytest.raises(MemoryLimitError, match=r"exceed half of memory_limit.*save them as \.npy"):
        KernelKMeans(4, memory_limit=1000).fit(iter(np.array_split(FLAT, 5)))
    with pytest.raises(SourceError, match="has 1 columns, but the model was fitted to 2"):
        inside.predict(open_source(tmp_path / "x.npy", columns=[0]))


@pytest.mark.parametrize("kind", ["h5", "zarr", "polars", "pandas", "folder"])
def test_other_formats_lead_to_the_same_model(kind, tmp_path):
    exact = KernelPCA(2, kernel="poly", degree=2).fit(FLAT).eigenvalues_
    np.testing.assert_allclose(KernelPCA(2, kernel="poly", degree=2).fit(_given(kind, tmp_path)).eigenvalues_, exact)


def _given(kind, folder):
    if kind == "h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(folder / "x.h5", "w") as file:
            file["x"] = FLAT
        return h5py.File(folder / "x.h5")["x"]
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        zarr.save(str(folder / "x.zarr"), FLAT)
        return zarr.open(str(folder / "x.zarr"), mode="r")
    if kind in ("polars", "pandas"):
        return open_source(pytest.importorskip(kind).DataFrame({"a": FLAT[:, 0], "b": FLAT[:, 1]}))
    for i, part in enumerate(np.array_split(FLAT, 3)):
        np.save(folder / f"{i}.npy", part)
    return folder


def test_an_indefinite_kernel_warns_once_and_reads_its_rows_to_memory(tmp_path):
    np.save(tmp_path / "x.npy", FLAT[:300])
    with pytest.warns(IndefiniteKernelWarning) as caught:
        model = KernelPCA(2, kernel="sigmoid", gamma=0.1).fit(tmp_path / "x.npy")
    assert len(caught) == 1
    np.testing.assert_allclose(model.eigenvalues_, model.fit(FLAT[:300]).eigenvalues_, rtol=1e-9)


def test_progress_counts_the_rows_of_all_blocks(tmp_path):
    class Told(Silent):
        summed_rows, total = 0, 0

        def summed(self, rows, total):
            self.summed_rows, self.total = rows, total

    np.save(tmp_path / "x.npy", FLAT)
    told = Told()
    with observed_by(told):
        KernelPCA(2, kernel="poly", verbose=0).fit(tmp_path / "x.npy")
    assert (told.summed_rows, told.total) == (3000, 3000)
