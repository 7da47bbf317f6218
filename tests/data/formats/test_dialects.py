"""CSV files as programs of all countries write them: what is found out, what is said, and what is refused."""

import gzip
import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gramless import DialectWarning, FormatError, KernelKMeans, KernelPCA, ReadOptions, SourceError, load, open_source
from gramless.data import column_names, read_labels
from gramless.data.formats.cells import WAYS

pytest.importorskip("pyarrow", reason="CSV files need pyarrow")


def rows_of(path, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DialectWarning)
        return np.concatenate(list(open_source(path, **settings).blocks(100)))


def written(path, text, encoding="utf-8"):
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize(
    ("text", "encoding", "rows", "guesses"),
    [
        ("a|b\n1.5|2\n3|4\n", "utf-8", [[1.5, 2], [3, 4]], {"delimiter": "|"}),
        ("a;b\n1.5;2\n3;4\n", "utf-8", [[1.5, 2], [3, 4]], {"delimiter": ";"}),
        ("a\tb\n1.5\t2\n3\t4\n", "utf-8", [[1.5, 2], [3, 4]], {}),
        ("   a   b\n 1.5    2\n   3   4\n", "utf-8", [[1.5, 2], [3, 4]], {"delimiter": " "}),
        ("a;b\n1,5;2\n3;4,25\n", "utf-8", [[1.5, 2], [3, 4.25]], {"delimiter": ";", "decimal": ","}),
        ("1,5;2,5\n3,5;4,25\n", "utf-8", [[1.5, 2.5], [3.5, 4.25]], {"delimiter": ";", "decimal": ","}),
        ('a,b\n"1,5",2\n"3",4\n', "utf-8", [[1.5, 2], [3, 4]], {"decimal": ","}),
        ('a,b\n"1,234.5",2\n"3",4\n', "utf-8", [[1234.5, 2], [3, 4]], {"thousands": ","}),
        ("a;b\n1.234,5;2\n1.234;4\n", "utf-8", [[1234.5, 2], [1234, 4]], None),
        ("a;b\n12\u202f345;2\n3;4\n", "utf-8", [[12345, 2], [3, 4]], {"delimiter": ";", "thousands": " "}),
        ("a,b\n1'234'567,2\n3,4\n", "utf-8", [[1234567, 2], [3, 4]], {"thousands": "'"}),
        ("größe,b\n1,2\n", "cp1252", [[1, 2]], {"encoding": "cp1252"}),
        ("größe,b\n1,2\n", "utf-16", [[1, 2]], {}),
        ("größe,b\n1,2\n", "utf-8-sig", [[1, 2]], {}),
        ("# by x\n# today\na,b\n1,2\n# half\n3,4\n", "utf-8", [[1, 2], [3, 4]], {"comment": "#"}),
        ("##VCF\n#a,b\n1,2\n3,4\n", "utf-8", [[1, 2], [3, 4]], {"comment": "#"}),
        ("#a,b\n1,2\n3,4\n", "utf-8", [[1, 2], [3, 4]], {}),
        ("\n\n# by x\n\na,b\n1,2\n3,4\n", "utf-8", [[1, 2], [3, 4]], {"comment": "#"}),
        ("\n \na,b\n1,2\n\n3,4\n", "utf-8", [[1, 2], [3, 4]], {}),
        ("a,b\n5%,true\n12.5 %,False\n", "utf-8", [[0.05, 1], [0.125, 0]], {}),
        ("a,b\n5,yes\n6,no\n", "utf-8", [[5, 1], [6, 0]], {}),
        (",0,1\n0,1,2\n1,3,4\n", "utf-8", [[0, 1, 2], [1, 3, 4]], {}),
        ("a b\n1\n2\n", "utf-8", [[1], [2]], {}),
        ("a,b\n\u22124.5,1e\u22121\n\u2212 1,2\n", "utf-8", [[-4.5, 0.1], [-1, 2]], {}),
        ("a,b\n850,1.234\n999,2.345\n", "utf-8", [[850, 1.234], [999, 2.345]], {}),
        ("a;b\n850;1.234\n999;2.34\n", "utf-8", [[850, 1.234], [999, 2.34]], {"delimiter": ";"}),
        ("a;b\n850;1.234\n999;0.345\n", "utf-8", [[850, 1.234], [999, 0.345]], {"delimiter": ";"}),
        ("a;b\n850;1.234\n999;1234.500\n", "utf-8", [[850, 1.234], [999, 1234.5]], {"delimiter": ";"}),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_what_is_found_out(tmp_path, text, encoding, rows, guesses, name):
    path = written(tmp_path / name, text, encoding)
    np.testing.assert_allclose(rows_of(path), rows, rtol=1e-15)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        source = open_source(path)
    if guesses is not None:
        assert source.guesses == guesses
    doubtful = set(source.guesses) - {"delimiter"}
    assert [warning.category for warning in said] == [DialectWarning] * bool(doubtful)
    assert source.count() == len(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        confirmed = open_source(path, read_options=source.guesses)
    np.testing.assert_allclose(np.concatenate(list(confirmed.blocks(1))), rows, rtol=1e-15)
    for start in range(len(rows)):  # a fit that is resumed
        np.testing.assert_allclose(np.concatenate(list(confirmed.blocks(1, start))), rows[start:], rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        (
            'a,b\n"1,234",2\n',
            [r"'1,234' is 1\.234 with read_options=\{\"decimal\": \",\"\}, or 1234 with .*\"thousands\""],
        ),
        ('a,b\n"1,234",2.5\n', [r"'1,234' is 1234 with read_options=\{\"thousands\": \",\"\}$"]),
        (
            'a,b\n"92,5",2.5\n',
            ["column 'a', line 2: '92,5' has the decimal sign ',', where other columns have another"],
        ),
        ("a;b\n1,5;2\n3,5;4.25\n", ["column 'b', line 3: '4.25' has the decimal sign '.'|'a', line 2: '1,5'"]),
        ("a,b\n5%,2\n6,3\n", ["column 'a', line 2: '5%' is in a column of percentages and other"]),
        (
            "a,b\n1,2021-03-04\n",
            ["'2021-03-04' is a date or a time: turn it into a number", "To leave out 'b', choose"],
        ),
        ("a,b\n1,12:30\n", ["'12:30' is a date or a time"]),
        ("a,b\n1,$5\n2,$7\n", [r"column 'b', line 2: '\$5' has a unit"]),
        ("a,b\n1,EUR 5\n2,EUR 7\n", ["'EUR 5' has a unit"]),
        ("a,b\n1,5 kg\n2,7 kg\n", ["'5 kg' has a unit: write the numbers alone", "To leave out 'b', choose"]),
        ("a,b\np0,5\np1,7\n", ["'p0' is text: encode it", "To leave out 'a', choose"]),
        ("a,b\n0A,5\n1B,7\n2C,7\n9D,1\n", ["'0A' is text: encode it", "To leave out 'a', choose"]),
        ('a,b\n"x\ny0",5\n"x\ny1",7\n', ["'xy0' is text: encode it", "To leave out 'a', choose"]),
        (
            "a;b\n850;x\n1.234;y\n12.500;z\n999;x\n",
            [r"'a', line 3: '1\.234' is 1\.234 with read_options=.*decimal.*, or 1234 with .*thousands"],
        ),
        ("a;b;c\n8.566;1;1.500%\n1.234;2;2.500%\n", [r"'a', line 2: '8\.566' is 8\.566 with .*; so is 'c'"]),
        (
            "a,b\n1,2\n2,lost\n3,4\n",
            [r"line 3: 'lost' is among numbers: pass read_options=\{\"na_values\": \[\"lost\"\]\}"],
        ),
        (
            "a,b,c,d\nx,u,1,2021-03-04\ny,v,2,2021-03-05\n",
            [
                "3 of 4 columns",
                r"'a', line 2: 'x' is text: .*; so is 'b'\.",
                "To leave out 'a', 'b', 'd', choose the others",
            ],
        ),
        (",a\n0,1\nx,2\n", [r"column 0 \(no name\), line 3: 'x'"]),
    ],
)
def test_all_columns_that_are_no_numbers_in_one_message(tmp_path, text, remedies):
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(FormatError) as caught:
        rows_of(path)
    for remedy in remedies:
        assert caught.match(remedy)
    message = str(caught.value)
    assert ("To leave out" in message) == any(words in message for words in ("is text", "is a date", "has a unit"))


def test_a_cell_far_from_the_first_lines_is_judged_by_its_column(tmp_path):
    lines = ["a;b", *("1;2" for _ in range(50_000)), "92,5;3", *("1;2" for _ in range(9))]
    path = written(tmp_path / "t.csv", "\n".join(lines))
    with pytest.raises(FormatError, match=r"column 'a', line 50002: '92,5' is 92\.5 with read_options=\{\"decimal\""):
        rows_of(path)
    assert rows_of(path, read_options={"decimal": ","})[50_000].tolist() == [92.5, 3]
    lines[50_001] = " NA ;3"
    written(path, "\n".join(lines))
    with pytest.raises(SourceError, match=r"column 'a' has NaN or a missing value in line 50002"):
        rows_of(path)


def test_a_point_far_from_the_first_lines_may_be_decimal_or_not(tmp_path):
    lines = ["a;b", *("1;" for _ in range(50_000)), "1.234;850", "12.500;3"]
    path = written(tmp_path / "t.csv", "\n".join(lines))
    with pytest.raises(FormatError, match=r"column 'a', line 50002: '1\.234' is 1\.234 with .*, or 1234 with"):
        rows_of(path, missing="mean")
    assert rows_of(path, missing="mean", read_options={"thousands": "."})[-1].tolist() == [12500, 3]
    written(path, "\n".join(["a;b", "0.5;2", *lines[2:]]))
    assert rows_of(path, missing="mean")[-1].tolist() == [12.5, 3]
    written(path, "\n".join([*lines, "0.5;3", ""]))
    assert rows_of(path, missing="mean")[-2:].tolist() == [[12.5, 3], [0.5, 3]]


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "null", "?", "-", "None", " ? ", "#N/A"])
def test_cells_without_a_value(tmp_path, cell):
    path = written(tmp_path / "t.csv", f"a,b\n1,{cell}\n3,4\n5,8\n")
    with pytest.raises(SourceError, match="column 'b' has NaN or a missing value in line 2; 1 of 3 rows"):
        rows_of(path)
    assert rows_of(path, missing="drop").tolist() == [[3, 4], [5, 8]]
    assert rows_of(path, missing="mean").tolist() == [[1, 6], [3, 4], [5, 8]]
    assert rows_of(path, missing="median").tolist() == [[1, 6], [3, 4], [5, 8]]
    assert rows_of(path, missing=[0.0, 7.0]).tolist() == [[1, 7], [3, 4], [5, 8]]


def test_other_words_for_no_value(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,lost\n3,4\n5,-999\n")
    options = ReadOptions(na_values=["lost", "-999"])
    assert rows_of(path, missing="drop", read_options=options).tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": "x"}, "decimal='x' must be"),
        ({"delimiter": ";;"}, "delimiter=';;' must be one character"),
        ({"thousands": "x"}, "thousands='x' must be one of"),
        ({"decimal": ",", "thousands": ","}, "must differ"),
        ({"encoding": "klingon"}, "encoding='klingon' is unknown"),
        ({"comment": "//"}, "comment='//' must be one character"),
        ({"skip_lines": -1}, "skip_lines=-1 must be a number of lines"),
        ({"sep": ";"}, "read_options has no 'sep'; it has: delimiter"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        open_source(written(tmp_path / "t.csv", "1,2\n"), read_options=options)


def test_options_of_other_formats(tmp_path):
    np.save(tmp_path / "t.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"read_options are for CSV files, and .*t\.npy is none"):
        open_source(tmp_path / "t.npy", read_options={"decimal": ","})
    with pytest.raises(ValueError, match="read_options are for CSV files"):
        open_source(np.eye(3), read_options={"decimal": ","})
    for path in (tmp_path / "t.npy", tmp_path):
        with pytest.raises(ValueError, match=r"key='x' is for \.npz, HDF5 and zarr files, and .* is none"):
            open_source(path, key="x")
    with pytest.raises(TypeError, match="must be a dict"):
        open_source(tmp_path / "t.npy", read_options=";")
    (tmp_path / "parts").mkdir()
    for name in "12":
        written(tmp_path / "parts" / f"{name}.csv", f"a|b\n{name},5|2\n")
    assert rows_of(tmp_path / "parts", read_options={"decimal": ","}).tolist() == [[1.5, 2], [2.5, 2]]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("a,b\n5%,2\n", "a,b\n5,2\n", "line 2: '5' is in a column of percentages and other numbers"),
        ("a,b\n5,2\n", "a,b\n5,2\n6%,2\n", "line 3: '6%' is in a column of percentages and other numbers"),
        ("a,b\nyes,2\n", "a,b\n1,2\n", "line 2: '1' is in a column of numbers and words such as yes"),
        ("a,b\nyes,2\n", "a,b\n1%,2\n", "line 2: '1%' is in a column of percentages and words such as yes"),
        ("a;b\n1,5;2\n", "a;b\n1.5;2\n", r"'1\.5' is 1\.5 with read_options=\{\"decimal\": \"\.\"\}"),
        ("a;b\n1.234,5;2\n", "a;b\n1,234.5;2\n", r"'1,234\.5' is 1234\.5 with read_options"),
    ],
)
def test_files_of_a_folder_are_written_alike(tmp_path, first, second, message):
    written(tmp_path / "1.csv", first)
    written(tmp_path / "2.csv", second)
    with pytest.raises(FormatError, match=rf"2\.csv: 1 of 2 columns .*{message}.*are read like those of .*1\.csv"):
        rows_of(tmp_path)


def test_a_file_of_whole_numbers_does_not_settle_how_others_are_written(tmp_path):
    written(tmp_path / "1.csv", "a;b\n1;2\n2;7\n")
    written(tmp_path / "2.csv", "a;b\n1,5;2\n")
    assert rows_of(tmp_path).tolist() == [[1, 2], [2, 7], [1.5, 2]]
    with pytest.warns(DialectWarning, match=r"'decimal': ','"):
        assert open_source(tmp_path).read_options.decimal == ","
    model = KernelPCA(1).fit(tmp_path / "1.csv")
    with pytest.warns(DialectWarning, match="decimal"):
        np.testing.assert_allclose(model.transform(tmp_path / "2.csv"), model.transform(np.array([[1.5, 2]])))
    written(tmp_path / "3.csv", "a;b\n1.234;2\n")
    with pytest.raises(FormatError, match=r"3\.csv: .*'1\.234' is .*; its columns are read like those of .*2\.csv"):
        rows_of(tmp_path)
    with pytest.raises(FormatError, match=r"3\.csv: .*'1\.234' is 1\.234 with .*decimal.*, or 1234 with"):
        model.transform(tmp_path / "3.csv")


def test_a_file_of_a_folder_alone_could_be_read_otherwise(tmp_path):
    written(tmp_path / "1.csv", "a;b\n1.234.567;yes\n1,5;no\n")
    written(tmp_path / "2.csv", "a|b\n1.234|no\n")  # its delimiter is its own
    assert rows_of(tmp_path).tolist() == [[1234567, 1], [1.5, 0], [1234, 0]]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_title_above_the_names(tmp_path, name, encoding, delimiter):
    lines = ["Überblick 2024", "Source: me", "", "a;b", "1;2.5", "", "2;3.5"]
    path = written(tmp_path / name, "\n".join(lines).replace(";", delimiter), encoding)
    advice = r"line 1 has 1 fields, but line 4 has 2, separated by .*; pass read_options=\{'skip_lines': 3\}"
    with pytest.raises(FormatError, match=advice):
        rows_of(path)
    with pytest.raises(SourceError, match=f"has no column 'a'; it has: .*{advice}"):
        rows_of(path, columns=["a"])
    for skipped in (2, 3):  # empty lines are skipped in any case
        options = {"skip_lines": skipped}
        assert rows_of(path, read_options=options).tolist() == [[1, 2.5], [2, 3.5]]
        assert open_source(path, read_options={**options, "encoding": encoding}).feature_names == ("a", "b")
    with pytest.raises(FormatError, match=r"is empty after 99 lines"):
        rows_of(path, read_options={"skip_lines": 99})
    written(path, "\n".join([*lines, "x;1"]).replace(";", delimiter), encoding)
    with pytest.raises(FormatError, match="column 'a', line 8: 'x'"):
        rows_of(path, read_options={"skip_lines": 3})


def test_contents_of_columns_may_be_given(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n5%,2\n")
    assert rows_of(path, read_options={"kinds": ["percent", None]}).tolist() == [[0.05, 2]]
    with pytest.raises(FormatError, match="column 'a', line 2: '5%' is in a column of percentages and other numbers"):
        rows_of(path, read_options={"kinds": ["number", "number"]})
    with pytest.raises(FormatError, match="1 kinds for the 2 columns"):
        rows_of(path, read_options={"kinds": ["number"]})
    with pytest.raises(ValueError, match="kinds has 'unit'; pass one of 'number'"):
        rows_of(path, read_options={"kinds": ["unit", "number"]})


def test_labels_of_such_a_file(tmp_path):
    path = written(tmp_path / "t.csv", "# x\nname;größe\nrené;1,5\n# y\nanna;2,5\n", "cp1252")
    assert column_names(path) == ("name", "größe")
    assert read_labels(path, "name").tolist() == ["rené", "anna"]
    assert read_labels(path, "name", ReadOptions(encoding="cp1252")).tolist() == ["rené", "anna"]


def test_labels_are_numbers_where_the_file_writes_them_so(tmp_path):
    path = written(tmp_path / "t.csv", "a;sum;share;big;who\n1,5;1.002,37;5%;1.234;5%\n2,5;7;6,5%;12.500;x\n")
    assert read_labels(path, "sum").tolist() == [1002.37, 7]
    assert read_labels(path, "share").tolist() == [0.05, 0.065]
    assert read_labels(path, "big").tolist() == [1234, 12500]
    assert read_labels(path, "big").dtype == np.int64
    assert read_labels(path, "who").tolist() == ["5%", "x"]


def test_text_that_turns_out_not_to_be_utf8(tmp_path):
    data = b"a,who\n" + b"1,x\n" * 50_000 + "2,rené\n".encode("cp1252")
    (tmp_path / "t.csv").write_bytes(data)
    assert rows_of(tmp_path / "t.csv", columns=["a"])[-1] == 2
    with pytest.raises(FormatError, match=r"t\.csv is not UTF-8 text: .* pass read_options=\{\"encoding\""):
        read_labels(tmp_path / "t.csv", "who")
    assert read_labels(tmp_path / "t.csv", "who", ReadOptions(encoding="latin-1"))[-1] == "rené"


def test_many_columns(tmp_path):
    width = 5000
    names = ";".join(f"c{i}" for i in range(width))
    path = written(
        tmp_path / "t.csv", "\n".join([names, ";".join(["1,5"] * width), ";".join(["?"] + ["2,5"] * (width - 1))])
    )
    found = rows_of(path, missing="mean")
    assert found.shape == (2, width)
    assert found[1, :2].tolist() == [1.5, 2.5]
    written(path, "\n".join([names.replace(";", ","), ",".join(["\u22121.5"] * width)]))
    assert rows_of(path)[0, :2].tolist() == [-1.5, -1.5]


def grouped(value, way):
    """A number as `way` writes it."""
    text = f"{value:,.3f}" if way.thousands else f"{value:.3f}"
    return text.replace(",", "T").replace(".", way.decimal).replace("T", way.thousands)


numbers = st.lists(
    st.tuples(*[st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))] * 3), min_size=1, max_size=20
)


@pytest.mark.parametrize("way", WAYS, ids=str)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers, st.sampled_from(["\t", ";", "|"]), st.sampled_from(["utf-8", "utf-16", "cp1252"]), st.booleans())
def test_numbers_come_back(tmp_path, way, rows, delimiter, encoding, named):
    lines = [delimiter.join(grouped(value, way) for value in row) for row in rows]
    text = "\n".join(["a b cé".replace(" ", delimiter)] * named + lines)
    path = written(tmp_path / "t.csv", text, encoding)
    options = {"delimiter": delimiter, "decimal": way.decimal, "thousands": way.thousands, "encoding": encoding}
    np.testing.assert_array_equal(rows_of(path, read_options=options), np.array(rows))
    with suppress(FormatError):  # where it is doubtful, it asks, and does not guess
        np.testing.assert_array_equal(rows_of(path), np.array(rows))


# ------------------------------------------------------------------------------------------- models of such files


TABLE = "a;b;c\n1.250.000;5%;yes\n1,5;7%;no\n2.000;9%;yes\n"


@pytest.mark.parametrize("estimator", [KernelPCA(1), KernelKMeans(2, kernel="linear", random_state=0)])
@pytest.mark.parametrize("by_source", [False, True])
def test_later_files_are_read_like_that_of_the_fit(tmp_path, estimator, by_source):
    given = open_source if by_source else str
    path = written(tmp_path / "t.csv", TABLE)
    rows = [[1250000, 0.05, 1], [1.5, 0.07, 0], [2000, 0.09, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DialectWarning)
        model = estimator.fit(given(path))
    expected = ReadOptions(decimal=",", thousands=".", kinds=("number", "percent", "boolean"))
    assert model.read_options_ == expected
    model.save(tmp_path / "m.gramless")
    later = written(tmp_path / "later.csv", "a|b|c\n2.000|9%|yes\n")  # alone it is asked about, or is 2.0
    for fitted in (model, load(tmp_path / "m.gramless")):
        assert fitted.read_options_ == expected
        with warnings.catch_warnings():
            warnings.simplefilter("error", DialectWarning)  # nothing is guessed
            np.testing.assert_allclose(fitted.transform(given(later)), fitted.transform(np.array(rows[2:])))
        for cells, problem in (
            ("2.000|9|yes", "'9' is in a column of percentages and other numbers"),
            ("2.000|9%|1", "'1' is in a column of numbers and words such as yes"),
            ("2.5|9%|yes", r"'2\.5' is 2\.5 with read_options"),
        ):
            other = written(tmp_path / "other.csv", f"a|b|c\n{cells}\n")
            with pytest.raises(FormatError, match=f"{problem}.*like those of the file that the model was fitted to"):
                fitted.transform(given(other))
    assert not hasattr(model.fit(np.array(rows)), "read_options_")


def test_given_options_are_stronger_than_those_of_the_fit(tmp_path):
    with pytest.warns(DialectWarning):
        model = KernelPCA(1).fit(written(tmp_path / "t.csv", TABLE))
    path = written(tmp_path / "new.csv", "a|b|c\n2.5|9|yes\n")
    options = {"decimal": ".", "kinds": ["number", "number", None]}
    found = model.transform(open_source(path, read_options=options))
    np.testing.assert_allclose(found, model.transform([[2.5, 9, 1]]))
    np.save(tmp_path / "new.npy", [[2.5, 9, 1]])
    np.testing.assert_allclose(found, model.transform(tmp_path / "new.npy"))


def test_weights_have_no_part_in_how_columns_are_read(tmp_path):
    path = written(tmp_path / "t.csv", "w,a,b\n1,2%,3\n2,4%,5\n1,4%,1\n2,5%,6\n")
    model = KernelPCA(1, kernel="linear").fit(path, sample_weight="w")
    assert model.read_options_.kinds == ("percent", "number")
    before = model.transform([[0.02, 3]])
    with pytest.raises(FormatError, match="percentages and other numbers"):
        model.partial_fit(written(tmp_path / "u.csv", "w,a,b\n1,2,3\n2,4,5\n"), sample_weight="w")
    np.testing.assert_array_equal(model.transform([[0.02, 3]]), before)


# ------------------------------------------------------------------------------------------- missing values and models


@pytest.fixture
def gaps(tmp_path):
    x = np.random.default_rng(0).random((60, 3))
    x[::7, 1] = np.nan
    np.save(tmp_path / "gaps.npy", x)
    new = x[:9].copy()
    new[4] = [0.5, np.nan, np.nan]
    np.save(tmp_path / "new.npy", new)
    return tmp_path, x, new


@pytest.mark.parametrize("rule", ["mean", "median"])
@pytest.mark.parametrize(
    "estimator", [KernelPCA(2, kernel="rbf", gamma=1.0), KernelKMeans(2, gamma=1.0, random_state=0)]
)
def test_a_model_fills_in_what_its_fit_found(gaps, rule, estimator):
    folder, x, new = gaps
    values = np.nanmean(x, axis=0) if rule == "mean" else np.nanmedian(x, axis=0)
    model = estimator.fit(open_source(folder / "gaps.npy", missing=rule))
    np.testing.assert_allclose(model.fill_values_, values)
    model.save(folder / "m.gramless")
    again = load(folder / "m.gramless")
    np.testing.assert_array_equal(again.fill_values_, model.fill_values_)
    expected = model.transform(np.where(np.isnan(new), model.fill_values_, new))
    for fitted in (model, again):
        np.testing.assert_allclose(
            fitted.transform(open_source(folder / "new.npy", missing=rule)), expected, atol=1e-12
        )
    model.fit(np.nan_to_num(x))
    assert not hasattr(model, "fill_values_")
    with pytest.raises(SourceError, match="this model was fitted without missing='mean'"):
        model.transform(open_source(folder / "new.npy", missing=rule))


def test_values_are_not_filled_in_where_there_are_none(gaps):
    folder, x, _ = gaps
    x[:, 2] = np.nan
    np.save(folder / "gaps.npy", x)
    with pytest.raises(SourceError, match=r"gaps\.npy: column 2 has no value that is not missing; leave it out"):
        rows_of(folder / "gaps.npy", missing="mean")
    with pytest.raises(ValueError, match="one finite number for each of the 3 columns"):
        open_source(folder / "gaps.npy", missing=[1.0])
    with pytest.raises(ValueError, match="rows that can be read twice"):
        open_source(iter([x]), missing="median")
    x[0] = [np.inf, 1, 1]
    np.save(folder / "gaps.npy", x)
    with pytest.raises(SourceError, match="column 0 has an infinite value in row 0"):
        rows_of(folder / "gaps.npy", missing="mean")


def test_folders_are_filled_in_as_one(tmp_path):
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts" / "1.csv", "a,b\n1,2\n,4\n")
    written(tmp_path / "parts" / "2.csv", "a,b\n5,6\n6,?\n")
    assert rows_of(tmp_path / "parts", missing="mean").tolist() == [[1, 2], [4, 4], [5, 6], [6, 4]]
    assert rows_of(tmp_path / "parts", missing="drop").tolist() == [[1, 2], [5, 6]]
    with pytest.raises(SourceError, match=r"column 'a' has NaN or a missing value in line 3 of .*1\.csv; 2 of 4 rows"):
        rows_of(tmp_path / "parts")


def test_weights_are_not_among_the_values_filled_in(tmp_path):
    path = written(tmp_path / "t.csv", "w,a,b\n1,2,3\n2,,5\n1,4,1\n2,5,6\n")
    model = KernelPCA(1, kernel="linear").fit(open_source(path, missing="mean"), sample_weight="w")
    np.testing.assert_allclose(model.fill_values_, [11 / 3, 15 / 4])
