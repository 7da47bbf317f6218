"""Kernel values of pairs of rows, with bounds on their rounding errors."""

from __future__ import annotations

from typing import Any

from gramless.arrays import Array, blank, is_tensor, unit_roundoff
from gramless.kernels.base import Kernel


def worst_error(kernel: Kernel, radius: float, d: int, unit: float) -> float:
    """Largest error of a value for rows (d,) within `radius`, in arithmetic of unit roundoff `unit`; may be infinite.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> worst_error(Gaussian(1.0), 1.0, 2, 1e-16) < 1e-13
    True
    """
    try:
        rounding = kernel.rounding(radius, d, unit)
        return float(rounding.absolute + rounding.relative * kernel.bound(radius))
    except OverflowError:
        return float("inf")


def pair_values(kernel: Kernel, x: Any, y: Any, shift: Array | None) -> tuple[Array, Array]:
    """k(x_i, y_i) for rows of `x` and `y` (m, d), and bounds on their errors: both (m,), in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from gramless.kernels import Linear
    >>> pair_values(Linear(), np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]), None)[0]
    array([3., 8.])
    """
    step, m = 512 if is_tensor(x) else 32, x.shape[0]
    values, errors = (blank((m,), x) for _ in range(2))
    for first in range(0, m, step):  # small tiles, of which only the diagonal is used
        part = slice(first, first + step)
        a, b = kernel.prepare(x[part], shift), kernel.prepare(y[part], shift)
        values[part] = kernel.evaluate(a, b).diagonal()
        rounding = kernel.rounding(max(kernel.radius(a), kernel.radius(b)), x.shape[1], unit_roundoff())
        errors[part] = 1.01 * (rounding.absolute + rounding.relative * abs(values[part]))
    return values, errors
