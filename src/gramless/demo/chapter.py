"""The content of a chapter. The console shows its lines, the page all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gramless.certificates import Certificate
from gramless.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Shows on a terminal what is being done now.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Chapter:
    """One part of the tour.

    Attributes
    ----------
    name : str
        A word: the first of the lines, and the anchor on the page.
    title : str
    headline : str
        The result in a few words.
    lines : tuple of str
        For the console; two at most, of at most 72 characters.
    text : tuple of str
        Paragraphs of the page.
    code : str
        The few lines of Python by which a reader has the same.
    certificate : Certificate
    figures : tuple of Figure
        Panels, side by side where the page is wide enough.
    captions : tuple of str
        What each figure shows, also for readers who cannot see it.
    tables : tuple of Table
    """

    name: str
    title: str
    headline: str
    lines: tuple[str, ...]
    text: tuple[str, ...]
    code: str
    certificate: Certificate
    figures: tuple[Figure, ...]
    captions: tuple[str, ...]
    tables: tuple[Table, ...] = ()


def widest(certificate: Certificate) -> str:
    """The widest interval of a certificate, relative to its eigenvalue, and what it rests on."""
    kind = "rigorous" if (certificate.kind == "rigorous").all() else "probabilistic"
    return f"{certificate.width.max():.0e}, {kind}"


def seconds_text(seconds: float) -> str:
    """Seconds with two digits.

    Examples
    --------
    >>> seconds_text(0.0421), seconds_text(2.316), seconds_text(25000.0)
    ('0.042 s', '2.3 s', '7 hours')
    """
    if seconds >= 3600:
        return f"{seconds / 3600:,.0f} hours"
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.2g} s"


def panel(width: float = 5.2, height: float = 3.5) -> Figure:
    """An empty figure, small enough to be read on a phone."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
