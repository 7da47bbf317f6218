"""The tour as one HTML file: figures embedded, no scripts, nothing loaded from outside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from gramless._version import __version__
from gramless.demo.chapter import Chapter
from gramless.report.page import Section, figure_html, html_page


def write_page(chapters: Sequence[Chapter], images: Sequence[bytes], seconds: float) -> str:
    """The page's HTML, with one PNG for each chapter."""
    return html_page(
        title="gramless: kernel PCA without the Gram matrix",
        heading="Kernel PCA without the Gram matrix",
        lead=f"What gramless {__version__} found on this machine, in {seconds:.0f} seconds.",
        sections=[_section(chapter, image) for chapter, image in zip(chapters, images, strict=True)],
        footer="Made by <code>gramless demo</code>. This file needs nothing else: keep it, mail it, print it.",
    )


def _section(chapter: Chapter, image: bytes) -> Section:
    source = f"data:image/png;base64,{b64encode(image).decode('ascii')}"
    figure = figure_html(f'<img src="{source}" alt="{escape(chapter.caption)}">', chapter.caption)
    tables = "\n".join(table.html() for table in chapter.tables)
    return Section(chapter.name, chapter.title, chapter.text, f"{figure}\n{tables}")
