"""One HTML file with everything inside: style, scripts, data. It opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from string import Template

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$style
</style>
$head</head>
<body>
<header>
<h1>$heading</h1>
<p class="lead">$lead</p>
$top
</header>
<main>
$body
</main>
<footer>$footer</footer>
$scripts</body>
</html>
""")


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    name : str
        Anchor of the section: letters and hyphens.
    title : str
    text : tuple of str
        Paragraphs; escaped.
    body : str
        HTML, in which all strings are escaped already.
    """

    name: str
    title: str
    text: tuple[str, ...] = ()
    body: str = ""

    def html(self) -> str:
        """The section as HTML."""
        paragraphs = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in self.text)
        return (
            f'<section id="{escape(self.name)}">\n<h2>{escape(self.title)}</h2>\n{paragraphs}\n{self.body}\n</section>'
        )


def html_page(
    title: str,
    lead: str,
    sections: Sequence[Section],
    footer: str,
    *,
    heading: str | None = None,
    top: str = "",
    head: str = "",
    scripts: str = "",
) -> str:
    """The page; `title`, `lead` and `heading` are plain strings, the rest is HTML."""
    return _PAGE.substitute(
        title=escape(title),
        heading=escape(title if heading is None else heading),
        lead=escape(lead),
        style=read_asset("style.css"),
        body="\n".join(section.html() for section in sections),
        footer=footer,
        top=top,
        head=head,
        scripts=scripts,
    )


def figure_html(body: str, caption: str) -> str:
    """A figure with a caption, which is escaped."""
    return f"<figure>{body}<figcaption>{escape(caption)}</figcaption></figure>"


@cache
def read_asset(name: str) -> str:
    """The content of a file in the folder of this module."""
    return files("gramless.report").joinpath(name).read_text(encoding="utf-8")
