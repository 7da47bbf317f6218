"""Out-of-core rows: of a file, or of any other source that is read block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from gramless.arrays import Array, Tower, parse_memory, refuse_weights
from gramless.data.ahead import read_ahead
from gramless.data.checkpoint import Checkpoint
from gramless.data.formats import NpySource, Source, block_name
from gramless.data.rows import Block, Place, Sum
from gramless.data.scaling import Scaling
from gramless.data.survey import Look, Survey, Tally, TallyOf
from gramless.errors import CheckpointError, MemoryLimitError, SourceError
from gramless.progress import Silent, observed_by, observer

Done = TypeVar("Done")
_SAMPLE = 20_480  # rows from which a thousand landmarks are chosen


class FileRows:
    """Rows of a source with their weights, and sums over their blocks.

    Parameters
    ----------
    source : Source
    block_rows : int
        Number of rows of a block; the last digits of the sums depend on this number.
    weights : ndarray of shape (n,), optional
        Non-negative weights.
    weight_column : bool
        Whether the last column of the source is the weight of its row.
    checkpoint : Checkpoint, optional
        Passes resume from the checkpoint, and update it after every block.
    scaling : Scaling, optional
        Applied to every block.

    Examples
    --------
    >>> from gramless import open_source
    >>> rows = FileRows(open_source(np.arange(10.0).reshape(5, 2)), block_rows=2)
    >>> rows.sum(lambda block: block.x.sum(axis=0))
    array([20., 25.])
    """

    parts = None

    def __init__(
        self,
        source: Source,
        block_rows: int,
        weights: Array | None = None,
        weight_column: bool = False,
        checkpoint: Checkpoint | None = None,
        scaling: Scaling | None = None,
    ) -> None:
        self.source, self.block_rows, self.checkpoint = source, block_rows, checkpoint
        self.name, self.n, self.sparse, self.dtype = source.name, source.n_rows, source.sparse, source.dtype
        self.d = source.n_features - weight_column
        names = source.feature_names
        self.names = names[:-1] if names is not None and weight_column else names
        self.scaling = Scaling() if scaling is None else scaling
        self._weights, self._weight_column = weights, weight_column
        if weights is not None and self.n not in (None, len(weights)):
            raise ValueError(f"sample_weight has {len(weights)} entries for the {self.n} rows of {self.name}")
        self._head: Iterator[Block] | None = None

    @property
    def place(self) -> Place:
        """Where the rows are stored."""
        again = self.source.restartable
        return Place(again=again, block=self.block_rows, mapped=self._map is not None and not self.scaling)

    @property
    def _map(self) -> NpySource | None:
        """The source, where it is a ``.npy`` file that can be memory-mapped; None otherwise."""
        mappable = isinstance(self.source, NpySource) and self.source.mappable and not self._weight_column
        return self.source if mappable else None  # type: ignore[return-value]

    def survey(self, look: Look) -> Survey:
        """See :class:`~gramless.data.Rows`; takes a pass over all rows."""
        limit = parse_memory(look.memory_limit)
        if self.checkpoint is not None:  # a resumed fit keeps its limit: the free memory may have changed
            if self.checkpoint.task != "survey":
                self.checkpoint.begin("survey", limit)
            limit = int(self.checkpoint.kept)
        size = max(1000, min(_SAMPLE, affordable_rows(limit, self.d)))
        seed = int(look.rng().integers(2**31))
        tally: Tally = self.sum(TallyOf(size, bool(look.measures), seed), "survey")
        refuse_weights(tally.weight)
        self.n = tally.rows
        sample = tally.sample
        return Survey(
            n=tally.rows,
            weight=tally.weight,
            view=sample.rows,
            sample=lambda: (sample.rows, sample.weights),
            box=tally.box,
            memory_limit=limit,
            mean=tally.mean if look.measures else None,
            variances=tally.variances if look.measures else None,
            squares=tally.squares if look.measures else None,
        )

    def moved(self, scaling: Scaling) -> FileRows:
        """See :class:`~gramless.data.Rows`."""
        made = FileRows(self.source, self.block_rows, self._weights, self._weight_column, self.checkpoint, scaling)
        made.n = self.n
        return made

    def head(self) -> Block:
        """The first block; the next pass begins with this block instead of reading it again."""
        blocks = self._head if self._head is not None else self._read()
        first = next(blocks, None)
        if first is None:
            raise SourceError(f"{self.name} has no rows")
        self._head = chain([first], blocks)
        return first

    def blocks(self) -> Iterator[Block]:
        """All blocks, including the block that :meth:`head` has read; the next block is read ahead."""
        begun, self._head = self._head, None
        return read_ahead(self._read() if begun is None else begun)

    def _read(self, start: int = 0) -> Iterator[Block]:
        """Blocks with their weights from row `start` on; `start` is a multiple of the block size."""
        first = start
        for x in self.source.blocks(self.block_rows, start):
            weights = self._weights_of(x, first)
            given = x[:, :-1] if self._weight_column else x
            block = Block(given, weights, first // self.block_rows, first)
            yield replace(block, x=self.scaling(given), given=given) if self.scaling else block
            first += x.shape[0]
        if self._weights is not None and first != len(self._weights):
            raise SourceError(f"sample_weight has {len(self._weights)} entries for the {first} rows of {self.name}")

    def _weights_of(self, x: Any, first: int) -> Array:
        if self._weight_column:
            weights = np.array(x[:, -1], dtype=np.float64)
            if (weights < 0).any():
                row = first + int(np.argmax(weights < 0))
                where = block_name(first, self.block_rows, first + len(weights))
                raise SourceError(f"{self.name}, {where}: the weight of row {row} is negative")
            return weights
        if self._weights is None:
            return np.ones(x.shape[0])
        weights = self._weights[first : first + x.shape[0]]
        if len(weights) < x.shape[0]:
            raise SourceError(f"sample_weight has {len(self._weights)} entries, but {self.name} has more rows")
        return weights

    def sum(self, work: Callable[[Block], Sum], task: str = "", begun: Any = None) -> Sum:
        """See :class:`~gramless.data.Rows`."""
        tower, rows = self._summed(task, begun)
        for block in read_ahead(self._read(rows)) if rows else self.blocks():
            if not block.x.shape[0]:
                continue
            tower.push(self.work_on(block, work))
            rows = block.first + block.x.shape[0]
            if self.checkpoint is not None:
                self.checkpoint.save(tower.parts, rows)
            observer().summed(rows, self.n or rows)
        if not tower.count:
            raise SourceError(f"{self.name} has no rows")
        total: Sum = tower.total()
        return total

    def _summed(self, task: str, begun: Any) -> tuple[Tower, int]:
        """Partial sums and number of rows to resume from."""
        if self.checkpoint is None:
            return Tower(), 0
        if self.checkpoint.task != task:
            self.checkpoint.begin(task, begun)
        blocks, rows = sum(count for count, _ in self.checkpoint.parts), self.checkpoint.rows
        if -(-rows // self.block_rows) != blocks:
            raise CheckpointError(f"the checkpoint is inconsistent: {blocks} blocks with {rows} rows; delete it")
        return Tower(self.checkpoint.parts), rows

    @property
    def begun(self) -> Any:
        """What an interrupted pass for moments was begun with; None where the checkpoint has no such pass."""
        return self.checkpoint.kept if self.checkpoint is not None and self.checkpoint.task == "moments" else None

    def work_on(self, block: Block, work: Callable[[Block], Done]) -> Done:
        """``work(block)``; a ValueError becomes a SourceError that names the block."""
        try:
            with observed_by(Silent()):  # :meth:`sum` reports the progress
                return work(block)
        except SourceError:
            raise
        except ValueError as error:
            where = block_name(block.first, self.block_rows, block.first + block.x.shape[0])
            raise SourceError(f"{self.name}, {where}: {error}") from error

    def whole(self, most: int | None = None) -> Block:
        """See :class:`~gramless.data.Rows`; a ``.npy`` file is memory-mapped, other sources are read to memory."""
        if self._map is not None:
            x, weights = self._map.memory_map(), self._weights
            return self._seen(Block(x, np.ones(x.shape[0]) if weights is None else weights))
        size, row = 0, self.d * self.dtype.itemsize
        blocks = []
        for block in read_ahead(self._read()):
            size += block.x.shape[0] * row
            if most is not None and max(size, (self.n or 0) * row) > most:
                raise MemoryLimitError(
                    f"the rows of {self.name} are needed more than once, and exceed half of memory_limit, "
                    f"{most:.1e} bytes; save them as .npy, which is memory-mapped, or increase memory_limit"
                )
            blocks.append(block)
        if not blocks:
            raise SourceError(f"{self.name} has no rows")
        given = np.concatenate([block.original for block in blocks])
        return self._seen(Block(given, np.concatenate([block.weights for block in blocks])))

    def _seen(self, block: Block) -> Block:
        return replace(block, x=self.scaling(block.x), given=block.x) if self.scaling else block


def affordable_rows(memory_limit: int, d: int) -> int:
    """Rows of a sample: ten samples, one in each partial sum, take an eighth of the memory limit."""
    return memory_limit // (8 * 10 * 8 * d)


def block_rows_for(n_features: int, memory_limit: int | None = None) -> int:
    """Rows of a block: 64 MiB of float64 values, or a sixteenth of `memory_limit` where that is less.

    A block is large enough for a fast transform to pay off, and small enough for two blocks in memory. The size must
    not change from one run to the next, so that a fit can be resumed; it does not depend on the free memory.
    """
    size = 2**26 if memory_limit is None else min(2**26, memory_limit // 16)
    return int(np.clip(size // (8 * max(1, n_features)), 256, 2**22))
