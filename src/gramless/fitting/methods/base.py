"""What a method is, what it keeps of the rows, and the registry of all methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from gramless.data import Block, Rows, Survey
from gramless.fitting.model import Model
from gramless.kernels import Kernel
from gramless.problem import Estimate, Problem, Request
from gramless.registry import Registry
from gramless.spaces import Eigenspace

Self = TypeVar("Self", bound="State")


class Solution(Protocol):
    """What a method has made of the rows: all that is left to do is to finish it."""

    def finish(self, problem: Problem, request: Request, before: Eigenspace | None) -> Model:
        """The model of the rows seen; in a stream, its components agree in sign with those of `before`.

        ``problem.k`` may be 0, for all components.
        """


@dataclass(frozen=True, eq=False)
class Solved:
    """A model as it is: the solution of methods that look at all rows at once.

    Attributes
    ----------
    model : Model
    block : Block or None
        The rows that the model projects through.
    """

    model: Model
    block: Block | None = None

    def finish(self, problem: Problem, request: Request, before: Eigenspace | None) -> Model:
        return self.model


class State(Solution, Protocol):
    """What a method keeps of the rows it has seen. States are values: every method returns a new one.

    Attributes
    ----------
    keeps : str
        ``"moments"``, ``"points"`` or ``"rows"``: states that keep the same sort of thing can be merged.
    carrier : str or None
        The method that goes on with such a state; None: the one that began it.
    """

    keeps: ClassVar[str]
    carrier: ClassVar[str | None]

    @property
    def rows(self) -> int:
        """Rows seen that have a weight."""

    @property
    def weight(self) -> float:
        """Their weight, as it is now."""

    def add(self, block: Block) -> State:
        """The state with more rows, all of positive weight."""

    def remove(self, block: Block) -> State:
        """The state without some of its rows; raises a ValueError where that cannot be done."""

    def scaled(self, factor: float) -> State:
        """As if every weight were multiplied by `factor`."""

    def merged(self: Self, other: Self) -> State:
        """The rows of both; raises a ValueError that says what differs where the two do not fit."""


class Method(Protocol):
    """A way to solve a problem: it says what it would cost, and makes of rows something that finishes as a model.

    Attributes
    ----------
    streams : bool
        Whether it needs each row only once, so that rows may come in batches and be forgotten.
    forgets : bool
        Whether its model does without the training rows.
    maps : bool
        Whether it takes rows from a memory map a few at a time, and never all of them.
    parts : bool
        Whether it works on rows in partitions, where they lie.
    batches_only : bool
        Whether it is for rows that come in batches, or in partitions, and for no others.
    gpu_only : bool
        Whether it has no form for the CPU.
    kernels : tuple of Kernel classes
        The only kernels it serves; empty: any, as far as `estimate` says.
    """

    streams: bool
    forgets: bool
    maps: bool
    parts: bool
    batches_only: bool
    gpu_only: bool
    kernels: tuple[type[Kernel], ...]

    def estimate(self, problem: Problem) -> Estimate:
        """What it would cost, or why it cannot serve."""

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solution:
        """What the method makes of all `rows`; a :class:`State` where more rows may follow."""


class Traits:
    """What most methods have in common: they need all rows at once, and project through them."""

    streams = False
    forgets = False
    maps = False
    parts = False
    batches_only = False
    gpu_only = False
    kernels: tuple[type[Kernel], ...] = ()


methods: Registry[Method] = Registry("method")
