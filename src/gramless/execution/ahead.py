"""The next block is read while this one is worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")
_PATIENCE = 10.0  # seconds for a read to end when nobody wants it any more; a source that hangs must not hang us


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, each fetched by a thread while the one before is in use: one ahead, never more.

    An error of `items` is raised where its item would have come. When the caller stops early, so does the thread.

    Examples
    --------
    >>> list(read_ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    wanted, ready = threading.Semaphore(1), threading.Semaphore(0)
    slot: list[tuple[str, Any]] = []
    stopped = threading.Event()

    def fetch() -> None:
        while True:
            wanted.acquire()
            if stopped.is_set():
                return
            try:
                slot.append(("item", next(items)))
            except StopIteration:
                slot.append(("end", None))
            except BaseException as error:
                slot.append(("error", error))
            done = slot[-1][0] != "item"
            ready.release()
            if done:
                return

    reader = threading.Thread(target=fetch, name="gramless reader", daemon=True)
    reader.start()
    try:
        while True:
            ready.acquire()
            kind, value = slot.pop()
            if kind == "end":
                return
            if kind == "error":
                raise value
            wanted.release()
            yield value
            del value  # so that no more than two blocks are ever held
    finally:
        stopped.set()
        wanted.release()
        reader.join(_PATIENCE)
        close = getattr(items, "close", None)
        if close is not None and not reader.is_alive():
            close()
