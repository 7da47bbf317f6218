"""Reading and writing the files of commands: rows, labels and models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramless.cli.columns import chosen_columns, listed
from gramless.cli.failures import UnusableFileError
from gramless.cli.progress import RowsBar
from gramless.cli.reading import Reading, option_words
from gramless.data import DroppingSource, ReadOptions, Source, column_names, open_source, open_writer, read_labels
from gramless.errors import DialectWarning

BLOCK = 8192  # rows


def open_rows(
    data: Path,
    reading: Reading,
    columns: str | None = None,
    label: str | None = None,
    exclude: str | None = None,
) -> Source:
    """The rows of a file: the named columns, or all columns except the label and the excluded columns."""
    return _said(data, _open_rows(data, reading, columns, label, exclude))


def _open_rows(
    data: Path, reading: Reading, columns: str | None, label: str | None, exclude: str | None = None
) -> Source:
    if not data.exists():
        raise UnusableFileError(f"there is no file or folder {data}")
    names = None if columns is label is exclude is None else _names(data, reading)
    source = _opened(data, reading, chosen_columns(data, columns, label, exclude, names, reading), reading.missing)
    if columns is None and "" in (source.feature_names or ()):
        place = (_names(data, reading) or ()).index("")
        warnings.warn(
            f"column {place} of {data} has no name, like the index that pandas writes, and is used like the "
            f"others: drop it with --exclude {place}",
            UserWarning,
            stacklevel=2,
        )
    return source


def open_rows_of(
    model: Any,
    data: Path,
    reading: Reading,
    columns: str | None = None,
    label: str | None = None,
    *,
    fresh: bool = False,
) -> Source:
    """The rows of a file, with the columns that the model was fitted to; by name where model and file have names.

    The file is read like the one that the model was fitted to, where no options are given. A model that was fitted with
    means or medians for missing values fills them in here, too. With `fresh`, for a new fit, a model without them lets
    the new fit find its own.
    """
    from gramless.estimators.checking import options_of_fit, read_as_fitted

    known, fills = getattr(model, "feature_names_in_", None), hasattr(model, "fill_values_")
    rule = getattr(model, "_fill_rule", "values")
    missing = reading.missing or ("error" if not fills else "mean" if rule == "values" else rule)
    if columns is None and known is not None and _names(data, reading) is not None:
        source = _opened(data, reading, [str(name) for name in known], missing)
    else:
        source = _open_rows(data, replace(reading, missing=missing), columns, label)
    if source.n_features != model.n_features_in_:
        raise UnusableFileError(
            f"{data} has {source.n_features} columns, but the model was fitted to {model.n_features_in_}; select them "
            "with "
            "--columns"
        )
    options = options_of_fit(model)
    if options is not None:
        source = source.read_like(options)
    return _said(data, source if fresh and not fills else read_as_fitted(model, source))


def _opened(data: Path, reading: Reading, columns: list[Any] | None, missing: str | None) -> Source:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DialectWarning)  # in options of the command line, below
        return open_source(
            data, columns, key=reading.key, missing=missing or "error", read_options=reading.options or None
        )


def _said(data: Path, source: Source) -> Source:
    """The source, after what was found out about the file is said in one line."""
    found = "; ".join(words for words in (option_words(dict(source.guesses)), source.notes) if words)
    if found:
        warnings.warn(f"{data} is read with {found}", DialectWarning, stacklevel=2)
    return source


def _names(data: Path, reading: Reading) -> tuple[str, ...] | None:
    return column_names(data, ReadOptions.of(reading.options))


def columns_beside(data: Path, words: str | None, source: Source, reading: Reading) -> dict[str, Any]:
    """Columns of a file, of numbers or strings, for the rows that the source does not leave out."""
    if words is None:
        return {}
    names = [str(name) for name in listed(words, _names(data, reading))]
    return {name: labels_beside(data, name, source, reading) for name in names}


def labels_beside(data: Path, label: str | None, source: Source, reading: Reading) -> Any:
    """A column of a file, for the rows that the source does not leave out."""
    if label is None:
        return None
    values = read_labels(data, label, ReadOptions.of(reading.options))
    return values[source.present()] if isinstance(source, DroppingSource) else values


def gaps(source: Source) -> dict[str, int]:
    """How many rows have a missing value, after all rows were read; empty where missing values are errors."""
    found = getattr(source, "incomplete", None)
    name = "rows_dropped" if isinstance(source, DroppingSource) else "rows_filled"
    return {} if found is None else {name: found}


def gap_rows(source: Source) -> list[tuple[str, str]]:
    """:func:`gaps` as rows of a table for people."""
    return [(name.replace("_", " "), f"{count:,} with missing values") for name, count in gaps(source).items()]


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


def load_model(path: Path, wanted: str | None = None, data: Path | None = None, *, mmap: bool = True) -> Any:
    """A model from its file, of class `wanted` if given; `data` is the next argument, to detect swapped arguments.

    Without `mmap`, all checksums of the file are verified.
    """
    from gramless.estimators import load

    if data is not None and data.suffix == ".gramless" != path.suffix:
        raise UnusableFileError(f"the model comes first: pass {data} {path}")
    if not path.exists():
        raise UnusableFileError(f"there is no file {path}")
    try:
        model = load(path, mmap=mmap)
    except ValueError as error:
        raise UnusableFileError(str(error)) from error
    found = type(model).__name__
    if wanted is not None and found != wanted:
        raise UnusableFileError(f"{path} contains a {found}; this command needs a {wanted}")
    return model


class Target(NamedTuple):
    """A file that a command writes; `replaced` says whether a file was there before."""

    path: Path
    replaced: bool

    @property
    def row(self) -> tuple[str, str]:
        """For the table that the command prints."""
        return "written to", f"{self.path} (replaced)" if self.replaced else str(self.path)

    @property
    def facts(self) -> dict[str, Any]:
        """For the JSON object that the command prints."""
        return {"output": str(self.path), "replaced": self.replaced}


def model_target(path: Path, *inputs: Path | None, force: bool, option: str = "-o") -> Target:
    """The file of a model to be written, checked before any work."""
    from gramless.persistence.outputs import check_model_output

    target = _target(path, (".gramless",), inputs, force, option)
    check_model_output(path)
    return target


def onnx_target(path: Path, *inputs: Path | None, force: bool) -> Target:
    """The file of an ONNX model to be written, checked before any work."""
    from gramless.persistence.outputs import check_onnx_output

    target = _target(path, (".onnx",), inputs, force)
    check_onnx_output(path)
    return target


def table_target(path: Path, *inputs: Path | None, force: bool) -> Target:
    """The file of a table to be written, checked before any work."""
    from gramless.data import writers

    return _target(path, tuple(writers), inputs, force)


def page_target(path: Path, *inputs: Path | None, force: bool) -> Target:
    """The file of a page to be written, checked before any work."""
    return _target(path, (".html", ".htm"), inputs, force)


def _target(
    path: Path, suffixes: tuple[str, ...], inputs: tuple[Path | None, ...], force: bool, option: str = "-o"
) -> Target:
    """The target; raises where the path cannot be written to, is an input, or exists and may not be replaced."""
    from gramless.persistence.outputs import refuse_inputs

    if path.suffix.lower() not in suffixes:
        better = path.with_suffix(suffixes[0])
        raise UnusableFileError(f"{path}: this command writes files {' '.join(suffixes)}; pass {option} {better}")
    if not path.parent.is_dir():
        raise UnusableFileError(f"there is no folder {path.parent}; create it first")
    refuse_inputs(path, *inputs)
    if path.exists() and not force:
        raise UnusableFileError(f"{path} exists; pass --force to replace it, or another path as {option}")
    return Target(path, path.exists())
