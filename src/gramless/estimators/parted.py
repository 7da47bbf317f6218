"""Fits to data that lies in parts on the workers of a cluster, and lazy projections of such data."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramless.arrays import evenly_spaced, parse_memory, refuse_weights, use_threads
from gramless.estimators.asking import make_request, pose_components, to_plan
from gramless.estimators.bandwidth import gamma_of_variance, resolve_gamma
from gramless.estimators.columns import refuse_other_columns, take_columns
from gramless.estimators.dominance import chooses_by_distances, warn_of_column
from gramless.estimators.following import following
from gramless.estimators.reading import is_precomputed, read_kernel
from gramless.estimators.select_bandwidth import SEARCHED, searched_gamma
from gramless.kernels import Kernel
from gramless.planning import Plan
from gramless.problem import Problem
from gramless.progress import observer
from gramless.routes import Fitted
from gramless.routes.parted import PartedRows, parted_methods, plan_parted
from gramless.spaces import PointSpan


def fit_parts(model: Any, library: Any, X: Any, sample_weight: Any) -> Any:
    """Fit a KernelPCA to data in parts; `library` opens it."""
    _refuse(model)
    with (
        following(model, X, None, sample_weight),
        use_threads(model.n_jobs),
        library.open_parts(X, sample_weight) as (parts, names),
    ):
        rows = PartedRows(parts, names)
        take_columns(model, rows)
        _refuse_too_many(model, rows)
        model.gamma_, kernel = parted_kernel(model, rows)
        problem = on_workers(pose_components(model, rows, kernel, np.array([rows.weight])), model, rows)
        fitted = _carry_out(model, problem, rows)
        model._forget()
        if isinstance(fitted.space.span, PointSpan):  # components on the training rows, which are here by now
            model._keep(fitted, fitted.space.span.points, rows.weights)
        else:
            model._set(fitted, rows.dtype)
    return model


def transform_parts(model: Any, library: Any, X: Any, out: Any = None) -> Any:
    """Components of data in parts, computed when they are asked for."""
    check_is_fitted(model)
    refuse_other_columns(model, X)
    if out is not None:
        raise ValueError(f"out={out!r} is for files; store what transform(X) returns with Dask, e.g. da.to_npy_stack")
    fitted = replace(model._fitted, vectors=None, moments=None, residuals=None)  # a stream makes its model now
    lean = copy.copy(model)
    lean.__dict__ = {name: value for name, value in model.__dict__.items() if name not in _LEFT_HERE}
    lean.n_jobs, lean._fitted = 1, fitted
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    return library.map_rows(X, lean.transform, model._n_features_out, dtype)


#: Attributes that projecting does not need; names of columns have been compared by then.
_LEFT_HERE = (
    *("X_fit_", "_weights", "_sample", "_preimage", "dual_coef_", "X_transformed_fit_"),
    *("plan_", "_stream", "feature_names_in_"),
)

_SEARCHED_ROWS = 4096  # on which a bandwidth is searched for


def parted_kernel(model: Any, rows: PartedRows) -> tuple[float, Kernel]:
    """The number that `gamma` stands for, and the kernel: from the variance, or from rows of many parts."""
    gamma = model.gamma
    if chooses_by_distances(model):
        remedy = "pass (X - X.mean(axis=0)) / X.std(axis=0), or leave it out"
        warn_of_column(rows.variances, rows.feature_names, f"gamma={gamma!r}", remedy)
    if isinstance(gamma, str) and gamma == "scale":
        gamma = gamma_of_variance(rows.variance, rows.shape[1], model.kernel)
    elif isinstance(gamma, str) and gamma in SEARCHED:
        x, weights = rows.view()
        chosen = evenly_spaced(x.shape[0], _SEARCHED_ROWS)
        gamma = searched_gamma(model, x[chosen], weights[chosen])
    x, weights = rows.view() if isinstance(gamma, str) else (rows, np.ones(0))
    number = resolve_gamma(gamma, x, weights, model.kernel)
    return number, read_kernel(model.kernel, number, model.degree, model.coef0, model.kernel_params)


def on_workers(problem: Problem, model: Any, rows: PartedRows) -> Problem:
    """The problem as it is on a cluster: its workers, its partitions, and the memory of the smallest."""
    limit = rows.parts.memory if model.memory_limit is None else parse_memory(model.memory_limit)
    return replace(
        problem,
        workers=rows.parts.workers,
        partitions=len(rows.parts),
        memory_limit=limit,
        weight=rows.weight,
        support=getattr(model, "max_support", None),
    )


def _carry_out(model: Any, problem: Problem, rows: PartedRows) -> Fitted:
    """Plan and run; a method that finds that memory does not suffice gives way, as it does in one process."""

    def run(plan: Plan) -> Fitted:
        observer().begins(plan.chosen, plan.candidates[plan.chosen].seconds)
        return parted_methods[plan.chosen].run(problem, rows, make_request(model))

    plan = plan_parted(to_plan(model, problem), model.method)
    plan.warn_if_long()
    model.plan_, fitted = plan.carry_out(run)
    model.method_ = model.plan_.chosen
    return fitted


def _refuse(model: Any) -> None:
    """Say what a fit on a cluster cannot do, and what can be done instead."""
    if is_precomputed(model.kernel):
        raise ValueError("kernel='precomputed' needs the whole matrix in one place; pass X.compute(), or rows")
    if model.center_input:
        raise ValueError("center_input=True is not done on a cluster; pass X - X.mean(axis=0)")
    if model.scale_input:
        raise ValueError("scale_input=True is not done on a cluster; pass (X - X.mean(axis=0)) / X.std(axis=0)")
    if model.fit_inverse_transform:
        raise ValueError("fit_inverse_transform=True needs rows in one place; fit a sample of them, X[:n].compute()")
    if model.checkpoint is not None:
        raise ValueError(
            f"checkpoint={model.checkpoint!r} is for fits in one process; a cluster does lost work again by itself"
        )
    if model.forget is not None:
        raise ValueError(f"forget={model.forget!r} needs rows in their order; use partial_fit, partition by partition")
    refuse_device(model.device)


def refuse_device(device: str) -> None:
    """Workers of a cluster use their CPUs."""
    if device not in ("cpu", "auto"):
        raise ValueError(f"device={device!r} is not used on a cluster; pass device='cpu'")


def _refuse_too_many(model: Any, rows: PartedRows) -> None:
    n = rows.shape[0]
    if n < 2:
        raise ValueError(f"Found array with {n} sample(s) while a minimum of 2 is required")
    if isinstance(model.n_components, Integral) and int(model.n_components) > n:
        raise ValueError(f"n_components={model.n_components} is more than the {n} samples given; pass at most {n}")
    refuse_weights(rows.weight)
