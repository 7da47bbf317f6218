"""The course of a fit, in words: passes or rows done, residual against tol, time gone and time left."""

from __future__ import annotations

from math import inf, log
from time import perf_counter

from gramless.progress import Silent

_WINDOW = 4  # the rate of late passes is a better guess than that of all


class Course(Silent):
    """Keeps what a fit tells of its progress.

    Attributes
    ----------
    passes : int
    residual, tol : float
        Of the largest eigenvalue; ``residual`` is infinite until one is known.
    rows, total : int
    """

    def __init__(self) -> None:
        self._start = perf_counter()
        self.restart("", inf)

    def restart(self, method: str, seconds: float) -> None:
        """Another method begins."""
        self.method, self._planned, self._began = method, seconds, perf_counter()
        self.passes, self.rows, self.total = 0, 0, 0
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
        self.rows, self.total = rows, total

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return perf_counter() - self._start

    @property
    def left(self) -> float | None:
        """Seconds that seem to be left: from the rows, from how residuals fall, or from the plan; None: no idea."""
        now = perf_counter()
        if 0 < self.rows < self.total:
            return (now - self._began) * (self.total - self.rows) / self.rows
        if self.rows:  # the small eigenproblem that follows is not measured
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


def duration(seconds: float) -> str:
    """A time in the unit that suits it.

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
