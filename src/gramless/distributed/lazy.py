"""Functions of rows applied lazily to Dask collections."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, use_threads
from gramless.data.parts import Work
from gramless.distributed.arrays import as_array


def map_rows(x: Any, function: Work, columns: int | None, dtype: Any) -> Any:
    """``function(block)`` for every block of rows, as a Dask array; nothing is computed yet.

    Parameters
    ----------
    x : dask Array or DataFrame of shape (n, d)
    function : callable
        Maps a block (m, d) to (m, columns), or to (m,) where `columns` is None. Must be picklable.
    columns : int or None
    dtype : dtype
        dtype of the result.
    """
    from dask import delayed

    rows = as_array(x)[0]
    shared = delayed(function, traverse=False)  # one task: the model is sent to a worker once
    meta = np.empty((0,) if columns is None else (0, columns), dtype=dtype)
    chunks = (rows.chunks[0],) if columns is None else (rows.chunks[0], (columns,))
    drop = 1 if columns is None else None
    return rows.map_blocks(_apply, function=shared, dtype=dtype, chunks=chunks, drop_axis=drop, meta=meta)


def _apply(block: Array, function: Work) -> Any:
    with use_threads(1):
        return function(np.asarray(block))
