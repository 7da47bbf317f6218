"""What can go wrong, as types a caller can catch."""

from __future__ import annotations

from typing import Any


class GramlessError(Exception):
    """Base of the errors and warnings that are gramless' own."""


class IndefiniteKernelWarning(GramlessError, UserWarning):
    """The kernel is not positive semidefinite: distances in feature space may be negative."""


class UncertifiedWarning(GramlessError, UserWarning):
    """The error bound of an eigenvalue is as large as the eigenvalue; the certificate shows which."""


class LongFitWarning(GramlessError, UserWarning):
    """A fit will take long; the message says how long, and what would be faster."""


class DominantColumnWarning(GramlessError, UserWarning):
    """One column makes nearly all of the distances, as a number of rows or a column in small units does."""


class MemoryLimitError(GramlessError, MemoryError):
    """The work does not fit `memory_limit`; the message names what would.

    Attributes
    ----------
    plan : Plan or None
        What each method would need, where that is known.
    """

    def __init__(self, message: str = "", plan: Any = None) -> None:
        super().__init__(message)
        self.plan = plan

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.plan)


class PreimageWarning(GramlessError, UserWarning):
    """For some rows the search for a pre-image did not settle; the message says how many and what they got instead."""


class PartitionError(GramlessError, RuntimeError):
    """Work on a partition of distributed data failed, each time it was tried; the message names it and says why."""


class SourceError(GramlessError, ValueError):
    """Rows could not be read; the message names the file, the block with its rows, and the column."""


class FormatError(SourceError):
    """A file is not what it should be: damaged, of another format or version, or it claims more than it holds."""


class CheckpointError(GramlessError, ValueError):
    """A checkpoint is of other data or parameters; the message says which."""


class CheckpointWarning(GramlessError, UserWarning):
    """`checkpoint` was given and the method that runs keeps none: the message names it, and those that do."""
