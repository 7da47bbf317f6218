"""The tiles of a Gram matrix: from a kernel on blocks of rows, or from a given matrix; some are kept."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gramless.arrays import Array, unit_roundoff
from gramless.kernels import Kernel, Precomputed
from gramless.kernels.base import Rounding

TILE = 512
PREPARED = 2**25  # bytes of prepared rows that are always kept
_SLAB = 32  # tiles to keep that are allocated together


class Tiles:
    """Tiles of the Gram matrix of one set of rows.

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or CSR of shape (n, d); the Gram matrix itself (n, n) for a precomputed kernel
    dtype : dtype
        Arithmetic of the tiles.
    keep_bytes : int
        Memory for tiles that are kept once computed.
    prepare_bytes : int
        Prepared rows are kept if they take no more memory than this.
    """

    def __init__(
        self, kernel: Kernel, x: Any, dtype: npt.DTypeLike, keep_bytes: int, prepare_bytes: int = PREPARED
    ) -> None:
        self.kernel, self.x, self.dtype = kernel, x, np.dtype(dtype)
        self.n, self.d = x.shape
        self.blocks = -(-self.n // TILE)
        self._given = isinstance(kernel, Precomputed)
        self.shift = None if self._given else middle(kernel, x)
        self._keep = 0 if self._given else keep_bytes // (TILE * TILE * self.dtype.itemsize)
        self._kept: dict[tuple[int, int], Array] = {}
        self._slabs: list[Array] = []
        self._lock = threading.Lock()
        self._prepared: dict[int, Any] = {}
        self._prepare_once = self.n * (self.d + 1) * self.dtype.itemsize <= max(prepare_bytes, keep_bytes // 4)

    def rows(self, i: int) -> slice:
        """Rows of block `i`."""
        return slice(i * TILE, min((i + 1) * TILE, self.n))

    def __getitem__(self, index: tuple[int, int]) -> Array:
        i, j = index
        if self._given:
            return np.asarray(self.x[self.rows(i), self.rows(j)], dtype=self.dtype)
        tile = self._kept.get(index)
        if tile is None:
            with np.errstate(over="ignore", invalid="ignore"):  # callers detect an overflow in the sums
                left = self.block(i)
                tile = self.kernel.evaluate(left, left if i == j else self.block(j))
            tile = self._stored(index, tile)
        return tile

    def _stored(self, index: tuple[int, int], tile: Array) -> Array:
        """Keep a copy of a tile as long as there is room; in slabs, since few large allocations are cheap."""
        with self._lock:
            slot = len(self._kept)
            if slot >= self._keep:
                return tile
            if slot % _SLAB == 0:
                self._slabs.append(np.empty((min(_SLAB, self._keep - slot), TILE * TILE), self.dtype))
            self._kept[index] = kept = self._slabs[-1][slot % _SLAB, : tile.size].reshape(tile.shape)
        kept[...] = tile
        return kept

    @property
    def stored(self) -> bool:
        """Whether at least half of the tiles are kept, once computed."""
        return bool(4 * self._keep >= self.blocks * (self.blocks + 1))

    def block(self, i: int) -> Any:
        """Block `i`, prepared for products; kept when all blocks together are small."""
        block = self._prepared.get(i)
        if block is None:
            block = self.kernel.prepare(self.x[self.rows(i)], self.shift, self.dtype)
            if self._prepare_once:
                self._prepared[i] = block
        return block

    def diagonal(self) -> Array:
        """k(x_i, x_i) of all rows."""
        if self._given:
            return np.array(self.x.diagonal(), dtype=np.float64)
        return np.concatenate([self.kernel.diagonal(self.x[self.rows(i)]) for i in range(self.blocks)])

    @cached_property
    def radius(self) -> float:
        """Largest norm of a prepared row."""
        return max(self.kernel.radius(self.block(i)) for i in range(self.blocks))

    @cached_property
    def rounding(self) -> Rounding:
        """Error of a tile's entries."""
        if self._given:
            stored = 0.0 if self.dtype == np.float64 else unit_roundoff(self.dtype)
            return Rounding(0.0, stored)
        return self.kernel.rounding(self.radius, self.d, unit_roundoff(self.dtype))


def overflow_message(kernel: Kernel) -> str:
    """The message of the error when values are not finite."""
    return f"{kernel} overflows on this data; rescale it, for instance with sklearn.preprocessing.StandardScaler"


def middle(kernel: Kernel, x: Any) -> Array | None:
    """The mean row, to be subtracted from all rows before products; None where this would change a value."""
    if not kernel.shift_invariant or scipy.sparse.issparse(x):
        return None
    total = np.zeros(x.shape[1])
    for i in range(0, x.shape[0], 4096):
        total += np.asarray(x[i : i + 4096], dtype=np.float64).sum(axis=0)
    total /= x.shape[0]
    return total
