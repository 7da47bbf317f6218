"""Progress on stderr: a bar for rows that are read and written, and a line for a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from gramless.progress import Silent, observed_by


class RowsBar(Protocol):
    """A progress bar that counts rows."""

    def advance(self, done: int, total: int | None) -> None:
        """Show that `done` rows of `total` (None: unknown) are done."""


class _NoBar:
    def advance(self, done: int, total: int | None) -> None:
        pass


class _Bar:
    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task

    def advance(self, done: int, total: int | None) -> None:
        self._progress.update(self._task, completed=done, total=total)


def _columns() -> tuple[Any, ...]:
    from rich import progress
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        """Rows per second."""

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
    """Context of progress bars on stderr; None where stderr is not a terminal, or with ``--quiet``."""
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
    """Context of a progress bar that counts rows."""
    with _bars(quiet) as progress:
        yield _NoBar() if progress is None else _Bar(progress, progress.add_task(title, total=None, unit="rows"))


@contextmanager
def fit_bar(quiet: bool) -> Iterator[None]:
    """Context of a fit, in which a terminal shows a line with the progress, as ``verbose=1`` does."""
    from rich.console import Console

    from gramless.display import ProgressLine

    if quiet or not Console(stderr=True).is_terminal:
        with observed_by(Silent()):
            yield
        return
    with ProgressLine(1) as line, observed_by(line):
        yield
