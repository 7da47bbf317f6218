"""The tour as one HTML file: figures inside, no scripts, nothing fetched."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from string import Template

from gramless._version import __version__
from gramless.demo.chapter import Chapter, Table

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gramless: kernel PCA without the Gram matrix</title>
<style>
:root { color-scheme: light; --ink: #1d2733; --soft: #5b6775; --line: #d9dee4; --accent: #00224e; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 3rem 1.5rem 4rem; max-width: 68rem; color: var(--ink); background: #fff;
  font: 1.08rem/1.6 Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif; }
h1, h2, caption, th, td, figcaption, .note, footer { font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue",
  Arial, sans-serif; }
h1 { margin: 0; font-size: 2.3rem; line-height: 1.15; letter-spacing: -0.015em; color: var(--accent); }
.lead { margin: .6rem 0 0; font-size: 1.25rem; color: var(--soft); }
section { margin-top: 3.2rem; padding-top: 1.6rem; border-top: 1px solid var(--line); }
h2 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; color: var(--accent); }
p { max-width: 44rem; margin: 0 0 1rem; }
figure { margin: 1.8rem 0; }
img { display: block; width: 100%; height: auto; }
figcaption, .note { max-width: 44rem; font-size: .88rem; line-height: 1.5; color: var(--soft); }
figcaption { margin-top: .7rem; }
.table { margin: 2.2rem 0 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { padding: 0 0 .5rem; text-align: left; font-weight: 600; font-size: 1rem; }
th, td { padding: .32rem 1.1rem .32rem 0; text-align: right; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; color: var(--soft); border-bottom: 2px solid var(--ink); }
td { border-bottom: 1px solid var(--line); }
.word { text-align: left; }
.note { margin: .6rem 0 0; }
footer { margin-top: 3.5rem; font-size: .85rem; color: var(--soft); }
@media print { body { padding: 0; font-size: 10pt; } figure, .table { break-inside: avoid; } }
</style>
</head>
<body>
<header>
<h1>Kernel PCA without the Gram matrix</h1>
<p class="lead">What gramless $version found on this machine, in $seconds seconds.</p>
</header>
<main>
$chapters
</main>
<footer>Made by <code>python -m gramless.demo</code>. This file needs nothing else: keep it, mail it, print it.</footer>
</body>
</html>
""")


def write_page(chapters: Sequence[Chapter], images: Sequence[bytes], seconds: float) -> str:
    """The page's HTML, with one PNG for each chapter."""
    body = "\n".join(_section(chapter, image) for chapter, image in zip(chapters, images, strict=True))
    return _PAGE.substitute(version=escape(__version__), seconds=f"{seconds:.0f}", chapters=body)


def _section(chapter: Chapter, image: bytes) -> str:
    paragraphs = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in chapter.text)
    caption = escape(chapter.caption)
    source = f"data:image/png;base64,{b64encode(image).decode('ascii')}"
    figure = f'<figure><img src="{source}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'
    tables = "\n".join(_table(table) for table in chapter.tables)
    return f"<section>\n<h2>{escape(chapter.title)}</h2>\n{paragraphs}\n{figure}\n{tables}\n</section>"


def _table(table: Table) -> str:
    kinds = [' class="word"' if name in table.words else "" for name in table.header]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, table.header, strict=True))
    rows = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in table.rows
    )
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="table"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>{note}</div>"
    )
