"""Fitted models as ONNX files, for programs without gramless and without Python. Needs onnx: ``pip install ".[onnx]"``.

How a kernel or a feature map is written in the operators of ONNX is its own method, ``symbolic``.
"""

from gramless.export.agreement import Agreement
from gramless.export.file import OPSET, write_onnx
from gramless.export.graph import Graph, Symbol

__all__ = ["OPSET", "Agreement", "Graph", "Symbol", "write_onnx"]
