"""The order in which tiles are computed: rounds in which no two tiles add to the same rows."""

from __future__ import annotations

from collections.abc import Iterator


def rounds(blocks: int) -> Iterator[list[tuple[int, int]]]:
    """All tiles (i, j), i <= j, of a symmetric matrix of `blocks` x `blocks` tiles, as rounds of a tournament.

    Within a round every block of rows occurs once, so the tiles of a round can add to one result in parallel without a
    lock, in an order that does not depend on the threads.

    Examples
    --------
    >>> list(rounds(3))
    [[(0, 0), (1, 1), (2, 2)], [(0, 1)], [(1, 2)], [(0, 2)]]
    """
    yield [(i, i) for i in range(blocks)]
    players = blocks + blocks % 2  # an odd number of blocks: one of them pauses each round
    for turn in range(players - 1):
        ring = [players - 1] + [(turn + i) % (players - 1) for i in range(players - 1)]
        pairs = ((ring[i], ring[players - 1 - i]) for i in range(players // 2))
        matches = sorted((min(pair), max(pair)) for pair in pairs if max(pair) < blocks)
        if matches:
            yield matches
