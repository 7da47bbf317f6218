import gzip
import zipfile

import numpy as np
import pytest

from gramless.data import column_names, open_source, open_writer, read_labels
from gramless.errors import FormatError, SourceError

arrow = pytest.importorskip("pyarrow", reason="CSV and Parquet files need pyarrow")

KINDS = ["cat", "dog, small", "eel", "cat"]
WEIGHTS = [4.0, 9.5, 2.0, 5.0]


@pytest.fixture(params=["pets.csv", "pets.tsv", "pets.csv.gz", "pets.parquet", "pets.npz"])
def pets(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(arrow.table({"weight": WEIGHTS, "kind": KINDS}), path)
    elif path.suffix == ".npz":
        np.savez(path, weight=np.array(WEIGHTS), kind=np.array(KINDS))
    else:
        separator = "\t" if path.suffix == ".tsv" else ","
        lines = [f'{weight}{separator}"{kind}"' for weight, kind in zip(WEIGHTS, KINDS, strict=True)]
        with (gzip.open if path.suffix == ".gz" else open)(path, "wt") as file:
            file.write("\n".join([f"weight{separator}kind", *lines]) + "\n")
    return path


def test_texts_stay_texts_and_numbers_are_numbers(pets):
    assert read_labels(pets, "kind").tolist() == KINDS
    assert read_labels(pets, "weight").tolist() == WEIGHTS
    assert read_labels(pets, "weight").dtype == np.float64


def test_a_column_that_is_not_there_is_named_with_those_that_are(pets):
    with pytest.raises(SourceError, match=r"no (column|array) 'colour'; it has: weight, kind"):
        read_labels(pets, "colour")


def test_names_include_columns_of_text(pets):
    assert column_names(pets) == (None if pets.suffix == ".npz" else ("weight", "kind"))


def test_a_column_of_numbers_by_its_number(tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(6.0).reshape(3, 2))
    assert read_labels(tmp_path / "rows.npy", "1").tolist() == [1, 3, 5]
    assert column_names(tmp_path / "rows.npy") is None


def test_whole_numbers_are_called_so(tmp_path):
    (tmp_path / "rows.csv").write_text("digit,ink\n3,0.5\n7,0.25\n")
    assert [str(name) for name in read_labels(tmp_path / "rows.csv", "digit")] == ["3", "7"]
    assert [str(name) for name in read_labels(tmp_path / "rows.csv", "ink")] == ["0.5", "0.25"]


def test_csv_without_names_by_number(tmp_path):
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    assert read_labels(tmp_path / "rows.csv", "1").tolist() == [2, 4]


def test_labels_are_one_for_each_row(tmp_path):
    np.savez(tmp_path / "rows.npz", kind=np.zeros((2, 2)))
    with pytest.raises(SourceError, match="one entry per row"):
        read_labels(tmp_path / "rows.npz", "kind")


def test_objects_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "rows.npz", kind=np.array([{}, []], dtype=object))
    with pytest.raises(SourceError, match="kind"):
        read_labels(tmp_path / "rows.npz", "kind")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read_labels(tmp_path / "none.csv", "kind")


def test_an_archive_is_written_in_blocks_and_read_back(tmp_path):
    rows = np.random.default_rng(0).random((25, 3))
    with open_writer(tmp_path / "rows.npz", ["a", "b", "c"]) as writer:
        for first in range(0, 25, 10):
            writer.write(rows[first : first + 10])
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npz")["rows"], rows)
    np.testing.assert_array_equal(np.concatenate(list(open_source(tmp_path / "rows.npz").blocks(7))), rows)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npz"]


def test_an_archive_that_fails_is_not_there(tmp_path):
    with pytest.raises(RuntimeError), open_writer(tmp_path / "rows.npz", ["a"]) as writer:
        interrupted(writer)
    assert list(tmp_path.iterdir()) == []


def interrupted(writer):
    writer.write(np.zeros((2, 1)))
    raise RuntimeError


def test_labels_that_a_file_merely_declares(tmp_path):
    """NumPy would take memory for all of them before it reads the first."""
    header = b"{'descr': '<U9', 'fortran_order': False, 'shape': (4611686018427387,)}".ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("kind.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(FormatError, match=r"t\.npz, kind\.npy declares \d+ bytes, but contains \d+"):
        read_labels(tmp_path / "t.npz", "kind")
