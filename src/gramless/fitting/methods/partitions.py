"""Exact products with the Gram matrix of rows in partitions: workers compute pairs of partitions in parallel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramless.arrays import Array, unit_roundoff
from gramless.data import Block, ClusterRows, Pairs, split_evenly
from gramless.fitting.methods.start import landmark_start, landmark_sums
from gramless.gram import TiledGram, rectangular_product
from gramless.gram.tiled import TILE, Products, Sweep, SweptGram, pair_products
from gramless.kernels import Kernel
from gramless.kernels.base import Rounding
from gramless.problem import Problem


@dataclass(frozen=True, eq=False)
class Blocks:
    """Neighboring parts stacked to blocks, and the work on pairs of blocks.

    Attributes
    ----------
    lengths : list of int
        Rows of each block.
    pairs : Pairs
    """

    lengths: list[int]
    pairs: Pairs

    @classmethod
    def of(cls, rows: ClusterRows) -> Blocks:
        """Blocks of the rows, with about five pairs of blocks for each worker."""
        groups = split_evenly(rows.lengths, block_count(rows.parts.workers))
        lengths = [sum(rows.lengths[i] for i in group) for group in groups]
        return cls(lengths, rows.parts.pairs(groups, stack_parts))


class PartedTiles:
    """Properties of the tiles that workers compute.

    Attributes
    ----------
    kernel : Kernel
    n, d : int
    dtype : dtype
    blocks : int
        Maximum number of summands of an entry of a product.
    radius : float
    """

    def __init__(self, sweep: Sweep, rows: ClusterRows, blocks: Blocks) -> None:
        self.kernel, self.dtype = sweep.kernel, np.dtype(sweep.dtype)
        self.n, self.d = rows.n, rows.d
        self.blocks = sum(-(-length // TILE) + 1 for length in blocks.lengths) + 1
        self.radius = max(rows.parts.map(radius_of, sweep))
        self._rows = rows

    @property
    def rounding(self) -> Rounding:
        """Error of a tile's entries."""
        return self.kernel.rounding(self.radius, self.d, unit_roundoff(self.dtype))

    def diagonal(self) -> Array:
        """k(x_i, x_i) of all rows."""
        return np.concatenate(self._rows.parts.map(diagonal_of, self.kernel))


class PartedGram(SweptGram):
    """D^1/2 K D^1/2 of rows in partitions: rows and tiles stay on the workers, only vectors are sent.

    Parameters
    ----------
    kernel : Kernel
    rows : ClusterRows
    draft : bool
        Whether to offer the same operator in float32.
    weighted : bool
        False ignores the weights of the rows.
    blocks : Blocks, optional
        Blocks of another operator on the same rows.

    Examples
    --------
    >>> from gramless.data import LocalParts
    >>> from gramless.kernels import Gaussian
    >>> x = np.random.default_rng(0).random((10, 2))
    >>> parts = LocalParts([Block(x[:4], np.ones(4)), Block(x[4:], np.ones(6), 1, 4)])
    >>> operator = PartedGram(Gaussian(1.0), ClusterRows(parts))
    >>> np.allclose(operator @ np.ones(10), Gaussian(1.0)(x).sum(axis=1))
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: ClusterRows,
        *,
        dtype: npt.DTypeLike = np.float64,
        draft: bool = False,
        weighted: bool = True,
        blocks: Blocks | None = None,
    ) -> None:
        blocks = Blocks.of(rows) if blocks is None else blocks
        sweep = Sweep(kernel, rows.tally.mean if kernel.shift_invariant else None, dtype, weighted and not rows.even)
        roots = np.sqrt(rows.weights) if sweep.weighted else np.ones(rows.n)
        super().__init__(roots, PartedTiles(sweep, rows, blocks), weighted=sweep.weighted)
        self._rows, self._blocks, self._sweeping = rows, blocks, sweep
        if draft and self._fits_float32():
            self.draft = PartedGram(kernel, rows, dtype=np.float32, weighted=weighted, blocks=blocks)

    def _sweep(self, v: Array, gather: bool) -> tuple[Array, float]:
        scaled = self.roots[:, None] * v if self._weighted else v
        pieces = np.split(np.ascontiguousarray(scaled, dtype=self._facts.dtype), np.cumsum(self._blocks.lengths)[:-1])
        products: list[Products] = self._blocks.pairs.sums(pair_products, self._sweeping, gather, each=pieces)
        out = np.concatenate([product.values for product in products])
        if self._weighted:
            out *= self.roots[:, None]
        if gather:
            self._refuse_scale(max(product.largest for product in products), out)
        return out, float(sum(product.squares for product in products))

    def to_dense(self) -> Array:
        return TiledGram(self._sweeping.kernel, self._rows.view.gathered(), self.roots**2).to_dense()


def block_count(workers: int) -> int:
    """Number of blocks with about five pairs for each worker.

    Examples
    --------
    >>> [block_count(workers) for workers in (1, 2, 10, 1000)]
    [4, 5, 10, 100]
    """
    return int(np.ceil(np.sqrt(10 * workers)))


def stack_parts(parts: list[Block]) -> tuple[Array, Array]:
    """Rows and weights of neighboring parts, stacked."""
    return np.concatenate([part.x for part in parts]), np.concatenate([part.weights for part in parts])


def diagonal_of(part: Block, kernel: Kernel) -> Array:
    """k(x, x) of the rows."""
    return kernel.diagonal(part.x)


def radius_of(part: Block, sweep: Sweep) -> float:
    """Largest norm of a row, after the shift that the kernel's tiles use."""
    return float(sweep.tiles(part.x).radius)


def parted_start(problem: Problem, rows: ClusterRows, width: int, rng: np.random.Generator) -> Array | None:
    """:func:`~gramless.fitting.methods.start.landmark_start` of rows in partitions."""
    kernel, parts = problem.kernel, rows.parts

    def sums(landmarks: Array) -> tuple[Array, Array]:
        both = parts.reduce(sums_of, kernel, landmarks)
        return both[:, :-1], both[:, -1]

    def product(landmarks: Array, v: Array) -> Array:
        return np.concatenate(parts.map(products_of, kernel, landmarks, v))

    return landmark_start(problem, rows.view, rows.weights, width, rng, sums, product)


def sums_of(part: Block, kernel: Kernel, landmarks: Array) -> Array:
    """Sums over one part for a start from landmarks: C^T D C, and C^T D 1 as one more column."""
    return np.column_stack(landmark_sums(kernel, part.x, landmarks, part.weights))


def products_of(part: Block, kernel: Kernel, points: Array, v: Array) -> Array:
    """K(x, points) v for the rows of one part."""
    return rectangular_product(kernel, part.x, points, v)
