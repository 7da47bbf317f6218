"""The default: blocks of a source, one after another, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from gramless.arrays import Array, Tower
from gramless.errors import CheckpointError, SourceError
from gramless.execution.ahead import read_ahead
from gramless.execution.checkpoint import Checkpoint
from gramless.execution.protocol import Block, Sum
from gramless.progress import Silent, observed_by, observer
from gramless.sources import NpySource, Source, block_name

Done = TypeVar("Done")


class LocalRows:
    """Rows of a source with their weights, and passes over them.

    Parameters
    ----------
    source : Source
    block_rows : int
        Rows of a block: the sums depend on it, in the last digits.
    weights : ndarray of shape (n,), optional
        Not negative.
    weight_column : bool
        Whether the last column of the source is the weight of its row.
    checkpoint : Checkpoint, optional
        Passes go on from there, and keep it up to date.

    Examples
    --------
    >>> from gramless.sources import open_source
    >>> rows = LocalRows(open_source(np.arange(10.0).reshape(5, 2)), block_rows=2)
    >>> rows.map_reduce(lambda block: block.x.sum(axis=0))
    array([20., 25.])
    """

    def __init__(
        self,
        source: Source,
        block_rows: int,
        weights: Array | None = None,
        weight_column: bool = False,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.source, self.block_rows, self.checkpoint = source, block_rows, checkpoint
        self.name, self.n_rows, self.restartable = source.name, source.n_rows, source.restartable
        self.sparse, self.dtype = source.sparse, source.dtype
        self.n_features = source.n_features - weight_column
        names = source.feature_names
        self.feature_names = names[:-1] if names is not None and weight_column else names
        self._weights, self._weight_column = weights, weight_column
        if weights is not None and self.n_rows not in (None, len(weights)):
            raise ValueError(f"sample_weight has {len(weights)} entries for the {self.n_rows} rows of {self.name}")
        self._head: Iterator[Block] | None = None

    def head(self) -> Block:
        """The first block; the next pass begins with it, so that it is read once."""
        blocks = self._head if self._head is not None else self.blocks()
        first = next(blocks, None)
        if first is None:
            raise SourceError(f"{self.name} has no rows")
        self._head = chain([first], blocks)
        return first

    def taken_up(self) -> Iterator[Block]:
        """All blocks, those that :meth:`head` has read included, each once."""
        begun, self._head = self._head, None
        return self.blocks() if begun is None else begun

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Blocks with their weights from row `start` on, a multiple of the rows of a block."""
        first = start
        for x in self.source.blocks(self.block_rows, start):
            number = first // self.block_rows
            weights = self._weights_of(x, first)
            yield Block(number, first, x[:, :-1] if self._weight_column else x, weights)
            first += x.shape[0]
        if self._weights is not None and first != len(self._weights):
            raise SourceError(f"sample_weight has {len(self._weights)} entries for the {first} rows of {self.name}")

    def _weights_of(self, x: Any, first: int) -> Array:
        if self._weight_column:
            weights = np.array(x[:, -1], dtype=np.float64)
            if (weights < 0).any():
                row = first + int(np.argmax(weights < 0))
                where = block_name(first, self.block_rows)
                raise SourceError(f"{self.name}, {where}: the weight of row {row} is negative")
            return weights
        if self._weights is None:
            return np.ones(x.shape[0])
        weights = self._weights[first : first + x.shape[0]]
        if len(weights) < x.shape[0]:
            raise SourceError(f"sample_weight has {len(self._weights)} entries, and {self.name} has more rows")
        return weights

    def map_reduce(self, work: Callable[[Block], Sum], task: str = "") -> Sum:
        """``work(block)`` of every block, added in a fixed tree: see :class:`~gramless.execution.Rows`."""
        tower, rows = self._resumed(task)
        for block in read_ahead(self.blocks(rows) if rows else self.taken_up()):
            if not block.x.shape[0]:
                continue
            tower.push(self.work_on(block, work))
            rows = block.first + block.x.shape[0]
            if self.checkpoint is not None:
                self.checkpoint.save(tower.parts, rows)
            observer().summed(rows, self.n_rows or rows)
        if not tower.count:
            raise SourceError(f"{self.name} has no rows")
        total: Sum = tower.total()
        return total

    def _resumed(self, task: str) -> tuple[Tower, int]:
        """Sums and rows to go on from."""
        if self.checkpoint is None:
            return Tower(), 0
        if self.checkpoint.task != task:
            self.checkpoint.begin(task)
        blocks, rows = sum(count for count, _ in self.checkpoint.parts), self.checkpoint.rows
        if -(-rows // self.block_rows) != blocks:
            raise CheckpointError(f"a checkpoint of {blocks} blocks says that they have {rows} rows; delete it")
        return Tower(self.checkpoint.parts), rows

    def work_on(self, block: Block, work: Callable[[Block], Done]) -> Done:
        """``work(block)``; an error it raises gets the name of the block."""
        try:
            with observed_by(Silent()):  # rows are counted here
                return work(block)
        except SourceError:
            raise
        except ValueError as error:
            where = block_name(block.first, self.block_rows)
            raise SourceError(f"{self.name}, {where}: {error}") from error

    @property
    def mappable(self) -> bool:
        """Whether :meth:`at_once` takes no memory: the rows are a ``.npy`` file of floats."""
        return isinstance(self.source, NpySource) and self.source.mappable and not self._weight_column

    def at_once(self) -> tuple[Any, Array]:
        """All rows (n, d), mapped or read to memory, and their weights (n,)."""
        if isinstance(self.source, NpySource) and self.mappable:
            n = self.n_rows or 0
            return self.source.memory_map(), np.ones(n) if self._weights is None else self._weights
        blocks = list(read_ahead(self.blocks()))
        return np.concatenate([b.x for b in blocks]), np.concatenate([b.weights for b in blocks])


def block_rows_for(n_features: int, memory_limit: int | None = None) -> int:
    """Rows of a block: 64 MB of numbers, or a sixteenth of a memory limit that was asked for.

    Large enough for a transform to be worth its while, small enough to have two of them. It depends on nothing that
    changes from one run to the next, so that a fit can be resumed.
    """
    size = 2**26 if memory_limit is None else min(2**26, memory_limit // 16)
    return int(np.clip(size // (8 * max(1, n_features)), 256, 2**22))
