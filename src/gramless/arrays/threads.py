"""Threads over pieces of work, with BLAS held to one thread inside each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Piece = TypeVar("Piece")
_LIMIT: ContextVar[int | None] = ContextVar("threads", default=None)


def thread_count() -> int:
    """Threads that work started now will use: the limit set by :func:`use_threads`, or all cores of this process."""
    limit = _LIMIT.get()
    if limit is not None:
        return limit
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the threads inside the context; None leaves it as it is, negative numbers follow scikit-learn's rule.

    Examples
    --------
    >>> with use_threads(1):
    ...     thread_count()
    1
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; pass a positive number, or -1 for all cores")
    count = thread_count() if n_jobs is None else n_jobs if n_jobs > 0 else max(1, thread_count() + 1 + n_jobs)
    token = _LIMIT.set(count)
    try:
        yield
    finally:
        _LIMIT.reset(token)


@cache
def _blas() -> tuple[Any, ...]:
    """Handles of the BLAS libraries in this process; to look for them takes milliseconds, so it is done once."""
    return tuple(library for library in ThreadpoolController().lib_controllers if library.user_api == "blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context in which BLAS and LAPACK use one thread: for work that is threaded above them, or too small to share.

    Two threads of OpenBLAS wait for each other by spinning: on small matrices, or when another process has one of the
    cores, that costs many times what they save.
    """
    before = [(library, library.get_num_threads()) for library in _blas()]
    changed = [(library, count) for library, count in before if count != 1]
    for library, _ in changed:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, count in changed:
            library.set_num_threads(count)


def blas_threads_for(size: int) -> Any:
    """Context for LAPACK on a matrix of `size` rows: one thread where more would only wait for each other."""
    return one_blas_thread() if size < 1000 else nullcontext()


def run_in_threads(work: Callable[[Piece], None], rounds: Iterable[list[Piece]]) -> None:
    """Do `work` on every piece; the pieces of one round run side by side, rounds one after another.

    Pieces of a round must touch different memory: then the result does not depend on the number of threads.
    """
    threads = thread_count()
    with one_blas_thread():
        if threads == 1:
            for pieces in rounds:
                for piece in pieces:
                    work(piece)
            return
        with ThreadPoolExecutor(threads) as pool:
            for pieces in rounds:
                if len(pieces) == 1:
                    work(pieces[0])
                else:
                    for _ in pool.map(work, pieces):
                        pass
