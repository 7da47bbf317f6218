"""Every format gives the same rows, in blocks of any size, from any row on."""

import gzip
import itertools

import numpy as np
import pytest
import scipy.sparse

from gramless.data import column_names, open_source, open_writer
from gramless.errors import FormatError, SourceError

ROWS = np.random.default_rng(0).standard_normal((23, 3))
NAMES = ["a", "b", "c"]


def _npy(folder):
    np.save(folder / "rows.npy", ROWS)
    return folder / "rows.npy"


def _npy_by_columns(folder):
    np.save(folder / "rows.npy", np.asfortranarray(ROWS))
    return folder / "rows.npy"


def _npz(folder):
    np.savez_compressed(folder / "rows.npz", X=ROWS)
    return folder / "rows.npz"


def _csv(folder):
    np.savetxt(folder / "rows.csv", ROWS, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    return folder / "rows.csv"


def _csv_without_names(folder):
    np.savetxt(folder / "rows.csv", ROWS, delimiter=";", fmt="%.17g")
    return str(folder / "rows.csv")


def _packed_csv(folder):
    path = _csv(folder)
    (folder / "rows.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    return folder / "rows.csv.gz"


def _folder_of_packed_tsv(folder):
    inside = folder / "parts"
    inside.mkdir()
    for i, part in enumerate(np.array_split(ROWS, 4)):
        text = "".join("\t".join(f"{value:.17g}" for value in row) + "\n" for row in part)
        (inside / f"{i}.TSV.gz").write_bytes(gzip.compress(text.encode()))
    return inside


def _parquet(folder, rows=ROWS, name="rows.parquet", names=NAMES, group=7):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(dict(zip(names, rows.T, strict=True))), folder / name, row_group_size=group)
    return folder / name


def _folder_of_parquet(folder):
    inside = folder / "parts"
    inside.mkdir()
    for i, part in enumerate(np.array_split(ROWS, 3)):
        _parquet(inside, part, f"part-{i}.parquet")
    (inside / "_SUCCESS").touch()
    return inside


def _folder_of_csv(folder):
    inside = folder / "parts"
    inside.mkdir()
    for i, part in enumerate(np.array_split(ROWS, 4)):
        np.savetxt(inside / f"{i}.csv", part, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    return inside


def _hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "rows.h5", "w") as file:
        file["group/X"] = ROWS
    return folder / "rows.h5"


def _zarr(folder):
    zarr = pytest.importorskip("zarr")
    zarr.save(str(folder / "rows.zarr"), ROWS)
    return folder / "rows.zarr"


def _pandas(folder):
    return pytest.importorskip("pandas").DataFrame(ROWS, columns=NAMES)


def _polars(folder):
    return pytest.importorskip("polars").DataFrame(ROWS, schema=NAMES)


class Written:
    """A source as others may write one."""

    n_features, n_rows, restartable = 3, 23, True

    def blocks(self, rows, start=0):
        for first in range(start, 23, rows):
            yield ROWS[first : first + rows]


FORMATS = [
    *(_npy, _npy_by_columns, _npz, _csv, _csv_without_names, _parquet, _folder_of_parquet, _folder_of_csv, _hdf5),
    *(_zarr, _pandas, _polars, _packed_csv, _folder_of_packed_tsv),
    lambda folder: ROWS,
    lambda folder: np.asfortranarray(ROWS),
    lambda folder: lambda: np.array_split(ROWS, 5),
    lambda folder: Written(),
]


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_blocks_are_the_rows_in_order(make, rows, tmp_path):
    source = open_source(make(tmp_path))
    assert source.restartable
    assert source.n_features == 3
    assert source.n_rows in (23, None)
    for _ in range(2):
        blocks = list(source.blocks(rows))
        assert all(len(block) == rows for block in blocks[:-1])
        np.testing.assert_array_equal(np.concatenate(blocks), ROWS)


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("start", [4, 8, 20])
def test_blocks_from_a_row_on(make, start, tmp_path):
    source = open_source(make(tmp_path))
    np.testing.assert_array_equal(np.concatenate(list(source.blocks(4, start))), ROWS[start:])


@pytest.mark.parametrize("make", FORMATS)
def test_chosen_columns_in_the_order_asked_for(make, tmp_path):
    source = open_source(make(tmp_path), columns=[2, 0])
    assert source.n_features == 2
    np.testing.assert_array_equal(np.concatenate(list(source.blocks(9))), ROWS[:, [2, 0]])


@pytest.mark.parametrize("make", [_csv, _packed_csv, _parquet, _folder_of_parquet, _folder_of_csv, _pandas, _polars])
def test_columns_by_name(make, tmp_path):
    given = make(tmp_path)
    assert open_source(given).feature_names == ("a", "b", "c")
    source = open_source(given, columns=["c", "b"])
    assert source.feature_names == ("c", "b")
    np.testing.assert_array_equal(np.concatenate(list(source.blocks(9))), ROWS[:, [2, 1]])
    with pytest.raises(SourceError, match="no column 'z'; it has: a, b, c"):
        open_source(given, columns=["a", "z"])


def test_sparse_rows_stay_sparse():
    matrix = scipy.sparse.random_array((30, 8), density=0.2, random_state=np.random.default_rng(0), format="csr")
    source = open_source(matrix)
    blocks = list(source.blocks(7))
    assert source.sparse
    np.testing.assert_array_equal(scipy.sparse.vstack(blocks).toarray(), matrix.toarray())


def test_an_iterator_is_read_once():
    source = open_source(iter(np.array_split(ROWS, 6)))
    assert not source.restartable
    assert source.n_rows is None
    np.testing.assert_array_equal(np.concatenate(list(source.blocks(5))), ROWS)
    with pytest.raises(SourceError, match="already been consumed"):
        next(source.blocks(5))


def test_float32_stays_and_integers_become_float64(tmp_path):
    np.save(tmp_path / "a.npy", ROWS.astype(np.float32))
    np.save(tmp_path / "b.npy", np.arange(6, dtype=np.int16).reshape(3, 2))
    assert next(open_source(tmp_path / "a.npy").blocks(4)).dtype == np.float32
    assert next(open_source(tmp_path / "b.npy").blocks(4)).dtype == np.float64


def test_a_npy_file_maps_to_memory(tmp_path):
    mapped = open_source(_npy(tmp_path)).memory_map()
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(mapped, ROWS)


def test_an_array_by_name_where_there_are_several(tmp_path):
    np.savez(tmp_path / "two.npz", X=ROWS, Y=ROWS[:, :1])
    assert open_source(tmp_path / "two.npz", key="Y").n_features == 1
    with pytest.raises(FormatError, match=r"2 arrays \(X, Y\); select one"):
        open_source(tmp_path / "two.npz")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["X"], file["Y"] = ROWS, ROWS[:, :1]
    assert open_source(tmp_path / "two.h5", key="Y").n_features == 1
    with pytest.raises(FormatError, match=r"2 tables \(X, Y\)"):
        open_source(tmp_path / "two.h5")


def test_the_only_table_among_labels_needs_no_key(tmp_path):
    labels = np.array(["x"] * len(ROWS), dtype=object)
    np.savez(tmp_path / "labelled.npz", y=np.arange(len(ROWS)), X=ROWS, names=np.array(NAMES), who=labels)
    np.testing.assert_array_equal(next(open_source(tmp_path / "labelled.npz").blocks(99)), ROWS)


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".csv"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_written_is_read_again(suffix, dtype, tmp_path):
    path = tmp_path / f"out{suffix}"
    with open_writer(path, NAMES, dtype) as writer:
        for block in np.array_split(ROWS, 4):
            writer.write(block)
        assert not path.exists()
    read = np.concatenate(list(open_source(path).blocks(100)))
    np.testing.assert_array_equal(read.astype(dtype), ROWS.astype(dtype))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".csv"])
def test_nothing_is_left_of_a_file_whose_writing_failed(suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    path.write_text("before")

    def broken():
        with open_writer(path, NAMES) as writer:
            writer.write(ROWS)
            raise KeyError("in the middle")

    with pytest.raises(KeyError, match="in the middle"):
        broken()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_opened_or_written_is_named(tmp_path):
    (tmp_path / "rows.docx").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=r"rows\.docx: files \.docx are not supported"):
        open_source(tmp_path / "rows.docx")
    with pytest.raises(FormatError, match="contains no files"):
        open_source(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_source(tmp_path / "nowhere.npy")
    with pytest.raises(FormatError, match=r"\.xls are not supported"):
        open_writer(tmp_path / "out.xls", NAMES)
    with pytest.raises(SourceError, match="cannot read rows from int"):
        open_source(3)
    with pytest.raises(ValueError, match="columns='a' must be a list"):
        open_source(ROWS, columns="a")


def test_blocks_are_lazy(tmp_path):
    taken = []

    def numbers():
        for i in itertools.count():
            taken.append(i)
            yield np.full((10, 2), float(i))

    blocks = open_source(numbers()).blocks(10)
    next(blocks)
    assert len(taken) <= 2


def test_the_index_of_a_frame_is_no_column(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=NAMES)
    numbered = np.random.default_rng(1).permutation(len(ROWS))
    for index, name in [(numbered, None), ([f"row {i}" for i in range(len(ROWS))], "who")]:
        path = tmp_path / f"{name}.parquet"
        frame.set_index(pandas.Index(index, name=name)).to_parquet(path)
        source = open_source(path)
        assert list(source.feature_names) == NAMES == list(column_names(path))
        np.testing.assert_array_equal(np.vstack(list(source.blocks(7))), ROWS)
    numbers = tmp_path / "None.parquet"
    asked = open_source(numbers, columns=[NAMES[0], "__index_level_0__"])  # by its name it can be had
    np.testing.assert_array_equal(next(asked.blocks(len(ROWS)))[:, 1], numbered)
