"""Threads over pieces of work, with BLAS held to one thread inside each."""

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
_LEFT_BEHIND = 1.0  # seconds after which a lock that is needed for microseconds has no owner any more


class _Keeper:
    """Lives as long as the context that made it."""


class _Entry(NamedTuple):
    """A value that counts while its keeper lives; after that the one before it does."""

    keeper: Callable[[], _Keeper | None]
    value: int
    before: _Entry | None


class _Scoped:
    """A number of this thread inside a context; it ends with that even where Ctrl-C strikes in the last line."""

    def __init__(self, name: str) -> None:
        self._entry: ContextVar[_Entry | None] = ContextVar(name, default=None)

    def get(self) -> int | None:
        """The number of the innermost context that has not ended; None outside of all."""
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
            if self._entry.get() is entry:  # or it was left behind, and ends now that another has begun
                self._entry.set(entry.before)

    def _living(self) -> _Entry | None:
        entry = self._entry.get()
        while entry is not None and entry.keeper() is None:
            entry = entry.before
        return entry


_LIMIT = _Scoped("threads")  # so many may be used
_HELD = _Scoped("held")  # this thread holds BLAS to one thread
_INSIDE = _Scoped("inside")  # this thread works on a piece


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
    with _LIMIT.set_to(count):
        yield


def threads_for(x: Any) -> Any:
    """Context for work on rows `x`: those on a torch device are taken one chunk after the other, by one thread.

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
    """Handles of the BLAS libraries in this process; to look for them takes milliseconds, so it is done once."""
    return tuple(library for library in ThreadpoolController().lib_controllers if library.user_api == "blas")


class _Single:
    """Which threads hold BLAS to one thread of its own, and what to give it back when the last of them ends.

    The number is the whole process's: what each context found would be what another had set. Threads are entered by
    name, not counted: one whom Ctrl-C kept from leaving leaves with its next context. Nobody waits for another's work.
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
        """The lock, closed. It is closed for microseconds: one that stays so was left behind, and is replaced."""
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
        """The child has none of the threads but the one that forked, and nobody to open the lock."""
        self.lock = threading.Lock()
        self.holders &= {threading.get_ident()}


_SINGLE = _Single()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context in which BLAS and LAPACK use one thread: for work that is threaded above them, or too small to share.

    Two threads of OpenBLAS wait for each other by spinning: on small matrices, or when another process has one of the
    cores, that costs many times what they save.
    """
    if _HELD.get() or _INSIDE.get():  # it is so already, by this thread or by the one that shares out this piece
        yield
        return
    with _HELD.set_to(1):
        try:
            _SINGLE.begin()
            yield
        finally:
            _SINGLE.end()


def blas_threads_for(size: int) -> Any:
    """Context for LAPACK on a matrix of `size` rows: one thread where more would only wait for each other."""
    return one_blas_thread() if size < 1000 else nullcontext()


def run_in_threads(work: Callable[[Piece], None], rounds: Iterable[list[Piece]]) -> None:
    """Do `work` on every piece; the pieces of one round run side by side, rounds one after another.

    Pieces of a round must touch different memory: then the result does not depend on the number of threads. Work that
    is already inside a round is not shared again.
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
    """The caller and a few threads that are kept take pieces until there is none left."""
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
    """Threads are started once: to start one takes as long as a small piece of work."""
    return ThreadPoolExecutor(threads, thread_name_prefix="gramless")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # the child has none of the threads
    os.register_at_fork(after_in_child=_SINGLE.after_fork)
