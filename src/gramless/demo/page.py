"""The tour as one HTML file: figures embedded, no scripts, nothing loaded from outside."""

from __future__ import annotations

import os
import platform
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from io import BytesIO
from typing import TYPE_CHECKING

from gramless._version import __version__
from gramless.demo.annulus import CAPTION, annulus_figure
from gramless.demo.chapter import Chapter, widest
from gramless.report.page import Section, figure_html, html_page
from gramless.report.tables import certificate_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 160
_SHOWN = 10  # components of a certificate
_STYLE = """<style>
pre { margin: 1.4rem 0; padding: .9rem 1.1rem; overflow-x: auto; background: var(--wash); border-radius: .4rem;
  font: .84rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
details { margin: 1.6rem 0 0; } summary { cursor: pointer; color: var(--accent); font-size: .95rem; }
details .table { margin-top: 1rem; }
.wide { overflow-x: auto; } .wide img { min-width: 40rem; }
.pair figure { margin: .6rem 0; }
@media (max-width: 34rem) { body { padding: 1.6rem 1rem 3rem; } h1 { font-size: 1.8rem; } }
</style>
"""


def write_page(chapters: Sequence[Chapter], commands: Sequence[str], seconds: float) -> str:
    """The page's HTML; `commands` are those that a reader may try next."""
    links = "".join(f'<a href="#{escape(one.name)}">{escape(one.name.capitalize())}</a> ' for one in chapters)
    picture = f'<div class="wide">{figure_html(_image(annulus_figure(), CAPTION), CAPTION)}</div>'
    return html_page(
        title="gramless: kernel PCA without the Gram matrix",
        heading="Kernel PCA without the Gram matrix",
        lead=f"What gramless {__version__} did on this machine in {seconds:.0f} seconds: {_machine()}.",
        sections=[*(_section(chapter) for chapter in chapters), _next(commands)],
        top=f"{_tiles(chapters)}\n<nav>{links}</nav>\n{picture}",
        head=_STYLE,
        footer="Made by <code>gramless demo</code>. This file needs nothing else: keep it, mail it, print it.",
    )


def _machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {packages}"


def _tiles(chapters: Sequence[Chapter]) -> str:
    """What each chapter found, in a few words."""
    tiles = "".join(f"<div><dt>{escape(one.name)}</dt><dd>{escape(one.headline)}</dd></div>" for one in chapters)
    return f'<dl class="tiles">{tiles}</dl>'


def _section(chapter: Chapter) -> Section:
    panels = zip(chapter.figures, chapter.captions, strict=True)
    figures = "".join(figure_html(_image(figure, caption), caption) for figure, caption in panels)
    tables = "\n".join(table.html() for table in chapter.tables)
    shown = certificate_table(chapter.certificate[:_SHOWN]).html()
    summary = f"The certificate: widest interval {widest(chapter.certificate)}"
    if len(chapter.certificate) > _SHOWN:
        summary += f"; the first {_SHOWN} of {len(chapter.certificate)} components"
    body = (
        f"<pre><code>{escape(chapter.code)}</code></pre>\n"
        f'<div class="pair">{figures}</div>\n{tables}\n'
        f"<details><summary>{escape(summary)}</summary>{shown}</details>"
    )
    return Section(chapter.name, chapter.title, chapter.text, body)


def _next(commands: Sequence[str]) -> Section:
    text = (
        "On a table that the tour has left beside this page, or on one of yours: .npy files, and CSV, Parquet, HDF5 "
        "and zarr "
        'after pip install ".[io]".',
    )
    return Section("next", "What next", text, f"<pre><code>{escape(chr(10).join(commands))}</code></pre>")


def _image(figure: Figure, caption: str) -> str:
    return f'<img src="data:image/png;base64,{b64encode(png(figure)).decode("ascii")}" alt="{escape(caption)}">'


def png(figure: Figure) -> bytes:
    """The figure in 128 colours, which takes a quarter of the bytes; equal figures give equal bytes."""
    from PIL import Image

    drawn, reduced = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=_DPI)
    Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(reduced, "png", optimize=True)
    return reduced.getvalue()
