"""Arrays by name in HDF5 files and zarr stores, read slice by slice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gramless.errors import FormatError
from gramless.sources.arrays import ArraySource
from gramless.sources.base import optional_import
from gramless.sources.formats import Format, formats


class Hdf5Source(ArraySource):
    """A dataset of an HDF5 file.

    Parameters
    ----------
    path : Path
    columns : list of int, optional
    key : str, optional
        Name of the dataset; needed where several have two dimensions.
    """

    def __init__(self, path: Path, columns: Any = None, key: str | None = None) -> None:
        self.path = path
        self._h5py = optional_import("h5py", "HDF5 files")
        try:
            with self._h5py.File(path, "r") as file:
                self._key = key if key is not None else _only(path, _datasets(self._h5py, file))
                array = _found(path, file, self._key, self._h5py.Dataset)
                super().__init__(_Shape(array), columns, name=f"{path}, dataset {self._key!r}")
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise FormatError(f"{path} is not a whole HDF5 file: {error}") from error

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
        try:
            node = zarr.open(str(path), mode="r")
        except (KeyError, ValueError, TypeError) as error:
            raise FormatError(f"{path} is not a zarr store: {error}") from error
        if not isinstance(node, zarr.Array):
            if key is None:
                key = _only(path, [name for name, array in node.arrays() if array.ndim == 2])
            node = _found(path, node, key, zarr.Array)
        super().__init__(node, columns, name=f"{path}, array {key!r}" if key else str(path))


class _Shape:
    """What remains of a dataset when its file is closed."""

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
        raise FormatError(f"{path} holds {len(names)} tables ({', '.join(names)}); name one of them: key=")
    return names[0]


def _found(path: Path, group: Any, key: str, kind: type[Any]) -> Any:
    if key not in group or not isinstance(group[key], kind):
        raise FormatError(f"{path} has no array {key!r}; it has: {', '.join(sorted(group))}")
    return group[key]


formats.register("hdf5")(Format(Hdf5Source, (".h5", ".hdf5")))
formats.register("zarr")(Format(ZarrSource, (".zarr",)))
