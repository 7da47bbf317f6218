"""A line on stderr that says how far a fit is."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from gramless.estimators.course import Course

PATIENCE = 2.0  # seconds: a fit that is done by then says nothing


class ProgressLine(Course):
    """Follows a fit; on a terminal, or in a notebook, one line that changes, elsewhere a line every few seconds.

    Parameters
    ----------
    verbose : int
        1: after two seconds; 2 or more: a line at every pass and every chunk of rows.
    """

    def __init__(self, verbose: int) -> None:
        super().__init__()
        self._each = verbose > 1
        self._console = Console(stderr=True, soft_wrap=True, highlight=False)
        self._alive = not self._each and (self._console.is_terminal or self._console.is_jupyter)
        self._said = perf_counter()
        self._live: Live | None = None
        self._over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> ProgressLine:
        if self._alive:
            self._timer.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._timer.cancel()
        with self._lock:  # either the line is there, or it will not come any more
            self._over = True
        if self._live is not None:
            self._live.stop()
        elif not self._alive and (self._each or self.elapsed > PATIENCE):
            self._say()

    def passed(self) -> None:
        super().passed()
        self._tell()

    def reached(self, residual: float, tol: float) -> None:
        super().reached(residual, tol)
        self._tell()

    def summed(self, rows: int, total: int) -> None:
        super().summed(rows, total)
        self._tell()

    def _tell(self) -> None:
        if not self._alive and (self._each or perf_counter() - self._said > PATIENCE):
            self._say()

    def _say(self) -> None:
        self._said = perf_counter()
        self._console.print(Text(str(self)))

    def _show(self) -> None:
        """From the timer's thread: the line appears, and is drawn anew four times a second."""
        with self._lock:
            if not self._over:
                self._live = Live(
                    get_renderable=lambda: Text(str(self)),
                    console=self._console,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start()
