"""Sums over chunks of rows: made in threads, added in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from gramless.arrays import run_in_threads, thread_count
from gramless.progress import observer

Term = TypeVar("Term")


def row_chunks(n: int, size: int) -> list[slice]:
    """The rows 0 .. n - 1 in chunks of `size`, the last of which may be smaller.

    Examples
    --------
    >>> row_chunks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(first, min(n, first + size)) for first in range(0, n, size)]


def add_in_order(make: Callable[[slice], Term], chunks: list[slice], add: Callable[[Term], object]) -> None:
    """``add(make(chunk))`` of every chunk: as many at a time as there are threads, added in the order of the chunks.

    Neither the chunks nor their order depend on the number of threads, so the bits of the sum do not either.

    Examples
    --------
    >>> total = []
    >>> add_in_order(lambda rows: rows.stop - rows.start, row_chunks(5, 2), total.append)
    >>> total
    [2, 2, 1]
    """
    made: dict[int, Term] = {}

    def work(number: int) -> None:
        made[number] = make(chunks[number])

    def rounds() -> Iterator[list[int]]:
        together = thread_count()
        for first in range(0, len(chunks), together):
            numbers = list(range(first, min(len(chunks), first + together)))
            yield numbers
            for number in numbers:
                add(made.pop(number))
            observer().summed(chunks[numbers[-1]].stop, chunks[-1].stop)

    run_in_threads(work, rounds())
