"""A fitted model applied to new rows: to an array, to a file block by block, or lazily to a Dask collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config

from gramless.arrays import Array, use_threads
from gramless.data import FileRows, is_out_of_core, library_of, open_writer
from gramless.estimators.checking import (
    like_given,
    open_file,
    read_as_fitted,
    read_new_rows,
    refuse_other_columns,
    refuse_other_source,
)
from gramless.persistence.outputs import check_output


def applied(model: Any, X: Any, work: Callable[[Any], Array], columns: int | None, out: Any = None) -> Any:
    """The result of `work` on rows (m, d): (m, columns), or (m,) where `columns` is None.

    Parameters
    ----------
    model : estimator
        Fitted estimator; its columns are compared with those of X.
    X : array-like, CSR, tensor, path, source, or Dask collection
    work : callable
        Picklable function of an array or CSR matrix.
    columns : int or None
    out : str or Path, optional
        File to write the result to, block by block; the function then returns `out`. It may not be the file of X.
    """
    library = library_of(X)
    if library is not None:
        refuse_other_columns(model, X)
        if out is not None:
            raise ValueError(
                f"out={out!r} is not supported for Dask collections; store the result of transform(X) with Dask, e.g. "
                "da.to_npy_stack"
            )
        float32 = getattr(X, "dtype", None) == np.float32
        dtype = work.dtype if isinstance(work, Labels) else np.float32 if float32 else np.float64
        return library.map_rows(X, Checked(work), columns, dtype)
    if out is None and not is_out_of_core(X):
        rows = read_new_rows(model, X)
        with use_threads(model.n_jobs):
            return like_given(work(rows), X)
    if out is not None:
        check_output(out, X, getattr(model, "checkpoint", None))
    file = open_file(model, read_as_fitted(model, X))
    refuse_other_source(model, file)
    if out is None:
        return np.concatenate(list(_blocks(model, file, work)))
    if _get_output_config("transform", model)["dense"] != "default":
        raise ValueError("out= returns a path, not a data frame: call set_output(transform='default') first")
    with open_writer(out, model.get_feature_names_out(), file.dtype) as writer:
        for values in _blocks(model, file, work):
            writer.write(values)
    return out


def _blocks(model: Any, rows: FileRows, work: Callable[[Any], Array]) -> Iterator[Array]:
    with use_threads(model.n_jobs):
        for block in rows.blocks():
            yield work(block.x)


@dataclass(frozen=True, eq=False)
class Labels:
    """A function of rows whose results are labels, converted to `dtype`."""

    work: Callable[[Any], Array]
    dtype: Any = np.int32

    def __call__(self, rows: Any) -> Array:
        return self.work(rows).astype(self.dtype)


@dataclass(frozen=True, eq=False)
class Checked:
    """A function of rows that checks each block first: blocks of a Dask collection are not validated before."""

    work: Callable[[Any], Array]

    def __call__(self, rows: Array) -> Array:
        rows = np.asarray(rows, dtype=np.float32 if rows.dtype == np.float32 else np.float64)
        if not np.isfinite(rows).all():
            raise ValueError("Input X contains NaN or infinity; impute or drop such rows")
        return self.work(rows)
