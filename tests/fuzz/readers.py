"""Readers of tables: files of every format, changed at random, and stores with one of their files changed."""

from __future__ import annotations

import functools
import gzip
import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import harness
from gramless.data import open_source
from gramless.errors import SourceError

REFUSALS = (SourceError,)
_ROWS, _BLOCK = 40, 16


def _table() -> Any:
    return np.random.default_rng(0).standard_normal((_ROWS, 3))


@functools.cache
def seeds() -> list[tuple[str, bytes]]:
    """A small file of each format; of a zarr store each of its files."""
    x = _table()
    found = [("npy", _written(np.save, x)), ("npz", _written(np.savez, x)), ("npz", _written(np.savez_compressed, x))]
    found.append(("npy", _written(np.save, np.asfortranarray(x.astype(">f4")))))
    named = b"a,b,c\n" + b"\n".join(b"%.6f,%.6f,%.6f" % tuple(row) for row in x) + b"\n"
    found += [("csv", named), ("csv.gz", gzip.compress(named, mtime=0))]
    found.append(("csv", named.replace(b",", b";").replace(b".", b",")))
    found.append(("csv", b"# of 40 rows\n" + named.replace(b",", b"|").replace(b"\n", b"%\n")))
    found.append(("csv", named.replace(b",", b"  ").decode().encode("utf-16")))
    found.append(("csv", b"\n".join(b"%d;%d" % tuple(row) for row in (x[:, :2] * 9).astype(int))))
    return found + _parquet(x) + _hdf5(x) + [(f"zarr:{name}", data) for name, data in _zarr().items()]


def _written(save: Any, x: Any) -> bytes:
    save(file := io.BytesIO(), x)
    return file.getvalue()


def _parquet(x: Any) -> list[tuple[str, bytes]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return []
    table = pyarrow.table({"a": x[:, 0], "b": x[:, 1].astype(np.float32), "c": (9 * x[:, 2]).astype(int)})
    found = []
    for settings in ({}, {"compression": "none", "use_dictionary": False}, {"row_group_size": 10, "version": "1.0"}):
        pyarrow.parquet.write_table(table, file := io.BytesIO(), **settings)
        found.append(("parquet", file.getvalue()))
    return found


def _hdf5(x: Any) -> list[tuple[str, bytes]]:
    try:
        import h5py
    except ImportError:
        return []
    found = []
    for settings in ({}, {"chunks": (8, 3), "compression": "gzip", "shuffle": True}):
        with h5py.File(file := io.BytesIO(), "w") as store:
            store.create_dataset("table", data=x, **settings)
        found.append(("h5", file.getvalue()))
    return found


@functools.cache
def _zarr() -> dict[str, bytes]:
    """The files of a small store, by their names in it."""
    try:
        import zarr
    except ImportError:
        return {}
    memory: dict[str, Any] = {}
    store = zarr.storage.MemoryStore(memory)
    array = zarr.create_array(store, shape=(_ROWS, 3), chunks=(16, 3), dtype="f8")
    array[:] = _table()
    return {name: value.to_bytes() for name, value in memory.items()}


def attempt(name: str, data: bytes, path: Path, rng: Any, *, unchanged: bool) -> None:
    """Open the file and read all of it; what comes must be what was announced."""
    kind, _, member = name.partition(":")
    target = path.with_name(f"table.{kind}")
    if member:
        shutil.rmtree(target, ignore_errors=True)
        for other, content in _zarr().items():
            (target / other).parent.mkdir(parents=True, exist_ok=True)
            (target / other).write_bytes(data if other == member else content)
    else:
        target.write_bytes(data)
    source = open_source(target)
    announced = source.n_rows or 0
    if 4 * announced * source.n_features > 2**28:
        raise harness.Wrong(f"{announced} rows from {len(data)} bytes")
    seen = 0
    for block in source.blocks(max(_BLOCK, announced // 20)):
        if block.shape[1] != source.n_features or not np.isfinite(block).all() or block.dtype != source.dtype:
            raise harness.Wrong(f"a block of shape {block.shape}")
        seen += len(block)
    if source.n_rows is not None and seen != source.n_rows:
        raise harness.Wrong(f"{seen} rows came where {source.n_rows} were announced")
    if unchanged and seen != _ROWS:
        raise harness.Wrong(f"{seen} rows of {_ROWS}")


def run(seconds: float, seed: int) -> harness.Counts:
    """Try damaged and deceitful tables for some seconds."""
    return harness.run("fuzz.readers", seconds, seed)
