"""What runs on a worker: a piece of work on one part, with one thread, and its number in the error if it fails."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from dask.sizeof import sizeof

from gramless.arrays import use_threads
from gramless.data.parts import Work
from gramless.data.rows import Block
from gramless.errors import PartitionError


def size_of_fields(value: Any) -> int:
    """Bytes of an object of ours; Dask would take it for empty, send it about for nothing, and not spill it."""
    return sum(sizeof(field) for field in vars(value).values())


_SIZED = {Block}
sizeof.register(Block)(size_of_fields)


def sized(value: Any) -> Any:
    """The value, of a type whose size Dask can tell from now on."""
    kind = type(value)
    if kind not in _SIZED and kind.__module__.startswith("gramless."):
        sizeof.register(kind)(size_of_fields)
        _SIZED.add(kind)
    return value


def work_on(work: Work, number: int, part: Any, *arguments: Any) -> Any:
    """``work(part, *arguments)``: a worker has as many tasks as threads, so each task gets one."""
    with use_threads(1):
        try:
            return sized(work(part, *arguments))
        except Exception as error:
            raise PartitionError(failure([getattr(part, "number", number)], error)) from error


def pair_up(work: Work, left: Any, right: Any, *arguments: Any) -> Any:
    """``work(left, right, *arguments)`` with one thread."""
    with use_threads(1):
        both = work(left, right, *arguments)
        return tuple(sized(summand) for summand in both)


def joined(join: Work, group: Sequence[Any]) -> Any:
    """The items of one group, joined from left to right."""
    return sized(reduce(join, group))


def added(group: Sequence[Any]) -> Any:
    """The sum of one group."""
    return sized(reduce(operator.add, group))


def given(value: Any) -> Any:
    """A value that travels as an argument of a task: if the worker that has it dies, the scheduler has it still."""
    return value


def failure(numbers: Sequence[int], error: BaseException) -> str:
    """How a message names the parts that failed: when workers die, Dask suspects all that were at work there."""
    names = ", ".join(str(number) for number in numbers)
    return f"partition{'s' if len(numbers) > 1 else ''} {names} failed: {type(error).__name__}: {error}"
