"""Columns are compared by name wherever rows or models come together: a file in another order is no small error."""

import warnings

import numpy as np
import pytest

from gramless import KernelDiscriminantAnalysis, KernelICA, KernelKMeans, KernelPCA, SeriesDensity, open_source
from gramless.errors import SourceError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def frame():
    return pandas.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["age", "size", "weight"])


@pytest.fixture(params=["csv", "parquet"])
def turned(frame, tmp_path, request):
    """A file of the same rows, its columns in another order."""
    return written(frame[["weight", "size", "age"]], tmp_path / f"turned.{request.param}")


def written(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


def test_a_stream_refuses_a_file_in_another_order(frame, turned):
    model = KernelPCA(2, kernel="rbf", gamma=0.1).partial_fit(frame)
    before = model.eigenvalues_.copy()
    with pytest.raises(SourceError, match="has the column 'weight' where the model was fitted to 'age'; select"):
        model.partial_fit(turned)
    np.testing.assert_array_equal(model.eigenvalues_, before)
    model.partial_fit(open_source(turned, columns=model.feature_names_in_))  # as the message says
    twice = KernelPCA(2, kernel="rbf", gamma=0.1).fit(pandas.concat([frame, frame]))
    np.testing.assert_allclose(model.eigenvalues_, twice.eigenvalues_, rtol=1e-8)


def test_a_stream_refuses_a_file_of_another_width(frame, tmp_path):
    model = KernelPCA(2, kernel="rbf", gamma=0.1).partial_fit(frame)
    path = written(frame.assign(more=1.0), tmp_path / "wide.csv")
    with pytest.raises(SourceError, match=r"has 4 columns, but the model was fitted to 3; select them"):
        model.partial_fit(path)
    model.partial_fit(written(frame, path))
    assert model.feature_names_in_.tolist() == list(frame.columns)


def test_models_of_columns_in_another_order_do_not_merge(frame):
    here = KernelPCA(2, kernel="rbf", gamma=0.1).fit(frame)
    there = KernelPCA(2, kernel="rbf", gamma=0.1).fit(frame[["age", "weight", "size"]])
    with pytest.raises(ValueError, match="column 1 is 'size' in this model and 'weight' in other"):
        here.merge(there)
    nameless = KernelPCA(2, kernel="rbf", gamma=0.1).fit(frame.to_numpy())
    for other in (here, nameless):
        np.testing.assert_allclose(here.merge(other).eigenvalues_, 2 * here.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("fitted_to", ["frame", "file"])
@pytest.mark.parametrize("ask", [KernelKMeans.predict, KernelKMeans.transform])
def test_clusters_refuse_a_file_in_another_order(frame, turned, tmp_path, fitted_to, ask):
    path = written(frame, tmp_path / f"rows{turned.suffix}")
    model = KernelKMeans(3, random_state=0).fit(frame if fitted_to == "frame" else path)
    assert model.feature_names_in_.tolist() == ["age", "size", "weight"]
    with pytest.raises(SourceError, match="has the column 'weight' where the model was fitted to 'age'"):
        ask(model, turned)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the names were compared: there is nothing to warn of
        answer = ask(model, path)
    np.testing.assert_allclose(answer, ask(model, frame), rtol=1e-9)


def test_frames_of_an_iterator_are_compared(frame):
    turned = frame[["weight", "size", "age"]]
    model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(iter([frame[:30], frame[30:]]))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    whole = KernelPCA(2, kernel="rbf", gamma=0.1).fit(frame)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    with pytest.raises(SourceError, match="the iterator of blocks has the column 'weight' where the model was"):
        model.partial_fit(iter([turned]))
    with pytest.raises(SourceError, match="block 1 has the columns weight, size, age, but the first has age, size, we"):
        KernelPCA(2, kernel="rbf", gamma=0.1).fit(iter([frame, turned]))
    chosen = open_source(iter([turned]), columns=["age", "size", "weight"])
    np.testing.assert_array_equal(next(chosen.blocks(99)), frame)


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: KernelDiscriminantAnalysis().fit("rows.csv", np.arange(60) % 2),
        lambda frame: KernelDiscriminantAnalysis().fit(frame, np.arange(60) % 2).predict("rows.csv"),
        lambda frame: KernelICA(2).fit("rows.csv"),
        lambda frame: SeriesDensity().fit("rows.csv"),
        lambda frame: SeriesDensity().fit(frame).score_samples("rows.csv"),
        lambda frame: KernelPCA(2, kernel="rbf").fit(frame).denoise("rows.csv", method="fixed_point"),
    ],
)
def test_where_rows_are_needed_a_file_is_refused_by_name(frame, call):
    with pytest.raises(ValueError, match=r"X='rows.csv' is a path, but \w+ takes only arrays"):
        call(frame)
