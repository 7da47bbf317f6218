"""What a stream is: rows come in batches, and a model can be had at any time."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

from gramless.arrays import Array
from gramless.problem import Problem, Request
from gramless.routes.fitted import Fitted
from gramless.spaces import Eigenspace

Self = TypeVar("Self", bound="Stream")


class Stream(Protocol):
    """What is kept of the rows seen so far. Streams are values: every method returns a new one.

    Attributes
    ----------
    keeps : str
        ``"moments"``, ``"points"`` or ``"rows"``: streams that keep the same sort of thing may merge.
    """

    keeps: ClassVar[str]

    @property
    def rows(self) -> int:
        """Rows seen that have a weight."""

    @property
    def weight(self) -> float:
        """Their weight, as it is now."""

    def add(self, x: Any, weights: Array) -> Stream:
        """Take in rows `x` (n, d) with `weights` (n,) > 0."""

    def remove(self, x: Any, weights: Array) -> Stream:
        """Take rows out again; raises a ValueError where that cannot be done."""

    def scaled(self, factor: float) -> Stream:
        """As if every weight were multiplied by `factor`."""

    def merged(self: Self, other: Self) -> Stream:
        """The rows of both; raises a ValueError that says what differs where they do not fit."""

    def conclude(self, problem: Problem, request: Request, before: Eigenspace | None) -> Fitted:
        """A model, its components turned to agree in sign with those of `before`."""
