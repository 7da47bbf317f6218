"""Pairwise sums in a fixed tree: the same bits wherever the terms are computed, and after any interruption."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Tower:
    """Adds terms in pairs of neighbors, pairs of pairs and so on, holding one partial sum for each power of two.

    Neighbors are paired level by level; a last sum without a partner moves up unchanged. The rounding error grows with
    the logarithm of the number of terms.

    Parameters
    ----------
    parts : iterable of (int, sum), optional
        (number of terms, their sum): the :attr:`parts` of an earlier sum, to be continued.

    Examples
    --------
    >>> tower = Tower()
    >>> for text in "abcdefg":
    ...     tower.push(text)
    >>> tower.count, tower.parts
    (7, [(4, 'abcd'), (2, 'ef'), (1, 'g')])
    >>> tower.total()
    'abcdefg'
    """

    def __init__(self, parts: Iterable[tuple[int, Any]] = ()) -> None:
        self.parts: list[tuple[int, Any]] = [(int(count), part) for count, part in parts]

    @property
    def count(self) -> int:
        """Number of terms added so far."""
        return sum(count for count, _ in self.parts)

    def push(self, term: Any) -> None:
        """Add the next term."""
        count = 1
        while self.parts and self.parts[-1][0] == count:
            term, count = self.parts.pop()[1] + term, 2 * count
        self.parts.append((count, term))

    def total(self) -> Any:
        """The sum of all terms, of which there must be at least one."""
        if not self.parts:
            raise ValueError("there is nothing to add")
        *before, (_, total) = self.parts
        for _, part in reversed(before):
            total = part + total
        return total
