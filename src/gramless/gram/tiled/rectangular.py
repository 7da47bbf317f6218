"""K(x, y) v for two sets of rows: projections of new points."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, run_in_threads, unit_roundoff
from gramless.gram.tiled.tiles import TILE, middle, overflow_message
from gramless.kernels import Kernel, Precomputed

_ROWS = 1024


def rectangular_product(kernel: Kernel, x: Any, y: Any, v: Array) -> Array:
    """K(x, y) v, block by block: with memory for one tile per thread, never for (m, n).

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or CSR of shape (m, d)
        Targets; for a precomputed kernel K(x, y) itself, (m, n).
    y : ndarray or CSR of shape (n, d)
        Sources; not used for a precomputed kernel. May be sparse where `x` is dense, or the other way round.
    v : ndarray of shape (n, k)

    Returns
    -------
    ndarray of shape (m, k)

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> rectangular_product(Linear(), np.array([[1.0], [2.0]]), np.array([[3.0]]), np.array([[1.0]]))
    array([[3.],
           [6.]])
    """
    m, n = x.shape[0], len(v)
    out = np.zeros((m, v.shape[1]))
    given = isinstance(kernel, Precomputed)
    shift = None if given else middle(kernel, y)
    if not given and scipy.sparse.issparse(y) and not scipy.sparse.issparse(x):
        x = scipy.sparse.csr_array(x)
    fill = scipy.sparse.issparse(x) and not scipy.sparse.issparse(y)
    once = not given and n * y.shape[1] * 8 <= 2**27 and m > _ROWS
    prepared = {j: kernel.prepare(y[j : j + TILE], shift) for j in range(0, n, TILE)} if once else {}

    def add(first: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is found below
            add_rows(slice(first, min(first + _ROWS, m)))

    def add_rows(rows: slice) -> None:
        block = None if given else kernel.prepare(x[rows].toarray() if fill else x[rows], shift)
        for j in range(0, n, TILE):
            columns = slice(j, min(j + TILE, n))
            if given:
                tile = np.asarray(x[rows, columns], dtype=np.float64)
            else:
                tile = kernel.evaluate(block, prepared[j] if once else kernel.prepare(y[columns], shift))
            out[rows] += tile @ v[columns]

    run_in_threads(add, [list(range(0, m, _ROWS))])
    if not np.isfinite(out).all():
        raise ValueError(overflow_message(kernel))
    return out


def rectangular_error(kernel: Kernel, x: Any, y: Any) -> float:
    """Bound e on the error of :func:`rectangular_product`: at most e times the sum of moduli of `v`."""
    shift = middle(kernel, y)
    radius = max(kernel_radius(kernel, rows, shift) for rows in (x, y))
    rounding = kernel.rounding(radius, y.shape[1], unit_roundoff())
    largest = float(np.sqrt(np.abs(kernel.diagonal(x)).max() * np.abs(kernel.diagonal(y)).max()))
    sums = (min(y.shape[0], TILE) + -(-y.shape[0] // TILE) + 8) * unit_roundoff()
    return float(rounding.absolute + 1.01 * (rounding.relative + sums) * (largest + rounding.absolute))


def kernel_radius(kernel: Kernel, x: Any, shift: Array | None) -> float:
    """Largest norm of the rows `x` (n, d) as the kernel uses them, block by block."""
    starts = range(0, x.shape[0], _ROWS)
    return max((kernel.radius(kernel.prepare(x[first : first + _ROWS], shift)) for first in starts), default=0.0)
