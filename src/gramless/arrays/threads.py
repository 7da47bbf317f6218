"""Threads over pieces of work, with BLAS held to one thread inside each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Piece = TypeVar("Piece")


def thread_count(n_jobs: int | None = None) -> int:
    """Threads to use: all cores this process may use for None, scikit-learn's rule for negative numbers."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; pass a positive number, or -1 for all cores")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries: once is enough


def one_blas_thread() -> Any:
    """Context in which BLAS and LAPACK use one thread: for work that is threaded above them, or too small to share."""
    return _controller().limit(limits=1, user_api="blas")


def run_in_threads(work: Callable[[Piece], None], rounds: Iterable[list[Piece]], threads: int) -> None:
    """Do `work` on every piece; the pieces of one round run side by side, rounds one after another.

    Each thread takes a fixed share of a round, and pieces of a round must touch
    different memory: so the result does not depend on the number of threads.
    """
    with one_blas_thread():
        if threads == 1:
            for pieces in rounds:
                for piece in pieces:
                    work(piece)
            return
        with ThreadPoolExecutor(threads) as pool:
            for pieces in rounds:
                for _ in pool.map(work, pieces):
                    pass
