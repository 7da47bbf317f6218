"""The tour: chapter by chapter to the console, to figures and to a page."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.text import Text

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
        Folder for ``annulus.png``, ``digits.png`` and ``report.html``; made where it does not exist.
    rows : int
        Rows of the set that is timed beside scikit-learn.
    console : rich.console.Console, optional
        Where to print; standard output by default.

    Returns
    -------
    Path
        Of the page.

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
    return page


def show(console: Console, chapter: Chapter) -> None:
    """A chapter's sentences and tables on the console."""
    console.rule(chapter.title)
    for paragraph in chapter.text:
        console.print(Text(paragraph + "\n"))
    for table in chapter.tables:
        console.print(table.drawn())


def png(chapter: Chapter) -> bytes:
    """The chapter's figure in 128 colours, a quarter of the bytes; the same figure gives the same bytes."""
    from PIL import Image

    drawn, reduced = BytesIO(), BytesIO()
    chapter.figure.savefig(drawn, format="png", dpi=_DPI)
    Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(reduced, "png", optimize=True)
    return reduced.getvalue()
