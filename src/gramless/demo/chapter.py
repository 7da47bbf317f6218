"""What the tour tells: sentences, a figure, tables. The console and the page both show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gramless.certificates import Certificate
    from gramless.planning import Plan


@dataclass(frozen=True)
class Table:
    """Texts in rows; columns listed in `words` are set flush left, the others are numbers."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chapter:
    """One part of the tour.

    Attributes
    ----------
    title : str
    text : tuple of str
        Paragraphs.
    name : str
        File name of the figure, without its ending.
    figure : Figure
    caption : str
        What the figure shows, also for those who cannot see it.
    tables : tuple of Table
    """

    title: str
    text: tuple[str, ...]
    name: str
    figure: Figure
    caption: str
    tables: tuple[Table, ...] = field(default=())


def plan_table(plan: Plan) -> Table:
    """What each method said it would cost."""
    problem = plan.problem
    return Table(
        title=f"The plan for {problem.n:,} rows, {problem.k} components",
        header=("method", "seconds", "memory", "error", "verdict"),
        rows=plan.rows(),
        note="Estimates, made before the work. The cheapest method that meets the tolerance and fits in memory runs.",
        words=("method", "verdict"),
    )


def certificate_table(certificate: Certificate) -> Table:
    """What is proved of each component."""
    note = "Width: relative to the eigenvalue. Angle: no more than this, in radians, between computed and true vector."
    if certificate.failure_probability:
        note += f" Probabilistic rows are wrong with probability at most {certificate.failure_probability:.0e}."
    return Table(
        title="The certificate",
        header=("component", "eigenvalue", "at least", "at most", "width", "angle", "kind"),
        rows=certificate.rows(),
        note=note,
        words=("kind",),
    )
