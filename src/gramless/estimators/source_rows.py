"""Rows of sources for estimators that want all of them, or take new ones block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramless.arrays import Array, parse_memory
from gramless.errors import MemoryLimitError, SourceError
from gramless.estimators.out_of_core import open_rows
from gramless.execution import read_ahead


def all_rows(model: Any, X: Any, sample_weight: Any) -> tuple[Any, Array]:
    """All rows (n, d) of a source and their weights (n,): a memory map of a ``.npy`` file, others read to memory.

    Raises
    ------
    MemoryLimitError
        If they are more than half of the model's memory limit, as soon as that is known.
    """
    rows = open_rows(model, X, sample_weight)
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


def block_by_block(model: Any, X: Any, work: Callable[[Any], Array]) -> Array:
    """What `work` makes of new rows, block by block, stacked."""
    rows = open_rows(model, X)
    if rows.n_features != model.n_features_in_:
        raise SourceError(
            f"{rows.name} has {rows.n_features} columns, and the model was fitted to {model.n_features_in_}"
        )
    return np.concatenate([work(block.x) for block in read_ahead(rows.blocks())])
