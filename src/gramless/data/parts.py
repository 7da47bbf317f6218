"""Rows in partitions: each partition stays on its worker, and only small results are sent back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, Protocol

from gramless.arrays.memory import free_memory

Work = Callable[..., Any]


class Parts(Protocol):
    """Data in parts. Functions passed to the methods, and their results, must be picklable.

    Attributes
    ----------
    workers : int
        Number of tasks that run in parallel.
    memory : int
        Bytes that each task may take.
    """

    workers: int
    memory: int

    def __len__(self) -> int: ...

    def map(
        self, work: Work, *shared: Any, each: Sequence[Any] | None = None, only: Sequence[int] | None = None
    ) -> list[Any]:
        """``work(part, *shared)`` of every part, or of the parts numbered in `only`, as a list in order.

        `each` holds one further argument for every part that is worked on: ``work(part, *shared, value)``.
        """

    def reduce(self, work: Work, *shared: Any, each: Sequence[Any] | None = None, join: Work = operator.add) -> Any:
        """The results joined in a tree of fixed shape: bitwise the same on any workers, and one result is sent back."""

    def kept(self, work: Work, *shared: Any) -> Parts:
        """The results of ``work(part, *shared)`` as new parts, which stay on the workers."""

    def chosen(self, numbers: Sequence[int]) -> Parts:
        """Some of the parts."""

    def pairs(self, groups: Sequence[Sequence[int]], stack: Work) -> Pairs:
        """Groups of parts, ``stack(list of parts)`` each, sent to the workers that will work on pairs of groups."""


class Pairs(Protocol):
    """Work on all pairs of groups of parts."""

    def __len__(self) -> int: ...

    def sums(self, work: Work, *shared: Any, each: Sequence[Any]) -> list[Any]:
        """For every group, the sum of the summands from all pairs with this group.

        ``work(left, right, *shared, value of left, value of right)`` runs once for every pair of different groups. For
        a group with itself, the right group and its value are None. `work` returns two summands, for the left and the
        right group; the second is None without a right group.
        """


def split_evenly(sizes: Sequence[int], count: int) -> list[list[int]]:
    """Numbers of neighboring parts, in at most `count` groups with about equally many rows.

    Examples
    --------
    >>> split_evenly([10, 10, 10, 30], 2)
    [[0, 1, 2], [3]]
    """
    goal, total = sum(sizes) / max(1, count), 0
    groups: list[list[int]] = [[]]
    for number, size in enumerate(sizes):
        if groups[-1] and total + size / 2 > goal * len(groups):
            groups.append([])
        groups[-1].append(number)
        total += size
    return groups


def join_in_tree(items: Iterable[Any], join: Work, together: int = 4) -> Any:
    """All items joined, neighbors first; the shape of the tree depends on the number of items alone.

    `items` may be a generator: at most `together` results are held on each level.

    Examples
    --------
    >>> join_in_tree(["a", "b", "c", "d", "e"], lambda group: "(" + "".join(group) + ")")
    '((abcd)e)'
    """
    levels: list[list[Any]] = [[]]
    for item in items:
        levels[0].append(item)
        for level, group in enumerate(levels):
            if len(group) < together:
                break
            if level + 1 == len(levels):
                levels.append([])
            levels[level + 1].append(join(group))
            levels[level] = []
    rest: list[Any] = []
    for group in levels:
        rest = group + rest
        rest = [join(rest)] if len(rest) > 1 else rest
    return rest[0]


class LocalParts:
    """Parts in a list in this process, worked on one after another: a cluster must give the same results.

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
