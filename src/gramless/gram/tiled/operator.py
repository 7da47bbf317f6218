"""K v in one pass over the upper triangle of tiles."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array, refuse_scale, run_in_threads, unit_roundoff
from gramless.certificates import FAILURE_PROBABILITY, Perturbation
from gramless.gram.base import GramOperator, Statistics
from gramless.gram.tiled.schedule import rounds
from gramless.gram.tiled.spot_check import SpotCheck
from gramless.gram.tiled.tiles import PREPARED, TILE, Tiles, overflow_message
from gramless.kernels import Kernel
from gramless.kernels.base import Rounding


class TileFacts(Protocol):
    """What the bounds of an operator need to know of its tiles, wherever these are made.

    Attributes
    ----------
    kernel : Kernel
    n : int
    dtype : dtype
        Arithmetic of the tiles.
    blocks : int
        Summands of an entry of a product, at most.
    radius : float
        Largest norm of a row, as the kernel uses it.
    """

    @property
    def kernel(self) -> Kernel: ...

    @property
    def n(self) -> int: ...

    @property
    def dtype(self) -> Any: ...

    @property
    def blocks(self) -> int: ...

    @property
    def radius(self) -> float: ...

    @property
    def rounding(self) -> Rounding:
        """Error of a tile's entries."""

    def diagonal(self) -> Array:
        """k(x_i, x_i) of all rows: (n,)."""


class SweptGram(GramOperator):
    """D^1/2 K D^1/2 by sweeps over tiles; bounds come with the first sweep.

    Parameters
    ----------
    roots : ndarray of shape (n,)
        Square roots of the weights.
    tiles : TileFacts
    weighted : bool
        Whether any weight differs from 1.
    """

    def __init__(self, roots: Array, tiles: TileFacts, *, weighted: bool) -> None:
        super().__init__(roots)
        self._facts, self._weighted = tiles, weighted
        self._statistics: Statistics | None = None

    @property
    def _rounding(self) -> Rounding:
        """Error of the entries."""
        return self._facts.rounding

    @property
    def _arithmetic(self) -> Any:
        """Data type in which tiles are multiplied."""
        return self._facts.dtype

    @abstractmethod
    def _sweep(self, v: Array, gather: bool) -> tuple[Array, float]:
        """S v, and with `gather` the sum of the squared entries of S."""

    def _fits_float32(self) -> bool:
        """Whether neither values nor weighted sums of them leave the range of float32."""
        with np.errstate(over="ignore"):
            size = self._facts.kernel.bound(self._facts.radius) * max(1.0, float(self.roots.max()) ** 2)
        return bool(1e-25 < size < 1e25)

    def diagonal(self) -> Array:
        return self.roots**2 * self._facts.diagonal()

    def _matmat(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        first = self._statistics is None
        columns = np.hstack([v, self.roots[:, None]]) if first else v
        product, squares = self._sweep(columns, gather=first)
        if first:
            self._statistics = self._conclude(product[:, -1], squares)
            product = product[:, :-1]
        return product

    def _refuse_scale(self, largest: float, product: Array) -> None:
        if not np.isfinite(largest) or not np.isfinite(product).all():
            raise ValueError(overflow_message(self._facts.kernel))
        refuse_scale(largest, "kernel values")
        refuse_scale(largest * float(self.roots.max()) ** 2, "kernel values times weights")

    def _conclude(self, sums: Array, squares: float) -> Statistics:
        """Bounds from the first pass, kernel rounding included."""
        rounding, weight = self._rounding, float((self.roots**2).sum())
        if rounding.relative >= 0.5:  # the computed values prove nothing: only the bound on all kernel values holds
            size = self._facts.kernel.bound(self._facts.radius) * weight
            return Statistics(size**2, sums, size, squares)
        grown = (1 + 2 * (min(TILE, self._facts.n) + 8) * unit_roundoff()) / (1 - rounding.relative)
        frobenius = (np.sqrt(squares) + rounding.absolute * weight) * grown
        norm = frobenius
        if self._facts.kernel.nonnegative:
            used = self.roots > 0
            peak = float((sums[used] / self.roots[used]).max(initial=0.0))
            norm = min(norm, (peak + rounding.absolute * weight) * (1 + self._growth) / (1 - rounding.relative))
        return Statistics(frobenius**2, sums, norm, squares)

    @property
    def _growth(self) -> float:
        """Relative error of summing a row: within a tile, then over tiles."""
        inside = min(TILE, len(self.roots))
        sums = inside * unit_roundoff(self._arithmetic) + (self._facts.blocks + 8) * unit_roundoff()
        return float(1.01 * sums)

    def statistics(self) -> Statistics:
        if self._statistics is None:
            product, squares = self._sweep(self.roots[:, None], gather=True)
            self._statistics = self._conclude(product[:, 0], squares)
        return self._statistics

    @property
    def error(self) -> float:
        rounding, statistics = self._rounding, self.statistics()
        if rounding.relative >= 0.5:
            return 2 * statistics.norm
        weight = float((self.roots**2).sum())
        return rounding.absolute * weight + (rounding.relative + self._growth) * statistics.norm


class TiledGram(SweptGram):
    """D^1/2 K D^1/2 without K: each tile is computed, used for its two blocks of rows, and dropped, or kept if allowed.

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or CSR of shape (n, d)
        For a precomputed kernel the Gram matrix (n, n).
    weights : ndarray of shape (n,), optional
        Not negative; default: ones.
    dtype : dtype
        float64, or float32 for a draft. Sums are in float64 either way.
    keep_bytes : int
        Memory that tiles which are kept may take.
    prepare_bytes : int
        Memory that prepared rows may take; the draft may take as much again.
    draft : bool
        Whether to offer the same operator in float32 as `rough` and as `draft`.
    tiles : Tiles, optional
        Tiles of another operator on the same rows.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> operator = TiledGram(Gaussian(1.0), x)
    >>> np.allclose(operator @ np.ones(3), Gaussian(1.0)(x).sum(axis=1))
    True
    >>> operator.error < 1e-12
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        x: Any,
        weights: Array | None = None,
        *,
        dtype: npt.DTypeLike = np.float64,
        keep_bytes: int = 0,
        prepare_bytes: int = PREPARED,
        draft: bool = False,
        tiles: Tiles | None = None,
    ) -> None:
        n = x.shape[0]
        roots = np.ones(n) if weights is None else np.sqrt(np.asarray(weights, dtype=np.float64))
        if tiles is None:
            tiles = Tiles(kernel, x, dtype, 0 if draft else keep_bytes, prepare_bytes)
        super().__init__(roots, tiles, weighted=weights is not None)
        self._tiles: Tiles = tiles
        if draft and self._fits_float32():
            self.rough = Float32Gram(kernel, x, weights, keep_bytes=keep_bytes, prepare_bytes=prepare_bytes, exact=self)
            self.draft = self.rough.draft

    def _sweep(self, v: Array, gather: bool) -> tuple[Array, float]:
        tiles = self._tiles
        scaled = np.ascontiguousarray(self.roots[:, None] * v if self._weighted else v, dtype=self._arithmetic)
        out = np.zeros(v.shape)
        squares: dict[tuple[int, int], float] = {}
        largest: dict[tuple[int, int], float] = {}

        def add(index: tuple[int, int]) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # an overflow is detected in the sums
                add_tile(index)

        def add_tile(index: tuple[int, int]) -> None:
            i, j = index
            rows, columns = tiles.rows(i), tiles.rows(j)
            tile = self._tile(index)
            out[rows] += tile @ scaled[columns]
            if i != j:
                out[columns] += tile.T @ scaled[rows]
            if gather:
                weights = self.roots[columns] ** 2
                square = (
                    np.einsum("ij,ij,j->i", tile, tile, weights)
                    if self._weighted
                    else np.einsum("ij,ij->i", tile, tile)
                )
                squares[index] = float(square @ self.roots[rows] ** 2) * (1 if i == j else 2)
                largest[index] = max(float(tile.max()), -float(tile.min()))

        run_in_threads(add, rounds(tiles.blocks))
        if self._weighted:
            out *= self.roots[:, None]
        if gather:
            self._refuse_scale(max(largest.values()), out)
        return out, math.fsum(squares.values())

    def _tile(self, index: tuple[int, int]) -> Array:
        """A tile in the precision in which it is multiplied."""
        return self._tiles[index]

    def to_dense(self) -> Array:
        tiles = self._tiles
        matrix = np.empty(self.shape)

        def place(index: tuple[int, int]) -> None:
            rows, columns = tiles.rows(index[0]), tiles.rows(index[1])
            tile = self._tile(index)
            if self._weighted:
                tile = self.roots[rows, None] * tile * self.roots[columns]
            matrix[rows, columns] = tile
            matrix[columns, rows] = tile.T

        run_in_threads(place, rounds(tiles.blocks))
        return matrix


class Float32Gram(TiledGram):
    """D^1/2 K D^1/2 with the entries of K in float32, multiplied in float64.

    This operator is exact for a matrix that differs from the exact one by at most `perturbation`.

    Parameters
    ----------
    kernel, x, weights, keep_bytes, prepare_bytes
        As for :class:`TiledGram`.
    exact : TiledGram, optional
        The operator in float64 that this one belongs to.

    Attributes
    ----------
    draft : TiledGram
        The same tiles, multiplied in float32.
    spot_check : SpotCheck
        Bounds the error of the tiles; see :meth:`check`.
    """

    def __init__(
        self,
        kernel: Kernel,
        x: Any,
        weights: Array | None = None,
        *,
        keep_bytes: int = 0,
        prepare_bytes: int = PREPARED,
        exact: TiledGram | None = None,
    ) -> None:
        super().__init__(kernel, x, weights, dtype=np.float32, keep_bytes=keep_bytes, prepare_bytes=prepare_bytes)
        self.draft: TiledGram = TiledGram(kernel, x, weights, tiles=self._tiles)
        self._exact = exact
        self._measured: float | None = None
        self._checking = False

    @cached_property
    def spot_check(self) -> SpotCheck:
        """Bounds the error of the tiles."""
        return SpotCheck(self._tiles, self.roots**2)

    def check(self, pairs: int, rng: np.random.Generator) -> None:
        """Compare `pairs` entries of the next sweep with float64: the perturbation becomes a probabilistic bound.

        Parameters
        ----------
        pairs : int
        rng : numpy.random.Generator
            Independent of the data.
        """
        self.spot_check.draw(pairs, rng)
        self._checking = True

    @property
    def expected(self) -> float:
        """Norm of the perturbation after the next product: of what the drawn pairs will prove, if they are drawn."""
        known = self.perturbation.norm
        return min(known, self.spot_check.provable) if self._checking else known

    @property
    def stored(self) -> bool:
        return self._tiles.stored

    @property
    def perturbation(self) -> Perturbation:
        if self._measured is not None and self._measured < self._worst:
            return Perturbation(self._measured, FAILURE_PROBABILITY)
        return Perturbation(self._worst)

    @cached_property
    def _worst(self) -> float:
        rounding, weight = self._facts.rounding, float((self.roots**2).sum())
        return min(rounding.absolute * weight + rounding.relative * self._exact_norm, self.spot_check.worst)

    @cached_property
    def _exact_norm(self) -> float:
        """Bound on the norm of the moduli of the exact matrix, from the form that was multiplied first."""
        for form in (self._exact, self.draft):
            if form is not None and form._statistics is not None:
                return form._statistics.norm
        rounding, weight = self._facts.rounding, float((self.roots**2).sum())
        if rounding.relative >= 0.5:
            return self.draft.statistics().norm
        return (self.statistics().norm + rounding.absolute * weight) / (1 - rounding.relative)

    @property
    def norm(self) -> float:
        rounding, weight = self._facts.rounding, float((self.roots**2).sum())
        return (1 + rounding.relative) * self._exact_norm + rounding.absolute * weight

    @property
    def error(self) -> float:
        return self._growth * self.norm

    @property
    def _rounding(self) -> Rounding:
        return Rounding(0.0, 0.0)  # of the operator's own matrix

    @property
    def _arithmetic(self) -> Any:
        return np.dtype(np.float64)

    def _tile(self, index: tuple[int, int]) -> Array:
        tile = self._tiles[index].astype(np.float64)
        if index[0] == index[1]:  # the two halves may be rounded differently
            tile = (tile + tile.T) / 2
        if self._checking:
            self.spot_check.see(index, tile)
        return tile

    def _sweep(self, v: Array, gather: bool) -> tuple[Array, float]:
        swept = super()._sweep(v, gather)
        if self._checking:
            self._checking = False
            self._measured = self.spot_check.bound()
        return swept
