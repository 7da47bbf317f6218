"""What a reader refuses, and how it says so: the file, the cause, and what to do."""

import io
import json
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse

from gramless import FormatError, SourceError, open_source
from gramless.data import Source

ROWS = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b,a\n1,2,3\n", "two columns named 'a'; rename one"),
    ],
    ids=["empty", "empty line", "names"],
)
def test_a_csv_file(tmp_path, text, message):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(FormatError, match=rf"t\.csv.*{message}"):
        list(open_source(tmp_path / "t.csv").blocks(10))


def test_empty_lines_of_a_csv_file_are_no_rows(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text("1,2\n\n3,x\n")
    with pytest.raises(FormatError, match=r"column 1, line 3: 'x' is text"):
        list(open_source(tmp_path / "t.csv").blocks(10))


def test_columns_that_are_not_there():
    with pytest.raises(ValueError, match=r"columns=\[\] selects nothing; pass at least one"):
        open_source(ROWS, columns=[])
    with pytest.raises(ValueError, match=r"columns='a' must be a list of columns; pass \['a'\]"):
        open_source(ROWS, columns="a")
    for given in ("nowhere.csv", iter([ROWS])):
        with pytest.raises(ValueError, match="columns='a' must be a list of columns"):
            open_source(given, columns="a")
    with pytest.raises(SourceError, match="the array: column 1 is selected 2 times; pass it once"):
        open_source(ROWS, columns=[1, -2])
    with pytest.raises(SourceError, match="has no column names; select 'a' by its index, 0 to 2"):
        open_source(ROWS, columns=["a"])


def test_blocks_of_no_rows():
    for rows, start in ((0, 0), (1, -1)):
        with pytest.raises(ValueError, match=f"rows={rows} must be at least 1 and start={start} at least 0"):
            list(open_source(ROWS).blocks(rows, start))


def test_a_value_that_is_not_finite_among_sparse_rows():
    rows = ROWS.copy()
    rows[2, 1] = np.inf
    with pytest.raises(SourceError, match="column 1 has an infinite value in row 2; 1 of 4 rows"):
        list(open_source(scipy.sparse.csr_array(rows)).blocks(10))


class OutOfMemory(Source):
    """Rows that do not fit."""

    name, n_rows, n_features, dtype, restartable = "rows", None, 2, np.dtype(float), True

    def pieces(self, rows, start=0):
        raise MemoryError("no room")
        yield


def test_lack_of_memory_is_no_damage():
    with pytest.raises(MemoryError, match="no room"):
        list(OutOfMemory().blocks(3))
    with pytest.raises(SourceError, match="rows does not state its number of rows"):
        OutOfMemory().count()


def test_a_missing_package_is_named_with_the_remedy(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r'needs pyarrow, which is not installed; .*pip install "\.\[io\]"'):
        open_source(tmp_path / "t.parquet")


def test_an_array_that_is_not_in_the_file(tmp_path):
    np.savez(tmp_path / "t.npz", X=ROWS, y=ROWS)
    with pytest.raises(FormatError, match=r"t\.npz has no array 'z'; it has: X, y"):
        open_source(tmp_path / "t.npz", key="z")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"], file["y"] = ROWS, ROWS
    with pytest.raises(FormatError, match=r"t\.h5 has no array 'z'; it has: X, y"):
        open_source(tmp_path / "t.h5", key="z")
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "t.zarr", mode="w")
    group.create_array("X", data=ROWS)
    np.testing.assert_array_equal(next(open_source(tmp_path / "t.zarr").blocks(9)), ROWS)
    with pytest.raises(FormatError, match=r"t\.zarr has no array 'z'; it has: X"):
        open_source(tmp_path / "t.zarr", key="z")


def test_files_that_are_not_there(tmp_path):
    pytest.importorskip("h5py")
    for name in ("t.h5", "t.npy", "t.npz", "t.csv", "t.parquet"):
        with pytest.raises(FileNotFoundError, match=name):
            open_source(tmp_path / name)


def test_a_table_of_named_fields_and_one_stored_by_columns(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n"
    (tmp_path / "t.npy").write_bytes(b"\x93NUMPY\x03\x00" + len(header).to_bytes(4, "little") + header + bytes(8))
    with pytest.raises(FormatError, match="structured arrays"):
        open_source(tmp_path / "t.npy")
    np.savez(tmp_path / "f.npz", X=np.asfortranarray(ROWS))
    with pytest.raises(FormatError, match="stored in Fortran order"):
        open_source(tmp_path / "f.npz")


def test_only_whole_files_of_floats_are_mapped(tmp_path):
    np.save(tmp_path / "whole.npy", np.arange(6).reshape(3, 2))
    np.save(tmp_path / "t.npy", ROWS)
    for source in (open_source(tmp_path / "whole.npy"), open_source(tmp_path / "t.npy", columns=[0])):
        with pytest.raises(ValueError, match="cannot be memory-mapped with selected columns or dtype"):
            source.memory_map()


def test_a_member_of_a_npz_file_that_ends_early(tmp_path):
    content = io.BytesIO()
    np.save(content, ROWS)
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", content.getvalue()[:-8])
    with pytest.raises(FormatError, match=r"t\.npz.*declares \d+ bytes, but contains"):
        open_source(tmp_path / "t.npz")


def test_a_file_cut_off_while_it_is_read(tmp_path):
    np.save(tmp_path / "t.npy", ROWS)
    source = open_source(tmp_path / "t.npy")
    whole = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "t.npy").write_bytes(whole[:-8])
    with pytest.raises(FormatError, match=r"t\.npy, block 0 \(rows 0 to \d+\): the file ends 8 bytes too early"):
        list(source.blocks(10))


@pytest.mark.parametrize(
    ("codec", "message"),
    [({"id": "packbits"}, "the codec 'packbits' is not supported; supported are "), ({"id": "pickle"}, "pickle")],
    ids=["packbits", "pickle"],
)
def test_only_codecs_of_numbers_are_used(tmp_path, codec, message):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(tmp_path / "t.zarr", shape=(2, 2), dtype="f8", zarr_format=2)[:] = 1.0
    described = tmp_path / "t.zarr" / ".zarray"
    settings = json.loads(described.read_text())
    described.write_text(json.dumps({**settings, "compressor": codec}))
    with pytest.raises(FormatError, match=message):
        open_source(tmp_path / "t.zarr")
