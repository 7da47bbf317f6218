"""Validation of input as in scikit-learn, and the conversion of X to rows."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from gramless.arrays import Array, is_tensor, parse_memory, refuse_weights, to_numpy
from gramless.arrays.devices import find_device
from gramless.data import (
    Block,
    ClusterRows,
    FileRows,
    FillingSource,
    MemoryRows,
    ReadOptions,
    Rows,
    Source,
    block_rows_for,
    is_out_of_core,
    library_of,
    open_source,
)
from gramless.errors import SourceError
from gramless.kernels import is_precomputed
from gramless.persistence.resuming import open_checkpoint

FLOATS = [np.float64, np.float32]
_BLOCK = 128  # rows and columns of a precomputed matrix that are compared together
#: Attributes of a model that say how the rows of its file were made, with their types.
READING: dict[str, Any] = {"fill_values_": np.ndarray, "_fill_rule": str, "read_options_": ReadOptions}
_UNFILLED = (
    "leave out such rows with missing='drop' of gramless.open_source, or fit the model again with missing='mean' or "
    "missing='median', which then fills them in here, too"
)


@contextmanager
def opened_rows(
    model: Any, X: Any, sample_weight: Any = None, *, checkpoint: Any = None, whole: bool = False, **checks: Any
) -> Iterator[Rows]:
    """Context of the rows of X, to which `model`, a copy of an estimator, is fitted.

    Parameters
    ----------
    model : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are set, or compared with X where ``reset=False`` is passed.
    X : array-like, CSR, tensor, path, source, or Dask collection
    sample_weight : array-like of shape (n,), str or None
    checkpoint : str, Path or None
        Checkpoint of a fit: rows are then read in blocks, and the file is deleted when the context ends without error.
    whole : bool
        Whether rows of a file are read to memory or memory-mapped, for methods that need them more than once.
    **checks
        Keyword arguments of scikit-learn's ``validate_data``, for arrays.
    """
    if checks.get("reset", True):
        for name in READING:
            vars(model).pop(name, None)
    library = library_of(X)
    if library is not None:
        refuse_on_cluster(model)
        with library.open_parts(X, sample_weight) as (parts, names):
            rows = ClusterRows(parts, names)
            take_columns(model, rows)
            yield rows
    elif not is_out_of_core(X) and checkpoint is None:
        yield memory_rows(model, X, sample_weight, **checks)
    else:
        file = _file_of(model, X, sample_weight, reset=checks.get("reset", True))
        if whole:
            yield _in_memory(model, file, **checks)
            return
        if is_precomputed(model.kernel):
            raise ValueError("kernel='precomputed' needs the whole matrix: pass it as an array, not as a source")
        if checkpoint is not None:
            file.checkpoint = open_checkpoint(checkpoint, model.get_params(deep=False), file, sample_weight)
        yield file
        if file.checkpoint is not None:
            file.checkpoint.done()


def _file_of(model: Any, X: Any, sample_weight: Any, reset: bool) -> FileRows:
    """Rows that are read in blocks; the columns of `model` are set, or compared with those of X."""
    file = open_file(model, X if reset else read_as_fitted(model, X), sample_weight)
    (take_columns if reset else refuse_other_source)(model, file)
    if reset:
        _keep_reading(model, X if isinstance(X, Source) else file.source, file)
    return file


def _keep_reading(model: Any, source: Source, file: FileRows) -> None:
    """Keep how the rows of a fit were made, so that rows of later files are made alike; not of a column of weights."""
    inputs = list(range(file.d))
    if file.d < source.n_features and source.feature_names is not None and file.names is not None:
        inputs = [source.feature_names.index(name) for name in file.names]
    if isinstance(source, FillingSource):
        model.fill_values_, model._fill_rule = source.fill_values[inputs], source.rule
    if source.read_options is not None:
        kinds = source.read_options.kinds or ()
        model.read_options_ = replace(source.read_options, kinds=tuple(kinds[i] for i in inputs))


def options_of_fit(model: Any) -> ReadOptions | None:
    """How the CSV file was read that `model` was fitted to; None for a model of other rows."""
    known: ReadOptions | None = getattr(model, "read_options_", None)
    return None if known is None else replace(known, origin="those of the file that the model was fitted to")


def read_as_fitted(model: Any, X: Any) -> Source:
    """X as a source whose rows are made like those that `model` was fitted to, where X does not say otherwise.

    Numbers of a CSV file are read as in the file of the fit. Where X fills in means or medians for missing values, they
    are those of the fit.

    Raises
    ------
    SourceError
        If the model was fitted to rows without such means or medians, and does not have the values.
    """
    known, names = options_of_fit(model), getattr(model, "feature_names_in_", None)
    if known is not None and isinstance(X, (str, os.PathLike)):
        X = open_source(X, read_options=replace(known, kinds=None))
    source = open_source(X)
    if known is not None:
        if names is not None and source.feature_names is not None:  # there may be a column of weights among them
            by_name = dict(zip(names, known.kinds or (), strict=True))
            known = replace(known, kinds=tuple(by_name.get(name) for name in source.feature_names))
        source = source.read_like(known)
    values, rule = getattr(model, "fill_values_", None), getattr(model, "_fill_rule", "values")
    if not isinstance(source, FillingSource) or source.rule == "values":
        if values is None and not source.callers_own:
            source = copy.copy(source)
            source.remedy = _UNFILLED
        return source
    if values is None:
        raise SourceError(
            f"missing={source.rule!r} fills in what a fit found, and this model was fitted without missing='mean' or "
            "missing='median'; fit it again with one of them, or pass missing='drop'"
        )
    if rule not in ("values", source.rule):
        raise SourceError(
            f"missing={source.rule!r} contradicts the model, which was fitted with missing={rule!r} and has its "
            f"values; pass missing={rule!r}"
        )
    return source.filled_with(values)


def _in_memory(model: Any, file: FileRows, **checks: Any) -> MemoryRows:
    """All rows of a file, at most half of the memory limit, validated like an array."""
    block = file.whole(parse_memory(model.memory_limit) // 2)
    nameless = copy.copy(model)  # validating an array would delete the names of the file's columns
    x, weights = read_rows(nameless, block.x, block.weights, **checks)
    return MemoryRows(Block(x, weights), file.names, boxed=not is_precomputed(model.kernel))


def memory_rows(model: Any, X: Any, sample_weight: Any = None, **checks: Any) -> MemoryRows:
    """Validated rows of an array; the columns of `model` are set, or compared with those of X."""
    x, weights = read_rows(model, to_numpy_rows(X), to_numpy_rows(sample_weight), **checks)
    tensor = tensor_on(find_device(model.device), X, x) if is_tensor(X) else None
    names = getattr(model, "feature_names_in_", None)
    return MemoryRows(Block(x, weights, tensor=tensor), names, boxed=not is_precomputed(model.kernel))


def open_file(model: Any, X: Any, sample_weight: Any = None) -> FileRows:
    """Rows of a path, source or array with their weights, in blocks that suit the model's memory limit.

    `sample_weight` is an array, the name of a column of X, or None.
    """
    source, weights = open_source(X), None
    if isinstance(sample_weight, str):
        names = source.feature_names
        if names is None or sample_weight not in names:
            raise SourceError(
                f"sample_weight={sample_weight!r} is not a column of {source.name}; its columns are: {names}"
            )
        source = open_source(X, columns=[*(name for name in names if name != sample_weight), sample_weight])
    elif sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("sample_weight must be one finite, non-negative number per row")
    limit = None if model.memory_limit is None else parse_memory(model.memory_limit)
    return FileRows(source, block_rows_for(source.n_features, limit), weights, isinstance(sample_weight, str))


def read_rows(model: Any, X: Any, sample_weight: Any, **checks: Any) -> tuple[Any, Array]:
    """Validated rows (n, d) or Gram matrix (n, n), and weights (n,); `checks` go to scikit-learn's `validate_data`."""
    refuse_path(model, X)
    X = validate_data(model, X, accept_sparse="csr", dtype=FLOATS, **checks)
    if is_precomputed(getattr(model, "kernel", None)):
        X = read_gram(X)
    return X, read_weights(sample_weight, X)


def read_weights(sample_weight: Any, X: Any) -> Array:
    """Validated weights (n,) of rows X; all 1 where `sample_weight` is None."""
    weights: Array = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    with np.errstate(over="ignore"):
        refuse_weights(float(weights.sum()))
    return weights


def read_new_rows(model: Any, X: Any) -> Any:
    """Validated new rows (m, d) for a fitted estimator; a torch tensor becomes an array."""
    check_is_fitted(model)
    refuse_path(model, X)
    return validate_data(model, to_numpy_rows(X), accept_sparse="csr", dtype=FLOATS, reset=False)


def refuse_path(model: Any, X: Any) -> None:
    """Raise where X is a path, for methods that take only rows in memory."""
    if isinstance(X, (str, os.PathLike)):
        name = type(model).__name__
        raise ValueError(f"X={str(X)!r} is a path, but {name} takes only arrays; read the file, and pass its rows")


def to_numpy_rows(x: Any) -> Any:
    """A torch tensor as a NumPy array in host memory; anything else unchanged."""
    return to_numpy(x) if is_tensor(x) else x


def tensor_on(device: str, given: Any, rows: Any) -> Any:
    """`given`, if it is a tensor on `device` already, with the dtype of `rows` (n, d); otherwise None."""
    if not is_tensor(given) or device == "cpu" or given.device.type != ("cpu" if device == "torch" else "cuda"):
        return None
    return given if str(given.dtype).endswith(str(rows.dtype)) else None


def like_given(values: Any, x: Any) -> Any:
    """`values` as a tensor on the device of `x` where `x` is a tensor; floats get the dtype of `x`.

    Labels that are not numbers stay a NumPy array.
    """
    if not is_tensor(x) or np.asarray(values).dtype.kind not in "biuf":
        return values
    import torch

    tensor = torch.as_tensor(np.ascontiguousarray(values), device=x.device)
    return tensor.to(x.dtype) if tensor.is_floating_point() and x.is_floating_point() else tensor


def refuse_on_cluster(model: Any) -> None:
    """Raise for parameters that a fit of a Dask collection does not support; the message names an alternative."""
    if is_precomputed(model.kernel):
        raise ValueError("kernel='precomputed' needs the whole matrix in one place; pass X.compute(), or rows")
    if getattr(model, "center_input", False):
        raise ValueError("center_input=True is not supported on a cluster; pass X - X.mean(axis=0)")
    if model.scale_input:
        raise ValueError("scale_input=True is not supported on a cluster; pass (X - X.mean(axis=0)) / X.std(axis=0)")
    if getattr(model, "fit_inverse_transform", False):
        raise ValueError("fit_inverse_transform=True needs rows in one place; fit a sample of them, X[:n].compute()")
    if getattr(model, "checkpoint", None) is not None:
        raise ValueError(
            f"checkpoint={model.checkpoint!r} is for fits in one process; a cluster recomputes lost partitions "
            "automatically"
        )
    if getattr(model, "forget", None) is not None:
        raise ValueError(f"forget={model.forget!r} needs rows in order; use partial_fit, partition by partition")
    if model.device not in ("cpu", "auto"):
        raise ValueError(f"device={model.device!r} is not supported on a cluster; pass device='cpu'")


# scikit-learn's check of feature names would load a whole Dask collection, and its message cannot name open_source


def take_columns(model: Any, rows: Rows) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` as scikit-learn does."""
    model.n_features_in_ = rows.d
    if rows.names is not None:
        model.feature_names_in_ = np.array(rows.names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def refuse_other_columns(model: Any, X: Any) -> None:
    """Raise unless a Dask collection X has the columns that `model` was fitted to."""
    names = getattr(X, "columns", None)
    width = X.shape[1] if names is None else len(names)
    if width != model.n_features_in_:
        raise ValueError(
            f"X has {width} features, but {type(model).__name__} is expecting {model.n_features_in_} features as input"
        )
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"X has {list(names)}, the model {list(known)}"
        )


def refuse_other_source(model: Any, rows: Rows) -> None:
    """Raise unless a source has the columns that `model` was fitted to."""
    if rows.d != model.n_features_in_:
        raise SourceError(
            f"{rows.name} has {rows.d} columns, but the model was fitted to {model.n_features_in_}; select "
            "them with gramless.open_source(path, columns=[...])"
        )
    known = getattr(model, "feature_names_in_", None)
    if known is not None and rows.names is not None and list(known) != list(rows.names):
        apart = next((a, b) for a, b in zip(known, rows.names, strict=True) if a != b)
        raise SourceError(
            f"{rows.name} has the column {apart[1]!r} where the model was fitted to {apart[0]!r}; select its columns, "
            "in order, with gramless.open_source(path, columns=model.feature_names_in_)"
        )


def read_gram(gram: Any) -> Array:
    """A validated precomputed Gram matrix: square, dense, and symmetric, at least after centering."""
    if scipy.sparse.issparse(gram):
        raise ValueError("kernel='precomputed' needs a dense matrix; pass K.toarray()")
    n, m = gram.shape
    if n != m:
        raise ValueError(f"kernel='precomputed' needs a square matrix of kernel values; got shape {gram.shape}")
    worst, where = _largest_skew(gram, np.zeros(n))
    slack = (1e-8 if gram.dtype == np.float64 else 1e-4) * float(np.abs(gram).max(initial=0.0))
    if worst == 0:
        return np.asarray(gram)
    if worst <= slack:
        return _symmetrized(gram)
    means = (gram.sum(axis=1, dtype=np.float64) - gram.sum(axis=0, dtype=np.float64)) / n
    worst, where = _largest_skew(gram, means)
    if worst > slack:
        i, j = where
        raise ValueError(
            f"kernel='precomputed' needs a symmetric matrix: K[{i}, {j}]={gram[i, j]:g} but K[{j}, {i}]={gram[j, i]:g};"
            " pass (K + K.T) / 2 if that is intended"
        )
    return _symmetrized(gram)


def _symmetrized(gram: Array) -> Array:
    """The mean of a matrix and its transpose, in float64: rounding the mean to float32 would change the eigenvalues."""
    mean = np.empty(gram.shape)
    for rows, columns in _upper_blocks(len(gram)):
        mean[rows, columns] = (gram[rows, columns] + gram[columns, rows].T.astype(np.float64)) / 2
        mean[columns, rows] = mean[rows, columns].T
    return mean


def _largest_skew(gram: Array, means: Array) -> tuple[float, tuple[int, int]]:
    """Largest entry, in modulus, of ``gram - gram.T - means[:, None] + means``, and its indices."""
    worst, where = -1.0, (0, 0)
    for rows, columns in _upper_blocks(len(gram)):
        skew = gram[rows, columns] - gram[columns, rows].T - means[rows, None] + means[columns]
        np.abs(skew, out=skew)
        i, j = np.unravel_index(int(np.argmax(skew)), skew.shape)
        if skew[i, j] > worst:
            worst, where = float(skew[i, j]), (rows.start + int(i), columns.start + int(j))
    return worst, where


def _upper_blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Blocks on and above the diagonal of an (n, n) matrix: a block and the one across both fit in cache."""
    for top in range(0, n, _BLOCK):
        for left in range(top, n, _BLOCK):
            yield slice(top, top + _BLOCK), slice(left, left + _BLOCK)
