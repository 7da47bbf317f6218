"""Tables that a console and a page both show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramless.certificates import Certificate
    from gramless.fitting.methods import Plan
    from gramless.spaces import Compression


@dataclass(frozen=True)
class Table:
    """Rows of strings; columns named in `words` are left-aligned, the others are numbers; `strong` rows stand out."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    words: tuple[str, ...] = ()
    strong: Collection[int] = ()

    def html(self) -> str:
        """The table as HTML, every string escaped."""
        kinds = [' class="word"' if name in self.words else "" for name in self.header]
        head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, self.header, strict=True))
        rows = "\n".join(self._row(number, row, kinds) for number, row in enumerate(self.rows))
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        return (
            f'<div class="table"><table><caption>{escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>{note}</div>"
        )

    def drawn(self) -> Any:
        """The table for the package rich, which draws it on a console, with the note below."""
        import rich.box
        import rich.table
        from rich.console import Group
        from rich.text import Text

        table = rich.table.Table(
            title=self.title, title_justify="left", box=rich.box.SIMPLE_HEAD, collapse_padding=True
        )
        for name in self.header:
            table.add_column(name, justify="left" if name in self.words else "right")
        for number, row in enumerate(self.rows):
            table.add_row(*(Text(cell) for cell in row), style="bold" if number in self.strong else None)
        return Group(table, Text(self.note + "\n", style="dim"))

    def _row(self, number: int, row: tuple[str, ...], kinds: list[str]) -> str:
        cells = "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        return f'<tr class="strong">{cells}</tr>' if number in self.strong else f"<tr>{cells}</tr>"


def plan_table(plan: Plan) -> Table:
    """The estimated cost of each method."""
    problem = plan.problem
    return Table(
        title=f"The plan for {problem.n:,} rows, {problem.k} components",
        header=plan.header,
        rows=plan.rows(),
        note="Estimates before the fit. The cheapest method that meets the tolerance and the memory limit runs.",
        words=("method", "verdict"),
        strong=plan.strong,
    )


def compression_table(compression: Compression) -> Table:
    """What a compressed model has lost."""
    return Table(
        title="The compression",
        header=compression.header,
        rows=compression.table() if compression.rows else [],
        note=compression.footnote,
    )


def certificate_table(certificate: Certificate) -> Table:
    """What is proved about each component."""
    note = "Width: relative to the eigenvalue. Angle: upper bound, in radians, between computed and true vector."
    if certificate.failure_probability:
        note += f" Probabilistic rows are wrong with probability at most {certificate.failure_probability:.0e}."
    return Table(
        title="The certificate",
        header=certificate.header,
        rows=certificate.rows(),
        note=note,
        words=("kind",),
    )
