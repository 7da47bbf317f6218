"""A graph as an ONNX file with metadata, compared with its estimator before it takes its place."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gramless._version import __version__
from gramless.arrays import Array
from gramless.errors import ExportError
from gramless.export.agreement import Agreement, measure
from gramless.export.graph import MOST, Graph, Symbol
from gramless.persistence.outputs import check_onnx_output
from gramless.persistence.replacing import replacing

#: Version of the set of operators: that of ONNX 1.8 (2020), which onnxruntime reads from 1.6 on.
OPSET = 13
_IR = 7  # version of the file format that came with it


def write_onnx(
    path: Any,
    graph: Graph,
    outputs: dict[str, Symbol],
    rows: Array,
    expected: dict[str, Array],
    metadata: dict[str, Any],
    error: float = 0.0,
) -> Agreement:
    """Write a graph to a file atomically, after its results were compared with those that are expected.

    Parameters
    ----------
    path : str or Path
        An existing ONNX file of gramless is replaced in one step.
    graph : Graph
        With the input ``X``, of as many columns as `rows` has.
    outputs : dict of str to Symbol
    rows : ndarray of shape (n, d)
        Rows to compare results on.
    expected : dict of str to ndarray
        Results of the estimator for these rows, by the names of the outputs.
    metadata : dict of str to object
        Strings, or values that are written as JSON; their names in the file begin with ``gramless.``.

    error : float
        Error of the results of the estimator, relative to the largest.

    Returns
    -------
    Agreement

    Raises
    ------
    ExportError
        If the results differ, or the file would be too large.
    FileExistsError
        If there is a file that is not an ONNX model of gramless.
    """
    import onnx

    check_onnx_output(path)
    given = {name: _plain(values) for name, values in expected.items()}
    model = _model(graph, outputs, rows.shape[1], given)
    agreement = measure(_bytes(model), rows.astype(graph.dtype), given, error)
    kept = {**metadata, "version": __version__, "dtype": graph.dtype.name, "agreement": agreement.facts()}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in kept.items()}
    onnx.helper.set_model_props(model, {f"gramless.{name}": text for name, text in texts.items()})
    onnx.checker.check_model(model)
    with replacing(path) as file:
        file.write(_bytes(model))
    return agreement


def _model(graph: Graph, outputs: dict[str, Symbol], columns: int, expected: dict[str, Array]) -> Any:
    from onnx import helper, numpy_helper

    kind = helper.np_dtype_to_tensor_dtype(graph.dtype)
    given = helper.make_tensor_value_info("X", kind, ["rows", columns])
    nodes, used = graph.used(outputs)
    results = []
    for name, symbol in outputs.items():
        values = expected[name]
        floats = values.dtype.kind == "f" and name != "predict"
        sort = kind if floats else helper.np_dtype_to_tensor_dtype(values.dtype)
        results.append(helper.make_tensor_value_info(name, sort, ["rows", *values.shape[1:]]))
        nodes.append(helper.make_node("Identity", [symbol.name], [name]))
    constants = [numpy_helper.from_array(_plain(array), name) for name, array in used.items()]
    body = helper.make_graph(nodes, "gramless", [given], results, constants)
    opset = [helper.make_opsetid("", OPSET)]
    made = {"opset_imports": opset, "ir_version": _IR, "producer_name": "gramless", "producer_version": __version__}
    return helper.make_model(body, **made)


def _plain(values: Array) -> Array:
    """An array of a type that ONNX has: labels are integers of 64 bits, floats, booleans or strings."""
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    if values.dtype.kind in "OU":
        if not all(isinstance(value, str) for value in values.ravel()):
            raise ExportError("labels of this type cannot be written to ONNX; use strings or integers")
        return values.astype(object)
    return values


def _bytes(model: Any) -> bytes:
    if model.ByteSize() > MOST:
        raise ExportError("the model takes more than 2 GB as an ONNX file; fit with method='landmarks' or fewer rows")
    return bytes(model.SerializeToString())
