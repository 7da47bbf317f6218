"""The survey of rows before a fit: their number, their bounding box, and a sample of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array, run_in_threads
from gramless.data.rows import Block
from gramless.data.scaling import Scaling, deviations
from gramless.features import Box
from gramless.spaces import RowSample

_CHUNK = 2**18


@dataclass(frozen=True, eq=False)
class Look:
    """What a survey is to find out.

    Attributes
    ----------
    measures : str
        ``"center"``: means of the columns; ``"scale"``: means and variances of the columns; empty: neither.
    memory_limit : int, float, str or None
        As the user passed it; bounds the sample of a file.
    rng : callable
        Returns a new random generator, for the sample of a file.
    """

    measures: str
    memory_limit: Any = None
    rng: Callable[[], np.random.Generator] = np.random.default_rng


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of all rows before a fit.

    Attributes
    ----------
    n : int
    weight : float
        Sum of the weights.
    view : array of shape (m, d)
        Rows that can be indexed by an array of row numbers: all rows, or a sample of a file.
    sample : callable
        Returns rows (m, d) and their weights (m,), from which bandwidths and landmarks are chosen.
    box : Box or None
        None for sparse rows and Gram matrices.
    memory_limit : int
        Bytes that a fit of these rows may take.
    mean, variances : ndarray of shape (d,) or None
        Weighted means and variances of the columns, where the survey was requested to compute them.
    squares : ndarray of shape (d,) or None
        sum_i w_i (x_ij - mean_j)^2, where a pass over blocks has computed the sum.
    complete : bool
        Whether `view` has all rows.
    remote : bool
        Whether `view` fetches its rows from a cluster.
    """

    n: int
    weight: float
    view: Any
    sample: Callable[[], tuple[Any, Array]]
    box: Box | None
    memory_limit: int = 0
    mean: Array | None = None
    variances: Array | None = None
    squares: Array | None = None
    complete: bool = False
    remote: bool = False

    @property
    def variance(self) -> float | None:
        """Weighted variance of all entries of all columns together; None where no pass has computed it."""
        if self.mean is None or self.squares is None:
            return None
        return float(np.mean(self.squares) / self.weight + np.var(self.mean)) if self.weight > 0 else 0.0

    def scaling(self, moves: str) -> Scaling:
        """The scaling that ``"center"`` or ``"scale"`` asks for."""
        if not moves:
            return Scaling()
        if moves == "center" or self.variances is None or self.box is None:
            return Scaling(self.mean)
        return Scaling(self.mean, deviations(self.variances, self.box.low, self.box.high))

    def moved(self, scaling: Scaling) -> Survey:
        """The survey of the rows after `scaling`."""
        if not scaling or self.box is None or self.mean is None:
            return self
        x, weights = self.sample()
        x = scaling(x)
        squares, variances = self.squares, self.variances
        if scaling.scale is not None and squares is not None and variances is not None:
            squares, variances = squares / scaling.scale**2, variances / scaling.scale**2
        return replace(
            self,
            view=x,
            sample=lambda: (x, weights),
            box=Box(scaling(self.box.low), scaling(self.box.high)),
            mean=scaling(self.mean),
            variances=variances,
            squares=squares,
        )


@dataclass(frozen=True, eq=False)
class Tally:
    """What one pass over rows adds up; the tallies of two sets of rows can be added.

    Attributes
    ----------
    rows : int
    weight : float
    low, high : ndarray of shape (d,)
        Bounding box of all rows.
    mean : ndarray of shape (d,)
        Weighted means of the columns.
    squares : ndarray of shape (d,)
        sum_i w_i (x_ij - mean_j)^2; nan where it was not requested.
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
        """Bounding box of the rows."""
        return Box(self.low, self.high)

    @property
    def variances(self) -> Array:
        """Weighted variances (d,) of the columns."""
        return self.squares / self.weight if self.weight > 0 else np.zeros_like(self.squares)

    @property
    def variance(self) -> float:
        """Weighted variance of all entries of all columns together."""
        return float(np.mean(self.squares) / self.weight + np.var(self.mean)) if self.weight > 0 else 0.0

    def __add__(self, other: Tally) -> Tally:
        weight = self.weight + other.weight
        part = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        return Tally(
            rows=self.rows + other.rows,
            weight=weight,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            mean=self.mean + part * apart,
            squares=self.squares + other.squares + self.weight * part * apart**2,
            sample=self.sample + other.sample,
        )


@dataclass(frozen=True)
class TallyOf:
    """The function that computes the tally of a block.

    Attributes
    ----------
    size : int
        Rows of the sample.
    measures : bool
        Whether the mean and the squares are requested.
    seed : int
    """

    size: int
    measures: bool = False
    seed: int = 0

    def __call__(self, block: Block) -> Tally:
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
        return Tally(x.shape[0], weight, box.low, box.high, mean, squares, sample)


def _box(x: Any) -> Box:
    """The bounding box of rows, computed by threads chunk by chunk."""
    firsts = list(range(0, x.shape[0], _CHUNK))
    found: dict[int, Box] = {}

    def work(first: int) -> None:
        found[first] = Box.around(x[first : first + _CHUNK])

    run_in_threads(work, [firsts])
    low = np.min([found[first].low for first in firsts], axis=0)
    return Box(low, np.max([found[first].high for first in firsts], axis=0))
