"""Rows and weights of a Dask collection as parts on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse

from gramless.data.rows import Block
from gramless.distributed.arrays import as_array
from gramless.distributed.client import cluster_client, retries, running_workers, worker_memory
from gramless.distributed.parts import DaskParts, large_arguments


@contextmanager
def open_parts(x: Any, weights: Any = None) -> Iterator[tuple[DaskParts, tuple[str, ...] | None]]:
    """Context of the parts of `x`, and the names of its columns.

    The parts stay on the workers if they fit in half of the workers' memory, or if their size is unknown; otherwise
    each pass recomputes them.

    Parameters
    ----------
    x : dask Array or DataFrame of shape (n, d)
    weights : dask Array, Series or array-like of shape (n,), or str, optional
        A string names a column of the data frame.
    """
    if isinstance(weights, str):
        x, weights = _without_column(x, weights)
    with cluster_client() as client:
        rows, names = as_array(x)
        items = _with_weights(client, rows, weights)
        held = _fits(client, rows)
        if held:
            with large_arguments():
                items = client.persist(items, retries=retries())
        yield DaskParts(client, items, held), names


def _without_column(x: Any, name: str) -> tuple[Any, Any]:
    """The data frame without the column of weights, and the column of weights."""
    if name not in getattr(x, "columns", ()):
        raise ValueError(f"sample_weight={name!r} is not a column of X; pass one weight per row, or a data frame")
    return x.drop(columns=[name]), x[name]


def _fits(client: Any, rows: Any) -> bool:
    room = worker_memory(client) * sum(running_workers(client).values())
    return not room or not rows.nbytes > room / 2  # an unknown size is NaN, and counts as fitting


def _with_weights(client: Any, rows: Any, weights: Any) -> list[Any]:
    """One task for every block: its rows as floats, with their weights."""
    from dask import delayed

    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    blocks = list(rows.to_delayed().ravel())
    shares = [None] * len(blocks) if weights is None else _shares(client, rows, weights)
    made = [
        delayed(make_part, pure=False)(block, share, number, dtype)
        for number, (block, share) in enumerate(zip(blocks, shares, strict=True))
    ]
    return made


def make_part(block: Any, weights: Any, number: int, dtype: Any) -> Block:
    """The part made of a block of rows (m, d); all weights are 1 where `weights` is None."""
    if scipy.sparse.issparse(block):
        raise ValueError("blocks are sparse; pass X.map_blocks(lambda block: block.toarray())")
    x = np.ascontiguousarray(block, dtype=dtype)
    shares = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(x),):
        raise ValueError(
            f"sample_weight has a block of shape {shares.shape} for {len(x)} rows; it must be chunked like X"
        )
    return Block(x, shares, number, first=-1)


def _shares(client: Any, rows: Any, weights: Any) -> list[Any]:
    """The weights, split like the blocks of `rows`."""
    if hasattr(weights, "to_dask_array"):
        weights = weights.to_dask_array()
    if hasattr(weights, "to_delayed"):
        return list(_aligned(rows, weights).to_delayed().ravel())
    weights = np.asarray(weights, dtype=np.float64)
    lengths = _lengths(client, rows)
    if weights.shape != (sum(lengths),):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; pass one weight for each of the {sum(lengths)} rows"
        )
    return np.split(weights, np.cumsum(lengths)[:-1])


def _aligned(rows: Any, weights: Any) -> Any:
    if weights.ndim != 1:
        raise ValueError(f"sample_weight has {weights.ndim} dimensions; pass one weight for each row")
    known = not (np.isnan(rows.shape[0]) or np.isnan(weights.shape[0]))
    if known and rows.shape[0] != weights.shape[0]:
        raise ValueError(f"sample_weight has {weights.shape[0]} weights for {rows.shape[0]} rows; pass one per row")
    if known:
        return weights.rechunk((rows.chunks[0],))
    if weights.numblocks[0] != rows.numblocks[0]:
        raise ValueError(
            f"sample_weight has {weights.numblocks[0]} blocks and X {rows.numblocks[0]}, of lengths that are not all "
            "known; call compute_chunk_sizes() on both"
        )
    return weights


def _lengths(client: Any, rows: Any) -> list[int]:
    from dask import delayed

    if not np.isnan(rows.shape[0]):
        return [int(length) for length in rows.chunks[0]]
    lengths = [delayed(len)(block) for block in rows.to_delayed().ravel()]
    return list(client.gather(client.compute(lengths, retries=retries())))
