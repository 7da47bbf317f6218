"""Checks that numbers and their squares stay within the range of a float."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gramless.arrays.dtypes import Array


def refuse_scale(largest: float, what: str) -> None:
    """Raise where squares of values of this size would leave the range of float64: no error bound could hold."""
    if largest and not 1e-140 < largest < 1e140:
        raise ValueError(
            f"{what} of size {largest:.1e} are too {'small' if largest < 1 else 'large'} to square in float64; "
            "rescale the data or the weights"
        )


def refuse_squares(largest: float, what: str) -> None:
    """:func:`refuse_scale` for the squares of values up to `largest`, even where these squares underflow to 0."""
    limits = np.finfo(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        square = float(np.clip(np.square(np.float64(largest)), limits.tiny, limits.max))
    refuse_scale(square if largest else 0.0, what)


def refuse_weights(total: float) -> None:
    """Raise where weights add up to 0, or would take products with kernel values out of the range of float64.

    Examples
    --------
    >>> refuse_weights(1e6)
    """
    if total == 0:
        raise ValueError("sample_weight is 0 for every row; at least one must be positive")
    if not 1e-100 < total < 1e100:
        raise ValueError(
            f"sample_weight sums to {total:.1e}, too {'small' if total < 1 else 'large'} to compute with in "
            "float64; divide it by its largest entry: a common factor only rescales the eigenvalues"
        )


def in_range(values: Array, dtype: npt.DTypeLike, what: str) -> Array:
    """`values` in `dtype`, float32 or float64.

    Raises
    ------
    ValueError
        If a finite value would become infinite; the message names `what` and the remedy.

    Examples
    --------
    >>> in_range(np.array([1e30]), np.float32, "eigenvalues")
    array([1.e+30], dtype=float32)
    """
    if np.dtype(dtype) == values.dtype:
        return values
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if np.isfinite(largest) and largest > float(np.finfo(dtype).max):
        raise ValueError(
            f"{what} of size {largest:.1e} overflow {np.dtype(dtype)}, the dtype of X; "
            "pass X.astype('float64'), or scale the data down"
        )
    return np.asarray(values.astype(dtype, copy=False))


def diagonal_of_box(low: Array | None, high: Array | None) -> float:
    """Length of the diagonal of a box with sides along the axes; 0 without one, infinite where it overflows.

    Examples
    --------
    >>> diagonal_of_box(np.zeros(2), np.array([3.0, 4.0])), diagonal_of_box(None, None)
    (5.0, 0.0)
    """
    if low is None or high is None:
        return 0.0
    with np.errstate(over="ignore"):
        extent = np.asarray(high, dtype=np.float64) - np.asarray(low, dtype=np.float64)
        longest = float(extent.max(initial=0.0))
        return longest * float(np.linalg.norm(extent / longest)) if 0 < longest < np.inf else longest


def squares_overflow(low: Array | None, high: Array | None) -> bool:
    """Whether a few squared distances between points of a box, added up, may leave the range of float64."""
    return diagonal_of_box(low, high) > 1e153
