"""Tables of strings, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: bool = False) -> str:
    """A table with columns aligned to the right, or to the left.

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


def html_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", strong: Collection[int] = ()
) -> str:
    """An HTML table without style of its own; rows whose number is in `strong` stand out.

    Examples
    --------
    >>> html_table(("a",), [("<b>",)])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(_row(row, number in strong) for number, row in enumerate(rows))
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(cells: Sequence[str], strong: bool) -> str:
    texts = (f"<strong>{escape(cell)}</strong>" if strong else escape(cell) for cell in cells)
    return "<tr>" + "".join(f"<td>{text}</td>" for text in texts) + "</tr>"
