"""Reading ahead: a thread reads the next block while the current block is processed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
_END: Any = object()


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items; a thread fetches each item while the item before is in use, and never more than one ahead.

    An error of `items` is raised in place of the item that failed. When the caller stops early, the thread ends after
    the read that is under way.

    Examples
    --------
    >>> list(read_ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="gramless reader") as reader:
            ahead: Future[Item] = reader.submit(next, items, _END)
            while (item := ahead.result()) is not _END:
                ahead = reader.submit(next, items, _END)
                yield item
                del item  # so that no more than two blocks are ever held
    finally:
        if isinstance(items, Generator):
            items.close()
