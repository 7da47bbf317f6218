"""Errors and warnings, as types that a caller can catch."""

from __future__ import annotations

from typing import Any


class GramlessError(Exception):
    """Base class of the errors and warnings of gramless."""


class IndefiniteKernelWarning(GramlessError, UserWarning):
    """The kernel is not positive semidefinite: distances in feature space may be negative."""


class UncertifiedWarning(GramlessError, UserWarning):
    """The error bound of an eigenvalue is as large as the eigenvalue; the certificate shows which."""


class LongFitWarning(GramlessError, UserWarning):
    """A fit will take long; the message says how long, and what would be faster."""


class DominantColumnWarning(GramlessError, UserWarning):
    """One column accounts for nearly all of the distances, as row numbers or a column in small units do."""


class DialectWarning(GramlessError, UserWarning):
    """The numbers of a CSV file depend on how its first lines look, such as a decimal comma; the message says how."""


class MemoryLimitError(GramlessError, MemoryError):
    """The work does not fit `memory_limit`; the message names a method or a limit that would.

    Attributes
    ----------
    plan : Plan or None
        The plan with the memory that each method would need, if known.
    """

    def __init__(self, message: str = "", plan: Any = None) -> None:
        super().__init__(message)
        self.plan = plan

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.plan)


class PreimageWarning(GramlessError, UserWarning):
    """The search for a pre-image did not converge for some rows; the message says how many, and what replaces it."""


class PartitionError(GramlessError, RuntimeError):
    """Work on a partition of distributed data failed at every try; the message names the partition and the cause."""


class CompressionError(GramlessError, ValueError):
    """No smaller number of points reproduces a model within the tolerance; the message has the errors against points.

    Attributes
    ----------
    curve : list of tuple of (int, float)
        Numbers of points, and the largest relative change of an output with each.
    """

    def __init__(self, message: str = "", curve: Any = ()) -> None:
        super().__init__(message)
        self.curve = list(curve)

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.curve)


class SourceError(GramlessError, ValueError):
    """Rows could not be read; the message names the file, the block with its rows, and the column."""


class FormatError(SourceError):
    """A file is damaged, of another format or version, or its header claims more than the file contains."""


class ExportError(GramlessError, ValueError):
    """A model cannot be written in the operators of ONNX; the message says which part of it, and what to do instead."""


class CheckpointError(GramlessError, ValueError):
    """A checkpoint belongs to other data or parameters; the message says which."""


class CheckpointWarning(GramlessError, UserWarning):
    """`checkpoint` was given, but the method that runs writes none; the message names the methods that do."""
