"""Parts in the memory of this process, worked on one after another: what a cluster must equal."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any

from gramless.arrays.memory import free_memory
from gramless.execution.parts import Parts, Work, join_in_tree


class LocalParts:
    """Parts in a list.

    Parameters
    ----------
    items : list

    Examples
    --------
    >>> parts = LocalParts([[1, 2], [3]])
    >>> parts.map(len), parts.reduce(sum)
    ([2, 1], 6)
    """

    workers = 1

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = list(items)
        self.memory = free_memory() // 2

    def __len__(self) -> int:
        return len(self._items)

    def map(
        self, work: Work, *shared: Any, each: Sequence[Any] | None = None, only: Sequence[int] | None = None
    ) -> list[Any]:
        """See :class:`Parts`."""
        return list(self._results(work, shared, each, range(len(self)) if only is None else only))

    def reduce(self, work: Work, *shared: Any, each: Sequence[Any] | None = None, join: Work = operator.add) -> Any:
        """See :class:`Parts`."""
        return join_in_tree(self._results(work, shared, each, range(len(self))), partial(reduce, join))

    def _results(
        self, work: Work, shared: Sequence[Any], each: Sequence[Any] | None, numbers: Sequence[int]
    ) -> Iterator[Any]:
        values = [()] * len(numbers) if each is None else [(value,) for value in each]
        return (work(self._items[i], *shared, *value) for i, value in zip(numbers, values, strict=True))

    def kept(self, work: Work, *shared: Any) -> Parts:
        """See :class:`Parts`."""
        return LocalParts(self.map(work, *shared))

    def chosen(self, numbers: Sequence[int]) -> Parts:
        """See :class:`Parts`."""
        return LocalParts([self._items[i] for i in numbers])

    def pairs(self, groups: Sequence[Sequence[int]], stack: Work) -> LocalPairs:
        """See :class:`Parts`."""
        return LocalPairs([stack([self._items[i] for i in group]) for group in groups])


class LocalPairs:
    """Groups of parts in the memory of this process."""

    def __init__(self, blocks: Sequence[Any]) -> None:
        self._blocks = list(blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def sums(self, work: Work, *shared: Any, each: Sequence[Any]) -> list[Any]:
        """See :class:`Pairs`."""
        blocks, count = self._blocks, len(self)
        summands: list[list[Any]] = [[] for _ in blocks]
        for a in range(count):
            summands[a].append(work(blocks[a], None, *shared, each[a], None)[0])
            for b in range(a + 1, count):
                left, right = work(blocks[a], blocks[b], *shared, each[a], each[b])
                summands[a].append(left)
                summands[b].append(right)
        return [join_in_tree(items, partial(reduce, operator.add)) for items in summands]
