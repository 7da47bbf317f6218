"""Rows in memory, in a file or on a cluster, behind one protocol. Fits use nothing but this protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gramless.arrays import Array

if TYPE_CHECKING:
    from gramless.data.parts import Parts
    from gramless.data.scaling import Scaling
    from gramless.data.survey import Look, Survey


class Summand(Protocol):
    """The result for one block, of any type with ``+``. The order of the additions is fixed, see :class:`Tower`."""

    def __add__(self, other: Any) -> Any: ...


Sum = TypeVar("Sum", bound=Summand)


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows with their weights.

    Attributes
    ----------
    x : ndarray or CSR of shape (m, d)
        Rows as the kernel gets them: centered and scaled, where that was requested.
    weights : ndarray of shape (m,)
    number : int
        Number of the block, from 0 on, in the order of the rows.
    first : int
        Number of the block's first row; -1 where it is unknown.
    given : ndarray or CSR of shape (m, d), or None
        Rows as the caller passed them, where scaling has changed them.
    tensor : tensor of shape (m, d), or None
        `x` on the GPU, where the caller passed a tensor on the GPU.
    """

    x: Any
    weights: Array
    number: int = 0
    first: int = 0
    given: Any = None
    tensor: Any = None

    @property
    def original(self) -> Any:
        """Rows as the caller passed them (m, d)."""
        return self.x if self.given is None else self.given

    def present(self) -> Block:
        """The rows of positive weight."""
        there = self.weights > 0
        return self if there.all() else self.chosen(there)

    def chosen(self, rows: Array) -> Block:
        """Some of the rows, by a mask or by their numbers."""
        given = None if self.given is None else self.given[rows]
        return replace(self, x=self.x[rows], weights=self.weights[rows], given=given, tensor=None)


@dataclass(frozen=True)
class Place:
    """Where rows are stored, as far as a plan depends on it.

    Attributes
    ----------
    again : bool
        Whether the rows can be read more than once.
    block : int
        Rows that are read at a time; 0 for rows in memory.
    mapped : bool
        Whether rows that are read in blocks also allow random access, through a memory map.
    workers, partitions : int
        Numbers of workers and partitions of a cluster; 0 workers where the rows are in this process.
    """

    again: bool = True
    block: int = 0
    mapped: bool = False
    workers: int = 0
    partitions: int = 1


class Rows(Protocol):
    """Rows with their weights. The result of a fit does not depend on which of the three kinds the rows are.

    :class:`~gramless.data.MemoryRows` is one block, :class:`~gramless.data.FileRows` are read block by block, and
    :class:`~gramless.data.ClusterRows` stay on the workers of a cluster.

    Attributes
    ----------
    name : str
        Name of the rows in messages.
    n : int or None
        Number of rows; None where it is unknown before the first pass.
    d : int
        Number of columns.
    names : tuple of str, or None
        Names of the columns.
    dtype : dtype
        float64 or float32, the precision of the rows as the caller passed them.
    sparse : bool
        Whether blocks are CSR.
    place : Place
    parts : Parts or None
        The partitions; None for rows that are not on a cluster.
    scaling : Scaling
        Scaling already applied to the rows.
    begun : object or None
        What an interrupted pass was begun with, where a checkpoint has stored it.
    """

    @property
    def name(self) -> str: ...

    @property
    def n(self) -> int | None: ...

    @property
    def d(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...] | None: ...

    @property
    def dtype(self) -> Any: ...

    @property
    def sparse(self) -> bool: ...

    @property
    def place(self) -> Place: ...

    @property
    def parts(self) -> Parts | None: ...

    @property
    def begun(self) -> Any: ...

    @property
    def scaling(self) -> Scaling: ...

    def survey(self, look: Look) -> Survey:
        """Number, weight, box and a sample of the rows, and what else `look` asks for."""

    def moved(self, scaling: Scaling) -> Rows:
        """The same rows, centered and scaled."""

    def blocks(self) -> Iterator[Block]:
        """Blocks of the rows in order."""

    def sum(self, work: Callable[[Block], Sum], task: str = "", begun: Any = None) -> Sum:
        """``work(block)`` of every block, added in a fixed tree.

        Parameters
        ----------
        work : callable
            A function of the block alone; must be picklable for rows on a cluster. Blocks without rows are left out,
            and a source without rows is an error.
        task : str
            Name of the pass in checkpoints: the same name for the same work.
        begun : object
            What another process needs to resume this pass; stored in the checkpoint.
        """

    def whole(self, most: int | None = None) -> Block:
        """All rows at once: in memory, or as a memory map.

        Raises
        ------
        MemoryLimitError
            If they take more than `most` bytes.
        """
