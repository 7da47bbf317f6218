"""Rows of sources for estimators: in blocks, all of them at once, or new ones block by block."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from gramless.arrays import Array, parse_memory
from gramless.errors import MemoryLimitError, SourceError
from gramless.estimators.columns import refuse_other_source
from gramless.execution import LocalRows, block_rows_for, read_ahead
from gramless.sources import open_source


def open_rows(model: Any, X: Any, sample_weight: Any = None) -> LocalRows:
    """Rows of whatever can be opened, in blocks that suit the model's memory limit, with their weights.

    `sample_weight` is an array, the name of a column of X, or None.
    """
    source, weights = open_source(X), None
    if isinstance(sample_weight, str):
        names = source.feature_names
        if names is None or sample_weight not in names:
            raise SourceError(f"sample_weight={sample_weight!r} is no column of {source.name}; it has: {names}")
        source = open_source(X, columns=[*(name for name in names if name != sample_weight), sample_weight])
    elif sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("sample_weight must be one finite number for each row, none of them negative")
    limit = None if model.memory_limit is None else parse_memory(model.memory_limit)
    size = block_rows_for(source.n_features, limit)
    return LocalRows(source, size, weights, isinstance(sample_weight, str))


def affordable_rows(memory_limit: int, n_features: int) -> int:
    """Rows of a sample of which there may be ten at a time, one in each partial sum, in an eighth of the limit."""
    return memory_limit // (8 * 10 * 8 * n_features)


def all_rows(model: Any, rows: LocalRows) -> tuple[Any, Array]:
    """All rows (n, d) and their weights (n,): a memory map of a ``.npy`` file, others read to memory.

    Raises
    ------
    MemoryLimitError
        If they are more than half of the model's memory limit, as soon as that is known.
    """
    if rows.mappable:
        return rows.at_once()
    limit, size = parse_memory(model.memory_limit) // 2, 0
    blocks = []
    for block in read_ahead(rows.blocks()):
        size += block.x.shape[0] * rows.n_features * rows.dtype.itemsize
        if max(size, (rows.n_rows or 0) * rows.n_features * rows.dtype.itemsize) > limit:
            raise MemoryLimitError(
                f"{type(model).__name__} takes several passes, and the rows of {rows.name} take more than half of "
                f"memory_limit, {limit:.1e} bytes; save them as .npy, which is mapped, or raise memory_limit"
            )
        blocks.append(block)
    if not blocks:
        raise SourceError(f"{rows.name} has no rows")
    return np.concatenate([block.x for block in blocks]), np.concatenate([block.weights for block in blocks])


def block_by_block(model: Any, X: Any, work: Callable[[Any, Any], Array]) -> Array:
    """What ``work(model, block)`` makes of new rows, block by block, stacked; columns are compared by name."""
    rows = open_rows(model, X)
    refuse_other_source(model, rows)
    nameless = copy.copy(model)  # blocks are arrays, of which scikit-learn would say that they have no names
    nameless.__dict__.pop("feature_names_in_", None)
    return np.concatenate([work(nameless, block.x) for block in read_ahead(rows.blocks())])
