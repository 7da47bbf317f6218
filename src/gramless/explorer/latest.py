"""A worker thread that answers only the latest question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any


class LatestOnly:
    """Answers the newest question; earlier questions that were not begun are dropped.

    Parameters
    ----------
    answers : callable
        Takes a question, returns an iterator of answers, each better than the one before. The iteration stops when a
        newer question waits.
    deliver : callable
        Takes every answer, and every exception, in the worker's thread.

    Examples
    --------
    >>> got = []
    >>> latest = LatestOnly(lambda question: iter([question, 10 * question]), got.append)
    >>> latest.ask(1)
    >>> latest.wait()
    >>> got
    [1, 10]
    """

    def __init__(self, answers: Callable[[Any], Iterator[Any]], deliver: Callable[[Any], None]) -> None:
        self._answers, self._deliver = answers, deliver
        self._changed = threading.Condition()
        self._waiting: list[Any] = []
        self._running = False

    def ask(self, question: Any) -> None:
        """Ask, and return at once."""
        with self._changed:
            self._waiting = [question]
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, daemon=True).start()

    def wait(self) -> None:
        """Return when there is nothing left to answer."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._running = False
                    self._changed.notify_all()
                    return
                question = self._waiting.pop()
            try:
                for answer in self._answers(question):
                    self._deliver(answer)
                    if self._waiting:
                        break
            except Exception as error:  # any error: the page shows it, and the next question is answered
                self._deliver(error)
