"""One column of a file as labels, which may be strings; and the names of a file's columns."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.data.formats.cells import NUMBER, PERCENT, Numbers
from gramless.data.formats.delimited import CsvSource
from gramless.data.formats.npy import read_npz_array
from gramless.data.formats.parquet import columns_of
from gramless.data.formats.read_options import ReadOptions
from gramless.data.formats.registry import formats, suffix_of
from gramless.data.formats.source import optional_import
from gramless.data.open import open_source
from gramless.errors import DialectWarning, FormatError, SourceError


def column_names(path: Any, read_options: ReadOptions | None = None) -> tuple[str, ...] | None:
    """Names of all columns of a file, including columns of strings; None where the file has no names.

    Parameters
    ----------
    path : str or Path
    read_options : ReadOptions, optional
    """
    path = Path(path)
    if path.is_file() and path.suffix.lower() in (".parquet", ".pq"):
        return columns_of(_schema(path))
    if not path.exists() or _is_numpy(path):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DialectWarning)  # who reads the numbers is told
        return open_source(path, read_options=read_options).feature_names


def read_labels(path: Any, column: str, read_options: ReadOptions | None = None) -> Array:
    r"""A column of a file: as numbers where all values are numbers, otherwise as strings.

    Parameters
    ----------
    path : str or Path
        ``.csv`` or ``.tsv``, also compressed (``.csv.gz``); ``.parquet``; ``.npz``, where `column` is the name of an
        array; ``.npy``, where `column` is the number of a column.
    column : str
    read_options : ReadOptions, optional

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("weight,kind\n4,cat\n9,dog\n")
    >>> read_labels(path, "kind").tolist(), read_labels(path, "weight").tolist()
    (['cat', 'dog'], [4, 9])
    """
    path = Path(path)
    suffix = suffix_of(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    if suffix == ".npz":
        return _from_npz(path, column)
    if suffix in (".parquet", ".pq"):
        return _from_parquet(path, column)
    if suffix in formats["csv"].suffixes:
        return _from_csv(path, column, read_options)
    source = open_source(path, [int(column) if column.isdigit() else column], read_options=read_options)
    return np.concatenate([block[:, 0] for block in source.blocks(8192)])


def _from_csv(path: Path, column: str, options: ReadOptions | None) -> Array:
    """A column of a CSV file; numbers are written as in the other columns, which may show it where this does not."""
    table = CsvSource(path, options=options)
    named = table.feature_names is not None
    signs = replace(table.read_options or ReadOptions(), kinds=None)
    options = (options or ReadOptions()).completed(signs)
    source = CsvSource(path, [column if named or not column.isdigit() else int(column)], options)
    texts, numbers, kind = source.strings(), Numbers(signs.decimal or ".", signs.thousands or ""), source.kinds[0]
    if kind in (NUMBER, PERCENT) and (kind, numbers) != (NUMBER, Numbers()) and numbers.reads(texts, kind):
        return _whole(np.array([numbers.read(text, kind) for text in texts]))
    return _as_numbers(np.array(texts))


def _from_parquet(path: Path, column: str) -> Array:
    parquet = optional_import("pyarrow.parquet", "Parquet files")
    names = _schema(path).names
    if column not in names:
        raise SourceError(f"{path} has no column {column!r}; it has: {', '.join(names[:20])}")
    values = parquet.read_table(path, columns=[column]).column(0).to_pylist()
    return _as_numbers(np.array(["" if value is None else str(value) for value in values]))


def _from_npz(path: Path, name: str) -> Array:
    labels = read_npz_array(path, name)
    if labels.ndim != 1:
        raise SourceError(f"{path}, array {name!r} has shape {labels.shape}; labels must have one entry per row")
    return labels


def _as_numbers(texts: Array) -> Array:
    """The strings as integers or floats where all can be converted; integers, so that class 3 is not shown as 3.0."""
    try:
        numbers = np.asarray(texts, dtype=float)
    except ValueError:
        return texts
    return _whole(numbers)


def _whole(numbers: Array) -> Array:
    """The numbers as integers where all are whole."""
    whole = np.isfinite(numbers) & (np.abs(numbers) < 2**53) & (numbers == np.round(numbers))
    return numbers.astype(np.int64) if whole.all() else numbers


def _schema(path: Path) -> Any:
    parquet = optional_import("pyarrow.parquet", "Parquet files")
    arrow = optional_import("pyarrow", "Parquet files")
    try:
        return parquet.read_schema(path)
    except (arrow.ArrowException, OSError) as error:
        raise FormatError(f"{path} is not a complete Parquet file: {error}") from error


def _is_numpy(path: Path) -> bool:
    return path.suffix.lower() in (".npy", ".npz")
