"""How far a computation is: told to whoever follows it, and to nobody by default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Observer(Protocol):
    """What a computation tells, always from the thread that started it. Nothing it does changes a result."""

    def begins(self, method: str, seconds: float) -> None:
        """A method starts, which the plan expects to take so long."""

    def passing(self) -> None:
        """A product with the Gram matrix begins."""

    def passed(self) -> None:
        """One more product with the Gram matrix, by a block of any width, is done."""

    def reached(self, residual: float, tol: float) -> None:
        """Worst residual of the wanted pairs after that product, and the one wanted; of the largest eigenvalue."""

    def summed(self, rows: int, total: int) -> None:
        """So many rows of `total` are in the moments."""


class Silent:
    """Follows nothing."""

    def begins(self, method: str, seconds: float) -> None:
        pass

    def passing(self) -> None:
        pass

    def passed(self) -> None:
        pass

    def reached(self, residual: float, tol: float) -> None:
        pass

    def summed(self, rows: int, total: int) -> None:
        pass


_OBSERVER: ContextVar[Observer] = ContextVar("observer", default=Silent())  # noqa: B039  (it has no state)


def observer() -> Observer:
    """Who follows the computation of this thread."""
    return _OBSERVER.get()


@contextmanager
def observed_by(who: Observer) -> Iterator[None]:
    """Context in which `who` is told.

    Examples
    --------
    >>> import numpy as np
    >>> from gramless.eigen import eigsh
    >>> class Count(Silent):
    ...     passes = 0
    ...
    ...     def passed(self):
    ...         self.passes += 1
    >>> count = Count()
    >>> with observed_by(count):
    ...     result = eigsh(np.diag(np.arange(50.0)), 2, rng=0)
    >>> count.passes == result.passes
    True
    """
    token = _OBSERVER.set(who)
    try:
        yield
    finally:
        _OBSERVER.reset(token)
