"""The tour: chapter by chapter to the console, to figures and to a page."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from io import BytesIO
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.text import Text

from gramless.datasets import annulus
from gramless.demo.annulus import annulus_chapter
from gramless.demo.chapter import Chapter
from gramless.demo.digits import digits_chapter
from gramless.demo.page import write_page
from gramless.plots.canvas import require_matplotlib

_DPI = 110


def run(out: Path | str = "demo", *, rows: int = 5000, console: Console | None = None) -> Path:
    """Kernel PCA beside PCA on an annulus and on digits.

    Parameters
    ----------
    out : path
        Folder for ``annulus.png``, ``digits.png``, ``report.html`` and a table to try commands on, ``annulus.npy``; it
        is created if it does not exist.
    rows : int
        Rows of the data set that is timed beside scikit-learn.
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
    start = perf_counter()
    chapters, images = [], []
    for tell in (annulus_chapter, partial(digits_chapter, rows)):
        chapter = tell()
        show(console, chapter)
        chapters.append(chapter)
        images.append(png(chapter))
        (folder / f"{chapter.name}.png").write_bytes(images[-1])
    page = folder / "report.html"
    seconds = perf_counter() - start
    page.write_text(write_page(chapters, images, seconds), encoding="utf-8")
    console.rule("Where to look")
    for path in (*(folder / f"{chapter.name}.png" for chapter in chapters), page):
        console.print(Text(str(path)), soft_wrap=True)
    console.print(f"{seconds:.0f} s in all", highlight=False)
    show_next(console, folder)
    return page


def show_next(console: Console, folder: Path) -> None:
    """Write a table, and print three commands that can be tried on it, in the interpreter that ran the tour."""
    table, model, page = (folder / name for name in ("annulus.npy", "model.gramless", "annulus.html"))
    np.save(table, annulus(400, rng=0))
    here, path = Path.cwd(), Path(sys.executable)
    python = path.relative_to(here) if path.is_relative_to(here) else path
    console.rule("What next")
    for words in (("plan", table), ("fit", table, "-k", 5, "-o", model), ("report", model, table, "-o", page)):
        command = shlex.join(map(str, (python, "-m", "gramless", *words)))
        console.print(Text(command), soft_wrap=True)
    console.print(Text('Or a table of your own: .npy; CSV, Parquet, HDF5 and zarr after pip install ".[io]".'))


def show(console: Console, chapter: Chapter) -> None:
    """A chapter's sentences and tables on the console."""
    console.rule(chapter.title)
    for paragraph in chapter.text:
        console.print(Text(paragraph + "\n"))
    for table in chapter.tables:
        console.print(table.drawn())


def png(chapter: Chapter) -> bytes:
    """The chapter's figure in 128 colours, which takes a quarter of the bytes; equal figures give equal bytes."""
    from PIL import Image

    drawn, reduced = BytesIO(), BytesIO()
    chapter.figure.savefig(drawn, format="png", dpi=_DPI)
    Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(reduced, "png", optimize=True)
    return reduced.getvalue()
