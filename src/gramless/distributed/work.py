"""The functions that run on a worker: work on one part with one thread; errors name the part."""

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
    """Bytes of a gramless object; Dask would estimate almost 0, move the object freely, and never spill it to disk."""
    return sum(sizeof(field) for field in vars(value).values())


_SIZED = {Block}
sizeof.register(Block)(size_of_fields)


def sized(value: Any) -> Any:
    """The value; its type is registered with Dask, so that Dask knows its size."""
    kind = type(value)
    if kind not in _SIZED and kind.__module__.startswith("gramless."):
        sizeof.register(kind)(size_of_fields)
        _SIZED.add(kind)
    return value


def work_on(work: Work, number: int, part: Any, *arguments: Any) -> Any:
    """``work(part, *arguments)`` with one thread: a worker runs as many tasks as it has threads."""
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
    """The value, as the result of a task: if a worker with the value dies, the scheduler still has the argument."""
    return value


def failure(numbers: Sequence[int], error: BaseException) -> str:
    """The message that names the failed parts; when a worker dies, Dask reports all parts that it was working on."""
    names = ", ".join(str(number) for number in numbers)
    return f"partition{'s' if len(numbers) > 1 else ''} {names} failed: {type(error).__name__}: {error}"
