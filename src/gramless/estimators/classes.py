"""Parts common to both discriminant analyses: parameters, saved attributes, classes, and their scatter matrices."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from gramless.arrays import Array
from gramless.arrays.devices import find_device
from gramless.data import Block, MemoryRows
from gramless.discriminants import ClassScatter, Projection, gather_classes, training_coordinates
from gramless.estimators.checking import FLOATS, read_gram, read_weights, refuse_path, tensor_on, to_numpy_rows
from gramless.estimators.compressing import Compressing, numbered, outputs_on_points
from gramless.estimators.parameters import KERNEL_CONSTRAINTS, MethodNames, components_asked, kernel_choice
from gramless.fitting import fit
from gramless.fitting.methods import Plan, methods
from gramless.fitting.question import Question
from gramless.kernels import is_precomputed
from gramless.spaces import Compression, Eigenspace, Outputs, PointSpan

_TOL = 1e-6

#: Constraints of the parameters of both discriminant analyses.
CONSTRAINTS: dict[str, list[Any]] = {
    **KERNEL_CONSTRAINTS,
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "n_coordinates": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither"), None],
    "method": [MethodNames({"auto", *methods})],
}

#: Attributes of both discriminant analyses that `save` writes.
SAVED: dict[str, Any] = {
    "classes_": np.ndarray,
    "_projection": Projection,
    "compression_": Compression,
    **dict.fromkeys(("shrinkage_", "gamma_"), float),
    "n_coordinates_": int,
    "method_": str,
    "plan_": Plan,
}


class CompressingProjection(Compressing):
    """Mixin with the method `compressed`, for estimators whose outputs are coordinates along directions."""

    _projection: Projection
    compression_: Compression

    def _outputs(self) -> Outputs | Compression:
        coefficients = self._projection.coefficients
        return outputs_on_points(self._projection.span, coefficients, numbered(coefficients.shape[1]))

    def _on_fewer(self, points: Any, coefficients: Any, compression: Compression) -> Self:
        smaller = copy.copy(self)
        smaller.compression_ = compression
        if points is not None:
            span: Any = self._projection.span
            smaller._projection = Projection(
                PointSpan(span.kernel, points, span.device), coefficients, self._projection.offset
            )
        return smaller


def read_classes(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array, Array]:
    """Validated rows, classes (c,), labels 0 .. c - 1 (n,) and weights (n,); classes of weight 0 are left out."""
    X, y, sample_weight = to_numpy_rows(X), to_numpy_rows(y), to_numpy_rows(sample_weight)
    refuse_path(model, X)
    X, y = validate_data(model, X, y, accept_sparse="csr", dtype=FLOATS)
    if is_precomputed(model.kernel):
        X = read_gram(X)
    check_classification_targets(y)
    weights = read_weights(sample_weight, X)
    classes, labels = np.unique(y[weights > 0], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} class with positive weight; discriminant analysis needs at least 2")
    everywhere = np.zeros(len(weights), dtype=np.intp)  # the label of a row of weight 0 has no effect
    everywhere[weights > 0] = labels
    return X, classes, everywhere, weights


def gather_in_coordinates(
    model: Any, X: Any, labels: Array, weights: Array, given: Any
) -> tuple[Eigenspace, ClassScatter]:
    """Leading components of the rows, and the scatter of the classes in the coordinates of these components.

    Sets ``gamma_``, ``plan_``, ``method_`` and ``n_coordinates_`` of `model`. `given` is the caller's X, which may be a
    tensor.
    """
    tensor = tensor_on(find_device(model.device), given, X)
    names = getattr(model, "feature_names_in_", None)
    rows = MemoryRows(Block(X, weights, tensor=tensor), names, boxed=not is_precomputed(model.kernel))
    question = Question(
        kernel=kernel_choice(model),
        **components_asked(model.n_coordinates),
        tol=_TOL,
        method=model.method,
        memory_limit=model.memory_limit,
        device=model.device,
        fewest=1,
        seed=model.random_state,
    )
    found = fit(question, rows)
    model.gamma_, model.plan_, model.method_ = found.gamma, found.plan, found.plan.chosen
    model.n_coordinates_ = len(found.finished.space.scatter)
    coordinates = training_coordinates(found, rows.block)
    return found.finished.space, gather_classes(coordinates, labels, weights, len(model.classes_))
