"""Observers of a fit: the line shown with `verbose`, and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from gramless.arrays import use_threads
from gramless.display import ProgressLine
from gramless.progress import Observer, Silent, observed_by, observer

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # earlier versions of scikit-learn have no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty base class in place of scikit-learn's."""


__all__ = ["CallbackSupportMixin", "Callbacks", "at_work"]

_PARTS = 100  # tasks that a pass over rows is reported in: a task for each block could be a million


class Callbacks(Silent):
    """Reports to the callbacks of an estimator: a task for each pass over the Gram matrix, or each 1 % of the rows.

    The task tree is fit > passes > pass, or fit > rows > part. At the end of a pass `metadata` has ``passes``,
    ``residual`` and ``tol``. A callback cannot stop the fit early: the result would not satisfy `tol`.

    Parameters
    ----------
    model : estimator
        A CallbackSupportMixin.
    told : dict
        X, y and metadata, passed to the callbacks at the beginning and the end of the fit.
    """

    def __init__(self, model: Any, told: dict[str, Any]) -> None:
        self._model, self._told = model, told
        self._root = model._init_callback_context(max_subtasks=None)
        self._root.call_on_fit_task_begin(estimator=model, **told)
        self._restart()

    def _restart(self) -> None:
        self._task: Any = None
        self._pass: Any = None
        self._passes, self._parts = 0, 0
        self._reached: dict[str, float] = {}

    def begins(self, method: str, seconds: float) -> None:
        self._end_task()
        self._restart()

    def passing(self) -> None:
        self._end_pass()
        self._pass = self._begin(self._tasks("passes", None), "pass")

    def passed(self) -> None:
        self._passes += 1

    def reached(self, residual: float, tol: float) -> None:
        self._reached = {"residual": residual, "tol": tol}
        self._end_pass()

    def summed(self, rows: int, total: int) -> None:
        task = self._tasks("rows", _PARTS)
        while self._parts < _PARTS * rows // max(1, total):
            self._parts += 1
            self._begin(task, "part").call_on_fit_task_end(estimator=self._model)

    def ends(self) -> None:
        """Report the end of the fit."""
        self._end_task()
        self._root.call_on_fit_task_end(estimator=self._model, reconstruction_attributes={}, **self._told)

    def _tasks(self, name: str, most: int | None) -> Any:
        if self._task is None or self._task.task_name != name:
            self._end_task()
            self._task = self._begin(self._root, name, most)
            self._parts = 0
        return self._task

    def _begin(self, parent: Any, name: str, most: int | None = 0) -> Any:
        context = parent.subcontext(task_name=name, max_subtasks=most)
        return context.call_on_fit_task_begin(estimator=self._model)

    def _end_pass(self) -> None:
        if self._pass is not None:
            metadata = {"passes": self._passes, **self._reached}
            self._pass.call_on_fit_task_end(estimator=self._model, metadata=metadata)
        self._pass = None

    def _end_task(self) -> None:
        self._end_pass()
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._model)
        self._task = None


class Everybody:
    """An observer that forwards every report to several observers."""

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
def at_work(model: Any, x: Any, y: Any = None, sample_weight: Any = None) -> Iterator[Callbacks | None]:
    """Context of a fit of `model` to `x`: its threads, its `verbose` line and its callbacks.

    An observer that the caller has set gets the reports as well. The context yields the callbacks, where scikit-learn
    has them: the caller reports the end of the fit once the model is complete.
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
        stack.enter_context(use_threads(model.n_jobs))
        yield callbacks
