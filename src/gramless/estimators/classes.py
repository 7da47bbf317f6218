"""What both discriminants have in common: parameters, what files keep, classes, and their scatters in coordinates."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from gramless.arrays import Array
from gramless.discriminants import ClassScatter, Projection, gather_classes
from gramless.estimators.constraints import KERNEL_CONSTRAINTS
from gramless.estimators.coordinates import find_eigenspace, training_coordinates
from gramless.estimators.devices import to_numpy_rows
from gramless.estimators.reading import is_precomputed, read_gram, read_weights, refuse_path
from gramless.planning import Plan, methods
from gramless.spaces import Eigenspace

#: What the parameters of either discriminant may be.
CONSTRAINTS: dict[str, list[Any]] = {
    **KERNEL_CONSTRAINTS,
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "n_coordinates": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither"), None],
    "method": [StrOptions({"auto", *methods})],
}

#: Attributes that `save` writes of either discriminant.
SAVED: dict[str, Any] = {
    "classes_": np.ndarray,
    "_projection": Projection,
    **dict.fromkeys(("shrinkage_", "gamma_"), float),
    "n_coordinates_": int,
    "method_": str,
    "plan_": Plan,
}


def read_classes(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array, Array]:
    """Rows, classes (c,), labels 0 .. c - 1 (n,) and weights (n,), checked; every class must have a row that counts."""
    X, y, sample_weight = to_numpy_rows(X), to_numpy_rows(y), to_numpy_rows(sample_weight)
    refuse_path(model, X)
    X, y = validate_data(model, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
    if is_precomputed(model.kernel):
        X = read_gram(X)
    check_classification_targets(y)
    weights = read_weights(sample_weight, X)
    classes, labels = np.unique(y[weights > 0], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} class with positive weight; a discriminant needs at least 2")
    everywhere = np.zeros(len(weights), dtype=np.intp)  # rows of weight 0 count nowhere, whatever their label
    everywhere[weights > 0] = labels
    return X, classes, everywhere, weights


def gather_in_coordinates(
    model: Any, X: Any, labels: Array, weights: Array, given: Any
) -> tuple[Eigenspace, ClassScatter]:
    """Leading components of the rows, and the scatters of the classes in their coordinates.

    Sets how they were found: ``gamma_``, ``plan_``, ``method_`` and ``n_coordinates_``. `given` are the rows as they
    came, perhaps as a tensor.
    """
    model.gamma_, model.plan_, fitted = find_eigenspace(model, X, weights, given)
    model.method_, model.n_coordinates_ = model.plan_.chosen, len(fitted.space.scatter)
    coordinates = training_coordinates(model.plan_, fitted, X, weights, given)
    return fitted.space, gather_classes(coordinates, labels, weights, len(model.classes_))
