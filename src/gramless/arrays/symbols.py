"""Arrays without numbers: formulas applied to them are recorded, to be computed elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar


class Symbolic(ABC):
    """An array in a computation that is recorded, such as an ONNX graph: operators and functions return further ones.

    The operators are those of arrays. The functions are those of :func:`~gramless.arrays.namespace`, with the names
    and meanings of numpy's: ``exp``, ``log``, ``sqrt``, ``tanh``, ``sin``, ``abs``, ``clip``, ``maximum``, ``where``,
    ``ones_like``, ``expand_dims``, ``concatenate``, ``take``, ``reshape``, ``argmin`` and ``argmax``. A symbolic array
    is never changed: ``a *= b`` makes a new one.
    """

    __array_ufunc__: ClassVar[None] = None  # numpy's arrays leave operators to the symbolic one

    @abstractmethod
    def __array_namespace__(self) -> Any:
        """The functions that take symbolic arrays."""


def is_symbolic(array: Any) -> bool:
    """Whether `array` is symbolic.

    Examples
    --------
    >>> is_symbolic(1.0)
    False
    """
    return isinstance(array, Symbolic)
