"""Arrays by name in HDF5 files and zarr stores, read slice by slice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gramless.data.formats.array import ArraySource
from gramless.data.formats.npy import BOMB, LARGE
from gramless.data.formats.registry import Format, formats
from gramless.data.formats.source import optional_import, some_names
from gramless.errors import FormatError

_CODECS = {
    *("bytes", "transpose", "sharding_indexed", "crc32", "crc32c", "adler32", "fletcher32"),
    *("blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd", "delta", "shuffle", "bitround", "quantize"),
}


class Hdf5Source(ArraySource):
    """A dataset of an HDF5 file.

    Parameters
    ----------
    path : Path
    columns : list of int, optional
    key : str, optional
        Name of the dataset; needed where several datasets have two dimensions.
    """

    def __init__(self, path: Path, columns: Any = None, key: str | None = None) -> None:
        self.path = path
        self._h5py = optional_import("h5py", "HDF5 files")
        try:
            with self._h5py.File(path, "r") as file:
                self._key = key if key is not None else _only(path, _datasets(self._h5py, file))
                array = _found(path, file, self._key, self._h5py.Dataset)
                _refuse_elsewhere(path, array)
                _refuse_air(path, array, array.id.get_storage_size())
                super().__init__(_Shape(array), columns, name=f"{path}, dataset {self._key!r}")
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise FormatError(f"{path} is not a complete HDF5 file: {error}") from error

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        with self._h5py.File(self.path, "r") as file:
            self.array = file[self._key]
            yield from super().pieces(rows, start)


class ZarrSource(ArraySource):
    """An array of a zarr store.

    Parameters
    ----------
    path : Path
        A folder or a zip file.
    columns : list of int, optional
    key : str, optional
        Name of the array; needed where there are several.
    """

    def __init__(self, path: Path, columns: Any = None, key: str | None = None) -> None:
        self.path = path
        zarr = optional_import("zarr", "zarr stores")
        stored = _stored(path)
        try:
            node = zarr.open(str(path), mode="r")
        except (KeyError, ValueError, TypeError) as error:
            raise FormatError(f"{path} is not a zarr store: {error}") from error
        if not isinstance(node, zarr.Array):
            if key is None:
                key = _only(path, [name for name, array in node.arrays() if array.ndim == 2])
            node = _found(path, node, key, zarr.Array)
        _refuse_codecs(path, node.metadata)
        _refuse_air(path, node, stored)
        super().__init__(node, columns, name=f"{path}, array {key!r}" if key else str(path))


class _Shape:
    """Shape and dtype of a dataset whose file is closed."""

    def __init__(self, array: Any) -> None:
        self.shape, self.dtype = array.shape, array.dtype


def _datasets(h5py: Any, file: Any) -> list[str]:
    found: list[str] = []
    file.visititems(
        lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) and item.ndim == 2 else None
    )
    return found


def _only(path: Path, names: list[str]) -> str:
    if len(names) != 1:
        raise FormatError(f"{path} contains {len(names)} tables ({some_names(names)}); select one with key=")
    return names[0]


def _found(path: Path, group: Any, key: str, kind: type[Any]) -> Any:
    if key not in group or not isinstance(group[key], kind):
        raise FormatError(f"{path} has no array {key!r}; it has: {some_names(sorted(group))}")
    return group[key]


def _refuse_elsewhere(path: Path, array: Any) -> None:
    """Raise for a dataset stored in another file, which could be any file that this process may read."""
    if array.external or array.is_virtual or Path(array.file.filename) != path:
        raise FormatError(f"{path}, dataset {array.name!r}: its data are in external files; copy them into this file")


def _refuse_codecs(path: Path, metadata: Any) -> None:
    """Raise for unknown codecs: decoding some of them, such as pickle, runs code from the file."""
    packed = [*(getattr(metadata, "filters", None) or ()), getattr(metadata, "compressor", None)]
    names = [codec.codec_id for codec in packed if codec is not None]
    names += [codec.to_dict()["name"] for codec in getattr(metadata, "codecs", ())]
    for name in names:
        if name.removeprefix("numcodecs.") not in _CODECS:
            raise FormatError(
                f"{path}: the codec {name!r} is not supported; supported are {', '.join(sorted(_CODECS))}"
            )


def _refuse_air(path: Path, array: Any, stored: int) -> None:
    """Raise for a declared shape far larger than the stored data: reading would yield fill values for hours."""
    chunk = getattr(array, "shards", None) or array.chunks or ()  # decoded as a whole, even for a few rows
    for shape, what in ((array.shape, "the shape"), (chunk, "chunks of shape")):
        if math.prod(shape) * array.dtype.itemsize > max(LARGE, BOMB * max(stored, 1)):
            raise FormatError(f"{path} declares {what} {tuple(shape)}, but stores {stored} bytes for it")


def _stored(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if not file.is_dir()]
    for file in files:
        if not file.is_file():  # reading a pipe could block for ever
            raise FormatError(f"{path} has {file.relative_to(path)}, which is a pipe, a device or a broken link")
    return sum(file.stat().st_size for file in files)


formats.register("hdf5")(Format(Hdf5Source, (".h5", ".hdf5")))
formats.register("zarr")(Format(ZarrSource, (".zarr",)))
