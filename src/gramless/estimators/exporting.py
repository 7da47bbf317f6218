"""Models as ONNX files: the method `to_onnx` of estimators."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramless.arrays import Array, Symbolic
from gramless.errors import ExportError
from gramless.estimators.checking import read_new_rows
from gramless.export import OPSET, Agreement, Graph, write_onnx
from gramless.export.rows import some_rows
from gramless.persistence.outputs import check_onnx_output


class Exporting:
    """Mixin with the method `to_onnx`."""

    n_features_in_: int

    @abstractmethod
    def symbolic(self, x: Symbolic) -> dict[str, Any]:
        """Results for symbolic rows, by the names of the methods that return them."""

    @abstractmethod
    def _rows_to_compare(self) -> Array:
        """Rows (n, d), in the units of the input, that this model is accurate for."""

    def _results_error(self) -> float:
        """Error of this model's results, relative to the largest and apart from rounding."""
        return 0.0

    def to_onnx(self, path: Any, X: Any = None, *, dtype: Any = "float64") -> Agreement:
        """Write the model as an ONNX file, which runs without gramless and without Python.

        The file takes rows ``X`` (any number of them) and has an output for each of the methods `transform`,
        `predict`, `decision_function` and `predict_proba` that the estimator has; of k-means, `predict` only. Scaling
        of the input is included. Before the file takes its place, its results are compared with those of this
        estimator in onnxruntime, if that is installed. Kernel, method, certificate, names of the columns and the
        measured difference are in the metadata of the file.

        Parameters
        ----------
        path : str or Path
            An existing ONNX file of gramless is replaced in one step.
        X : array-like of shape (m, n_features), default=None
            Rows to compare results on; None: at most 256 of the training rows or, where these are not stored, rows
            within the range of the model.
        dtype : {"float64", "float32"}, default="float64"
            Precision of the file, of its input and of its results. Some runtimes have float32 only.

        Returns
        -------
        Agreement
            The largest difference, and the number of rows that were compared.

        Raises
        ------
        ExportError
            If the kernel or the method cannot be written in the operators of ONNX, if the results differ by more than
            1e-6 of the largest (float32: 1e-2), or if the file would be larger than 2 GB.
        FileExistsError
            If there is a file that is not an ONNX model of gramless.
        """
        check_is_fitted(self)
        precision = _precision(dtype)
        check_onnx_output(path)
        graph = Graph(precision)
        outputs = self.symbolic(graph.input("X"))
        rows = self._rows_to_compare() if X is None else some_rows(read_new_rows(self, X))
        rows = rows.astype(precision).astype(np.float64)  # the input that the file gets
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            expected = {name: np.asarray(getattr(self, name)(rows)) for name in outputs}
        return write_onnx(path, graph, outputs, rows, expected, _metadata(self), self._results_error())


def _precision(dtype: Any) -> np.dtype[Any]:
    for precision in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype is not None and dtype in (precision.name, precision):
            return precision
    raise ValueError(f"dtype={dtype!r} is invalid; pass 'float64' or 'float32'")


def _metadata(model: Any) -> dict[str, Any]:
    """What a user of the file may want to know of the model; infinite numbers are strings."""
    names = getattr(model, "feature_names_in_", None)
    found: dict[str, Any] = {
        "estimator": type(model).__name__,
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "opset": OPSET,
    }
    if hasattr(model, "plan_"):
        found |= {"kernel": str(model.plan_.problem.kernel), "method": model.method_}
    if hasattr(model, "certificate_"):
        found["certificate"] = _certificate(model.certificate_)
    if hasattr(model, "fill_values_"):
        found["fill_values"] = model.fill_values_.tolist()
    if hasattr(model, "classes_"):
        found["classes"] = model.classes_.tolist()
    return found


def _certificate(certificate: Any) -> dict[str, Any]:
    arrays = {name: getattr(certificate, name) for name in ("values", "lower", "upper", "angle")}
    listed = {name: [_number(value) for value in array.tolist()] for name, array in arrays.items()}
    return {**listed, "kind": certificate.kind.tolist(), "failure_probability": certificate.failure_probability}


def _number(value: float) -> Any:
    return value if np.isfinite(value) else str(value)


def label_output(classes: Array, index: Any) -> Any:
    """The class that a symbolic index names."""
    if classes.dtype.kind not in "iubfUO":
        raise ExportError(f"classes of type {classes.dtype} cannot be written to ONNX; use strings or integers")
    return index.__array_namespace__().take(classes, index, axis=0)
