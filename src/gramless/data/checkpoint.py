"""What a pass over blocks needs of a checkpoint; how it is kept, it does not know."""

from __future__ import annotations

from typing import Any, Protocol


class Checkpoint(Protocol):
    """How far a pass has come, and what it has summed so far.

    Attributes
    ----------
    path : Path
    task : str
        Name of the pass; empty where none has begun.
    rows : int
        Rows whose blocks are in the sums.
    parts : list of (int, sum)
        Of a :class:`~gramless.arrays.Tower`.
    kept : object
        What the pass was begun with.
    """

    path: Any
    kept: Any
    task: str
    rows: int
    parts: list[tuple[int, Any]]

    def begin(self, task: str, kept: Any = None) -> None:
        """A pass begins; `kept` is what it needs of those before, which are over."""

    def done(self) -> None:
        """The fit is over."""

    def save(self, parts: list[tuple[int, Any]], rows: int) -> None:
        """One more block is in the sums."""
