"""Whether X is an array, a collection of partitions, or a source to be read in blocks; only this module decides."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from gramless.data.formats.dropping import DroppingSource
from gramless.data.formats.folder import FolderSource
from gramless.data.formats.foreign import ForeignSource, looks_like_source
from gramless.data.formats.registry import Format, formats, suffix_of
from gramless.data.formats.source import Source
from gramless.errors import FormatError, SourceError

#: Top-level package of a type, and the module of gramless that has ``open_parts`` and ``map_rows`` for such data.
LIBRARIES = {"dask": "gramless.distributed", "dask_expr": "gramless.distributed"}
_TOGETHER = (".npy", ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq")  # suffixes that a folder is read from


def open_source(given: Any, columns: Any = None, *, key: str | None = None, missing: str = "refuse") -> Source:
    """Open a source of rows.

    Parameters
    ----------
    given : path, array, CSR, data frame, iterator of row blocks, function that returns one, or source
        Files: ``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.csv.gz``, ``.tsv.gz``, ``.parquet``, ``.h5``, ``.zarr``; a
        folder of ``.npy``, ``.csv`` or ``.parquet`` files is read in the order of their names. An iterator can be
        read only once.
    columns : list of str or int, optional
        Which columns, in which order; names where the source has names.
    key : str, optional
        Which array, in a ``.npz``, HDF5 or zarr file that has several.
    missing : {"refuse", "drop"}, default="refuse"
        What happens to rows with a missing value: ``"refuse"`` raises an error that names the first of these rows,
        ``"drop"`` leaves them out.

    Returns
    -------
    Source

    Raises
    ------
    SourceError
        If the source cannot be read; the message names the file and the problem.

    Examples
    --------
    >>> import numpy as np
    >>> source = open_source(np.arange(6.0).reshape(3, 2), columns=[1])
    >>> source.n_rows, source.n_features, [block.ravel().tolist() for block in source.blocks(2)]
    (3, 1, [[1.0, 3.0], [5.0]])
    """
    if missing not in ("refuse", "drop"):
        raise ValueError(f"missing={missing!r} is not known; pass 'refuse' or 'drop'")
    if isinstance(given, (str, os.PathLike)):
        return _open_path(Path(given), columns, key, missing)
    return _less_missing(_open_object(given, columns, key), missing)


def _open_object(given: Any, columns: Any, key: str | None) -> Source:
    if isinstance(given, Source) and columns is None:
        return given
    if looks_like_source(given):
        return ForeignSource(given, columns)
    for _, candidate in formats.items():
        if candidate.accepts(given):
            return candidate.opens(given, columns, key)
    raise SourceError(f"cannot read rows from {type(given).__name__}; pass a path, an array, a frame or an iterator")


def is_out_of_core(given: Any) -> bool:
    """Whether rows are to be read from `given` in blocks, rather than taken as an array in memory.

    Examples
    --------
    >>> is_out_of_core("rows.npy"), is_out_of_core([[1.0, 2.0]])
    (True, False)
    """
    if isinstance(given, np.ndarray):
        return False
    if isinstance(given, (str, os.PathLike, Source)) or looks_like_source(given):
        return True
    in_memory = ("array", "sparse", "frame")
    if formats["array"].accepts(given) and not hasattr(given, "__array_interface__"):
        return True  # HDF5 and zarr
    return any(name not in in_memory and candidate.accepts(given) for name, candidate in formats.items())


def library_of(given: Any) -> Any | None:
    """The module that works on data of the type of `given` without moving it; None for data in this process.

    Examples
    --------
    >>> library_of([[1.0, 2.0]]) is None
    True
    """
    name = LIBRARIES.get(type(given).__module__.partition(".")[0])
    return None if name is None else importlib.import_module(name)


def _open_path(path: Path, columns: Any, key: str | None, missing: str) -> Source:
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if path.is_dir() and path.suffix.lower() != ".zarr" and not _is_zarr(path):
        return _open_folder(path, columns, missing)
    return _less_missing(_opened(_format_of(path), path, columns, key), missing)


def _less_missing(source: Source, missing: str) -> Source:
    return DroppingSource(source) if missing == "drop" else source


def _opened(kind: Format, path: Path, columns: Any, key: str | None) -> Source:
    """The source; any error that a format's library raises on a damaged file becomes a FormatError with the path."""
    if not (path.is_file() or path.is_dir()):  # opening a pipe blocks, and some devices never end
        raise FormatError(f"{path} is a pipe or a device, not a file; write its rows to a file first")
    try:
        return kind.opens(path, columns, key)
    except (SourceError, FileNotFoundError, PermissionError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def _format_of(path: Path) -> Format:
    suffix = ".zarr" if path.is_dir() else suffix_of(path)
    for _, candidate in formats.items():
        if suffix in candidate.suffixes:
            return candidate
    known = " ".join(suffix for _, candidate in formats.items() for suffix in candidate.suffixes)
    raise FormatError(f"{path}: files {suffix or 'without suffix'} are not known; known: {known}")


def _open_folder(path: Path, columns: Any, missing: str) -> Source:
    """All files of one format, including those in subfolders; names that begin with . or _ are not data."""
    found = [
        file
        for file in sorted(path.rglob("*"))
        if suffix_of(file) in _TOGETHER
        and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    ]
    if not found:
        raise FormatError(f"the folder {path} holds no files {' '.join(_TOGETHER)}")
    suffixes = {suffix_of(file) for file in found}
    if len(suffixes) > 1:
        raise FormatError(f"the folder {path} holds files of several formats: {' '.join(sorted(suffixes))}")
    kind = _format_of(found[0])

    def opener(file: Path, wanted: Any) -> Source:
        return _less_missing(_opened(kind, file, wanted, None), missing)

    return FolderSource(path, found, opener, columns)


def _is_zarr(path: Path) -> bool:
    return any((path / marker).exists() for marker in ("zarr.json", ".zarray", ".zgroup"))
