"""What runs on a worker: a piece of work on one part, with one thread, and its number in the error if it fails."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from gramless.arrays import use_threads
from gramless.errors import PartitionError
from gramless.execution.parts import Work


def work_on(work: Work, number: int, part: Any, *arguments: Any) -> Any:
    """``work(part, *arguments)``: a worker has as many tasks as threads, so each task gets one."""
    with use_threads(1):
        try:
            return work(part, *arguments)
        except Exception as error:
            raise PartitionError(failure(getattr(part, "number", number), error)) from error


def pair_up(work: Work, left: Any, right: Any, *arguments: Any) -> Any:
    """``work(left, right, *arguments)`` with one thread."""
    with use_threads(1):
        return work(left, right, *arguments)


def joined(join: Work, group: Sequence[Any]) -> Any:
    """The items of one group, joined from left to right."""
    return reduce(join, group)


def added(group: Sequence[Any]) -> Any:
    """The sum of one group."""
    return reduce(operator.add, group)


def given(value: Any) -> Any:
    """A value that travels as an argument of a task: if the worker that has it dies, the scheduler has it still."""
    return value


def failure(number: int, error: BaseException) -> str:
    """How a message names the part that failed."""
    return f"partition {number} failed: {type(error).__name__}: {error}"
