"""Progress bars on stderr: rows with their rate, passes with the residual, and the time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import log
from time import perf_counter
from typing import Any, Protocol

from gramless.progress import Silent, observed_by


class RowsBar(Protocol):
    """Is told how many rows are done."""

    def advance(self, done: int, total: int | None) -> None:
        """So many of `total`, if that is known."""


class _NoBar:
    def advance(self, done: int, total: int | None) -> None:
        pass


class _Bar:
    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task

    def advance(self, done: int, total: int | None) -> None:
        self._progress.update(self._task, completed=done, total=total)


class FitBar(Silent):
    """Follows a fit: rows summed, or residuals on their way down to the tolerance."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task: Any = None
        self._first, self._passes, self._began = 0.0, 0, perf_counter()

    def begins(self, method: str, seconds: float) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(f"fit ({method})", total=None, unit="rows")
        self._first, self._passes, self._began = 0.0, 0, perf_counter()

    def passed(self) -> None:
        self._passes += 1

    def reached(self, residual: float, tol: float) -> None:
        if self._task is None or residual <= 0 or tol <= 0:
            return
        self._first = max(self._first, residual)
        whole = max(log(self._first / tol), 1e-9)
        done = min(max(log(self._first / residual), 0.0), whole)
        rate = self._passes / max(perf_counter() - self._began, 1e-9)
        told = f"pass {self._passes} ({rate:.2g}/s), residual {residual:.0e} of {tol:.0e}"
        self._progress.update(self._task, completed=100 * done / whole, total=100, unit="", description=told)

    def summed(self, rows: int, total: int) -> None:
        if self._task is not None:
            self._progress.update(self._task, completed=rows, total=total)


def _columns() -> tuple[Any, ...]:
    from rich import progress
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        """Rows in a second."""

        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            if not speed or not task.fields.get("unit"):
                return Text("")
            return Text(f"{speed:,.0f} {task.fields['unit']}/s", style="progress.data.speed")

    return (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        Rate(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )


@contextmanager
def _bars(quiet: bool) -> Iterator[Any]:
    """Bars on stderr, or None where nobody would see them."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(*_columns(), console=console, transient=True) as progress:
        yield progress


@contextmanager
def rows_bar(title: str, quiet: bool) -> Iterator[RowsBar]:
    """A bar for rows."""
    with _bars(quiet) as progress:
        yield _NoBar() if progress is None else _Bar(progress, progress.add_task(title, total=None, unit="rows"))


@contextmanager
def fit_bar(quiet: bool) -> Iterator[None]:
    """Context of a fit, in which a bar shows how far it is."""
    with _bars(quiet) as progress, observed_by(FitBar(progress) if progress else Silent()):
        yield
