"""How far float32 tiles are from the exact kernel: a bound from entries drawn at random and computed in float64."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array, run_in_threads, unit_roundoff
from gramless.certificates import FAILURE_PROBABILITY, hoeffding_upper
from gramless.gram.tiled.tiles import TILE, Tiles
from gramless.kernels.pairs import pair_values, worst_error
from gramless.kernels.points import Points

_CHUNK = 2048


class SpotCheck:
    r"""Bounds the Frobenius norm of the error of float32 tiles.

    The worst case of rounding grows with the number of columns and is a hundred times its usual size. With b_i the
    worst case for pairs of row i with rows no longer than it, an entry's error is at most max(b_i, b_j). Pairs are
    drawn with probability proportional to w_i w_j (b_i^2 + b_j^2): then (error of the entry)^2 / (b_i^2 + b_j^2) lies
    in [0, 1], and its mean is the squared norm divided by that of all worst cases. Hoeffding's inequality bounds the
    mean.

    Parameters
    ----------
    tiles : Tiles
        In float32.
    weights : ndarray of shape (n,)

    Attributes
    ----------
    worst : float
        Square root of the sum over all pairs of w_i w_j (b_i^2 + b_j^2): at least the norm, without any draw.
    """

    def __init__(self, tiles: Tiles, weights: Array) -> None:
        self._tiles, self._weights = tiles, weights
        self._bounds = np.concatenate([self._row_bounds(i) for i in range(tiles.blocks)])
        with np.errstate(over="ignore", invalid="ignore"):
            self._chances = weights * self._bounds**2
            worst = float(np.sqrt(2 * weights.sum() * self._chances.sum()))
        self.worst = worst if np.isfinite(worst) else float("inf")
        self._drawn: dict[tuple[int, int], tuple[Array, Array, Array]] = {}
        self._values = np.zeros(0)
        self._left = self._right = np.zeros(0, dtype=np.int64)

    def _row_bounds(self, i: int) -> Array:
        """Worst rounding of an entry of two rows of this length, for each row of a block."""
        tiles, ready = self._tiles, self._tiles.block(i)
        kernel, unit = tiles.kernel, unit_roundoff(tiles.dtype)
        largest = kernel.radius(ready)
        if isinstance(ready, Points) and largest > 0:
            lengths = np.sqrt(ready.squared_norms.astype(np.float64)) * (1 + (tiles.d + 4) * ready.eps)
        else:
            lengths = np.full(len(ready), largest)
        if not np.isfinite(largest):
            return np.full(len(lengths), np.inf)
        parts = np.maximum(lengths / max(largest, np.finfo(float).tiny), 2.0**-10)
        steps, where = np.unique(np.ceil(4 * np.log2(parts)), return_inverse=True)  # few lengths, each rounded up
        radii = [largest * float(2 ** (step / 4)) for step in steps]
        return np.array([worst_error(kernel, radius, tiles.d, unit) for radius in radii])[where]

    def pairs_for(self, norm: float) -> float:
        """Number of pairs that prove the norm to be at most `norm`, if their errors are negligible."""
        return 1.2 * float(np.log(1 / FAILURE_PROBABILITY)) * (self.worst / norm) ** 2 if norm > 0 else np.inf

    @property
    def provable(self) -> float:
        """Norm that the drawn pairs will prove, if their errors are negligible."""
        return self.worst * float(np.sqrt(1.2 * np.log(1 / FAILURE_PROBABILITY) / len(self._values)))

    def draw(self, pairs: int, rng: np.random.Generator) -> None:
        """Draw the pairs; their values are taken from the tiles by :meth:`see`."""
        left, right = (
            np.minimum(np.searchsorted(np.cumsum(p), rng.random(pairs) * p.sum(), side="right"), len(p) - 1)
            for p in (self._chances, self._weights)
        )
        left, right = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((right // TILE, left // TILE))
        self._left, self._right, self._values = left[order], right[order], np.full(pairs, np.nan)
        blocks = np.column_stack([self._left // TILE, self._right // TILE])
        starts = np.flatnonzero(np.r_[True, (blocks[1:] != blocks[:-1]).any(axis=1)])
        for first, stop in zip(starts, np.r_[starts[1:], pairs], strict=True):
            part = np.arange(first, stop)
            index = (int(blocks[first, 0]), int(blocks[first, 1]))
            self._drawn[index] = (part, self._left[part] % TILE, self._right[part] % TILE)

    def see(self, index: tuple[int, int], tile: Array) -> None:
        """Copy the drawn entries of a tile."""
        if index in self._drawn:
            part, rows, columns = self._drawn[index]
            self._values[part] = tile[rows, columns]

    def bound(self) -> float:
        """Bound on the norm after all tiles were seen, wrong with at most `FAILURE_PROBABILITY`."""
        x, kernel, shift = self._tiles.x, self._tiles.kernel, self._tiles.shift
        errors = np.empty(len(self._values))

        def compare(first: int) -> None:
            part = slice(first, first + _CHUNK)
            exact, slack = pair_values(kernel, x[self._left[part]], x[self._right[part]], shift)
            errors[part] = np.abs(self._values[part] - exact) + slack

        run_in_threads(compare, [list(range(0, len(errors), _CHUNK))])
        scales = self._bounds[self._left] ** 2 + self._bounds[self._right] ** 2
        ratios = np.divide(errors**2, scales, out=np.ones_like(errors), where=scales > 0)
        ratios = np.where(ratios <= 1, ratios, 1.0)  # more than 1, or nan, only by the rounding of the comparison
        return self.worst * float(np.sqrt(hoeffding_upper(ratios, FAILURE_PROBABILITY))) * (1 + 1e-9)
