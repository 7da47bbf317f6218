"""Row blocks from an iterator, which can be read once, or from a function that returns a new iterator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse

from gramless.data.formats.registry import Format, formats
from gramless.data.formats.source import Source, as_floats, check_shape, choose_columns, chosen_names, float_dtype
from gramless.errors import SourceError


class IteratorSource(Source):
    """Blocks of an iterator, or of the iterators that a function returns.

    Parameters
    ----------
    blocks : iterator of array-like of shape (m, d), or function without arguments that returns one
        Blocks may have different numbers of rows. Data frames must all have the columns of the first, in its order.
    columns : list of int, or of str where blocks are data frames, optional

    Examples
    --------
    >>> source = IteratorSource(np.full((2, 3), float(i)) for i in range(3))
    >>> source.restartable, source.n_features, [block.shape for block in source.blocks(4)]
    (False, 3, [(4, 3), (2, 3)])
    """

    callers_own = True

    def __init__(self, blocks: Iterator[Any] | Callable[[], Iterator[Any]], columns: Any = None) -> None:
        self.name = "the iterator of blocks"
        self._again: Callable[[], Iterator[Any]] | None = blocks if callable(blocks) else None
        self.restartable = self._again is not None
        running = iter(blocks() if callable(blocks) else blocks)
        first = next(running, None)
        if first is None:
            raise SourceError(f"{self.name} is empty")
        self._names, first = _names(first), _table(first)
        self.sparse = scipy.sparse.issparse(first)
        width = check_shape(f"{self.name}, block 0", first.shape)[1]
        self._chosen = choose_columns(self.name, columns, width, self._names)
        self.feature_names = chosen_names(self._names, self._chosen)
        self.n_features = width if self._chosen is None else len(self._chosen)
        self.dtype = float_dtype(f"{self.name}, block 0", [first.dtype])
        self._running: Iterator[Any] | None = None if self._again else chain([first], running)

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        if self._again is not None:
            blocks = iter(self._again())
        elif self._running is None:
            raise SourceError(f"{self.name} has already been consumed; pass a function that returns a new iterator")
        else:
            blocks, self._running = self._running, None
        for number, block in enumerate(blocks):
            self._refuse_other_names(number, _names(block))
            table = _table(block)
            float_dtype(f"{self.name}, block {number}", [table.dtype])
            if start >= table.shape[0]:
                start -= table.shape[0]
                continue
            table, start = table[start:], 0
            table = table if self._chosen is None else table[:, self._chosen]
            yield table.astype(self.dtype) if self.sparse else as_floats(table, self.dtype)

    def _refuse_other_names(self, number: int, names: tuple[str, ...] | None) -> None:
        if names is not None and self._names is not None and names != self._names:
            raise SourceError(
                f"{self.name}, block {number} has the columns {', '.join(names[:20])}, but the first has "
                f"{', '.join(self._names[:20])}; every block must have the columns of the first, in the same order"
            )


def _names(block: Any) -> tuple[str, ...] | None:
    """Names of the columns where the block is a data frame; None otherwise."""
    columns = getattr(block, "columns", None)
    return None if columns is None else tuple(str(name) for name in columns)


def _table(block: Any) -> Any:
    if scipy.sparse.issparse(block):
        return scipy.sparse.csr_array(block)
    return np.asarray(block)


formats.register("iterator")(
    Format(
        lambda blocks, columns, key: IteratorSource(blocks, columns),
        accepts=lambda given: hasattr(given, "__next__") or (callable(given) and not isinstance(given, type)),
    )
)
