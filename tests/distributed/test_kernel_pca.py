import warnings
from typing import Any

import numpy as np
import pytest

from gramless import DominantColumnWarning, KernelPCA

da = pytest.importorskip("dask.array", reason='dask is not installed: pip install ".[dask]"')
pytestmark = pytest.mark.usefixtures("client")

ROUTES = {
    "fourier": (2, {"kernel": "rbf", "gamma": "median", "method": "fourier"}),
    "fourier in a domain": (2, {"kernel": "rbf", "gamma": 1.0, "method": "fourier", "domain": (-6, 6)}),
    "taylor": (3, {"kernel": "rbf", "gamma": 0.01, "method": "taylor"}),
    "monomials": (4, {"kernel": "poly", "degree": 2, "gamma": "scale"}),
    "landmarks": (5, {"kernel": "rbf", "gamma": 0.02, "method": "landmarks"}),
    "tiled": (5, {"kernel": "rbf", "gamma": "median", "method": "tiled"}),
    "tiled, by name": (3, {"kernel": "laplacian", "gamma": "scale", "method": "tiled"}),
    "tiled in float64": (5, {"kernel": "sigmoid", "gamma": 0.01, "method": "tiled"}),
}


def data(d: int, n: int = 700, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) + np.arange(d)


def assert_same_model(ours: KernelPCA, theirs: KernelPCA, x: np.ndarray) -> None:
    largest = theirs.eigenvalues_[0]
    assert ours.method_ == theirs.method_
    assert ours.gamma_ == pytest.approx(theirs.gamma_, rel=1e-13)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=0, atol=1e-10 * largest)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.transform(x), theirs.transform(x), rtol=0, atol=1e-8)
    assert (ours.certificate_.lower <= theirs.eigenvalues_ * (1 + 1e-10)).all()
    assert (ours.certificate_.upper >= theirs.eigenvalues_ * (1 - 1e-10)).all()


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.filterwarnings("ignore:.*not positive semidefinite")
def test_a_cluster_finds_the_model_of_one_process(route: str) -> None:
    d, parameters = ROUTES[route]
    x = data(d)
    together = KernelPCA(4, **parameters).fit(da.from_array(x, chunks=(150, 2)))
    alone = KernelPCA(4, **{**parameters, "method": together.method_}).fit(x)
    assert_same_model(together, alone, x)


def test_a_column_that_drowns_the_others_is_named() -> None:
    x = da.from_array(data(2) * [1.0, 50.0], chunks=(200, 2))
    model = KernelPCA(2, kernel="rbf", gamma="scale", method="fourier")
    with pytest.warns(
        DominantColumnWarning, match=r"column 1 accounts for 99.9 % .* pass \(X - X.mean\(axis=0\)\) / X.std"
    ):
        model.fit(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DominantColumnWarning)
        model.fit((x - x.mean(axis=0)) / x.std(axis=0))


@pytest.mark.parametrize("method", ["fourier", pytest.param("tiled", marks=pytest.mark.slow)])
def test_weights_may_be_a_dask_array(method: str) -> None:
    x = data(2)
    weights = np.random.default_rng(1).integers(0, 3, len(x)).astype(float)
    model = KernelPCA(3, kernel="rbf", gamma="scale", method=method)
    together = KernelPCA(**model.get_params()).fit(
        da.from_array(x, chunks=(200, 2)), sample_weight=da.from_array(weights, chunks=90)
    )
    assert_same_model(together, model.fit(x, sample_weight=weights), x)
    plain = KernelPCA(**model.get_params()).fit(da.from_array(x, chunks=(200, 2)), sample_weight=weights)
    np.testing.assert_allclose(plain.eigenvalues_, together.eigenvalues_, rtol=1e-12)


def test_uneven_and_empty_blocks() -> None:
    x = data(2)
    parts = [x[:1], x[1:400], x[400:400], x[400:]]
    blocks = da.concatenate([da.from_array(part, chunks=(max(1, len(part)), 1)) for part in parts])
    model = KernelPCA(3, kernel="rbf", gamma=0.5, method="fourier")
    assert_same_model(KernelPCA(**model.get_params()).fit(blocks), model.fit(x), x)


def test_data_frame_with_unknown_lengths() -> None:
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    x = data(2)
    table = pandas.DataFrame(x, columns=["width", "height"])
    frame = frames.from_pandas(table, npartitions=3)
    weights = pandas.Series(np.random.default_rng(0).random(len(x)))
    model = KernelPCA(3, kernel="rbf", gamma="median", method="fourier")
    model.fit(frame, sample_weight=frames.from_pandas(weights, npartitions=3))
    alone = KernelPCA(3, kernel="rbf", gamma="median", method="fourier").fit(table, sample_weight=weights)
    assert list(model.feature_names_in_) == ["width", "height"]
    assert_same_model(model, alone, table)
    scores = model.transform(frame)
    assert np.isnan(scores.shape[0])
    np.testing.assert_allclose(scores.compute(), alone.transform(table), atol=1e-8)
    heavy = frames.from_pandas(table.assign(heaviness=weights), npartitions=2)
    by_name = KernelPCA(**model.get_params()).fit(heavy, sample_weight="heaviness")
    np.testing.assert_allclose(by_name.eigenvalues_, model.eigenvalues_, rtol=1e-10)
    with pytest.raises(ValueError, match="is not a column of X"):
        KernelPCA(2).fit(heavy, sample_weight="lightness")
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[["height", "width"]])


def test_transform_waits_until_it_is_computed() -> None:
    x = data(3).astype(np.float32)
    model = KernelPCA(3, kernel="poly", gamma=0.1).fit(x)
    lazy = model.transform(da.from_array(x, chunks=(100, 2)))
    assert isinstance(lazy, da.Array)
    assert lazy.shape == (700, 3)
    assert lazy.dtype == np.float32
    np.testing.assert_allclose(lazy.compute(), model.transform(x), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="X has 2 features, but KernelPCA is expecting 3"):
        model.transform(da.ones((5, 2)))
    stream = KernelPCA(3, kernel="poly", gamma=0.1).partial_fit(x[:400]).partial_fit(x[400:])
    later = stream.transform(da.from_array(x, chunks=(100, 3))).compute()
    np.testing.assert_allclose(np.abs(later), np.abs(model.transform(x)), rtol=1e-3, atol=1e-4)
    again = KernelPCA(3, kernel="poly", gamma=0.1).fit_transform(da.from_array(x, chunks=(100, 3)))
    np.testing.assert_allclose(again.compute(), model.transform(x), rtol=1e-3, atol=1e-4)


def test_a_model_of_a_cluster_is_a_model_like_any_other(tmp_path: Any) -> None:
    from gramless import load

    x = data(2)
    model = KernelPCA(0.9, kernel="rbf", gamma=0.5, domain=(-6, 6)).fit(da.from_array(x, chunks=(200, 2)))
    assert model.explained_variance_ratio_.sum() >= 0.9
    assert model.plan_.problem.workers == 2
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").transform(x), model.transform(x))
    more = KernelPCA(4, kernel="rbf", gamma=0.5, domain=(-6, 6), method="fourier")
    alone = KernelPCA(**more.get_params()).fit(np.vstack([x, x + 0.1]))
    more.fit(da.from_array(x, chunks=(200, 2))).partial_fit(x + 0.1)
    np.testing.assert_allclose(more.eigenvalues_, alone.eigenvalues_, rtol=1e-9)
    with pytest.raises(AttributeError, match="training rows"):
        _ = more.eigenvectors_


@pytest.mark.parametrize("support", [None, 60])
def test_merged_eigenspaces_hold_their_certificates(support: int | None) -> None:
    x = data(4, n=300)
    exact = KernelPCA(3, kernel="rbf", gamma=0.05).fit(x)
    merged = KernelPCA(3, kernel="rbf", gamma=0.05, method="merging", max_support=support)
    merged.fit(da.from_array(x, chunks=(80, 4)))
    assert (merged.certificate_.lower <= exact.certificate_.upper).all()
    assert (merged.certificate_.upper >= exact.certificate_.lower).all()
    np.testing.assert_allclose(merged.eigenvalues_, exact.eigenvalues_, rtol=1e-8 if support is None else 1e-2)
    assert merged.explained_variance_.sum() == pytest.approx(exact.explained_variance_.sum(), rel=1e-2)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_none_names_its_partition(value: float) -> None:
    x = data(2)
    x[333, 1] = value
    with pytest.raises(ValueError, match=r"partition 3 \(100 rows\).*row 33, column 1"):
        KernelPCA(2, kernel="rbf").fit(da.from_array(x, chunks=(100, 2)))


def test_weights_that_are_none_name_their_partition() -> None:
    x, weights = data(2), np.ones(700)
    weights[650] = -1
    with pytest.raises(ValueError, match=r"partition 6 .*sample_weight has -1"):
        KernelPCA(2, kernel="rbf").fit(da.from_array(x, chunks=(100, 2)), sample_weight=da.from_array(weights))
    with pytest.raises(ValueError, match="0 for every row"):
        KernelPCA(2, kernel="rbf").fit(da.from_array(x, chunks=(100, 2)), sample_weight=np.zeros(700))
    with pytest.raises(ValueError, match="one weight for each of the 700 rows"):
        KernelPCA(2, kernel="rbf").fit(da.from_array(x, chunks=(100, 2)), sample_weight=np.ones(7))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "precomputed"}, "X.compute"),
        ({"center_input": True}, "X - X.mean"),
        ({"scale_input": True}, r"\(X - X.mean\(axis=0\)\) / X.std"),
        ({"fit_inverse_transform": True}, "rows in one place"),
        ({"forget": 10.0}, "partial_fit"),
        ({"n_components": 900}, "at most 700"),
        ({"kernel": "rbf", "domain": (0, 1)}, "widen domain"),
        ({"kernel": "rbf", "method": "dense"}, "needs all rows in one place"),
        ({"kernel": "rbf", "gamma": 0.1, "tol": 1e-13, "method": "merging"}, "is not achievable"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused_with_a_remedy(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KernelPCA(**{"n_components": 2, **parameters}).fit(da.from_array(data(2), chunks=(200, 2)))


def test_collections_that_are_no_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="Expected 2D array"):
        KernelPCA(2).fit(da.ones(10))
    with pytest.raises(ValueError, match="not real numbers"):
        KernelPCA(2).fit(da.ones((10, 2), dtype=complex))
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    table = pandas.DataFrame({"x": [1.0, 2.0], "colour": ["red", "blue"]})
    with pytest.raises(ValueError, match="column 'colour'"):
        KernelPCA(1).fit(frames.from_pandas(table, npartitions=1))
