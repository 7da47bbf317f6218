"""Who is told how far a fit is: the line that `verbose` asks for, and scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from gramless.arrays import use_threads
from gramless.display import ProgressLine
from gramless.progress import Observer, Silent, observed_by, observer

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # an earlier scikit-learn: no callbacks can be set, so nobody waits for them

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands where scikit-learn has none."""


__all__ = ["CallbackSupportMixin", "Callbacks", "at_work"]

_PARTS = 100  # tasks that rows are told in: there may be a million chunks


class Callbacks(Silent):
    """Tells the callbacks of an estimator, as tasks: each pass over the Gram matrix, or each hundredth of the rows.

    The task tree is fit > passes > pass, or fit > rows > part. At the end of a pass `metadata` has ``passes``,
    ``residual`` and ``tol``. A callback that asks to stop is not heard: the promise of `tol` would be broken.

    Parameters
    ----------
    model : estimator
        A CallbackSupportMixin.
    told : dict
        X, y and metadata, for the tasks that begin and end with the fit.
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
        """The fit is done."""
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
def at_work(model: Any, x: Any, y: Any = None, sample_weight: Any = None) -> Iterator[Callbacks | None]:
    """Context of a fit of `model` to `x`: its threads, its `verbose` line and its callbacks.

    An observer that the caller has set is told, too. The callbacks, where scikit-learn has them, are returned: the
    caller tells them that the fit ends when the model is there.
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
