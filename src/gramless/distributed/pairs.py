"""Pairs of blocks on the workers of a Dask cluster: each block is sent to a worker once, and stays there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gramless.data.parts import Work, join_in_tree
from gramless.distributed.client import retries, running_workers
from gramless.distributed.work import added, given, pair_up


class DaskPairs:
    """Groups of parts, stacked to blocks on the workers that will work on pairs of blocks.

    Every pair of blocks is assigned to one worker, such that a worker needs few blocks: each of W workers needs about
    sqrt(2 / W) of the rows. When a worker is lost, its blocks and pairs go to other workers.

    Parameters
    ----------
    client : distributed.Client
    groups : list of lists of Future
    stack : callable
    """

    def __init__(self, client: Any, groups: Sequence[Sequence[Any]], stack: Work) -> None:
        self._client, self._count = client, len(groups)
        self._homes = assign_pairs(self._count, sorted(running_workers(client)))
        needed = sorted({(block, home) for pair, home in self._homes.items() for block in pair})
        self._blocks = {(block, home): self._submit(stack, list(groups[block]), home=home) for block, home in needed}

    def __len__(self) -> int:
        return self._count

    def sums(self, work: Work, *shared: Any, each: Sequence[Any]) -> list[Any]:
        """See :class:`gramless.data.Pairs`."""
        from gramless.distributed.parts import large_arguments

        with large_arguments():
            common = [self._submit(given, value) for value in shared]
            values = [self._submit(given, value) for value in each]
            summands: list[list[Any]] = [[] for _ in range(self._count)]
            for (a, b), home in self._homes.items():
                blocks, own = self._blocks, a == b
                right = (None, None) if own else (blocks[b, home], values[b])
                both = self._submit(pair_up, work, blocks[a, home], right[0], *common, values[a], right[1], home=home)
                summands[a].append(self._submit(_first, both))
                if not own:
                    summands[b].append(self._submit(_second, both))
            totals = [join_in_tree(items, partial(self._submit, added)) for items in summands]
        return list(self._client.gather(totals))

    def _submit(self, function: Work, *arguments: Any, home: str | None = None) -> Any:
        place = {} if home is None else {"workers": [home], "allow_other_workers": True}
        return self._client.submit(function, *arguments, pure=False, retries=retries(), **place)


def assign_pairs(count: int, workers: Sequence[str]) -> dict[tuple[int, int], str]:
    """A worker for each pair (a, b), a <= b, of `count` blocks: equal work, and neighbouring pairs together.

    The pairs are sorted along the Z-order (Morton) curve, which keeps neighbours together, and cut in pieces of equal
    work. The pair of a block with itself counts as half a pair.

    Examples
    --------
    >>> assign_pairs(2, ["one", "two"])
    {(0, 0): 'one', (0, 1): 'two', (1, 1): 'two'}
    """
    pairs = sorted(((a, b) for a in range(count) for b in range(a, count)), key=_place_on_curve)
    total, done = count * count / 2, 0.0
    homes = {}
    for a, b in pairs:
        size = 0.5 if a == b else 1.0
        homes[a, b] = workers[min(len(workers) - 1, int((done + size / 2) * len(workers) / total))]
        done += size
    return homes


def _place_on_curve(pair: tuple[int, int]) -> int:
    a, b = pair
    return sum(((a >> bit & 1) << (2 * bit + 1)) | ((b >> bit & 1) << (2 * bit)) for bit in range(32))


def _first(both: tuple[Any, Any]) -> Any:
    return both[0]


def _second(both: tuple[Any, Any]) -> Any:
    return both[1]
