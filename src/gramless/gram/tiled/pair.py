"""Products with the Gram matrix of two blocks of rows, or of one with itself: one worker's part of a pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array, one_blas_thread
from gramless.gram.tiled.tiles import Tiles
from gramless.kernels import Kernel


@dataclass(frozen=True, eq=False)
class Products:
    """Partial sums of K v for some rows; those of the same rows add.

    Attributes
    ----------
    values : ndarray of shape (m, b)
    squares : float
        Weighted sum of the squares of the kernel values in these sums, both triangles of the matrix counted.
    largest : float
        Largest modulus of these values.
    """

    values: Array
    squares: float
    largest: float

    def __add__(self, other: Products) -> Products:
        squares, largest = self.squares + other.squares, max(self.largest, other.largest)
        return Products(self.values + other.values, squares, largest)


@dataclass(frozen=True, eq=False)
class Sweep:
    """How tiles are computed, the same for all pairs of blocks: one shift, so that one bound on rounding holds for all.

    Attributes
    ----------
    kernel : Kernel
    shift : ndarray of shape (d,) or None
    dtype : dtype
        Arithmetic of the tiles; sums are in float64.
    weighted : bool
        Whether squares of kernel values are multiplied by the weights of their rows.
    """

    kernel: Kernel
    shift: Array | None
    dtype: npt.DTypeLike
    weighted: bool = True

    def tiles(self, x: Any) -> Tiles:
        """Tiles of the Gram matrix of rows `x` (m, d)."""
        tiles = Tiles(self.kernel, x, self.dtype, 0)
        tiles.shift = self.shift
        return tiles


def pair_products(
    left: tuple[Array, Array],
    right: tuple[Array, Array] | None,
    sweep: Sweep,
    gather: bool,
    v: Array,
    u: Array | None,
) -> tuple[Products, Products | None]:
    """K(x, y) u for the rows x, and K(y, x) v for the rows y, from one set of tiles.

    Parameters
    ----------
    left, right : pair of ndarrays of shape (m, d) and (m,)
        Rows and their weights; None for `right`: K(x, x) v.
    sweep : Sweep
    gather : bool
        Whether to gather `squares` and `largest` of the values too.
    v, u : ndarray of shape (m, b)
        Vectors of the left and the right rows.
    """
    x, weights = left
    y, others = left if right is None else right
    rows = sweep.tiles(x)
    columns = rows if right is None else sweep.tiles(y)
    first = np.ascontiguousarray(v, dtype=rows.dtype)
    second = first if u is None else np.ascontiguousarray(u, dtype=rows.dtype)
    out, across = np.zeros(v.shape), np.zeros(v.shape if u is None else u.shape)
    squares, largest = 0.0, 0.0
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):  # an overflow is detected in the sums
        for i in range(rows.blocks):
            for j in range(i if right is None else 0, columns.blocks):
                here, there, mirrored = rows.rows(i), columns.rows(j), right is not None or i != j
                tile = rows.kernel.evaluate(rows.block(i), columns.block(j))
                out[here] += tile @ second[there]
                if mirrored:
                    across[there] += tile.T @ first[here]
                if gather:
                    scales = (weights[here], others[there]) if sweep.weighted else (1.0, 1.0)
                    squares += _sum_of_squares(tile, *scales) * (2 if mirrored else 1)
                    largest = max(largest, float(tile.max()), -float(tile.min()))
    if right is None:
        return Products(out + across, squares, largest), None
    return Products(out, squares, largest), Products(across, 0.0, 0.0)


def _sum_of_squares(tile: Array, rows: Array | float, columns: Array | float) -> float:
    return float((np.einsum("ij,ij,j->i", tile, tile, np.broadcast_to(columns, tile.shape[1])) * rows).sum())
