"""The content of the tour: text, a figure, tables. The console and the page both show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gramless.report.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Chapter:
    """One part of the tour.

    Attributes
    ----------
    title : str
    text : tuple of str
        Paragraphs.
    name : str
        File name of the figure, without its extension.
    figure : Figure
    caption : str
        What the figure shows, also for readers who cannot see it.
    tables : tuple of Table
    """

    title: str
    text: tuple[str, ...]
    name: str
    figure: Figure
    caption: str
    tables: tuple[Table, ...] = field(default=())
