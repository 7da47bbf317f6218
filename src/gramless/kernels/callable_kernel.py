"""A kernel given as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gramless.arrays import Array
from gramless.errors import ExportError
from gramless.kernels.base import Kernel, kernels
from gramless.kernels.rounding import Rounding, underflow


@dataclass(frozen=True)
class Rows:
    """Rows passed to the function unchanged, and the dtype in which its values are stored."""

    values: Any  # ndarray or CSR, (n, d)
    dtype: npt.DTypeLike

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __getitem__(self, i: int) -> Any:
        return self.values[[i], :] if scipy.sparse.issparse(self.values) else self.values[i]


@kernels.register("callable")
@dataclass(frozen=True)
class FromCallable(Kernel):
    """k(x, y) = function(x, y, ``**parameters``), called pair by pair as scikit-learn's `pairwise_kernels` does.

    Parameters
    ----------
    function : callable
        Takes two rows, 1-D arrays (1 x d sparse matrices when the data are sparse), and
        returns a number. Must be symmetric: of a Gram matrix only the upper triangle is
        computed. Its values are taken as exact.
    parameters : mapping, or tuple of (name, value) pairs
        Passed on by keyword.
    mercer : bool or None
        Whether the function is positive semidefinite, if known.

    Examples
    --------
    >>> kernel = FromCallable(lambda x, y, power: float(x @ y) ** power, {"power": 2})
    >>> kernel(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[25.,  4.],
           [ 4.,  1.]])
    """

    function: Callable[..., Any]
    parameters: Any = ()
    mercer: bool | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function={self.function!r} must be callable with two rows")
        pairs = self.parameters.items() if isinstance(self.parameters, Mapping) else self.parameters
        object.__setattr__(self, "parameters", tuple((name, value) for name, value in pairs))

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> Rows:
        return Rows(x.tocsr() if scipy.sparse.issparse(x) else np.asarray(x), dtype)

    def evaluate(self, x: Rows, y: Rows) -> Array:
        parameters = dict(self.parameters)
        values: Array = np.empty((len(x), len(y)), x.dtype)
        for i in range(len(x)):
            row = x[i]
            for j in range(i if x is y else 0, len(y)):
                values[i, j] = _number(self.function(row, y[j], **parameters))
                if x is y:
                    values[j, i] = values[i, j]
        return values

    def symbolic(self, x: Any, points: Array) -> NoReturn:
        raise ExportError(
            f"a function ({self.function!r}) cannot be written in the operators of ONNX; build the kernel from those "
            "of gramless.kernels"
        )

    def diagonal(self, x: Any) -> Array:
        rows, parameters = self.prepare(x), dict(self.parameters)
        found = [_number(self.function(rows[i], rows[i], **parameters)) for i in range(len(rows))]
        return np.array(found, dtype=np.float64)

    def radius(self, prepared: Rows) -> float:
        """0: neither :meth:`rounding` nor :meth:`bound` depends on the radius."""
        return 0.0

    def bound(self, radius: float) -> float:
        return float("inf")

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        if unit <= np.finfo(np.float64).eps / 2:
            return Rounding(0.0, 0.0)
        return Rounding(underflow(unit), unit)  # values are rounded when they are stored


def _number(value: Any) -> float:
    """The value that a function returned, as a finite float."""
    if type(value) is float and value - value == 0:  # the usual case, a finite float, without a further call
        return value
    try:
        number = float(value if np.ndim(value) == 0 else np.asarray(value).item())
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, str) or not np.isfinite(number):
        raise ValueError(f"the kernel function returned {value!r} for a pair of rows; it must return a finite number")
    return number
