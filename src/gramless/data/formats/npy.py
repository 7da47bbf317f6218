"""NumPy's files: ``.npy``, and named arrays in ``.npz``. Declared sizes are checked against the file's size first."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np

from gramless.arrays import Array
from gramless.data.formats.registry import Format, formats
from gramless.data.formats.source import Source, as_floats, check_shape, choose_columns, float_dtype, some_names
from gramless.errors import FormatError

#: An array of more than LARGE bytes and BOMB times its stored size is refused: numbers do not compress so well.
BOMB = 100
LARGE = 2**28
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods decompress all, even to read a header
_HEADER = 10_000  # bytes that NumPy considers safe to parse


Header = tuple[tuple[int, ...], bool, np.dtype[Any]]  # shape, whether the order is Fortran's, dtype


class _NumpySource(Source):
    """Rows of an array whose header has been read; subclasses read the data."""

    def __init__(self, name: str, header: Header, columns: Any) -> None:
        shape, self._fortran, self._stored = header
        self.name = name
        self.n_rows, self._width = check_shape(name, shape)
        self.dtype = float_dtype(name, [self._stored])
        self._chosen = choose_columns(name, columns, self._width, None)
        self.n_features = self._width if self._chosen is None else len(self._chosen)

    def _cut(self, block: Array) -> Array:
        return as_floats(block if self._chosen is None else block[:, self._chosen], self.dtype)


class NpySource(_NumpySource):
    """A ``.npy`` file, read block by block, or memory-mapped for random access.

    Parameters
    ----------
    path : Path
    columns : list of int, optional
    """

    def __init__(self, path: Path, columns: Any = None) -> None:
        self.path = path
        with open(path, "rb") as file:
            header = read_header(file, str(path))
            self._offset = file.tell()
        super().__init__(str(path), header, columns)
        declared = math.prod(header[0]) * self._stored.itemsize
        there = os.stat(path).st_size - self._offset
        if declared > there:
            raise FormatError(
                f"{path} declares {header[0]} numbers, {declared} bytes, but contains {there}: it is truncated or "
                "corrupted"
            )

    def memory_map(self) -> Array:
        """All rows (n, n_features) as a read-only memory map.

        Raises
        ------
        ValueError
            If columns were chosen or the dtype is not float: a memory map cannot convert.
        """
        if self._chosen is not None or self._stored != self.dtype:
            raise ValueError(f"{self.name} cannot be memory-mapped with selected columns or dtype {self._stored}")
        order: Any = "F" if self._fortran else "C"
        shape = (self.n_rows or 0, self._width)
        return np.memmap(self.path, dtype=self._stored, mode="r", offset=self._offset, shape=shape, order=order)

    @property
    def mappable(self) -> bool:
        """Whether :meth:`memory_map` is possible: all columns, no conversion, and at least one row."""
        return self._chosen is None and self._stored == self.dtype and bool(self.n_rows)

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        # read, not memory-mapped: mapped pages would count as memory of this process
        n = self.n_rows or 0
        with open(self.path, "rb", buffering=0) as file:
            for first in range(start, n, rows):
                count = min(rows, n - first)
                if self._fortran:
                    block = np.empty((self._width, count), dtype=self._stored)
                    for j in range(self._width):
                        file.seek(self._offset + (j * n + first) * self._stored.itemsize)
                        fill(file, block[j])
                    yield self._cut(block.T)
                else:
                    block = np.empty((count, self._width), dtype=self._stored)
                    file.seek(self._offset + first * self._width * self._stored.itemsize)
                    fill(file, block)
                    yield self._cut(block)


class NpzSource(_NumpySource):
    """One array of a ``.npz`` file, decompressed block by block.

    Parameters
    ----------
    path : Path
    columns : list of int, optional
    key : str, optional
        Name of the array; needed where several arrays have two dimensions.
    """

    def __init__(self, path: Path, columns: Any = None, key: str | None = None) -> None:
        self.path = path
        with _opened_member(path, key) as (self._member, file, header):
            self._offset = file.tell()
        super().__init__(f"{path}, array {self._member.filename.removesuffix('.npy')!r}", header, columns)
        if self._fortran and self._width > 1:
            raise FormatError(f"{self.name} is stored in Fortran order; save np.ascontiguousarray of it, or as .npy")

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        n = self.n_rows or 0
        with zipfile.ZipFile(self.path) as archive, archive.open(self._member) as file:
            file.seek(self._offset + start * self._width * self._stored.itemsize)
            for first in range(start, n, rows):
                block = np.empty((min(rows, n - first), self._width), dtype=self._stored)
                fill(file, block)
                yield self._cut(block)


@contextmanager
def _opened_member(path: Path, key: str | None) -> Iterator[tuple[zipfile.ZipInfo, IO[bytes], Header]]:
    """Context of an array of a ``.npz`` file after its header; raises where the header declares more than is stored."""
    try:
        with zipfile.ZipFile(path) as archive:
            info = _member(archive, path, key)
            with archive.open(info) as file:
                header = read_header(file, f"{path}, {info.filename}")
                declared = math.prod(header[0]) * header[2].itemsize + file.tell()
                if declared > info.file_size:
                    raise FormatError(
                        f"{path}, {info.filename} declares {declared} bytes, but contains {info.file_size}"
                    )
                yield info, file, header
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise FormatError(f"{path} is not a .npz file: {error}") from error


def read_npz_array(path: Path, key: str) -> Array:
    """The array `key` of a ``.npz`` file, of any shape and any dtype but object."""
    with _opened_member(path, key) as (_, file, (shape, fortran, dtype)):
        array: Array = np.empty(shape[::-1] if fortran else shape, dtype)
        fill(file, array)
    return array.T if fortran else array


def _member(archive: zipfile.ZipFile, path: Path, key: str | None) -> zipfile.ZipInfo:
    """The array called `key`, or the only table; raises where it would expand to far more than its stored size."""
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if key is None:
        tables = list(members) if len(members) == 1 else [n for n, i in members.items() if _is_table(archive, i)]
        if len(tables) != 1:
            raise FormatError(f"{path} contains {len(members)} arrays ({some_names(members)}); select one with key=")
        key = tables[0]
    if key not in members:
        raise FormatError(f"{path} has no array {key!r}; it has: {some_names(members)}")
    info = members[key]
    if info.file_size > max(LARGE, BOMB * max(info.compress_size, 1)):
        raise FormatError(
            f"{path}: {info.filename!r} would decompress {info.compress_size} bytes to {info.file_size}; if that is "
            "intended, "
            "save it as .npy"
        )
    if info.compress_type not in _PACKED:
        raise FormatError(
            f"{path}: {info.filename!r} uses a compression method that NumPy does not write; use np.savez"
        )
    return info


def _is_table(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    """Whether a member has two dimensions, unlike labels and weights."""
    if info.compress_type not in _PACKED:
        return False
    try:
        with archive.open(info) as file:
            return len(read_header(file, info.filename)[0]) == 2
    except FormatError:  # an array of objects, or not an array
        return False


def read_header(file: IO[bytes], name: str) -> Header:
    """Shape, whether the order is Fortran's, and dtype; raises for arrays of objects, whose loading could run code."""
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(file)
        if version not in readers:
            raise ValueError(f"version {version} of the format is for structured arrays")
        _refuse_long_header(file, 2 * version[0])
        shape, fortran, dtype = readers[version](file, max_header_size=_HEADER)
    except (ValueError, EOFError, SyntaxError, TokenError, RecursionError, MemoryError, OverflowError) as error:
        raise FormatError(f"{name} is not a .npy file: {error}") from error
    if dtype.hasobject:
        raise FormatError(f"{name} contains Python objects: loading them could run code; save a numeric array")
    if any(side < 0 for side in shape):
        raise FormatError(f"{name} declares the shape {shape}")
    return shape, fortran, dtype


def _refuse_long_header(file: IO[bytes], width: int) -> None:
    """Raise where the header's length, an integer of `width` bytes, is too large: NumPy would read all of it first."""
    length = int.from_bytes(file.read(width), "little")
    file.seek(-width, os.SEEK_CUR)
    if length > _HEADER:
        raise ValueError(f"its header takes {length} bytes; at most {_HEADER} are read")


def fill(file: Any, block: Array) -> None:
    """Fill `block` with bytes from the file."""
    view = block.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        count = file.readinto(view[done : done + 2**26])
        if not count:
            raise EOFError(f"the file ends {len(view) - done} bytes too early")
        done += count


formats.register("npy")(Format(lambda path, columns, key: NpySource(path, columns), (".npy",), keyed=False))
formats.register("npz")(Format(NpzSource, (".npz",)))
