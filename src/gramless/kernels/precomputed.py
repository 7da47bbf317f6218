"""A Gram matrix given in place of data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array
from gramless.kernels.base import Kernel, kernels
from gramless.kernels.rounding import Rounding


@kernels.register("precomputed")
@dataclass(frozen=True)
class Precomputed(Kernel):
    """The data are the Gram matrix itself; operators read it and never evaluate this kernel.

    Examples
    --------
    >>> Precomputed().diagonal(np.array([[2.0, 1.0], [1.0, 3.0]]))
    array([2., 3.])
    """

    mercer = None

    def prepare(self, x: Any, shift: Array | None = None, dtype: npt.DTypeLike = np.float64) -> NoReturn:
        raise TypeError("a precomputed kernel has no formula: pass the Gram matrix itself as the data, or a kernel")

    def evaluate(self, x: Any, y: Any) -> NoReturn:
        self.prepare(x)

    def symbolic(self, x: Any, points: Array) -> Any:
        return x  # rows are kernel values

    def diagonal(self, x: Any) -> Array:
        """Diagonal of the Gram matrix `x` (n, n)."""
        return np.array(x.diagonal(), dtype=np.float64)

    def bound(self, radius: float) -> float:
        return float("inf")

    def rounding(self, radius: float, d: int, unit: float) -> Rounding:
        return Rounding(0.0, 0.0)
