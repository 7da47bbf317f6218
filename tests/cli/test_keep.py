"""Columns that are written along, and rows that are left out."""

import json

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.cli import main
from gramless.data import open_source, read_labels


@pytest.fixture
def gaps(folder):
    """gaps.csv: the irises, with two cells empty."""
    lines = (folder / "iris.csv").read_text().splitlines()
    lines[3] = "," + lines[3].split(",", 1)[1]
    lines[9] = "," + lines[9].split(",", 1)[1]
    (folder / "gaps.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("file", ["iris.csv", "gaps.csv"])
def test_kept_columns_belong_to_their_rows(gaps, irises, suffix, file):
    rows = np.delete(irises, [2, 8], axis=0) if file == "gaps.csv" else irises
    drop = ["--missing", "drop"]
    assert main(["fit", file, "--label", "species", "-k", "2", "--gamma", "0.1", *drop]) == 0
    words = ["transform", "model.gramless", file, "--keep", "species,petal_width", "-o", f"scores{suffix}", *drop]
    assert main(words) == 0
    model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(rows)
    scores = open_source(gaps / f"scores{suffix}", ["petal_width", "kernelpca0", "kernelpca1"])
    found = next(scores.blocks(1000))
    np.testing.assert_array_equal(found[:, 0], rows[:, 3])
    np.testing.assert_allclose(found[:, 1:], model.transform(rows), atol=1e-12)
    assert main(["inverse", "model.gramless", f"scores{suffix}", "-o", "back.npy"]) == 0
    np.testing.assert_allclose(np.load(gaps / "back.npy"), model.inverse_transform(found[:, 1:], method="fixed_point"))
    assert read_labels(gaps / f"scores{suffix}", "species")[60] == "versicolor"
    words = ["cluster", file, "--label", "species", "--keep", "petal_width", "-k", "3", "-o", f"c{suffix}", *drop]
    assert main(words) == 0
    np.testing.assert_array_equal(read_labels(gaps / f"c{suffix}", "petal_width"), rows[:, 3])


def test_a_missing_value_is_named_by_its_line(gaps, capsys):
    assert main(["fit", "gaps.csv", "--label", "species"]) == 3
    expected = (
        "gramless: gaps.csv: column 'sepal_length' has NaN or a missing value in line 4; 2 of 150 rows have such "
        "values; "
        "leave out such rows with --missing drop, or fill them in with --missing mean or --missing median\n"
    )
    assert capsys.readouterr().err == expected
    assert main(["fit", "gaps.csv", "--label", "species", "--missing", "fill"]) == 4
    assert "--missing fill is invalid; pass one of 'error', 'drop', 'mean', 'median'" in capsys.readouterr().err


def test_other_commands_drop_rows_too(gaps, capsys):
    pytest.importorskip("plotly")
    fit = ["fit", "iris.csv", "--label", "species", "-k", "2", "--gamma", "0.1"]
    assert main(fit) == 0
    drop = ["gaps.csv", "--missing", "drop"]
    assert main(["report", "model.gramless", *drop, "--label", "species"]) == 0
    capsys.readouterr()
    assert main(["denoise", "model.gramless", *drop, "-o", "clean.npy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 148
    assert main(["update", "model.gramless", *drop, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows_added"] == 148


def test_what_cannot_be_kept_is_refused(folder, capsys):
    assert main(["fit", "iris.csv", "--label", "species", "-k", "2"]) == 0
    capsys.readouterr()
    transform = ["transform", "model.gramless", "iris.csv"]
    assert main([*transform, "-o", "scores.npy", "--keep", "species"]) == 3
    assert "pass-through columns (species) are supported in .csv and .parquet only" in capsys.readouterr().err
    assert main([*transform, "-o", "scores.csv", "--keep", "kind"]) == 3
    assert "no column 'kind'" in capsys.readouterr().err


def test_folders_of_tables(gaps, irises, capsys):
    (gaps / "parts").mkdir()
    for name in ("iris.csv", "gaps.csv"):
        lines = (gaps / name).read_text().splitlines()
        (gaps / "parts" / name).write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    words = ["cluster", "parts", "--keep", "petal_width", "--missing", "drop", "-k", "2", "-o", "clusters.csv"]
    assert main(words) == 0
    kept = read_labels(gaps / "clusters.csv", "petal_width")
    np.testing.assert_array_equal(kept, np.concatenate([np.delete(irises[:, 3], [2, 8]), irises[:, 3]]))
    capsys.readouterr()
    assert main(["fit", "parts", "--missing", "drop", "-k", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["weight"] == 298
