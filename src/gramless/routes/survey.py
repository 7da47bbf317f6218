"""A first look at rows that are read in blocks: how many, where they lie, and a sample of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array, run_in_threads
from gramless.execution import Block
from gramless.features import Box
from gramless.spaces import RowSample

_CHUNK = 2**18


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of all rows after one pass; surveys of two sets of rows add.

    Attributes
    ----------
    rows : int
    weight : float
    low, high : ndarray of shape (d,)
        The box of all rows.
    mean : ndarray of shape (d,)
        By weight.
    squares : ndarray of shape (d,)
        sum_i w_i (x_ij - mean_j)^2; nan where it was not asked for.
    sample : RowSample
    """

    rows: int
    weight: float
    low: Array
    high: Array
    mean: Array
    squares: Array
    sample: RowSample

    @property
    def box(self) -> Box:
        """Where the rows lie."""
        return Box(self.low, self.high)

    @property
    def variance(self) -> float:
        """Weighted variance of all entries together: that within the columns, and that of their means."""
        return float(np.mean(self.squares) / self.weight + np.var(self.mean))

    def moved(self, center: Array, scale: Array) -> Survey:
        """The survey of the rows less `center`, divided by `scale`; its sample is left as it is."""
        moved = {name: (getattr(self, name) - center) / scale for name in ("low", "high", "mean")}
        return replace(self, **moved, squares=self.squares / scale**2)

    def __add__(self, other: Survey) -> Survey:
        weight = self.weight + other.weight
        part = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        return Survey(
            rows=self.rows + other.rows,
            weight=weight,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            mean=self.mean + part * apart,
            squares=self.squares + other.squares + self.weight * part * apart**2,
            sample=self.sample + other.sample,
        )


@dataclass(frozen=True)
class SurveyOf:
    """The work that makes a survey of a block.

    Attributes
    ----------
    size : int
        Rows of the sample.
    measures : bool
        Whether the mean and the squares are wanted.
    seed : int
    """

    size: int
    measures: bool = False
    seed: int = 0

    def __call__(self, block: Block) -> Survey:
        x, weights = block.x, block.weights
        box = _box(x)
        weight = float(weights.sum())
        mean, squares = np.zeros(x.shape[1]), np.full(x.shape[1], np.nan)
        if self.measures:
            squares = np.zeros(x.shape[1])
            if weight > 0:
                mean = weights @ np.asarray(x, dtype=np.float64) / weight
                squares = weights @ (x - mean) ** 2
        sample = RowSample.of(x, weights, self.size, seed=[self.seed, block.number])
        return Survey(x.shape[0], weight, box.low, box.high, mean, squares, sample)


def _box(x: Any) -> Box:
    """The box of rows, in threads over chunks."""
    firsts = list(range(0, x.shape[0], _CHUNK))
    found: dict[int, Box] = {}

    def work(first: int) -> None:
        found[first] = Box.around(x[first : first + _CHUNK])

    run_in_threads(work, [firsts])
    low = np.min([found[first].low for first in firsts], axis=0)
    return Box(low, np.max([found[first].high for first in firsts], axis=0))
