"""Gram matrices of kernels with a small bandwidth: only near neighbors, found by a KD-tree, have entries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from scipy.spatial import cKDTree

from gramless.arrays import Array, run_in_threads, thread_count, unit_roundoff
from gramless.errors import MemoryLimitError
from gramless.gram.base import GramOperator, Statistics
from gramless.gram.cutoff import SLACK, cut_radius, direct_rounding, largest_beyond
from gramless.gram.tiled.schedule import rounds
from gramless.kernels.base import RadialKernel
from gramless.kernels.rounding import growth

_SAMPLE = 256  # rows whose neighbors are counted before memory is taken
_PAIR = 12  # bytes of a stored entry: a float64 and an int32
_FOUND = 64  # bytes of an entry while its tile is computed


class SparseGram(GramOperator):
    """D^1/2 K D^1/2 with the entries of points farther apart than a radius left out.

    The rows are put in the order of a KD-tree, so that neighbors lie near each other in memory, and the symmetric
    half is stored in CSR tiles, of which most are empty. Beyond the radius the kernel is so small that the spectral
    norm of the omitted entries is below `cutoff_error`: if these are at most e in modulus and w are the weights, the
    norm is at most e max_i sum_j w_j, j over the points omitted from row i.

    Parameters
    ----------
    kernel : RadialKernel
        Compactly supported (Epanechnikov), or falling fast (a narrow Gaussian).
    x : ndarray of shape (n, d)
        Of few columns, up to 8 or so: in more, a KD-tree is no faster than a search over all pairs.
    weights : ndarray of shape (n,), optional
        Not negative; default: ones.
    cutoff_error : float
        Bound on the spectral norm of the entries left out. 0 leaves out only entries that are 0 in floating point.
    memory_limit : int, optional
        Bytes the entries may take; estimated from a sample of rows before any are stored.

    Attributes
    ----------
    radius : float
        Entries of points at most this far apart are stored.
    cut : float
        Bound on the spectral norm of the omitted entries; at most `cutoff_error`, up to underflow.
    entries : int
        Nonzero entries kept, both halves counted.

    Examples
    --------
    >>> from gramless.kernels import Epanechnikov
    >>> x = np.array([[0.0], [1.0], [5.0]])
    >>> operator = SparseGram(Epanechnikov(2.0), x)
    >>> operator @ np.ones(3)
    array([1.75, 1.75, 1.  ])
    >>> operator.entries
    5
    """

    def __init__(
        self,
        kernel: RadialKernel,
        x: Any,
        weights: Array | None = None,
        cutoff_error: float = 0.0,
        *,
        memory_limit: int | None = None,
    ) -> None:
        if not isinstance(kernel, RadialKernel):
            raise TypeError(f"kernel={kernel} must be a function of the distance (a RadialKernel)")
        if scipy.sparse.issparse(x):
            raise TypeError("neighbor search needs a dense x; pass x.toarray()")
        if not cutoff_error >= 0:
            raise ValueError(f"cutoff_error={cutoff_error!r} must be at least 0")
        n = x.shape[0]
        super().__init__(np.ones(n) if weights is None else np.sqrt(np.asarray(weights, dtype=np.float64)))
        self.kernel, self._d = kernel, x.shape[1]
        self._weight = float((self.roots**2).sum())
        self.radius = cut_radius(kernel, cutoff_error / max(self._weight, np.finfo(float).tiny))
        used = np.flatnonzero(self.roots > 0)
        rows = np.asarray(x[used] if len(used) < n else x, dtype=np.float64)
        tree = cKDTree(rows)
        rows = rows[tree.indices]
        self._order = used[tree.indices]
        self._block = min(max(1, len(used)), max(1024, len(used) // 128))
        self._blocks = -(-len(used) // self._block)
        if memory_limit is not None:
            self._afford(self.expected_bytes(tree, rows), memory_limit, "about ")
        self._tiles: dict[tuple[int, int], Any] = {}
        self._fill(rows, memory_limit)

    def _rows(self, i: int) -> slice:
        """Rows of block `i`, in the order of the tree."""
        return slice(i * self._block, min((i + 1) * self._block, len(self._order)))

    @property
    def nbytes(self) -> int:
        """Memory that the entries take."""
        return sum(_PAIR * tile.nnz + 4 * len(tile.indptr) for tile in self._tiles.values())

    def expected_bytes(self, tree: cKDTree, rows: Array) -> int:
        """Memory that tiles will take, from the neighbors of a few rows spread over the tree."""
        if not len(rows):
            return 0
        sample = rows[:: max(1, len(rows) // _SAMPLE)]
        counts = tree.query_ball_point(sample, self.radius * (1 + SLACK), return_length=True)
        tile = self._block * min(self._block, int(counts.max()))
        return int(_PAIR * len(rows) * (counts.mean() + 1) / 2 + thread_count() * _FOUND * tile)

    def _afford(self, needed: float, limit: int, about: str = "") -> None:
        if needed > limit:
            raise MemoryLimitError(
                f"the neighbors within {self.radius:.3g} of each of {len(self._order)} rows take {about}"
                f"{needed / 1e6:.3g} MB, memory_limit leaves {limit / 1e6:.3g} MB for them; increase memory_limit, "
                "reduce "
                "the bandwidth, increase tol, or use method='tiled'"
            )

    def _fill(self, rows: Array, limit: int | None) -> None:
        """Find the pairs and store their entries, tile by tile; gather norms on the way."""
        blocks = self._blocks
        trees = [cKDTree(rows[self._rows(i)]) for i in range(blocks)]
        reach = self.radius * (1 + SLACK)
        near = _near(trees, reach)
        roots = self.roots[self._order]
        kept, counts = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
        squares: dict[tuple[int, int], float] = {}

        def make(index: tuple[int, int]) -> None:
            i, j = index
            found = trees[i].sparse_distance_matrix(trees[j], reach, output_type="ndarray")
            if not len(found):
                return
            above, below = self._rows(i), self._rows(j)
            a, b = found["i"].astype(np.int32), found["j"].astype(np.int32)
            left, right = roots[above][a], roots[below][b]
            values = self.kernel.profile(found["v"] ** 2)
            values *= left
            values *= right
            del found
            _count(counts[above], kept[above], a, right)
            if i != j:
                _count(counts[below], kept[below], b, left)
            squares[index] = float(np.dot(values, values)) * (1 if i == j else 2)
            shape = (above.stop - above.start, below.stop - below.start)
            tile = scipy.sparse.csr_array((values, (a, b)), shape=shape)
            tile.eliminate_zeros()
            self._tiles[index] = tile

        def affordable() -> Iterator[list[tuple[int, int]]]:
            for turn in rounds(blocks):
                yield [index for index in turn if near[index]]
                if limit is not None:
                    self._afford(self.nbytes, limit)

        run_in_threads(make, affordable())
        self.entries = sum(tile.nnz * (1 if i == j else 2) for (i, j), tile in self._tiles.items())
        self._schedule = [[index for index in turn if index in self._tiles] for turn in rounds(blocks)]
        self._conclude(kept, counts, math.fsum(squares.values()))

    def _conclude(self, kept: Array, counts: Array, squares: float) -> None:
        """Bounds on the entries left out, on the rounding of entries and of sums; and the statistics."""
        unit = unit_roundoff()
        left_out = float((self._weight - kept).max(initial=0.0)) if (counts < len(counts)).any() else 0.0
        self.cut = largest_beyond(self.kernel, self.radius) * (left_out + 4 * len(kept) * unit * self._weight)
        if not left_out:
            self.cut = 0.0
        slip, self._relative = direct_rounding(self.kernel, self.radius, self._d)
        self._absolute = slip * float(kept.max(initial=0.0)) * (1 + len(kept) * unit)
        self._growth = growth(int(counts.max(initial=0)) + self._blocks + 4, unit)
        sums = self._matmat(self.roots[:, None])[:, 0]
        grown = (1 + self._growth) / (1 - self._relative)
        frobenius = (
            math.sqrt(squares) * grown
            + slip * math.sqrt(float(kept.sum()) * kept.max(initial=0.0))
            + self.cut_frobenius
        )
        used = self._order
        peak = float((sums[used] / self.roots[used]).max(initial=0.0))
        norm = min(frobenius, peak * grown + self._absolute + self.cut)
        self._statistics = Statistics(frobenius**2 * (1 + 8 * unit), sums, norm)

    @property
    def cut_frobenius(self) -> float:
        """Bound on the Frobenius norm of the entries left out."""
        return largest_beyond(self.kernel, self.radius) * self._weight if self.cut else 0.0

    def _matmat(self, v: Array) -> Array:
        sorted_v = np.ascontiguousarray(np.asarray(v, dtype=np.float64)[self._order])
        sums = np.zeros_like(sorted_v)

        def add(index: tuple[int, int]) -> None:
            i, j = index
            above, below, tile = self._rows(i), self._rows(j), self._tiles[index]
            sums[above] += tile @ sorted_v[below]
            if i != j:
                sums[below] += tile.T @ sorted_v[above]

        run_in_threads(add, self._schedule)
        out = np.zeros((self.shape[0], sums.shape[1]))
        out[self._order] = sums
        return out

    def diagonal(self) -> Array:
        return self.roots**2 * self.kernel.bound(0.0)

    def statistics(self) -> Statistics:
        return self._statistics

    @property
    def error(self) -> float:
        """The sum of the bounds on the entries left out, the rounding of entries and the rounding of sums."""
        return self.cut + self._absolute + (self._relative + self._growth) * self._statistics.norm

    def to_dense(self) -> Array:
        matrix = np.zeros(self.shape)
        for (i, j), tile in self._tiles.items():
            above, below = self._order[self._rows(i)], self._order[self._rows(j)]
            dense = tile.toarray()
            matrix[np.ix_(above, below)] = dense
            matrix[np.ix_(below, above)] = dense.T
        return matrix


def _near(trees: list[cKDTree], radius: float) -> Array:
    """Mask (blocks, blocks) of the blocks whose bounding boxes come within `radius` of each other."""
    low, high = np.array([tree.mins for tree in trees]), np.array([tree.maxes for tree in trees])
    near = np.zeros((len(trees), len(trees)), dtype=bool)
    for i in range(len(trees)):
        gap = np.maximum(np.maximum(low[i] - high, low - high[i]), 0.0)
        near[i] = np.sqrt((gap**2).sum(axis=1)) <= radius
    return near


def _count(counts: Array, kept: Array, rows: Array, roots: Array) -> None:
    """Add the neighbors found to the number and to the total weight of each row's neighbors."""
    counts += np.bincount(rows, minlength=len(counts))
    kept += np.bincount(rows, weights=roots**2, minlength=len(kept))
