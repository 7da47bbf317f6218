"""Who follows a fit: the line that `verbose` asks for, and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from gramless.estimators.callbacks import Callbacks
from gramless.estimators.progress_line import ProgressLine
from gramless.progress import Observer, observed_by, observer


class Everybody:
    """Tells several observers."""

    def __init__(self, observers: list[Observer]) -> None:
        self._observers = observers

    def begins(self, method: str, seconds: float) -> None:
        for one in self._observers:
            one.begins(method, seconds)

    def passing(self) -> None:
        for one in self._observers:
            one.passing()

    def passed(self) -> None:
        for one in self._observers:
            one.passed()

    def reached(self, residual: float, tol: float) -> None:
        for one in self._observers:
            one.reached(residual, tol)

    def summed(self, rows: int, total: int) -> None:
        for one in self._observers:
            one.summed(rows, total)


@contextmanager
def following(model: Any, x: Any, y: Any = None, sample_weight: Any = None) -> Iterator[None]:
    """Context of a fit of `model` to rows `x`: its `verbose` line is shown, and its callbacks are called.

    An observer that somebody else has set goes on being told.
    """
    observers: list[Observer] = []
    callbacks = None
    with ExitStack() as stack:
        if hasattr(model, "_init_callback_context"):
            callbacks = Callbacks(model, {"X": x, "y": y, "metadata": {"sample_weight": sample_weight}})
            if getattr(model, "_skl_callbacks", None):
                observers.append(callbacks)
        if model.verbose:
            observers.append(stack.enter_context(ProgressLine(model.verbose)))
        if observers:
            stack.enter_context(observed_by(Everybody([observer(), *observers])))
        yield
    if callbacks is not None:
        callbacks.ends()
