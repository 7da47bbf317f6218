"""An ONNX graph, and its arrays: formulas applied to them become nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array, Symbolic
from gramless.errors import ExportError

#: Bytes of constants that a file may have: protobuf ends at 2 GiB.
MOST = 2**31 - 2**20


class Graph:
    """Nodes and constants of an ONNX graph in one precision.

    Parameters
    ----------
    dtype : dtype
        float64 or float32, for all numbers of the graph.

    Attributes
    ----------
    nodes : list of onnx.NodeProto
    constants : dict of str to ndarray

    Examples
    --------
    >>> graph = Graph("float64")
    >>> x = graph.input("X")
    >>> y = 2 * x @ np.eye(3) + 1
    >>> [node.op_type for node in graph.nodes]
    ['Mul', 'MatMul', 'Add']
    >>> [node.op_type for node in graph.used({"y": y})[0]]  # the number is part of the matrix
    ['MatMul', 'Add']
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        try:
            from onnx import helper
        except ImportError:
            raise ImportError(
                'ONNX files need onnx, which is not installed; in the folder of gramless, run: pip install ".[onnx]"'
            ) from None
        self._make_node = helper.make_node
        self.dtype = np.dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self._scaled: dict[str, tuple[Symbol, float]] = {}  # results of a multiplication by a number
        self._products: dict[str, tuple[Symbol, Array]] = {}  # results of a matrix product with a constant

    def input(self, name: str) -> Symbol:
        """An array that is given to the graph."""
        return Symbol(self, name)

    def constant(self, value: Any, *, exact: bool = False) -> str:
        """The name of a constant; numbers take the precision of the graph unless `exact`, integers and strings stay.

        Raises
        ------
        ExportError
            If a number is too large for the precision.
        """
        given = np.asarray(value)
        with np.errstate(over="ignore"):
            array = given.astype(self.dtype) if given.dtype.kind == "f" and not exact else given
        if given.dtype.kind == "f" and np.isinf(array).sum() > np.isinf(given).sum():
            raise ExportError(f"numbers of this model exceed {self.dtype}; pass dtype='float64', or scale the data")
        name = f"c{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(array).reshape(array.shape)
        return name

    def node(self, operator: str, *inputs: Any, **attributes: Any) -> Symbol:
        """The result of an operator; inputs that are not symbols become constants, None an omitted input."""
        names = ["" if value is None else self.name(value) for value in inputs]
        output = f"n{len(self.nodes)}"
        self.nodes.append(self._make_node(operator, names, [output], **attributes))
        return Symbol(self, output)

    def scaled(self, x: Symbol, factor: float) -> Symbol:
        """`x` times a number, which goes into the constant of a matrix product where `x` is one.

        onnxruntime makes a number before or after a matrix product an attribute of the product, in float32 even if the
        product is in float64; so there must be none. It sees through a sum with 0, which is omitted for this reason.
        """
        if factor == 1:
            return x
        if x.name in self._scaled:
            x, before = self._scaled[x.name]
            factor *= before
        if x.name in self._products:
            left, right = self._products[x.name]
            return self.product(left, right * factor)
        made = self.node("Mul", x, factor)
        self._scaled[made.name] = x, factor
        return made

    def product(self, x: Symbol, matrix: Array) -> Symbol:
        """The matrix product of `x` and a constant; the number that `x` is multiplied by goes into the constant."""
        if x.name in self._scaled:
            x, factor = self._scaled[x.name]
            matrix = matrix * factor
        made = self.node("MatMul", x, matrix)
        self._products[made.name] = x, matrix
        return made

    def used(self, outputs: dict[str, Symbol]) -> tuple[list[Any], dict[str, Array]]:
        """The nodes and constants that outputs depend on.

        Raises
        ------
        ExportError
            If these constants are too large for a file.
        """
        needed = {symbol.name for symbol in outputs.values()}
        nodes = []
        for node in reversed(self.nodes):
            if needed & set(node.output):
                needed |= set(node.input)
                nodes.append(node)
        constants = {name: array for name, array in self.constants.items() if name in needed}
        if sum(array.nbytes for array in constants.values()) > MOST:
            raise ExportError(
                "the arrays of this model take more than 2 GB, the maximum of an ONNX file; fit with "
                "method='landmarks' or fewer rows, or pass dtype='float32'"
            )
        return nodes[::-1], constants

    def name(self, value: Any) -> str:
        """The name of a symbol, or of a constant; Python's numbers are floats."""
        if isinstance(value, Symbol):
            return value.name
        return self.constant(float(value) if isinstance(value, (int, float)) else value)


class Symbol(Symbolic):
    """An array of a graph, by its name. Operators and :class:`Functions` add nodes to the graph.

    Parameters
    ----------
    graph : Graph
    name : str
    """

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def __array_namespace__(self) -> Functions:
        return Functions(self.graph)

    def __add__(self, other: Any) -> Symbol:
        return self if _number(other) == 0 else self.graph.node("Add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return self.__add__(other)

    def __sub__(self, other: Any) -> Symbol:
        if _number(other) == 0:
            return self
        made = self.graph.node("Sub", self, other)
        if isinstance(other, np.ndarray) and self.graph.dtype == np.float32:
            # rows far from the origin: their mean needs more digits than float32 has, their difference does not
            rest = other - other.astype(np.float32).astype(np.float64)
            made = self.graph.node("Sub", made, rest) if rest.any() else made
        return made

    def __rsub__(self, other: Any) -> Symbol:
        return self.graph.node("Sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        number = _number(other)
        return self.graph.node("Mul", self, other) if number is None else self.graph.scaled(self, number)

    def __rmul__(self, other: Any) -> Symbol:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Symbol:
        number = _number(other)
        return self.graph.node("Div", self, other) if number is None else self.graph.scaled(self, 1 / number)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self.graph.node("Div", other, self)

    def __pow__(self, other: Any) -> Symbol:
        return self.graph.node("Pow", self, other)

    def __matmul__(self, other: Any) -> Symbol:
        return self.graph.product(self, other)

    def __neg__(self) -> Symbol:
        return self.graph.node("Neg", self)

    def __abs__(self) -> Symbol:
        return self.graph.node("Abs", self)

    def __gt__(self, other: Any) -> Symbol:
        return self.graph.node("Greater", self, other)

    def __le__(self, other: Any) -> Symbol:
        return self.graph.node("LessOrEqual", self, other)

    def sum(self, axis: int, keepdims: bool = False) -> Symbol:
        """Sum along an axis."""
        return self.graph.node("ReduceSum", self, np.array([axis]), keepdims=int(keepdims))

    def max(self, axis: int, keepdims: bool = False) -> Symbol:
        """Maximum along an axis."""
        return self.graph.node("ReduceMax", self, axes=[axis], keepdims=int(keepdims))

    def copy(self) -> Symbol:
        """The same: a symbol is never changed."""
        return self


def _number(value: Any) -> float | None:
    """A single number, which may be in an array; otherwise None."""
    return None if isinstance(value, Symbol) or np.size(value) != 1 else float(np.reshape(value, ()))


class Functions:
    """Functions of symbols, under the names that they have in numpy; `out` is accepted and ignored.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def exp(self, x: Symbol, out: Any = None) -> Symbol:
        """e^x."""
        return self.graph.node("Exp", x)

    def log(self, x: Symbol, out: Any = None) -> Symbol:
        """Natural logarithm."""
        return self.graph.node("Log", x)

    def sqrt(self, x: Symbol, out: Any = None) -> Symbol:
        """Square root."""
        return self.graph.node("Sqrt", x)

    def tanh(self, x: Symbol, out: Any = None) -> Symbol:
        """Hyperbolic tangent."""
        return self.graph.node("Tanh", x)

    def sin(self, x: Symbol, out: Any = None) -> Symbol:
        """Sine."""
        return self.graph.node("Sin", x)

    def abs(self, x: Symbol, out: Any = None) -> Symbol:
        """Modulus."""
        return abs(x)

    def clip(self, x: Symbol, low: float | None, high: float | None, out: Any = None) -> Symbol:
        """`x` between `low` and `high`, either of which may be None."""
        return self.graph.node("Clip", x, low, high)

    def maximum(self, a: Any, b: Any) -> Symbol:
        """The larger of two, entry by entry."""
        return self.graph.node("Max", a, b)

    def where(self, condition: Symbol, a: Any, b: Any) -> Symbol:
        """`a` where the condition holds, else `b`."""
        return self.graph.node("Where", condition, a, b)

    def ones_like(self, x: Symbol) -> Symbol:
        """Ones in the shape of `x`."""
        from onnx import numpy_helper

        one = numpy_helper.from_array(np.ones(1, self.graph.dtype))
        return self.graph.node("ConstantOfShape", self.graph.node("Shape", x), value=one)

    def expand_dims(self, x: Symbol, axis: int) -> Symbol:
        """`x` with a further axis of length 1."""
        return self.graph.node("Unsqueeze", x, np.array([axis]))

    def concatenate(self, parts: Sequence[Symbol], axis: int) -> Symbol:
        """Parts one after another along an axis."""
        return self.graph.node("Concat", *parts, axis=axis)

    def take(self, x: Any, indices: Any, axis: int) -> Symbol:
        """Entries along an axis; an index without an axis drops the axis."""
        chosen = indices if isinstance(indices, Symbol) else np.asarray(indices, dtype=np.int64)
        source = x if isinstance(x, Symbol) else Symbol(self.graph, self.graph.constant(x, exact=True))
        return self.graph.node("Gather", source, chosen, axis=axis)

    def reshape(self, x: Symbol, shape: tuple[int, ...]) -> Symbol:
        """`x` in another shape; one length may be -1."""
        return self.graph.node("Reshape", x, np.array(shape))

    def argmin(self, x: Symbol, axis: int) -> Symbol:
        """The first index of the minimum."""
        return self.graph.node("ArgMin", x, axis=axis, keepdims=0)

    def argmax(self, x: Symbol, axis: int) -> Symbol:
        """The first index of the maximum."""
        return self.graph.node("ArgMax", x, axis=axis, keepdims=0)

    def softmax(self, x: Symbol, axis: int) -> Symbol:
        """e^x divided by its sum along an axis."""
        return self.graph.node("Softmax", x, axis=axis)

    def index(self, condition: Symbol) -> Symbol:
        """1 where the condition holds, else 0, as integers."""
        from onnx import TensorProto

        return self.graph.node("Cast", condition, to=TensorProto.INT64)
