"""Damaged and hostile files: the error names file, block and column; nothing large is allocated, no code runs."""

import gzip
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse

from gramless.data import open_source
from gramless.errors import FormatError, SourceError

ROWS = np.random.default_rng(0).standard_normal((40, 3))


def _csv(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def _numbers(n):
    return [",".join(f"{value:.3f}" for value in row) for row in np.resize(ROWS, (n, 3))]


def test_a_text_cell(tmp_path):
    pytest.importorskip("pyarrow")
    lines = ["a,b,c", *_numbers(30)]
    lines[13] = "1.0,oops,3.0"
    source = open_source(_csv(tmp_path / "t.csv", lines))
    with pytest.raises(FormatError, match=r"t\.csv: 1 of 3 columns .* column 'b', line 14: 'oops' is among numbers"):
        list(source.blocks(10))
    assert len(list(open_source(tmp_path / "t.csv", columns=["a", "c"]).blocks(10))) == 3


def test_rows_of_uneven_length(tmp_path):
    pytest.importorskip("pyarrow")
    lines = _numbers(30)
    lines[25] = "1.0,2.0"
    source = open_source(_csv(tmp_path / "u.csv", lines))
    with pytest.raises(FormatError, match=r"u\.csv, line 26: has 2 fields, .* has 3"):
        list(source.blocks(10))


def test_an_empty_cell_is_no_number(tmp_path):
    pytest.importorskip("pyarrow")
    lines = ["a,b,c", *_numbers(30)]
    lines[5] = "1.0,,3.0"
    found = r"column 'b' has NaN or a missing value in line 6; 1 of"
    source = open_source(_csv(tmp_path / "e.csv", lines))
    with pytest.raises(SourceError, match=rf"block 0 \(rows 0 to 9\): {found} 10 rows of this block have"):
        list(source.blocks(10))
    with pytest.raises(SourceError, match=rf"e\.csv: {found} 30 rows have .* missing='drop'"):
        list(source.blocks(100))


def _packed(path, text):
    path.write_bytes(gzip.compress(text, mtime=0))
    return path


@pytest.mark.parametrize("damage", ["cut", "flipped", "checksum", "garbage"])
def test_a_packed_file_that_is_damaged(tmp_path, damage):
    pytest.importorskip("pyarrow")
    path = _packed(tmp_path / "p.csv.gz", "\n".join(_numbers(3000)).encode())
    data = bytearray(path.read_bytes())
    if damage == "cut":
        del data[-100:]
    elif damage == "garbage":
        data += b"more"
    else:
        data[len(data) // 2 if damage == "flipped" else -6] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"p\.csv\.gz is not a complete gzip file: .*; copy or compress it again"):
        list(open_source(path).blocks(1000))


def test_a_packed_file_with_a_flaw_names_the_line(tmp_path):
    pytest.importorskip("pyarrow")
    lines = _numbers(30)
    lines[25] = "1.0,2.0"
    source = open_source(_packed(tmp_path / "u.csv.gz", "\n".join(lines).encode()))
    with pytest.raises(FormatError, match=r"u\.csv\.gz, line 26: has 2 fields"):
        list(source.blocks(10))


@pytest.mark.parametrize("text", [b"1.25,-2.75\n" * 2**22, b"1.25,2\n" + b"\n" * 2**25], ids=["rows", "empty lines"])
def test_a_packed_file_is_never_unpacked_whole(tmp_path, text):
    pytest.importorskip("pyarrow")
    path = _packed(tmp_path / "b.csv.gz", text)
    assert path.stat().st_size < len(text) / 500
    list(open_source(_packed(tmp_path / "few.csv.gz", text[:99])).blocks(1000))  # what is imported counts for nothing
    tracemalloc.start()
    try:
        seen = sum(len(block) for block in open_source(path).blocks(1000))
        assert seen == text.count(b",")
        assert tracemalloc.get_traced_memory()[1] < len(text) / 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("start", [0, 3])
def test_rows_with_a_value_missing_are_dropped(tmp_path, start):
    rows = np.arange(40.0).reshape(20, 2)
    rows[[0, 7, 19], [0, 1, 1]] = np.nan
    (tmp_path / "parts").mkdir()
    np.save(tmp_path / "parts" / "1.npy", rows[:9])
    np.save(tmp_path / "parts" / "2.npy", rows[9:])
    np.save(tmp_path / "all.npy", rows)
    whole = np.delete(rows, [0, 7, 19], axis=0)
    for given in (rows, scipy.sparse.csr_array(rows), tmp_path / "all.npy", tmp_path / "parts"):
        source = open_source(given, missing="drop")
        blocks = [block.toarray() if source.sparse else block for block in source.blocks(3, start)]
        np.testing.assert_array_equal(np.concatenate(blocks), whole[start:])
        assert source.count() == source.present().sum() == 17
    with pytest.raises(ValueError, match="missing='fill' is invalid; pass one of 'error', 'drop', 'mean', 'median'"):
        open_source(rows, missing="fill")
    rows[3, 0] = np.inf
    with pytest.raises(SourceError, match="an infinite value"):
        list(open_source(rows, missing="drop").blocks(3))


def test_a_column_that_vanishes_in_the_second_file(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = dict(zip("abc", ROWS.T, strict=True))
    parquet.write_table(pyarrow.table(columns), tmp_path / "1.parquet")
    del columns["b"]
    parquet.write_table(pyarrow.table(columns), tmp_path / "2.parquet")
    with pytest.raises(SourceError, match=r"2\.parquet has no column 'b'; it has: a, c"):
        open_source(tmp_path)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.97])
def test_a_truncated_parquet_file(tmp_path, part):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table(dict(zip("abc", ROWS.T, strict=True))), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(FormatError, match=r"t\.parquet is not a complete Parquet file"):
        open_source(path)


def test_a_parquet_file_damaged_in_the_middle(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    rows = np.random.default_rng(0).standard_normal(4000)
    parquet.write_table(pyarrow.table({"a": rows}), path, row_group_size=1000, use_dictionary=False)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 : len(whole) // 2 + 200] = bytes(200)
    start = parquet.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    whole[start : start + 8] = b"\xff" * 8
    path.write_bytes(bytes(whole))
    with pytest.raises(FormatError, match=r"d\.parquet, block 2 \(rows 2000 to 2999\)"):
        list(open_source(path).blocks(1000))


def test_text_in_a_parquet_file_or_a_frame_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"a": [1.0], "who": ["x"], "sent": [b"x"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(
        FormatError, match=r"t\.parquet: columns 'who' \(string\), 'sent' \(binary\): not real .*'who', 'sent'"
    ):
        open_source(tmp_path / "t.parquet")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(SourceError, match=r"column 'who' \((object|str|string)\): not real numbers"):
        open_source(pandas.DataFrame({"a": [1.0], "who": ["x"]}))


def test_nan_in_block_731(tmp_path):
    rows = np.zeros((8000, 2))
    rows[7318, 1] = np.nan
    np.save(tmp_path / "n.npy", rows)
    with pytest.raises(SourceError, match=r"n\.npy, block 731 \(rows 7310 to 7319\): column 1 has NaN .* in row 7318"):
        list(open_source(tmp_path / "n.npy").blocks(10))


def test_numbers_whose_sum_overflows_are_finite():
    rows = np.full((4, 2), 1e308)
    np.testing.assert_array_equal(next(open_source(rows).blocks(10)), rows)


def _header(text, version=1):
    body = text.encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(body)) + body


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**14, 3), }"), "not a .npy file"),
        (
            _header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000, 3), }"),
            "truncated or corrupted",
        ),
        (_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 9223372036854775807), }"), "columns"),
        (_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3), }"), "shape"),
        (_header("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }") + b"cos\nsystem\n", "Python objects"),
        (_header("{'descr': '<U9', 'fortran_order': False, 'shape': (1, 1), }") + bytes(36), "not real numbers"),
        (_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1, 1), }") + bytes(8), "real numbers"),
        (_header("{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }") + bytes(40), "rows and columns"),
        (_header("__import__('os').system('true')"), "not a .npy file"),
        (_header("{'descr': '<f8'"), "not a .npy file"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "not a .npy file"),
        (b"PK", "not a .npy file"),
        (b"", "not a .npy file"),
    ],
)
def test_a_hostile_npy_file(tmp_path, content, message):
    path = tmp_path / "h.npy"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=rf"h\.npy.*{message}"):
        open_source(path)


def test_a_npy_file_that_was_cut_off(tmp_path):
    path = tmp_path / "c.npy"
    np.save(path, ROWS)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(FormatError, match=r"c\.npy declares \(40, 3\) numbers, 960 bytes, but contains 952"):
        open_source(path)


def test_a_zip_bomb(tmp_path):
    path = tmp_path / "bomb.npz"
    rows = 34 * 2**20
    header = _header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 1), }}")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        member.write(header)
        for _ in range(rows // 2**20):
            member.write(bytes(2**23))
    with pytest.raises(FormatError, match=r"would decompress \d+ bytes to 2852"):
        open_source(path)


def test_objects_in_a_npz_file(tmp_path):
    np.savez(tmp_path / "o.npz", X=np.array([[print]], dtype=object))
    with pytest.raises(FormatError, match="Python objects"):
        open_source(tmp_path / "o.npz")
    (tmp_path / "p.npz").write_bytes(b"not a zip file")
    with pytest.raises(FormatError, match=r"p\.npz is not a \.npz file"):
        open_source(tmp_path / "p.npz")


def test_a_npz_member_that_declares_more_than_it_holds(tmp_path):
    header = _header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 2), }")
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        archive.writestr("X.npy", header + bytes(16))
    with pytest.raises(FormatError, match="declares 16000000"):
        open_source(tmp_path / "m.npz")


@pytest.mark.parametrize("name", ["t.h5", "t.zarr", "t.csv"])
def test_files_that_are_something_else(tmp_path, name):
    pytest.importorskip({"h5": "h5py", "zarr": "zarr", "csv": "pyarrow"}[name.split(".")[1]])
    path = tmp_path / name
    path.write_bytes(b"\xff\xff\x00damaged")
    with pytest.raises((FormatError, FileNotFoundError), match=name):
        open_source(path)


def test_blocks_of_different_width():
    source = open_source(iter([np.ones((3, 2)), np.ones((3, 1))]))
    with pytest.raises(SourceError, match=r"block 1 \(rows 3 to 5\): got an array of shape \(3, 1\)"):
        list(source.blocks(3))


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv", "parquet", "h5", "zarr"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, suffix):
    os.mkfifo(tmp_path / f"p.{suffix}")
    with pytest.raises(FormatError, match=rf"p\.{suffix} is a pipe or a device.*write its rows to a file"):
        open_source(tmp_path / f"p.{suffix}")


def test_a_pipe_in_a_folder_and_in_a_store(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    np.save(folder / "a.npy", ROWS)
    os.mkfifo(folder / "b.npy")
    with pytest.raises(FormatError, match=r"b\.npy is a pipe"):
        open_source(folder)
    zarr = pytest.importorskip("zarr")
    zarr.create_array(tmp_path / "s.zarr", data=ROWS)
    os.mkfifo(tmp_path / "s.zarr" / "c" / "more")
    with pytest.raises(FormatError, match=r"s\.zarr has c.more, which is a pipe"):
        open_source(tmp_path / "s.zarr")


def test_a_device_that_never_ends(tmp_path):
    (tmp_path / "zeros.npz").symlink_to("/dev/zero")
    with pytest.raises(FormatError, match=r"zeros\.npz is a pipe or a device"):
        open_source(tmp_path / "zeros.npz")


def test_very_many_columns(tmp_path):
    """More than a table of pyarrow's could have: each of its columns takes 9 kB."""
    pytest.importorskip("pyarrow")
    names = [f"c{i}" for i in range(30_000)]
    rows = np.resize(ROWS, (3, len(names)))
    lines = [",".join(names), *(",".join(f"{value:.17g}" for value in row) for row in rows), ""]
    path = _csv(tmp_path / "wide.csv", lines)
    np.testing.assert_array_equal(next(open_source(path).blocks(9)), rows)
    np.testing.assert_array_equal(next(open_source(path, columns=["c7", "c29999"]).blocks(9)), rows[:, [7, 29_999]])
    lines[2] = lines[2].replace(",", ",NA,", 1).rsplit(",", 1)[0]
    _csv(path, lines)
    assert sum(len(block) for block in open_source(path, missing="drop").blocks(9)) == 2
    lines[2] = "1_0" + lines[2][lines[2].index(",") :]
    with pytest.raises(FormatError, match=r"wide\.csv: 1 of 30000 .* column 'c0', line 3: '1_0'"):
        list(open_source(_csv(path, lines)).blocks(9))
    lines[2] += ",1"
    with pytest.raises(FormatError, match=r"line 3: has 30001 fields, but the first line has 30000"):
        list(open_source(_csv(path, lines)).blocks(9))
    lines[0] = lines[0].replace("c29999", "c5")
    with pytest.raises(FormatError, match="two columns named 'c5'"):
        open_source(_csv(path, lines))
