"""Tables written block by block to a temporary file, which is renamed once it is complete."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from abc import ABC, abstractmethod
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from gramless.arrays import Array
from gramless.data.formats.source import optional_import
from gramless.errors import FormatError
from gramless.registry import Registry


class Writer(ABC):
    """Writes rows to a file that appears once all rows are written, and does not appear after an error.

    Parameters
    ----------
    path : str or Path
    names : sequence of str
        Of the columns.
    dtype : dtype
    beside : dict of str to array of shape (n,), optional
        Columns of numbers or strings to put before the columns `names`, in formats with columns of different types.
    """

    mixed = False  #: whether columns may have types of their own

    def __init__(self, path: Any, names: Any, dtype: Any = np.float64, beside: dict[str, Array] | None = None) -> None:
        self.path = Path(path)
        self.names = [str(name) for name in names]
        self.dtype = np.dtype(dtype)
        self.rows = 0
        self.beside = beside or {}
        if self.beside and not self.mixed:
            raise FormatError(
                f"{self.path}: pass-through columns ({', '.join(self.beside)}) are supported in .csv and .parquet only"
            )
        both = set(self.beside) & set(self.names)
        if both:
            raise FormatError(f"{self.path} would have two columns named {min(both)!r}")

    def __enter__(self) -> Writer:
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent}")
        self._target = Path(os.path.realpath(self.path))  # a symbolic link is followed
        descriptor, name = tempfile.mkstemp(prefix=f".{self._target.name[:100]}.", dir=self._target.parent)
        os.close(descriptor)
        os.chmod(name, 0o666 & ~_umask())
        self._temporary = Path(name)
        try:
            self.begin(self._temporary)
        except BaseException:
            self._temporary.unlink(missing_ok=True)
            raise
        return self

    def write(self, block: Any) -> None:
        """Append rows (m, columns)."""
        block = np.asarray(block, dtype=self.dtype)
        if block.ndim != 2 or block.shape[1] != len(self.names):
            raise ValueError(f"a block of shape {block.shape} does not match the {len(self.names)} columns")
        self.append(block)
        self.rows += len(block)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with suppress(Exception) if kind is not None else nullcontext():  # so that the first error is raised
                self.end()
            if kind is None:
                os.replace(self._temporary, self._target)
        finally:
            self._temporary.unlink(missing_ok=True)

    def beside_rows(self, count: int) -> list[Array]:
        """The next `count` rows of each column of `beside`."""
        return [values[self.rows : self.rows + count] for values in self.beside.values()]

    @abstractmethod
    def begin(self, path: Path) -> None:
        """Open the file."""

    @abstractmethod
    def append(self, block: Array) -> None:
        """Write a block with the right number of columns and the right type."""

    @abstractmethod
    def end(self) -> None:
        """Complete the file, and close it."""


writers: Registry[type[Writer]] = Registry("format to write")


def open_writer(path: Any, names: Any, dtype: Any = np.float64, beside: dict[str, Array] | None = None) -> Writer:
    """A context in which ``write(block)`` appends rows to `path`: ``.npy``, ``.npz``, ``.parquet`` or ``.csv``.

    Parameters
    ----------
    path : str or Path
        An existing file is replaced in one step, at the end.
    names : sequence of str
        Of the columns.
    dtype : dtype
    beside : dict of str to array of shape (n,), optional
        Columns of numbers or strings to write before the columns `names`, for ``.parquet`` and ``.csv``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_writer(f"{folder}/out.npy", ["a", "b"]) as writer:
    ...         writer.write(np.zeros((3, 2)))
    ...         writer.write(np.ones((1, 2)))
    ...     np.load(f"{folder}/out.npy").sum(axis=0)
    array([1., 1.])
    """
    suffix = Path(path).suffix.lower()
    if suffix not in writers:
        raise FormatError(
            f"{path}: files {suffix or 'without suffix'} are not supported; supported are {' '.join(writers)}"
        )
    return writers[suffix](path, names, dtype, beside)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@writers.register(".npy")
class NpyWriter(Writer):
    """NumPy's own format; the number of rows is filled in at the end."""

    def begin(self, path: Path) -> None:
        self._file: IO[bytes] = open(path, "wb")  # noqa: SIM115  (closed by `end`)
        self._header = self._make_header(0)
        self._file.write(self._header)

    def append(self, block: Array) -> None:
        self._file.write(np.ascontiguousarray(block).data)

    def end(self) -> None:
        with self._file:
            header = self._make_header(self.rows)
            if len(header) != len(self._header):  # NumPy leaves room for 21 digits
                raise FormatError(f"{self.path}: {self.rows} rows are too many for the header")
            self._file.seek(0)
            self._file.write(header)

    def _make_header(self, rows: int) -> bytes:
        held = io.BytesIO()
        shape = (rows, len(self.names))
        described = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(held, described)
        return held.getvalue()


@writers.register(".parquet")
class ParquetWriter(Writer):
    """Parquet, with one row group for each block."""

    mixed = True

    def begin(self, path: Path) -> None:
        self._arrow = optional_import("pyarrow", "Parquet files")
        parquet = optional_import("pyarrow.parquet", "Parquet files")
        kind = self._arrow.from_numpy_dtype(self.dtype)
        self._schema = self._arrow.schema(
            [
                *((name, self._arrow.array(values[:0]).type) for name, values in self.beside.items()),
                *((name, kind) for name in self.names),
            ]
        )
        self._file = parquet.ParquetWriter(path, self._schema)

    def append(self, block: Array) -> None:
        columns = [self._arrow.array(values) for values in self.beside_rows(len(block))]
        columns += [self._arrow.array(np.ascontiguousarray(block[:, j])) for j in range(block.shape[1])]
        self._file.write_table(self._arrow.Table.from_arrays(columns, schema=self._schema))

    def end(self) -> None:
        self._file.close()


@writers.register(".csv")
class CsvWriter(Writer):
    """CSV with a header line; numbers in the fewest digits that reproduce them exactly."""

    mixed = True

    def begin(self, path: Path) -> None:
        import csv

        self._file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115  (closed by `end`)
        self._lines = csv.writer(self._file)
        self._lines.writerow([*self.beside, *self.names])

    def append(self, block: Array) -> None:
        texts = block.astype(np.str_) if block.dtype == np.float32 else block.tolist()
        if self.beside:
            kept = zip(*(values.tolist() for values in self.beside_rows(len(block))), strict=True)
            texts = [[*before, *row] for before, row in zip(kept, texts, strict=True)]
        self._lines.writerows(texts)

    def end(self) -> None:
        self._file.close()


@writers.register(".npz")
class NpzWriter(Writer):
    """NumPy's archive with one array, ``rows``: the array is first written to a file of its own, then archived."""

    def begin(self, path: Path) -> None:
        self._packed = path
        self._plain = path.with_name(f"{path.name}.npy")
        self._inner = NpyWriter(self._plain, self.names, self.dtype)
        self._inner.begin(self._plain)

    def append(self, block: Array) -> None:
        self._inner.append(block)
        self._inner.rows += len(block)

    def end(self) -> None:
        try:
            self._inner.end()
            with zipfile.ZipFile(self._packed, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
                archive.write(self._plain, "rows.npy")
        finally:
            self._plain.unlink(missing_ok=True)
