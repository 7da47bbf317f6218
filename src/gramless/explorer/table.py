"""The rows that the page shows, and what colours them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array, parse_memory
from gramless.sources import Source, open_source
from gramless.spaces import RowSample

_BLOCK = 2**16
_SHARE = 8  # the rows may take this part of the memory that is free


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, names of columns, labels.

    Attributes
    ----------
    values : ndarray of shape (n, d)
    names : tuple of str
        Of the columns.
    labels : ndarray of shape (n,) or None
    title : str
        What the page calls it.
    seen : int
        Rows that were read; more than n where only a sample of them was kept.
    """

    values: Array
    names: tuple[str, ...]
    labels: Array | None
    title: str
    seen: int


def read_table(data: Any, label: Any = None, *, labels: Any = None, memory_limit: Any = None) -> Table:
    """Read everything :func:`gramless.sources.open_source` opens.

    Parameters
    ----------
    data : path, array, data frame, source
    label : str or int, optional
        Column that holds labels, and is not a column of the data then. In a data frame it may hold texts.
    labels : array-like of shape (n,), optional
        Labels that are not part of the data.
    memory_limit : int, str or None
        What the rows may take; None: an eighth of the memory that is free. Of more rows a sample is kept.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = read_table(np.array([[0.0, 1.0, 7.0], [2.0, 3.0, 8.0]]), label=2)
    >>> table.values.shape, table.labels.tolist()
    ((2, 2), [7.0, 8.0])
    """
    if label is not None and labels is not None:
        raise ValueError("label and labels are two ways to say the same; pass one of them")
    if label is not None and hasattr(data, "columns"):
        if label not in data.columns:
            raise ValueError(f"label={label!r} is not a column; there are: {', '.join(map(str, data.columns))}")
        data, labels, label = data.drop(columns=[label]), np.asarray(data[label]), None
    source = open_source(data)
    if source.sparse:
        raise ValueError("the explorer draws dense rows: pass X.toarray()")
    room = parse_memory(None) // _SHARE if memory_limit is None else parse_memory(memory_limit)
    values, seen = _gather(source, max(1000, room // (16 * source.n_features)), labels)
    names = source.feature_names or tuple(f"x{j + 1}" for j in range(source.n_features))
    if labels is not None:
        values, labels = values[:, :-1], np.asarray(labels)[values[:, -1].astype(np.int64)]
    elif label is not None:
        j = _position(label, names)
        names, labels, values = names[:j] + names[j + 1 :], values[:, j], np.delete(values, j, axis=1)
    if values.shape[0] < 2 or values.shape[1] < 1:
        raise ValueError(f"{source.name} has {values.shape[0]} rows and {values.shape[1]} columns; too few to explore")
    return Table(np.ascontiguousarray(values), names, labels, source.name, seen)


def _gather(source: Source, most: int, labels: Any) -> tuple[Array, int]:
    """All rows, or an even sample of them, and how many there were; `labels` add the number of each row as a column."""
    kept: list[Array] = []
    sample: RowSample | None = None
    seen = 0
    for block in source.blocks(_BLOCK):
        if labels is not None:
            block = np.column_stack([block, np.arange(seen, seen + len(block), dtype=np.float64)])
        seen += len(block)
        if seen <= most:
            kept.append(block)
            continue
        if sample is None and kept:
            before = np.concatenate(kept)
            sample, kept = RowSample.of(before, np.ones(len(before)), most, seed=[0, 0]), []
        part = RowSample.of(block, np.ones(len(block)), most, seed=[0, seen])
        sample = part if sample is None else sample + part
    if labels is not None and len(labels) != seen:
        raise ValueError(f"{len(labels)} labels given for {seen} rows; pass one for each")
    if not seen:
        raise ValueError(f"{source.name} has no rows")
    return (np.concatenate(kept) if sample is None else sample.rows), seen


def _position(label: Any, names: tuple[str, ...]) -> int:
    if isinstance(label, str) and label in names:
        return names.index(label)
    if isinstance(label, (int, np.integer)) and -len(names) <= label < len(names):
        return int(label) % len(names)
    raise ValueError(f"label={label!r} is not a column; there are: {', '.join(names)}")
