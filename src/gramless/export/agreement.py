"""How well a written model agrees with the estimator, measured in onnxruntime."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.errors import ExportError
from gramless.features import FourierMap
from gramless.spaces import Span

#: Largest difference of a result, relative to the largest one, with which a model is written.
LIMITS = {"float64": 1e-6, "float32": 1e-2}


@dataclass(frozen=True)
class Agreement:
    """Results of a written model compared with those of the estimator, on some rows.

    Attributes
    ----------
    rows : int
        Number of rows; 0 where onnxruntime is not installed, and nothing was compared.
    difference : float
        Largest difference of a number, divided by the largest modulus of that result; nan where nothing was compared.
    labels : int
        Number of rows whose label differs.
    runtime : str
        Name and version of the runtime; empty where nothing was compared.
    """

    rows: int = 0
    difference: float = float("nan")
    labels: int = 0
    runtime: str = ""

    def facts(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "difference": self.difference if self.rows else None}

    def __str__(self) -> str:
        if not self.rows:
            return "not compared: onnxruntime is not installed"
        labels = f", {self.labels} labels differ" if self.labels else ""
        return f"differs by {self.difference:.1e} from Python on {self.rows} rows{labels} ({self.runtime})"


def measure(written: bytes, rows: Array, expected: dict[str, Array], error: float = 0.0) -> Agreement:
    """Run a model in onnxruntime, if it is installed, and compare.

    Parameters
    ----------
    written : bytes
        The model.
    rows : ndarray of shape (n, d)
        In the precision of the model.
    expected : dict of str to ndarray
        Results of the estimator, by the names of the outputs.
    error : float
        Error of these results themselves, relative to the largest; see :func:`estimator_error`.

    Raises
    ------
    ExportError
        If a result differs by more than :data:`LIMITS`, or more than one label and one in a hundred differ.
    """
    try:
        import onnxruntime
    except ImportError:
        return Agreement()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(written, options, providers=["CPUExecutionProvider"])
    found = dict(zip(expected, session.run(list(expected), {"X": rows}), strict=True))
    numbers = {name for name, values in expected.items() if name != "predict" and values.dtype.kind == "f"}
    difference = max((_difference(found[name], expected[name]) for name in numbers), default=0.0)
    labels = sum(int((found[name] != expected[name]).sum()) for name in expected.keys() - numbers)
    made = Agreement(len(rows), difference, labels, f"onnxruntime {onnxruntime.__version__}")
    limit = LIMITS[rows.dtype.name] + error
    if not difference <= limit or labels > max(1, len(rows) // 100):
        remedy = "pass dtype='float64'" if rows.dtype == np.float32 else "scale the data, with scale_input=True"
        raise ExportError(
            f"the model as ONNX in {rows.dtype} is not accurate enough: it {made}; at most "
            f"{limit:.0e} is accepted; {remedy}"
        )
    return made


def estimator_error(span: Span) -> float:
    """Error of an estimator's results, apart from rounding: Fourier features are summed by fast transforms in Python.

    These have the accuracy that the fit needed, and the file, which sums directly, is more accurate.
    """
    features = getattr(span, "features", None)
    return 100 * features.eps if isinstance(features, FourierMap) else 0.0


def _difference(found: Array, expected: Array) -> float:
    finite = np.isfinite(expected)
    if found.shape != expected.shape or (found[~finite] != expected[~finite]).any():
        return float("inf")
    largest = float(np.abs(expected[finite]).max(initial=0.0))
    return float(np.abs(found[finite] - expected[finite]).max(initial=0.0)) / (largest or 1.0)
