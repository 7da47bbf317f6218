"""Calls in a process of their own, with their time and their memory; whatever happens there is a result."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

from gramless.arrays.memory import peak_bytes, resident_bytes, restart_peak

_START_S = 60.0  # seconds in which a process has to be ready: Python and its imports

#: A function of an item that makes ready what the item needs, and returns the call to be measured.
Task = Callable[[Any], Callable[[], Any]]


@dataclass(frozen=True)
class Measured:
    """A call in another process.

    Attributes
    ----------
    failure : str
        Why there is no value; empty where there is one.
    seconds : float
    peak_bytes : int or None
        Growth of the peak of resident memory over what the process held before the call; None where the system
        does not count it.
    value : object
        What the call returned.
    """

    failure: str = ""
    seconds: float = float("nan")
    peak_bytes: int | None = None
    value: Any = None

    @property
    def megabytes(self) -> float:
        """The peak in MB; NaN if unknown."""
        return float("nan") if self.peak_bytes is None else self.peak_bytes / 1e6


def measure(task: Task, items: Sequence[Any], limit_s: float) -> Iterator[Measured]:
    """Carry out `task` for each item in one new process, up to the first failure.

    Parameters
    ----------
    task : callable
        Of a module, so that the other process can import it. The call for the first item is made once before, without
        being measured: imports and thread pools are not what is measured.
    items : sequence
    limit_s : float
        Seconds that one item may take; then the process is ended.
    """
    context = get_context("spawn")  # a fork would share this process's memory, and its thread pools
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, task, items), daemon=True)
    process.start()
    sender.close()
    try:
        found = _received(receiver, _START_S)
        for _ in items:
            if found is not None and not found.failure:
                found = _received(receiver, limit_s)
            if found is None:  # the process has ended by itself
                process.join()
                found = Measured(failure=_ending(process.exitcode or 0))
            yield found
            if found.failure:
                return
    finally:
        process.kill()
        process.join()


def _received(receiver: Connection, limit_s: float) -> Measured | None:
    """The next result; None if the process has ended."""
    late = Measured(failure=f"stopped after {limit_s:g} s")
    if not receiver.poll(limit_s):
        return late
    with suppress(EOFError):
        found: Measured = receiver.recv()
        return late if found.seconds > limit_s else found  # it may be here by now, and have taken longer
    return None


def _ending(code: int) -> str:
    """How a process ended, from its exit code, which is minus the number of a signal."""
    if code >= 0:
        return f"ended with exit code {code}"
    if -code == signal.SIGKILL:
        return "killed (out of memory?)"
    return f"crashed ({signal.Signals(-code).name})"


def _work(sender: Connection, task: Task, items: Sequence[Any]) -> None:
    task(items[0])()
    sender.send(Measured())
    for item in items:
        try:
            found = _measured(task(item))
        except MemoryError:
            found = Measured(failure="out of memory")
        except Exception as error:
            found = Measured(failure=f"{type(error).__name__}: {error}")
        sender.send(found)


def _measured(call: Callable[[], Any]) -> Measured:
    restart_peak()
    before, start = resident_bytes(), perf_counter()
    value = call()
    seconds, peak = perf_counter() - start, peak_bytes()
    return Measured("", seconds, None if before is None or peak is None else max(0, peak - before), value)
