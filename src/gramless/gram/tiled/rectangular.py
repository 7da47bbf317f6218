"""K(x, y) v for two sets of rows: projections of new points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gramless.arrays import Array, run_in_threads, thread_count, unit_roundoff
from gramless.gram.tiled.tiles import TILE, middle, overflow_message
from gramless.kernels import Kernel, Precomputed

_ROWS = 1024
_GROUP = 8  # blocks of rows that share prepared sources, at most


def rectangular_product(
    kernel: Kernel, x: Any, y: Any, v: Array, dtype: npt.DTypeLike = np.float64, shift: Array | None = None
) -> Array:
    """K(x, y) v, block by block: with memory for one tile per thread, never for (m, n).

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or CSR of shape (m, d)
        Targets; for a precomputed kernel K(x, y) itself, (m, n).
    y : ndarray or CSR of shape (n, d)
        Sources; not used for a precomputed kernel. May be sparse where `x` is dense, or the other way round.
    v : ndarray of shape (n, k)
    dtype : dtype
        Arithmetic of the tiles; they are multiplied by `v` in float64.
    shift : ndarray of shape (d,), optional
        ``middle(kernel, y)``, where it is known: it takes a pass over `y`.

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
    m, n, dtype = x.shape[0], len(v), np.dtype(dtype)
    out = np.zeros((m, v.shape[1]))
    given = isinstance(kernel, Precomputed)
    if shift is None and not given:
        shift = middle(kernel, y)
    if not given and scipy.sparse.issparse(y) and not scipy.sparse.issparse(x):
        x = scipy.sparse.csr_array(x)
    fill = scipy.sparse.issparse(x) and not scipy.sparse.issparse(y)
    once = not given and n * y.shape[1] * dtype.itemsize <= 2**27 and m > _ROWS
    prepared = {j: kernel.prepare(y[j : j + TILE], shift, dtype) for j in range(0, n, TILE)} if once else {}
    # otherwise sources are prepared again for every group of targets
    group = _ROWS if once or given else _ROWS * int(np.clip(-(-m // (_ROWS * thread_count())), 1, _GROUP))

    def add(first: int) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is found below
            add_rows([slice(start, min(start + _ROWS, m)) for start in range(first, min(first + group, m), _ROWS)])

    def add_rows(parts: list[slice]) -> None:
        blocks = [None if given else kernel.prepare(x[r].toarray() if fill else x[r], shift, dtype) for r in parts]
        for j in range(0, n, TILE):
            columns = slice(j, min(j + TILE, n))
            sources = None if given else prepared[j] if once else kernel.prepare(y[columns], shift, dtype)
            for rows, block in zip(parts, blocks, strict=True):
                tile = np.asarray(x[rows, columns], dtype=dtype) if given else kernel.evaluate(block, sources)
                out[rows] += tile.astype(np.float64, copy=False) @ v[columns]

    run_in_threads(add, [list(range(0, m, group))])
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
