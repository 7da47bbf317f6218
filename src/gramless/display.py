"""Progress of a fit on stderr: passes or rows done, residual and tol, time elapsed and time left."""

from __future__ import annotations

import threading
from math import inf, log
from time import perf_counter
from typing import Any

from gramless.progress import Silent

PATIENCE = 2.0  # seconds; a shorter fit shows nothing
_WINDOW = 4  # residuals that the rate of convergence is estimated from: recent ones predict it better than all


class Course(Silent):
    """An observer that records the progress of a fit, and estimates the time left.

    Attributes
    ----------
    passes : int
    residual, tol : float
        Relative to the largest eigenvalue; ``residual`` is infinite until the first report.
    rows, total : int
    """

    def __init__(self) -> None:
        self._start = perf_counter()
        self.restart("", inf)

    def restart(self, method: str, seconds: float) -> None:
        """Discard what was recorded of another method."""
        self.method, self._planned, self._began = method, seconds, perf_counter()
        self.passes, self.rows, self.total, self._again = 0, 0, 0, False
        self.residual, self.tol = inf, 0.0
        self._history: list[tuple[float, float]] = []

    def begins(self, method: str, seconds: float) -> None:
        self.restart(method, seconds)

    def passed(self) -> None:
        self.passes += 1

    def reached(self, residual: float, tol: float) -> None:
        self.residual, self.tol = residual, tol
        self._history.append((perf_counter(), residual))

    def summed(self, rows: int, total: int) -> None:
        self._again = self._again or rows < self.rows  # another pass over rows begins
        self.rows, self.total = rows, total

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return perf_counter() - self._start

    @property
    def left(self) -> float | None:
        """Estimate of the seconds left, from the rows, the decay of the residuals or the plan; None if unknown."""
        now = perf_counter()
        if 0 < self.rows < self.total and not self._again:
            return (now - self._began) * (self.total - self.rows) / self.rows
        if self.rows and not self._again:  # the small eigenproblem that follows reports no progress
            return None
        recent = self._history[-_WINDOW:]
        if self.tol > 0 and len(recent) > 1 and recent[-1][1] > self.tol:
            fallen = log(max(recent[0][1], 1e-300) / recent[-1][1])
            if fallen > 0:
                rate = fallen / (recent[-1][0] - recent[0][0])
                return max(0.0, log(recent[-1][1] / self.tol) / rate - (now - recent[-1][0]))
        planned = self._planned - (now - self._began)
        return planned if 0 < planned < inf else None

    def __str__(self) -> str:
        parts = []
        if self.total:
            parts.append(f"{100 * self.rows / self.total:.0f} % of {self.total:,} rows")
        if self.passes:
            parts.append(f"{self.passes} {'pass' if self.passes == 1 else 'passes'}")
        if self.residual < inf:
            parts.append(f"residual {self.residual:.1e} (tol {self.tol:.1e})")
        parts.append(f"{duration(self.elapsed)} elapsed")
        if self.left is not None:
            parts.append(f"about {duration(self.left)} left")
        return f"KernelPCA {self.method}".rstrip() + ": " + ", ".join(parts)


class ProgressLine(Course):
    """Shows the progress of a fit: one line that is updated in a terminal or notebook, elsewhere a line now and then.

    Parameters
    ----------
    verbose : int
        1: the line appears after two seconds; 2 or more: one line for every pass and every block of rows.
    """

    def __init__(self, verbose: int) -> None:
        super().__init__()
        self._each = verbose > 1
        from rich.console import Console

        self._console = Console(stderr=True, soft_wrap=True, highlight=False)
        self._alive = not self._each and (self._console.is_terminal or self._console.is_jupyter)
        self._said = perf_counter()
        self._live: Any = None
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
        with self._lock:  # the timer's thread may be about to start the line
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
        from rich.text import Text

        self._console.print(Text(str(self)))

    def _show(self) -> None:
        """Start the line, which is redrawn four times a second; runs in the timer's thread."""
        from rich.live import Live
        from rich.text import Text

        with self._lock:
            if not self._over:
                self._live = Live(
                    get_renderable=lambda: Text(str(self)),
                    console=self._console,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start()


def duration(seconds: float) -> str:
    """A duration as a string, in seconds, minutes or hours.

    Examples
    --------
    >>> duration(4.24), duration(75.0), duration(7322.0)
    ('4.2 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
