"""Whether X is an array, a collection of partitions, or a source to be read in blocks; only this module decides."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from gramless.data.formats.folder import FolderSource
from gramless.data.formats.foreign import ForeignSource, looks_like_source
from gramless.data.formats.missing import RULES, DroppingSource, FillingSource
from gramless.data.formats.read_options import ReadOptions
from gramless.data.formats.registry import Format, formats, suffix_of
from gramless.data.formats.source import Source
from gramless.errors import DialectWarning, FormatError, SourceError
from gramless.warning import warn

#: Top-level package of a type, and the module of gramless that has ``open_parts`` and ``map_rows`` for such data.
LIBRARIES = {"dask": "gramless.distributed", "dask_expr": "gramless.distributed"}
_TOGETHER = (".npy", ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq")  # suffixes that a folder is read from


def open_source(
    given: Any, columns: Any = None, *, key: str | None = None, missing: Any = "error", read_options: Any = None
) -> Source:
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
    missing : {"error", "drop", "mean", "median"} or array-like of shape (n_features,), default="error"
        What happens to missing values: ``"error"`` raises an error that names the first row with one, ``"drop"`` leaves
        out such rows. ``"mean"`` and ``"median"`` fill in the mean or median of the column, for which the rows are read
        once more; an estimator keeps these values as ``fill_values_``, which fill in the rows that it transforms later,
        too. An array has the value for each column.
    read_options : dict or ReadOptions, optional
        How a CSV file is written; what is not given is found out from its first lines: :class:`gramless.ReadOptions`.

    Returns
    -------
    Source

    Raises
    ------
    SourceError
        If the source cannot be read; the message names the file and the problem.

    See Also
    --------
    gramless.data.open_writer : Write rows to a file, block by block.
    gramless.data.Source : What is returned, and the base class of new formats.

    Warns
    -----
    DialectWarning
        If numbers depend on what was found out about a CSV file, such as a decimal comma; ``read_options`` confirm it.

    Examples
    --------
    >>> import numpy as np
    >>> source = open_source(np.arange(6.0).reshape(3, 2), columns=[1])
    >>> source.n_rows, source.n_features, [block.ravel().tolist() for block in source.blocks(2)]
    (3, 1, [[1.0, 3.0], [5.0]])
    """
    if isinstance(columns, (str, int)):
        raise ValueError(f"columns={columns!r} must be a list of columns; pass [{columns!r}]")
    if isinstance(missing, str) and missing not in RULES:
        raise ValueError(f"missing={missing!r} is invalid; pass one of {', '.join(map(repr, RULES))}, or an array")
    options = None if read_options is None else ReadOptions.of(read_options)
    if isinstance(given, (str, os.PathLike)):
        source = _open_path(Path(given), columns, key, options)
        if source.guesses.keys() - {"delimiter"}:
            warn(f"{given} looks like read_options={source.guesses!r}; pass them, or what it is", DialectWarning)
    elif options is None or options == ReadOptions():
        source = _open_object(given, columns, key)
    else:
        raise ValueError(f"read_options are for CSV files, and were given for {type(given).__name__}; leave them out")
    if isinstance(missing, str) and missing in ("error", "drop"):
        return source if missing == "error" else DroppingSource(source)
    return FillingSource(source, missing)


def _open_object(given: Any, columns: Any, key: str | None) -> Source:
    if isinstance(given, Source) and columns is None:
        return given
    if looks_like_source(given):
        return ForeignSource(given, columns)
    for _, candidate in formats.items():
        if candidate.accepts(given):
            return candidate.opens(given, columns, key)
    raise SourceError(
        f"cannot read rows from {type(given).__name__}; pass a path, an array, a data frame or an iterator"
    )


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


def _open_path(path: Path, columns: Any, key: str | None, options: ReadOptions | None) -> Source:
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if path.is_dir() and path.suffix.lower() != ".zarr" and not _is_zarr(path):
        _refuse_key(path, key)
        return _open_folder(path, columns, options)
    return _opened(_format_of(path), path, columns, key, options)


def _opened(kind: Format, path: Path, columns: Any, key: str | None, options: ReadOptions | None) -> Source:
    """The source; any error that a format's library raises on a damaged file becomes a FormatError with the path."""
    if not (path.is_file() or path.is_dir()):  # opening a pipe blocks, and some devices never end
        raise FormatError(f"{path} is a pipe or a device, not a file; write its rows to a file first")
    if options is not None and options != ReadOptions() and not (kind.dialects or options.origin):
        raise ValueError(f"read_options are for CSV files, and {path} is none; leave them out")
    if not kind.keyed:
        _refuse_key(path, key)
    try:
        return kind.opens(path, columns, options if kind.dialects else key)
    except (SourceError, FileNotFoundError, PermissionError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def _refuse_key(path: Path, key: str | None) -> None:
    if key is not None:
        raise ValueError(f"key={key!r} is for .npz, HDF5 and zarr files, and {path} is none; leave it out")


def _format_of(path: Path) -> Format:
    suffix = ".zarr" if path.is_dir() else suffix_of(path)
    for _, candidate in formats.items():
        if suffix in candidate.suffixes:
            return candidate
    known = " ".join(suffix for _, candidate in formats.items() for suffix in candidate.suffixes)
    raise FormatError(f"{path}: files {suffix or 'without suffix'} are not supported; supported are {known}")


def _open_folder(path: Path, columns: Any, options: ReadOptions | None) -> Source:
    """All files of one format, including those in subfolders; names that begin with . or _ are not data."""
    found = [
        file
        for file in sorted(path.rglob("*"))
        if suffix_of(file) in _TOGETHER
        and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
    ]
    if not found:
        raise FormatError(f"the folder {path} contains no files {' '.join(_TOGETHER)}")
    suffixes = {suffix_of(file) for file in found}
    if len(suffixes) > 1:
        raise FormatError(f"the folder {path} contains files of several formats: {' '.join(sorted(suffixes))}")
    kind = _format_of(found[0])

    def opener(file: Path, wanted: Any) -> Source:
        return _opened(kind, file, wanted, None, options)

    return FolderSource(path, found, opener, columns)


def _is_zarr(path: Path) -> bool:
    return any((path / marker).exists() for marker in ("zarr.json", ".zarray", ".zgroup"))
