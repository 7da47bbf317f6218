"""Threads over pieces of work, with BLAS limited to one thread inside each."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple, TypeVar

from threadpoolctl import ThreadpoolController

from gramless.arrays.tensors import is_tensor

Piece = TypeVar("Piece")
_LEFT_BEHIND = 1.0  # seconds after which a lock, held for microseconds otherwise, counts as abandoned


class _Keeper:
    """An object that lives as long as the frame of the context manager that made it."""


class _Entry(NamedTuple):
    """A value that counts while its keeper is alive; afterwards the entry `before` counts."""

    keeper: Callable[[], _Keeper | None]
    value: int
    before: _Entry | None


class _Scoped:
    """A number set for this thread inside a context; it is unset even if Ctrl-C interrupts the end of the context."""

    def __init__(self, name: str) -> None:
        self._entry: ContextVar[_Entry | None] = ContextVar(name, default=None)

    def get(self) -> int | None:
        """The number of the innermost context that has not ended; None outside of any context."""
        entry = self._living()
        return None if entry is None else entry.value

    @contextmanager
    def set_to(self, value: int) -> Iterator[None]:
        keeper = _Keeper()
        entry = _Entry(weakref.ref(keeper), value, self._living())
        try:
            self._entry.set(entry)
            yield
        finally:
            if self._entry.get() is entry:  # false if Ctrl-C delayed this exit until a later context was entered
                self._entry.set(entry.before)

    def _living(self) -> _Entry | None:
        entry = self._entry.get()
        while entry is not None and entry.keeper() is None:
            entry = entry.before
        return entry


_LIMIT = _Scoped("threads")  # the number of threads that may be used
_HELD = _Scoped("held")  # this thread has limited BLAS to one thread
_INSIDE = _Scoped("inside")  # this thread works on a piece of run_in_threads


def thread_count() -> int:
    """Threads that work started now will use: the limit set by :func:`use_threads`, or all cores of this process."""
    limit = _LIMIT.get()
    if limit is not None:
        return limit
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit the threads inside the context; None keeps the limit, negative numbers follow scikit-learn's `n_jobs`.

    Examples
    --------
    >>> with use_threads(1):
    ...     thread_count()
    1
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is invalid; pass a positive number, or -1 for all cores")
    count = thread_count() if n_jobs is None else n_jobs if n_jobs > 0 else max(1, thread_count() + 1 + n_jobs)
    with _LIMIT.set_to(count):
        yield


def threads_for(x: Any) -> Any:
    """Context for work on rows `x`: one thread for a torch tensor, whose chunks are taken one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> with use_threads(3), threads_for(np.ones(2)):
    ...     thread_count()
    3
    """
    return use_threads(1) if is_tensor(x) else nullcontext()


@cache
def _blas() -> tuple[Any, ...]:
    """Handles of the BLAS libraries in this process, found once: the search takes milliseconds."""
    return tuple(library for library in ThreadpoolController().lib_controllers if library.user_api == "blas")


class _Single:
    """The threads that need BLAS limited to one thread, and the number of BLAS threads to restore after the last.

    BLAS has one number of threads for the whole process, so contexts that each saved and restored it would restore one
    another's value. `holders` has thread ids, not a count: a thread whose exit Ctrl-C prevented is removed at its next
    exit. No thread waits for the work of another.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders, self.before = set[int](), list[tuple[Any, int]]()

    def begin(self) -> None:
        lock = self._locked()
        try:
            if not self.holders:
                self.before = self.before or [(library, library.get_num_threads()) for library in _blas()]
                self._set([(library, 1) for library, _ in self.before])
            self.holders.add(threading.get_ident())
        finally:
            lock.release()

    def end(self) -> None:
        lock = self._locked()
        try:
            self.holders.discard(threading.get_ident())
            if not self.holders:
                self._set(self.before)
                self.before = []
        finally:
            lock.release()

    def _locked(self) -> threading.Lock:
        """The lock, acquired. It is held for microseconds: a lock held longer was abandoned, and is replaced."""
        lock = self.lock
        if not lock.acquire(timeout=_LEFT_BEHIND):
            lock = self.lock = threading.Lock()
            lock.acquire()
        return lock

    def _set(self, counts: list[tuple[Any, int]]) -> None:
        for library, count in counts:
            if library.get_num_threads() != count:
                library.set_num_threads(count)

    def after_fork(self) -> None:
        """In the child only the thread that forked exists: no other thread can release the lock."""
        self.lock = threading.Lock()
        self.holders &= {threading.get_ident()}


_SINGLE = _Single()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context in which BLAS and LAPACK use one thread: for work that uses threads itself, or is too small for two.

    Threads of OpenBLAS wait for each other by spinning. On small matrices, or when another process occupies a core,
    this wait costs many times what the threads save.
    """
    if _HELD.get() or _INSIDE.get():  # limited already, by this thread or by the caller of run_in_threads
        yield
        return
    with _HELD.set_to(1):
        try:
            _SINGLE.begin()
            yield
        finally:
            _SINGLE.end()


def blas_threads_for(size: int) -> Any:
    """Context for LAPACK on a matrix of `size` rows: one thread for small matrices, where more would only wait."""
    return one_blas_thread() if size < 1000 else nullcontext()


def run_in_threads(work: Callable[[Piece], None], rounds: Iterable[list[Piece]]) -> None:
    """Do `work` on every piece; the pieces of one round run in parallel, rounds one after another.

    Pieces of a round must write to different memory: then the result does not depend on the number of threads. A nested
    call, from the work on a piece, uses one thread.
    """
    threads = 1 if _INSIDE.get() else thread_count()
    with one_blas_thread():
        for pieces in rounds:
            if threads == 1 or len(pieces) == 1:
                for piece in pieces:
                    work(piece)
            else:
                _share(work, pieces, threads)


def _share(work: Callable[[Piece], None], pieces: list[Piece], threads: int) -> None:
    """The calling thread and those of the pool take pieces until none is left."""
    left = deque(pieces)

    def drain() -> None:
        try:
            with _INSIDE.set_to(1):
                while left:
                    try:
                        piece = left.popleft()
                    except IndexError:  # another thread took the last one
                        return
                    work(piece)
        except BaseException:
            left.clear()
            raise

    others = [_pool(threads - 1).submit(drain) for _ in range(min(threads, len(pieces)) - 1)]
    try:
        drain()
    finally:
        running = [other for other in others if not other.cancel()]
        wait(running)
    for other in running:
        other.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """A pool that is kept: to start a thread takes as long as a small piece of work."""
    return ThreadPoolExecutor(threads, thread_name_prefix="gramless")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # no thread of the pool exists in the child
    os.register_at_fork(after_in_child=_SINGLE.after_fork)
