"""Work on blocks of rows, added up: all that a fit needs of a machine, or of many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from gramless.arrays import Array


class Summand(Protocol):
    """What work makes of a block: anything that adds. The order of the additions is fixed, see :class:`Tower`."""

    def __add__(self, other: Any) -> Any: ...


Sum = TypeVar("Sum", bound=Summand)


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows that follow one another.

    Attributes
    ----------
    number : int
        From 0 on, in the order of the rows.
    first : int
        Number of its first row; -1 where nobody knows.
    x : ndarray or CSR of shape (m, d)
    weights : ndarray of shape (m,)
    """

    number: int
    first: int
    x: Any
    weights: Array


class Rows(Protocol):
    """Rows that are somewhere, in blocks, and how to work on them there.

    A file read block by block in this process is one (:class:`~gramless.execution.local.LocalRows`), a collection of
    partitions on the workers of a cluster another: what a fit computes does not depend on which.

    Attributes
    ----------
    name : str
        For messages.
    n_features : int
    n_rows : int or None
        None where nobody knows before the end.
    restartable : bool
        Whether :meth:`map_reduce` may be called more than once.
    sparse : bool
        Whether blocks are CSR.
    dtype : dtype
        float64 or float32.
    feature_names : tuple of str, or None
    """

    name: str
    n_features: int
    n_rows: int | None
    restartable: bool
    sparse: bool
    dtype: Any
    feature_names: tuple[str, ...] | None

    def map_reduce(self, work: Callable[[Block], Sum], task: str = "") -> Sum:
        """``work(block)`` of every block, added in pairs of neighbours, pairs of pairs and so on.

        Parameters
        ----------
        work : callable
            Must not depend on anything but the block; can be pickled where its parts can. A block without rows is not
            worked on, and where there is none at all, that is an error.
        task : str
            Names the pass, for checkpoints and progress: the same for the same work.
        """
