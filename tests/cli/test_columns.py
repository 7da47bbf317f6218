"""Columns left out, columns scaled, and the warning where one drowns the others."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import gramless
from gramless import KernelPCA, load
from gramless.cli import main
from gramless.data import open_source


@pytest.fixture
def numbered(folder, irises):
    """numbered.csv: the irises behind a number of the row."""
    rows = np.column_stack([np.arange(1000, 1150), irises])
    np.savetxt(folder / "numbered.csv", rows, delimiter=",", header="id,a,b,c,d", comments="")
    np.save(folder / "numbered.npy", rows)
    return rows


@pytest.mark.parametrize("words", [["fit", "numbered.csv"], ["cluster", "numbered.csv", "-o", "clusters.csv"]])
def test_a_column_that_drowns_the_others_is_named(numbered, words, capsys):
    assert main(words) == 0
    warned = capsys.readouterr().err
    assert warned.startswith("gramless: warning: column 'id' accounts for 99.7 % of the distances")
    assert "drop it with --exclude id, or pass --scale" in warned
    for remedy in (["--exclude", "id"], ["--scale"]):
        assert main([*words, *remedy, "--force"]) == 0
        assert capsys.readouterr().err == ""


def test_report_warns_of_it_too(numbered, capsys):
    pytest.importorskip("plotly")
    assert main(["--quiet", "fit", "numbered.csv", "-k", "2"]) == 0
    assert main(["report", "model.gramless", "numbered.csv"]) == 0
    assert "column 'id' accounts for 99.7 % of the distances: fit again with --exclude id" in capsys.readouterr().err


def test_scaled_models_remember_the_scale(folder, numbered):
    assert main(["fit", "numbered.csv", "--scale", "-k", "3", "--kernel", "matern"]) == 0
    model = gramless.load(folder / "model.gramless")
    scaled = StandardScaler().fit_transform(numbered)
    kernel = model.plan_.problem.kernel
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(3, kernel=kernel).fit(scaled).eigenvalues_, rtol=1e-9)
    apart = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    assert kernel.lengthscale == pytest.approx(np.median(apart[np.triu_indices(150, 1)]), rel=0.05)
    assert main(["denoise", "model.gramless", "numbered.csv", "-o", "clean.npy"]) == 0
    assert abs(np.load(folder / "clean.npy").mean(axis=0)[0] - 1074.5) < 20
    assert main(["update", "model.gramless", "numbered.csv"]) == 0
    assert gramless.load(folder / "model.gramless").certificate_ is not None
    assert main(["plan", "numbered.csv", "--scale"]) == 0


@pytest.mark.parametrize(("file", "column"), [("numbered.csv", "id"), ("numbered.csv", "0"), ("numbered.npy", "0")])
def test_excluded_columns_are_not_read(folder, numbered, file, column):
    assert main(["fit", file, "--exclude", column, "-k", "3", "--gamma", "0.1"]) == 0
    expected = KernelPCA(3, kernel="rbf", gamma=0.1).fit(numbered[:, 1:])
    np.testing.assert_allclose(gramless.load(folder / "model.gramless").eigenvalues_, expected.eigenvalues_)
    if file.endswith(".csv"):
        assert main(["transform", "model.gramless", file, "-o", "scores.npy"]) == 0
        assert open_source(folder / "scores.npy").n_rows == 150


def test_exclude_refuses_what_is_not_there(numbered, capsys):
    assert main(["fit", "numbered.csv", "--exclude", "number"]) == 3
    assert "no column 'number' for --exclude; it has: id, a, b, c, d" in capsys.readouterr().err
    assert main(["fit", "numbered.csv", "--columns", "a,b", "--exclude", "a,b"]) == 3
    assert "leaves no column" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["fit", "--scale", "-k", "2"], ["cluster", "-o", "clusters.csv"], ["plan"]])
def test_numbers_of_rows_without_a_name_are_pointed_out(folder, irises, words, capsys):
    rows = np.column_stack([np.arange(150), irises])
    np.savetxt(folder / "indexed.csv", rows, delimiter=",", header=",a,b,c,d", comments="")
    assert main([*words, "indexed.csv"]) == 0
    warned = capsys.readouterr().err
    assert warned.startswith("gramless: warning: column 0 of indexed.csv has no name")
    assert "drop it with --exclude 0" in warned
    more = [] if words == ["plan"] else ["--force"]
    assert main([*words, "indexed.csv", "--exclude", "0", *more]) == 0
    assert "has no name" not in capsys.readouterr().err
    if words[0] == "fit":
        assert gramless.load(folder / "model.gramless").feature_names_in_.tolist() == list("abcd")
        assert main([*words, "indexed.csv", "--force"]) == 0
        assert main(["inspect", "model.gramless"]) == 0
        assert "(no name), a, b, c, d" in capsys.readouterr().out


def test_the_index_that_pandas_wrote_is_not_used(folder, irises):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(irises, columns=list("abcd")).assign(kind="iris")
    frame[frame["a"] > 5].to_parquet("some.parquet")
    assert main(["fit", "some.parquet", "--label", "kind", "-k", "2"]) == 0
    model = gramless.load(folder / "model.gramless")
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.transform(frame.loc[:3, list("abcd")]).shape == (4, 2)


def test_labels_in_the_same_file_leave_one_table(folder, irises):
    np.savez("labelled.npz", X=irises, y=np.arange(150) % 3)
    assert main(["fit", "labelled.npz", "--label", "y", "-k", "2"]) == 0
    assert gramless.load(folder / "model.gramless").n_features_in_ == 4


def test_a_label_is_no_input(folder, irises, capsys):
    for words in (["--columns", "sepal_width,petal_width"], ["--columns", "0, 3"]):
        assert main(["fit", "iris.csv", *words, "--label", "petal_width"]) == 3
        assert f"--columns {words[1]} has the column of --label petal_width" in capsys.readouterr().err
    np.save(folder / "rows.npy", irises)
    assert main(["fit", "rows.npy", "--label", "1", "-k", "2"]) == 0
    np.testing.assert_array_equal(load(folder / "model.gramless").X_fit_, irises[:, [0, 2, 3]])
    assert main(["fit", "rows.npy", "--columns", "1,2", "--label", "1", "--force"]) == 3
    assert "--columns 1,2 has the column of --label 1" in capsys.readouterr().err
    assert main(["fit", "rows.npy", "--label", "7", "--force"]) == 3
    assert "no column 7 for --label" in capsys.readouterr().err


def test_rows_are_not_taken_for_scores(folder, capsys):
    assert main(["fit", "iris.csv", "--label", "species", "-k", "4"]) == 0
    lines = (folder / "iris.csv").read_text().splitlines()
    (folder / "rows.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines))
    assert main(["inverse", "model.gramless", "rows.csv", "-o", "back.csv"]) == 3
    assert "rows.csv lacks the scores kernelpca0, kernelpca1" in capsys.readouterr().err
    assert main(["transform", "model.gramless", "rows.csv", "-o", "scores.csv"]) == 0
    assert main(["inverse", "model.gramless", "scores.csv", "-o", "back.csv"]) == 0
