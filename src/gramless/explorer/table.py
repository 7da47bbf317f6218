"""The rows that the page shows, and the labels that color them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gramless.arrays import Array, parse_memory
from gramless.data import Source, column_names, open_source, read_labels
from gramless.plots import Coloring
from gramless.plots.coloring import COLORS
from gramless.spaces import RowSample

_BLOCK = 2**16
_SHARE = 8  # the rows may take 1 / _SHARE of the free memory


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, names of columns, labels.

    Attributes
    ----------
    values : ndarray of shape (n, d)
    names : tuple of str
        Names of the columns.
    labels : ndarray of shape (n,) or None
    title : str
        Name of the data on the page.
    seen : int
        Number of rows read; more than n where only a sample was kept.
    """

    values: Array
    names: tuple[str, ...]
    labels: Array | None
    title: str
    seen: int

    @cached_property
    def coloring(self) -> Coloring:
        """What the labels are, and how each of them looks."""
        return Coloring.of(self.labels, most=len(COLORS))

    def column(self, name: str) -> Coloring:
        """The colouring by a column."""
        return Coloring.of(self.values[:, self.names.index(name)], name, most=len(COLORS))


def read_table(
    data: Any,
    label: Any = None,
    *,
    labels: Any = None,
    columns: Any = None,
    key: str | None = None,
    memory_limit: Any = None,
) -> Table:
    """Read everything :func:`gramless.open_source` opens.

    Parameters
    ----------
    data : path, array, data frame, source
    label : str or int, optional
        Column of labels, numbers or strings, which is left out of the data then; in a ``.npz`` file the name of an
        array.
    labels : array-like of shape (n,), optional
        Labels that are not part of the data.
    columns : list of str or int, optional
        Which columns; all by default.
    key : str, optional
        Which array, in a file that has several.
    memory_limit : int, str or None
        Memory that the rows may take; None: an eighth of the free memory. Of more rows a sample is kept.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = read_table(np.array([[0.0, 1.0, 7.0], [2.0, 3.0, 8.0]]), label=2)
    >>> table.values.shape, table.labels.tolist()
    ((2, 2), [7.0, 8.0])
    """
    if label is not None:
        if labels is not None:
            raise ValueError("label and labels are mutually exclusive; pass one of them")
        labels, others = _split(data, label, key)
        columns = others if columns is None else columns
    source = open_source(data, columns, key=key)
    if source.sparse:
        raise ValueError("the explorer needs dense rows: pass X.toarray()")
    room = parse_memory(None) // _SHARE if memory_limit is None else parse_memory(memory_limit)
    values, seen = _gather(source, max(1000, room // (16 * source.n_features)), labels)
    names = source.feature_names or tuple(f"x{j + 1}" for j in range(source.n_features))
    if labels is not None:
        values, labels = values[:, :-1], np.asarray(labels)[values[:, -1].astype(np.int64)]
    if len(values) < 2:
        raise ValueError(f"{source.name} has {len(values)} row; at least 2 are needed")
    return Table(np.ascontiguousarray(values), names, labels, source.name, seen)


def _split(data: Any, label: Any, key: str | None) -> tuple[Array, list[Any] | None]:
    """The labels, and the other columns; None for all columns, where the labels are an array of their own."""
    path = isinstance(data, (str, os.PathLike))
    if path:
        names = column_names(data)
    else:
        names = tuple(data.columns) if hasattr(data, "columns") else open_source(data, key=key).feature_names
    if names is not None and label not in names:
        raise ValueError(f"label={label!r} is not a column; the columns are: {', '.join(map(str, names[:20]))}")
    if path:
        labels = read_labels(data, str(label))
    elif hasattr(data, "columns"):
        labels = np.asarray(data[label])
    else:
        labels = np.concatenate([block[:, 0] for block in open_source(data, [label], key=key).blocks(_BLOCK)])
    if names is None and path and str(data).lower().endswith(".npz"):
        return labels, None
    every = list(names) if names is not None else list(range(open_source(data, key=key).n_features))
    others = [column for column in every if column != (label if names is not None else int(label))]
    if not others:
        raise ValueError(f"label={label!r} is the only column; no features are left")
    return labels, others


def _gather(source: Source, most: int, labels: Any) -> tuple[Array, int]:
    """All rows or a uniform sample, and the number of rows read; with `labels`, row numbers are one more column."""
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
        raise ValueError(f"{len(labels)} labels given for {seen} rows; pass one per row")
    if not seen:
        raise ValueError(f"{source.name} has no rows")
    return (np.concatenate(kept) if sample is None else sample.rows), seen
