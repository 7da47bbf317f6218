"""Protocols of methods and of their states, and the registry of all methods."""

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
    """The result of a method's work on the rows, from which `finish` computes the model."""

    def finish(self, problem: Problem, request: Request, before: Eigenspace | None) -> Model:
        """The model of the rows seen; in a stream, its components agree in sign with those of `before`.

        ``problem.k`` may be 0, for all components.
        """


@dataclass(frozen=True, eq=False)
class Solved:
    """A model that is finished already: the solution of methods that need all rows at once.

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
    """What a method stores of the rows it has seen. States are immutable: `add` and the like return a new state.

    Attributes
    ----------
    keeps : str
        ``"moments"``, ``"points"`` or ``"rows"``: only states with the same `keeps` can be merged.
    carrier : str or None
        Name of the method that continues a stream with such a state; None: the method that began it.
    """

    keeps: ClassVar[str]
    carrier: ClassVar[str | None]

    @property
    def rows(self) -> int:
        """Number of rows seen with positive weight."""

    @property
    def weight(self) -> float:
        """Total weight of the rows seen, after all scaling."""

    def add(self, block: Block) -> State:
        """The state with more rows, all of positive weight."""

    def remove(self, block: Block) -> State:
        """The state without the rows of `block`; raises a ValueError where the state cannot remove rows."""

    def scaled(self, factor: float) -> State:
        """The state with every weight multiplied by `factor`."""

    def merged(self: Self, other: Self) -> State:
        """The state of the rows of both; raises a ValueError that names the difference where they cannot be merged."""


class Method(Protocol):
    """A way to solve a problem: estimates its cost, and turns rows into a solution.

    Attributes
    ----------
    streams : bool
        Whether the method needs each row only once, so that rows may come in batches and need not be kept.
    forgets : bool
        Whether the model does without the training rows.
    maps : bool
        Whether the method reads a few rows of a memory map at a time, and never copies all of them.
    parts : bool
        Whether the method works on partitions of a cluster in place.
    batches_only : bool
        Whether the method is only for rows that come in batches or in partitions.
    gpu_only : bool
        Whether the method cannot run on the CPU.
    kernels : tuple of Kernel classes
        The only kernels that the method supports; empty: any kernel that `estimate` does not refuse.
    """

    streams: bool
    forgets: bool
    maps: bool
    parts: bool
    batches_only: bool
    gpu_only: bool
    kernels: tuple[type[Kernel], ...]

    def estimate(self, problem: Problem) -> Estimate:
        """The estimated cost, or the reason why the method cannot be used."""

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> Solution:
        """The solution for all `rows`; a :class:`State` where more rows may follow."""


class Traits:
    """Defaults of the attributes of a method: most need all rows at once, and project through the training rows."""

    streams = False
    forgets = False
    maps = False
    parts = False
    batches_only = False
    gpu_only = False
    kernels: tuple[type[Kernel], ...] = ()


methods: Registry[Method] = Registry("method")
