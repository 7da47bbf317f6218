"""Rows in partitions on the workers of a cluster; this process stores their counts and a sample."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from gramless.arrays import Array, parse_memory
from gramless.data.parts import Parts, join_in_tree
from gramless.data.rows import Block, Place, Sum
from gramless.data.scaling import Scaling
from gramless.data.survey import Look, Survey, Tally, TallyOf

_LISTED = 10**7
_SAMPLE = 2**17


class ClusterRows:
    """Rows (n, d) that stay in their partitions.

    Parameters
    ----------
    parts : Parts
        Of :class:`~gramless.data.Block`.
    names : tuple of str, optional
        Of the columns.
    listed : int
        Maximum number of rows for which this process stores all weights and samples from all rows.
    sample : int
        Size of the sample that represents all rows, where there are more than `listed`.

    Attributes
    ----------
    parts : Parts
        Parts of :class:`~gramless.data.Block`, none of them empty.
    lengths : list of int
        Number of rows of each part.
    view : RowView
        Rows, selected by row number.
    tally : Tally
        Tally of all rows.
    positive : int
        Number of rows of positive weight.
    even : bool
        Whether all weights are 1.

    Examples
    --------
    >>> from gramless.data import LocalParts
    >>> x = np.arange(10.0).reshape(5, 2)
    >>> rows = ClusterRows(LocalParts([Block(x[:3], np.ones(3)), Block(x[3:], np.ones(2), 1, 3)]))
    >>> rows.n, rows.d, rows.view[[4, 0]].tolist()
    (5, 2, [[8.0, 9.0], [0.0, 1.0]])
    """

    name = "the partitions"
    sparse = False
    begun = None
    scaling = Scaling()

    def __init__(
        self, parts: Parts, names: tuple[str, ...] | None = None, listed: int = _LISTED, sample: int = _SAMPLE
    ) -> None:
        self._listed, self._sample = listed, sample
        found = [part for part in _tally_parts(parts) if part.rows]
        if not found:
            raise ValueError("Found array with 0 sample(s) while a minimum of 2 is required: every partition is empty")
        self.parts = parts if len(found) == len(parts) else parts.chosen([part.number for part in found])
        self.lengths = [part.rows for part in found]
        self.tally: Tally = join_in_tree([part.tally for part in found], partial(reduce, operator.add))
        self.n, self.d, self.names = self.tally.rows, len(self.tally.mean), names
        self.dtype: Any = np.result_type(*[part.dtype for part in found])
        self.positive = sum(part.positive for part in found)
        self.even = all(part.even for part in found)
        self.view = RowView(self.parts, self.lengths, self.d, self.dtype)

    @property
    def place(self) -> Place:
        """Where the rows are stored."""
        return Place(workers=self.parts.workers, partitions=len(self.parts))

    @cached_property
    def weights(self) -> Array:
        """Weights (n,) of all rows, gathered from the workers."""
        return np.ones(self.n) if self.even else np.concatenate(self.parts.map(weights_of))

    def survey(self, look: Look) -> Survey:
        """See :class:`~gramless.data.Rows`; takes no pass: ``__init__`` has tallied the rows."""
        tally = self.tally
        return Survey(
            n=self.n,
            weight=tally.weight,
            view=self.view,
            sample=self._drawn,
            box=tally.box,
            memory_limit=self.parts.memory if look.memory_limit is None else parse_memory(look.memory_limit),
            mean=tally.mean,
            variances=tally.variances,
            squares=tally.squares,
            remote=True,
        )

    def _drawn(self) -> tuple[Any, Array]:
        """Rows (m, d) and their weights (m,): all rows, or a sample where there are more than `listed`."""
        if self.n <= self._listed:
            return self.view, self.weights
        chosen = np.linspace(0, self.n - 1, self._sample).astype(int)
        pairs = self.parts.map(weighted_rows_of, each=self.view.wanted(chosen))
        weights = np.concatenate([weights for _, weights in pairs])
        scale = self.tally.weight / max(float(weights.sum()), 1e-300)
        return np.concatenate([x for x, _ in pairs]), weights * scale

    def moved(self, scaling: Scaling) -> ClusterRows:
        """See :class:`~gramless.data.Rows`; raises, as rows on a cluster are not scaled."""
        remedy = "X - X.mean(axis=0)"
        remedy = remedy if scaling.scale is None else f"({remedy}) / X.std(axis=0)"
        raise ValueError(f"{scaling.parameter}=True is not supported on a cluster; pass {remedy}")

    def blocks(self) -> Iterator[Block]:
        """See :class:`~gramless.data.Rows`: the partitions, fetched from the workers one by one."""
        for number in range(len(self.parts)):
            yield self.parts.map(itself, only=[number])[0]

    def sum(self, work: Callable[[Block], Sum], task: str = "", begun: Any = None) -> Sum:
        """See :class:`~gramless.data.Rows`; every block has the number of its first row."""
        total: Sum = self.parts.reduce(placed_work, work, each=self.view.starts[:-1].tolist())
        return total

    def whole(self, most: int | None = None) -> Block:
        """All rows, gathered from the workers."""
        return Block(self.view.gathered(), self.weights)

    def split(self, v: Array) -> list[Array]:
        """An array (n, ...) with one value for each row, split by part."""
        return np.split(v, self.view.starts[1:-1])


class RowView:
    """Rows of partitions, fetched from the workers by an array of row numbers: for samples of a few rows.

    Attributes
    ----------
    shape : tuple of (n, d)
    dtype : dtype
    starts : ndarray of shape (parts + 1,)
        Number of the first row of each part, and n.
    """

    def __init__(self, parts: Parts, lengths: list[int], d: int, dtype: Any) -> None:
        self._parts, self.dtype = parts, dtype
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        self.shape = (int(self.starts[-1]), d)

    def wanted(self, rows: Array) -> list[Array]:
        """The row numbers `rows`, split by part and counted from the first row of each part."""
        owners = np.searchsorted(self.starts, rows, side="right") - 1
        return [rows[owners == i] - self.starts[i] for i in range(len(self.starts) - 1)]

    def __getitem__(self, rows: Any) -> Array:
        rows = np.asarray(rows)
        owners = np.searchsorted(self.starts, rows, side="right") - 1
        only = np.unique(owners)
        places = [np.flatnonzero(owners == owner) for owner in only]
        wanted = [rows[place] - self.starts[owner] for owner, place in zip(only, places, strict=True)]
        out = np.empty((len(rows), self.shape[1]), dtype=self.dtype)
        pieces = self._parts.map(rows_of, each=wanted, only=only.tolist())
        for place, piece in zip(places, pieces, strict=True):
            out[place] = piece
        return out

    def gathered(self) -> Array:
        """All rows (n, d), gathered from the workers."""
        return np.concatenate(self._parts.map(all_rows_of)).astype(self.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class PartTally:
    """The result of the first pass over a part.

    Attributes
    ----------
    number : int
    rows : int
    dtype : dtype
    flaw : str
        Why the part cannot be used; empty if it can.
    positive : int
        Rows of positive weight.
    even : bool
        Whether all weights are 1.
    tally : Tally or None
        None for a part without rows.
    """

    number: int
    rows: int
    dtype: Any
    flaw: str
    positive: int = 0
    even: bool = True
    tally: Tally | None = None


def tally_part(part: Block) -> PartTally:
    """The tally of one part, from one pass over its rows."""
    x, weights = part.x, part.weights
    flaw = _flaw(x, weights)
    if flaw or not len(x):
        return PartTally(part.number, len(x), x.dtype, flaw)
    tally = TallyOf(size=1, measures=True)(part)
    positive, even = int(np.count_nonzero(weights)), bool((weights == 1).all())
    return PartTally(part.number, len(x), x.dtype, flaw, positive, even, tally)


def _flaw(x: Array, weights: Array) -> str:
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.isfinite(x.sum())
    if not whole and not np.isfinite(x).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(x))[0])
        what = "NaN" if np.isnan(x[row, column]) else "infinity"
        return f"Input X contains {what} in its row {row}, column {column}; impute or drop such rows"
    if not np.isfinite(weights).all():
        return "sample_weight is not finite in this partition"
    if (weights < 0).any():
        return f"sample_weight has {weights.min():g}; negative values are not allowed"
    return ""


def _tally_parts(parts: Parts) -> list[PartTally]:
    """Tallies of all parts; raises a ValueError that names the first part that cannot be used."""
    found: list[PartTally] = parts.map(tally_part)
    for part in found:
        if part.flaw:
            raise ValueError(f"partition {part.number} ({part.rows} rows): {part.flaw}")
    return found


# functions for workers are at module level, so that they can be pickled


def placed_work(part: Block, work: Callable[[Block], Any], first: int) -> Any:
    """``work(part)`` with the number `first` of the part's first row set."""
    return work(replace(part, first=first))


def itself(part: Block) -> Block:
    """The part."""
    return part


def rows_of(part: Block, rows: Array) -> Array:
    """Some of the rows."""
    return np.asarray(part.x[rows])


def all_rows_of(part: Block) -> Array:
    """The rows."""
    return np.asarray(part.x)


def weights_of(part: Block) -> Array:
    """The weights."""
    return part.weights


def weighted_rows_of(part: Block, rows: Array) -> tuple[Array, Array]:
    """Some of the rows, and their weights."""
    return part.x[rows], part.weights[rows]
