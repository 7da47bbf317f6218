"""Clusters of data that lies in parts on the workers of a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramless.arrays import Array, use_threads
from gramless.clustering import CenterModel
from gramless.estimators.columns import refuse_other_columns, take_columns
from gramless.estimators.parted import on_workers, parted_kernel, refuse_device
from gramless.estimators.posing import pose_problem
from gramless.estimators.reading import is_precomputed
from gramless.routes.parted import PartedRows


def fit_clusters_of_parts(model: Any, library: Any, X: Any, sample_weight: Any) -> Any:
    """Fit a KernelKMeans to data in parts; `library` opens it."""
    if is_precomputed(model.kernel):
        raise ValueError("kernel='precomputed' needs the whole matrix in one place; pass X.compute(), or rows")
    if model.scale_input:
        raise ValueError("scale_input=True is not done on a cluster; pass (X - X.mean(axis=0)) / X.std(axis=0)")
    refuse_device(model.device)
    with use_threads(model.n_jobs), library.open_parts(X, sample_weight) as (parts, names):
        rows = PartedRows(parts, names)
        take_columns(model, rows)
        model._refuse_too_many(rows.positive, rows.shape[0])
        settings = model._settings(rows.shape[0])
        model.gamma_, kernel = parted_kernel(model, rows)
        problem = pose_problem(
            kernel, rows, np.array([rows.weight]), model.n_clusters, model.accuracy, model.memory_limit
        )
        found = model._carry_out(on_workers(problem, model, rows), rows, rows.weights, settings)
        model._keep(found, None, rows.weights)
        del model.X_fit_  # the rows stay where they are, but for those nearest to the centres
        model._prototype_rows = rows[np.maximum(model.prototype_indices_, 0)]
    return model


def labels_of_parts(model: Any, library: Any, X: Any) -> Any:
    """Nearest centres, when they are computed."""
    check_is_fitted(model)
    refuse_other_columns(model, X)
    return library.map_rows(X, _RowsOf(model._model).nearest, None, np.int32)


def transform_clusters_of_parts(model: Any, library: Any, X: Any) -> Any:
    """Distances from the centres, when they are computed."""
    check_is_fitted(model)
    refuse_other_columns(model, X)
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    return library.map_rows(X, _RowsOf(model._model).distances, model.n_clusters, dtype)


def score_of_parts(model: Any, library: Any, X: Any, sample_weight: Any) -> float:
    """The inertia, times -1."""
    check_is_fitted(model)
    refuse_other_columns(model, X)
    squares = library.map_rows(X, _RowsOf(model._model).squares, None, np.float64)
    return -float((squares if sample_weight is None else squares * sample_weight).sum().compute())


class _RowsOf:
    """A model of centres for blocks of rows, which are checked first."""

    def __init__(self, model: CenterModel) -> None:
        self._model = model

    def nearest(self, rows: Array) -> Array:
        return self._model.nearest(self._checked(rows)).astype(np.int32)

    def distances(self, rows: Array) -> Array:
        return np.sqrt(self._model.distances2(self._checked(rows))).astype(_float(rows), copy=False)

    def squares(self, rows: Array) -> Array:
        return np.asarray(self._model.distances2(self._checked(rows)).min(axis=1))

    def _checked(self, rows: Array) -> Array:
        rows = np.asarray(rows, dtype=_float(rows))
        if not np.isfinite(rows).all():
            raise ValueError("Input X contains NaN or infinity; fill in or leave out such rows")
        return rows


def _float(rows: Array) -> Any:
    return np.float32 if rows.dtype == np.float32 else np.float64
