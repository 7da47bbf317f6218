"""Tables as they come: other delimiters and signs, text among the columns, and values that are missing."""

import json

import numpy as np
import pytest

from gramless import load
from gramless.cli import main
from gramless.data import open_source, read_labels


@pytest.fixture
def foreign(folder):
    """foreign.csv: the irises with decimal commas, a percentage, a boolean, and a comment, in Windows' encoding."""
    header, *lines = (folder / "iris.csv").read_text().splitlines()
    out = ["# gemessen 1936", header.replace(",", ";").replace("sepal_length", "länge") + ";anteil;groß"]
    for number, line in enumerate(lines):
        out.append(line.replace(",", ";").replace(".", ",") + f";{number % 7},5%;{'yes' if number % 3 else 'no'}")
    (folder / "foreign.csv").write_bytes(("\n".join(out) + "\n").encode("cp1252"))
    return folder


def test_what_is_found_out_is_said_in_one_line(foreign, irises, capsys):
    assert main(["fit", "foreign.csv", "--label", "species", "--exclude", "groß", "-k", "2", "--json"]) == 0
    printed = capsys.readouterr()
    said = "--delimiter ';' --decimal ,; percentages as fractions ('anteil')\n"
    assert printed.err.startswith("gramless: foreign.csv is read with --encoding cp1252 --comment '#' ")
    assert printed.err.endswith(said)
    assert printed.err.count("\n") == 1
    model = load(foreign / "model.gramless")
    assert model.feature_names_in_[0] == "länge"
    np.testing.assert_allclose(model.X_fit_[:, :4], irises)
    assert main(["--quiet", "fit", "foreign.csv", "--columns", "länge,anteil", "-k", "2", "--json", "--force"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_given_is_not_said(foreign, irises, capsys):
    options = ["--delimiter", ";", "--decimal", ",", "--encoding", "cp1252", "--comment", "#"]
    words = ["--columns", "länge,sepal_width", *options]
    assert main(["fit", "foreign.csv", *words, "-k", "2", "--gamma", "0.1", "-o", "m.gramless"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["transform", "m.gramless", "foreign.csv", *options, "--keep", "species", "-o", "s.csv"]) == 0
    scores = np.concatenate(list(open_source(foreign / "s.csv", ["kernelpca0", "kernelpca1"]).blocks(99)))
    np.testing.assert_allclose(scores, load(foreign / "m.gramless").transform(irises[:, :2]), atol=1e-12)
    assert read_labels(foreign / "s.csv", "species")[60] == "versicolor"


def test_later_files_are_read_like_that_of_the_fit(folder, capsys):
    lines = ["umsatz;rabatt", *(f"{1 + i % 7}.{250 + i}.000;{i}%" for i in range(20)), "1.234;5%", "2.345;6%"]
    (folder / "fit.csv").write_text("\n".join(lines))
    (folder / "part.csv").write_text("\n".join([lines[0], *lines[-2:]]))
    (folder / "plain.csv").write_text("umsatz;rabatt\n1.234;5\n")
    assert main(["fit", "fit.csv", "-k", "1", "--kernel", "linear"]) == 0
    capsys.readouterr()
    assert main(["inspect", "model.gramless"]) == 0
    assert "are read with --decimal , --thousands ." in capsys.readouterr().out
    assert main(["transform", "model.gramless", "part.csv", "-o", "s.csv"]) == 0
    scores = next(open_source(folder / "s.csv").blocks(9))
    np.testing.assert_allclose(scores, load(folder / "model.gramless").transform([[1234, 0.05], [2345, 0.06]]))
    assert main(["transform", "model.gramless", "plain.csv", "-o", "t.csv"]) == 3
    assert "'5' is in a column of percentages and other numbers" in capsys.readouterr().err
    assert main(["transform", "model.gramless", "part.csv", "--decimal", ".", "-o", "t.csv"]) == 0
    scores = next(open_source(folder / "t.csv").blocks(9))
    np.testing.assert_allclose(scores, load(folder / "model.gramless").transform([[1.234, 0.05], [2.345, 0.06]]))
    assert main(["fit", "part.csv", "--like", "model.gramless", "-o", "b.gramless"]) == 0
    assert load(folder / "b.gramless").read_options_ == load(folder / "model.gramless").read_options_


def test_a_title_above_the_names(folder, capsys):
    (folder / "titled.csv").write_text("Export of 2024\nSource: me\n\n" + (folder / "iris.csv").read_text())
    assert main(["fit", "titled.csv"]) == 3
    assert (
        "line 1 has 1 fields, but line 4 has 5, separated by ','; pass --skip-lines 3 if the table"
        in capsys.readouterr().err
    )
    assert main(["fit", "titled.csv", "--skip-lines", "3", "--label", "species", "-k", "2"]) == 0


def test_labels_with_decimal_commas_are_numbers(folder, capsys):
    lines = ["umsatz;a;b", *(f"1.{100 + i},{i % 90 + 10};{i % 7};{i % 5}" for i in range(60))]
    (folder / "sales.csv").write_text("\n".join(lines))
    assert main(["fit", "sales.csv", "--label", "umsatz", "-k", "2"]) == 0
    assert main(["transform", "model.gramless", "sales.csv", "--keep", "umsatz", "-o", "s.csv"]) == 0
    assert read_labels(folder / "s.csv", "umsatz")[:2].tolist() == [1100.1, 1101.11]


def test_a_pipe(folder, capsys):
    (folder / "pipe.csv").write_text((folder / "iris.csv").read_text().replace(",", "|"))
    for options in ([], ["--delimiter", "|"]):
        assert main(["fit", "pipe.csv", "--label", "species", "-k", "2", "--force", *options]) == 0
        assert ("is read with --delimiter '|'\n" in capsys.readouterr().err) == (not options)


def test_all_columns_in_one_message_with_what_to_do(folder, capsys):
    lines = [
        'name,price,note "x",sold,share,size',
        'a,"1,234",u,2021-03-04,5%,9 kg',
        'b,"2,345",v,2021-04-05,6%,8 kg',
    ]
    (folder / "cars.csv").write_text("\n".join(lines) + "\n")
    assert main(["fit", "cars.csv"]) == 3
    said, line = capsys.readouterr().err.splitlines()
    assert said == "gramless: cars.csv is read with percentages as fractions ('share')"
    assert line.startswith(
        "gramless: cars.csv: 5 of 6 columns cannot be read as numbers. column 'name', line 2: 'a' is text"
    )
    assert "column 'price', line 2: '1,234' is 1.234 with --decimal ,, or 1234 with --thousands ," in line
    assert "'9 kg' has a unit: write the numbers alone" in line
    assert "--exclude 'name,note \"x\",sold,size'; transform, denoise and cluster write them along with --keep" in line
    assert main(["fit", "cars.csv", "--columns", "price,share", "--thousands", ",", "-k", "1"]) == 0
    assert "percentages as fractions ('share')" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--decimal", "x"], 4, "--decimal x must be '.' or ','"),
        (["--encoding", "klingon"], 4, "--encoding klingon is unknown"),
        (["--missing", "zero"], 4, "--missing zero is invalid; pass one of"),
    ],
)
def test_options_that_make_no_sense(folder, capsys, options, code, message):
    assert main(["fit", "iris.csv", "--label", "species", *options]) == code
    assert message in capsys.readouterr().err


def test_options_of_csv_files_for_others(folder, irises, capsys):
    np.save(folder / "iris.npy", irises)
    assert main(["fit", "iris.npy", "--decimal", ","]) == 4
    assert "--delimiter, --decimal and such are for CSV files, and iris.npy is none" in capsys.readouterr().err


@pytest.fixture
def gaps(folder):
    """gaps.csv: the irises, with two cells unknown."""
    lines = (folder / "iris.csv").read_text().splitlines()
    for number, word in ((3, "?"), (9, "lost")):
        lines[number] = word + "," + lines[number].split(",", 1)[1]
    (folder / "gaps.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_a_word_among_numbers_may_be_a_missing_value(gaps, capsys):
    assert main(["fit", "gaps.csv", "--label", "species"]) == 3
    assert "'lost' is among numbers: pass --na-values lost if it stands for a missing value" in capsys.readouterr().err
    assert main(["fit", "gaps.csv", "--label", "species", "--na-values", "lost"]) == 3
    assert "line 4; 2 of 150 rows have such values" in capsys.readouterr().err


@pytest.mark.parametrize("rule", ["mean", "median"])
def test_transform_fills_in_what_the_fit_found(gaps, irises, capsys, rule):
    known = ["--na-values", "lost"]
    fit = ["fit", "gaps.csv", "--label", "species", "-k", "2", "--gamma", "0.1", "--json", *known]
    assert main([*fit, "--missing", rule]) == 0
    assert json.loads(capsys.readouterr().out)["rows_filled"] == 2
    whole = np.delete(irises, [2, 8], axis=0)
    value = getattr(np, rule)(whole[:, 0])
    model = load(gaps / "model.gramless")
    np.testing.assert_allclose(model.fill_values_[0], value)
    (gaps / "one.csv").write_text("\n".join([*(gaps / "iris.csv").read_text().splitlines()[:2], "?,3,1,0.2,x"]) + "\n")
    for more in ([], ["--missing", rule]):
        assert (
            main(
                [
                    "transform",
                    "model.gramless",
                    "one.csv",
                    "--keep",
                    "species",
                    "-o",
                    "s.csv",
                    "--json",
                    "--force",
                    *more,
                ]
            )
            == 0
        )
        assert json.loads(capsys.readouterr().out)["rows_filled"] == 1
        scores = np.concatenate(list(open_source(gaps / "s.csv", ["kernelpca0", "kernelpca1"]).blocks(9)))
        np.testing.assert_allclose(scores[1:], model.transform([[value, 3, 1, 0.2]]), atol=1e-12)
    assert main(["transform", "model.gramless", "one.csv", "-o", "s.npy", "--missing", "error"]) == 3
    assert "fill them in with --missing mean or --missing median" in capsys.readouterr().err
    other = "mean" if rule == "median" else "median"
    assert main(["transform", "model.gramless", "one.csv", "-o", "s.npy", "--missing", other]) == 3
    assert f"--missing {other} contradicts the model, which was fitted with --missing {rule}" in capsys.readouterr().err
    assert main(["update", "model.gramless", "one.csv", "-o", "more.gramless"]) == 0
    np.testing.assert_array_equal(load(gaps / "more.gramless").fill_values_, model.fill_values_)
    assert main([*fit[:4], "--like", "model.gramless", *known, "-o", "b.gramless"]) == 0
    np.testing.assert_array_equal(load(gaps / "b.gramless").fill_values_, model.fill_values_)
    capsys.readouterr()
    assert main(["inspect", "model.gramless"]) == 0
    assert "filled in" in capsys.readouterr().out


def test_a_model_without_means_has_none_to_fill_in(gaps, capsys):
    assert main(["fit", "iris.csv", "--label", "species", "-k", "2"]) == 0
    words = ["transform", "model.gramless", "gaps.csv", "--na-values", "lost", "-o", "s.csv"]
    assert main(words) == 3
    message = capsys.readouterr().err
    assert "leave out such rows with --missing drop, or fit the model again with --missing mean or --missing" in message
    assert main([*words, "--missing", "mean"]) == 3
    assert "fitted without --missing mean or --missing median; fit it again" in capsys.readouterr().err
    assert main([*words, "--missing", "drop", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["rows_dropped"]) == (148, 2)


@pytest.mark.parametrize("drop", [False, True])
def test_columns_pass_through_denoise_and_inverse(gaps, irises, capsys, drop):
    file = "gaps.csv" if drop else "iris.csv"
    read = ["--missing", "drop", "--na-values", "lost"] if drop else []
    rows = np.delete(irises, [2, 8], axis=0) if drop else irises
    assert main(["fit", "iris.csv", "--label", "species", "-k", "3", "--gamma", "0.1"]) == 0
    keep = ["--keep", "species"]
    assert main(["denoise", "model.gramless", file, *read, *keep, "-o", "clean.csv"]) == 0
    assert main(["transform", "model.gramless", file, *read, *keep, "-o", "scores.csv"]) == 0
    assert main(["inverse", "model.gramless", "scores.csv", *keep, "-o", "back.csv"]) == 0
    model = load(gaps / "model.gramless")
    for name in ("clean.csv", "back.csv"):
        assert (gaps / name).read_text().splitlines()[0] == "species,sepal_length,sepal_width,petal_length,petal_width"
        assert len(read_labels(gaps / name, "species")) == len(rows)
        assert read_labels(gaps / name, "species")[60] == "versicolor"
        names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
        found = np.concatenate(list(open_source(gaps / name, names).blocks(999)))
        np.testing.assert_allclose(found, model.denoise(rows, method="fixed_point"), atol=1e-3)
    capsys.readouterr()
    assert main(["denoise", "model.gramless", "iris.csv", "--keep", "petal_width", "-o", "x.csv"]) == 3
    assert "two columns named 'petal_width'" in capsys.readouterr().err


def test_a_column_without_a_name_is_named_by_its_number(folder, irises, capsys):
    lines = (folder / "iris.csv").read_text().splitlines()
    indexed = [f",{lines[0]}", *(f"{100 * number},{line}" for number, line in enumerate(lines[1:]))]
    (folder / "indexed.csv").write_text("\n".join(indexed) + "\n")
    assert main(["fit", "indexed.csv", "--label", "species", "-k", "2"]) == 0
    said = capsys.readouterr().err
    assert "column 0 (no name) accounts for 99.9 % of the distances: drop it with --exclude 0, or pass --scale" in said
    assert "''" not in said
    assert main(["fit", "indexed.csv", "--label", "species", "-k", "2", "--exclude", "0", "--force"]) == 0
    assert capsys.readouterr().err == ""


def test_the_last_row_of_a_block_is_a_row_of_the_file(folder, capsys):
    rows = np.random.default_rng(0).random((2000, 2))
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header="a,b", comments="")
    text = (folder / "rows.csv").read_text().splitlines()
    text[1500] = "0.5"
    (folder / "rows.csv").write_text("\n".join(text) + "\n")
    assert main(["fit", "rows.csv", "-k", "2"]) == 3
    said = capsys.readouterr().err
    assert "rows.csv, line 1501: has 1 fields, but the first line has 2" in said
    assert "8191" not in said


def test_a_name_with_a_comma_can_be_excluded_as_the_message_says(folder, capsys):
    (folder / "t.csv").write_text(
        'a,b,"name, full"\n' + "".join(f"{j},{j * j % 7},{'ann' if j % 2 else 'bob'}\n" for j in range(9))
    )
    assert main(["fit", "t.csv", "-k", "2"]) == 3
    assert """--exclude '"name, full"'""" in capsys.readouterr().err
    assert main(["fit", "t.csv", "-k", "2", "--exclude", '"name, full"']) == 0


def test_rows_that_are_all_dropped(folder, capsys):
    (folder / "t.csv").write_text("a,b\n1,\n2,\n3,\n")
    assert main(["fit", "t.csv", "--missing", "drop"]) == 3
    assert "all 3 rows of t.csv have a missing value; leave out empty columns" in capsys.readouterr().err


def test_models_that_scale_cannot_be_merged_and_like_says_so(folder, capsys):
    assert main(["fit", "iris.csv", "--label", "species", "--scale", "-k", "2", "-o", "a.gramless"]) == 0
    assert main(["fit", "iris.csv", "--like", "a.gramless", "-o", "b.gramless"]) == 0
    assert "they cannot be merged. Standardize the data beforehand" in capsys.readouterr().err
