"""Progress of a computation, reported to an observer; the default observer ignores all reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Observer(Protocol):
    """Receives reports of a computation, in the thread that started it. An observer does not change results."""

    def begins(self, method: str, seconds: float) -> None:
        """A method starts; the plan estimates that it takes `seconds`."""

    def passing(self) -> None:
        """A product with the Gram matrix begins."""

    def passed(self) -> None:
        """A product of the Gram matrix with a block of vectors is done."""

    def reached(self, residual: float, tol: float) -> None:
        """Largest residual of the requested eigenpairs so far, and `tol`, both relative to the largest eigenvalue."""

    def summed(self, rows: int, total: int) -> None:
        """The pass over the blocks has summed `rows` rows of `total`."""


class Silent:
    """An observer that ignores all reports."""

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
    """The observer of the computation in this context."""
    return _OBSERVER.get()


@contextmanager
def observed_by(who: Observer) -> Iterator[None]:
    """Context in which computations report to the observer `who`.

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
