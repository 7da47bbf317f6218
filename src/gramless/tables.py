"""Tables of texts, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: bool = False) -> str:
    """Columns aligned to the right, or to the left.

    Examples
    --------
    >>> print(text_table(("a", "long"), [("1", "2")]))
    a  long
    1     2
    """
    table = [header, *rows]
    widths = [max(len(row[c]) for row in table) for c in range(len(header))]
    lines = []
    for row in table:
        cells = [cell.ljust(w) if left else cell.rjust(w) for cell, w in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table without style of its own."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
