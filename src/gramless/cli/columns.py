"""Which columns of a file are inputs, and whether one column dominates the distances."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gramless.cli.failures import UnusableFileError
from gramless.cli.reading import Reading

_SEEN = 8192  # first rows of a source from which variances are estimated


def chosen_columns(
    data: Path,
    columns: str | None,
    label: str | None,
    exclude: str | None,
    names: tuple[str, ...] | None,
    reading: Reading,
) -> list[str | int] | None:
    """Names or indices of the columns selected by --columns, --label and --exclude; None for all."""
    left_out: list[str | int] = [] if exclude is None else listed(exclude, names)
    if label is not None and names is not None and columns is None:
        _refuse_unknown(data, label, "--label", names)
        left_out.append(label)
    elif label is not None and names is None and columns is None and label.isdigit() and data.suffix.lower() != ".npz":
        left_out.append(int(label))
    if columns is not None:
        wanted = listed(columns, names)
        if label is not None and label in map(str, wanted):
            raise UnusableFileError(
                f"--columns {columns} has the column of --label {label}, which is not an input; leave it out of one of "
                "them"
            )
    elif not left_out:
        return None
    else:
        wanted = list(names) if names is not None else list(range(_width(data, reading)))
    for column in left_out:
        option = "--label" if str(column) == label else "--exclude"
        _refuse_unknown(data, column, option, names if names is not None else wanted)
    kept = [column for column in wanted if column not in left_out]
    if not kept:
        raise UnusableFileError(f"--exclude {exclude} leaves no column of {data}; exclude fewer columns")
    return kept


def listed(words: str, names: tuple[str, ...] | None) -> list[str | int]:
    """Columns by name or by index; an index is a column's name where a column has that name.

    Examples
    --------
    >>> listed("a, 2", ("a", "b", "c"))
    ['a', 'c']
    >>> listed('"a, b",c', None)
    ['a, b', 'c']
    """
    parts = [part.strip() for part in next(csv.reader([words], skipinitialspace=True), [])]
    if names is None:
        return [int(part) if part.isdigit() else part for part in parts]
    return [
        names[int(part)] if part.isdigit() and part not in names and int(part) < len(names) else part for part in parts
    ]


def warn_of_dominant(rows: Any, names: Sequence[str] | None, remedy: str) -> None:
    """Warn where one column dominates the squared distances: the kernel then hardly depends on the other columns.

    Parameters
    ----------
    rows : array of shape (n, d), or Source
        Variances are estimated from a sample of an array, or from the first rows of a source.
    names : sequence of str, or None
    remedy : str
        Advice, with ``{column}`` as the placeholder of the column.
    """
    from gramless.data import Source
    from gramless.data.dominance import column_variances, dominant_column, percent
    from gramless.data.formats.source import column_word
    from gramless.errors import DominantColumnWarning

    seen = next(iter(rows.blocks(_SEEN)), None) if isinstance(rows, Source) else rows
    found = None if seen is None else dominant_column(column_variances(seen))
    if found is not None:
        column, share = found
        word = rows.column(column) if isinstance(rows, Source) else column_word(names, column)
        name = names[column] if names is not None and names[column] else word.split()[1]
        text = f"{word} accounts for {percent(share)} of the distances: {remedy.format(column=name)}"
        warnings.warn(text, DominantColumnWarning, stacklevel=2)
    warnings.simplefilter("ignore", DominantColumnWarning)  # the fit would warn again, and name parameters, not options


def _refuse_unknown(data: Path, column: str | int, option: str, known: Sequence[str | int]) -> None:
    if column not in known:
        shown = ", ".join(map(str, known[:20]))
        raise UnusableFileError(f"{data} has no column {column!r} for {option}; it has: {shown}")


def _width(data: Path, reading: Reading) -> int:
    from gramless.data import open_source

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come when the rows are read
        return open_source(data, key=reading.key, read_options=reading.options or None).n_features
