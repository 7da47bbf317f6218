"""What a pass over blocks needs of a checkpoint, whatever the format in which the checkpoint is stored."""

from __future__ import annotations

from typing import Any, Protocol


class Checkpoint(Protocol):
    """The progress of a pass over the blocks, and its partial sums.

    Attributes
    ----------
    path : Path
    task : str
        Name of the pass; empty where no pass has begun.
    rows : int
        Number of rows whose blocks are in the sums.
    parts : list of (int, sum)
        Partial sums of a :class:`~gramless.arrays.Tower`.
    kept : object
        Results of earlier passes that this pass needs.
    """

    path: Any
    kept: Any
    task: str
    rows: int
    parts: list[tuple[int, Any]]

    def begin(self, task: str, kept: Any = None) -> None:
        """Begin a pass; `kept` contains the results of earlier passes that this pass needs."""

    def done(self) -> None:
        """Mark the fit as complete."""

    def save(self, parts: list[tuple[int, Any]], rows: int) -> None:
        """Save the partial sums of the first `rows` rows."""
