"""Checks of Dask arrays and data frames before they are read as rows."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_array(x: Any) -> tuple[Any, tuple[str, ...] | None]:
    """A Dask array (n, d) in blocks of whole rows, and the names of its columns, or None.

    Blocks may have any number of rows, known or unknown.
    """
    names = None
    if hasattr(x, "to_dask_array"):
        if not hasattr(x, "columns"):
            raise ValueError("a Dask Series is one-dimensional; pass a DataFrame, series.to_frame()")
        names = _numeric_columns(x)
        x = x.to_dask_array()
    if not hasattr(x, "chunks"):
        raise ValueError(f"a {type(x).__name__} of Dask cannot be read as rows; pass a Dask array or DataFrame")
    if x.ndim != 2:
        raise ValueError(f"Expected 2D array, got a Dask array of {x.ndim} dimensions; pass rows of shape (n, d)")
    if x.dtype.kind not in "fiub":
        raise ValueError(f"the Dask array has values of type {x.dtype}, not real numbers; convert it with astype")
    if np.isnan(x.shape[1]):
        raise ValueError("the number of columns of the Dask array is unknown; call compute_chunk_sizes() on it")
    if x.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required")
    return (x if x.numblocks[1] == 1 else x.rechunk({1: -1})), names


def _numeric_columns(frame: Any) -> tuple[str, ...] | None:
    """Names of the columns; raises unless all columns are numeric."""
    for name, dtype in frame.dtypes.items():
        if getattr(dtype, "kind", "O") not in "fiub":
            raise ValueError(f"column {name!r} has values of type {dtype}, not real numbers; drop or encode it")
    names = tuple(frame.columns)
    return names if all(isinstance(name, str) for name in names) else None
