"""The tour: two lines of each chapter to the console, all of it to a page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from gramless.datasets import annulus
from gramless.demo.chapter import Chapter, Tell
from gramless.demo.file import file_chapter
from gramless.demo.page import write_page
from gramless.demo.scale import scale_chapter
from gramless.demo.stream import stream_chapter
from gramless.demo.table import table_chapter
from gramless.plots.canvas import require_matplotlib

#: What the tour writes to its folder.
FILES = ("report.html", "annulus.npy")


def run(
    out: Path | str = "demo",
    *,
    chapters: Sequence[Callable[[Tell], Chapter]] | None = None,
    console: Console | None = None,
) -> Path:
    """What gramless is for, live on this machine: scale, a real table, a file larger than memory, a drifting stream.

    Parameters
    ----------
    out : path
        Folder for the page, ``report.html``, and for a table to try commands on, ``annulus.npy``; it is created if it
        does not exist. A file of 200 MB is written there for some seconds.
    chapters : sequence of callables, optional
        Each is given a function that shows what is being done, and returns a chapter; the four by default.
    console : rich.console.Console, optional
        Where to print; standard output by default.

    Returns
    -------
    Path
        Path of the page.

    Raises
    ------
    ImportError
        If matplotlib is missing; the message says how to get it.
    """
    require_matplotlib()
    console = console or Console()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    if chapters is None:
        chapters = (scale_chapter, table_chapter, partial(file_chapter, folder=folder), stream_chapter)
    start = perf_counter()
    told = []
    with _progress(console, len(chapters)) as (tell, advance):
        for make in chapters:
            told.append(make(tell))
            _show(console, told[-1])
            advance()
        tell("drawing the page")
        page = folder / FILES[0]
        page.write_text(write_page(told, _commands(folder), perf_counter() - start), encoding="utf-8")
    console.print(Text(f"page    {page} ({perf_counter() - start:.0f} s in all)"), soft_wrap=True)
    return page


@contextmanager
def _progress(console: Console, chapters: int) -> Iterator[tuple[Tell, Callable[[], None]]]:
    """One live line on a terminal, nothing elsewhere; functions to say what is being done, and that a chapter is."""
    columns = (SpinnerColumn(), BarColumn(16), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=chapters)
        yield lambda text: progress.update(task, description=text, refresh=True), lambda: progress.advance(task)


def _show(console: Console, chapter: Chapter) -> None:
    for number, line in enumerate(chapter.lines):
        console.print(Text(f"{'' if number else chapter.name:<8}{line}"), soft_wrap=True)


def _commands(folder: Path) -> list[str]:
    """Write a table; three commands that can be tried on it, in the interpreter that runs the tour."""
    table, model, page = (folder / name for name in (FILES[1], "model.gramless", "annulus.html"))
    np.save(table, annulus(400, rng=0))
    here, path = Path.cwd(), Path(sys.executable)
    python = path.relative_to(here) if path.is_relative_to(here) else path
    words = (("plan", table), ("fit", table, "-k", 5, "-o", model), ("report", model, table, "-o", page))
    return [shlex.join(map(str, (python, "-m", "gramless", *some))) for some in words]
