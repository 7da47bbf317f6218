"""Reading and writing the files of commands: rows, labels and models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from gramless.cli.columns import chosen_columns, listed
from gramless.cli.failures import UnusableFileError
from gramless.cli.progress import RowsBar
from gramless.data import Source, column_names, open_source, open_writer, read_labels

BLOCK = 8192  # rows


def open_rows(
    data: Path,
    columns: str | None = None,
    label: str | None = None,
    key: str | None = None,
    exclude: str | None = None,
    missing: str = "refuse",
) -> Source:
    """The rows of a file: the named columns, or all columns except the label and the excluded columns."""
    names = None if columns is label is exclude is None else column_names(data)
    source = open_source(data, chosen_columns(data, columns, label, exclude, names, key), key=key, missing=missing)
    if columns is None and "" in (source.feature_names or ()):
        place = (column_names(data) or ()).index("")
        warnings.warn(
            f"column {place} of {data} has no name, like the numbers of rows that pandas writes, and is used as the "
            f"others are: leave it out with --exclude {place}",
            UserWarning,
            stacklevel=2,
        )
    return source


def open_rows_of(
    model: Any,
    data: Path,
    columns: str | None = None,
    key: str | None = None,
    label: str | None = None,
    missing: str = "refuse",
) -> Source:
    """The rows of a file, with the columns that the model was fitted to; by name where model and file have names."""
    known = getattr(model, "feature_names_in_", None)
    if columns is None and known is not None and column_names(data) is not None:
        return open_source(data, [str(name) for name in known], key=key, missing=missing)
    source = open_rows(data, columns, label, key, missing=missing)
    if source.n_features != model.n_features_in_:
        raise UnusableFileError(
            f"{data} has {source.n_features} columns, the model was fitted to {model.n_features_in_}; choose them by "
            "--columns"
        )
    return source


def columns_beside(data: Path, words: str | None, source: Source) -> dict[str, Any]:
    """Columns of a file, of numbers or strings, for the rows that the source does not drop."""
    if words is None:
        return {}
    names = [str(name) for name in listed(words, column_names(data))]
    return {name: labels_beside(data, name, source) for name in names}


def labels_beside(data: Path, label: str | None, source: Source) -> Any:
    """A column of a file, for the rows that the source does not drop."""
    if label is None:
        return None
    values = read_labels(data, label)
    return values[source.present()] if source.drops else values


def write_blocks(
    source: Source,
    output: Path,
    names: Any,
    apply: Callable[[Any], Any],
    bars: AbstractContextManager[RowsBar],
    dtype: Any = np.float64,
    beside: dict[str, Any] | None = None,
) -> int:
    """Apply a function to the rows, block by block, and write its results; returns the number of rows.

    The file appears once it is complete.
    """
    total = source.n_rows
    with warnings.catch_warnings(), open_writer(output, names, dtype, beside) as writer, bars as bar:
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # open_rows_of compared them
        for block in source.blocks(BLOCK):
            writer.write(apply(block))
            bar.advance(writer.rows, total)
    return writer.rows


def load_model(path: Path, wanted: str | None = None, data: Path | None = None) -> Any:
    """A model from its file, of class `wanted` if given; `data` is the next argument, to detect a wrong order."""
    from gramless.estimators import load

    if data is not None and data.suffix == ".gramless" != path.suffix:
        raise UnusableFileError(f"the model comes first: pass {data} {path}")
    if not path.exists():
        raise UnusableFileError(f"there is no file {path}")
    try:
        model = load(path)
    except ValueError as error:
        raise UnusableFileError(str(error)) from error
    found = type(model).__name__
    if wanted is not None and found != wanted:
        raise UnusableFileError(f"{path} holds a {found}; this command needs a {wanted}")
    return model


def check_model_path(path: Path) -> Path:
    """The path of a model to be written; checked before the fit, so that no work is lost."""
    if path.suffix != ".gramless":
        raise UnusableFileError(f"{path}: files of models end in .gramless; pass -o {path.with_suffix('.gramless')}")
    return check_folder(path)


def check_table_path(path: Path) -> Path:
    """The path of a table to be written; checked before any work."""
    from gramless.data import writers

    if path.suffix.lower() not in writers:
        raise UnusableFileError(f"{path}: rows are written to files {' '.join(writers)}")
    return check_folder(path)


def check_folder(path: Path) -> Path:
    """The path; raises where its folder does not exist."""
    if not path.parent.is_dir():
        raise UnusableFileError(f"there is no folder {path.parent}; make it first")
    return path
