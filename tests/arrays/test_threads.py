import contextlib
import gc
import os
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import gramless.arrays.threads
from gramless.arrays import blas_threads_for, one_blas_thread, run_in_threads, thread_count, use_threads


def squares_of(numbers, threads):
    found = {}

    def work(number):
        found[number] = number**2

    with use_threads(threads):
        run_in_threads(work, [numbers[:3], numbers[3:]])
    return found


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_piece_is_worked_on_once(threads):
    assert squares_of(list(range(40)), threads) == {number: number**2 for number in range(40)}


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_piece_reaches_the_caller_and_leaves_the_threads_usable(threads):
    def work(number):
        if number == 7:
            raise ValueError("seven")

    with use_threads(threads), pytest.raises(ValueError, match="seven"):
        run_in_threads(work, [list(range(20))])
    assert len(squares_of(list(range(9)), threads)) == 9


def test_rounds_follow_one_another():
    done = []

    def work(piece):
        done.append(piece[0])

    with use_threads(3):
        run_in_threads(work, [[(turn, i) for i in range(10)] for turn in range(5)])
    assert done == sorted(done)


def test_work_inside_work_ends():
    found = []

    def outer(i):
        run_in_threads(lambda j: found.append((i, j)), [list(range(6))])

    with use_threads(2):
        run_in_threads(outer, [list(range(6))])
    assert sorted(found) == [(i, j) for i in range(6) for j in range(6)]


def test_callers_in_several_threads_share_the_pool():
    results = [None] * 6

    def call(i):
        results[i] = squares_of(list(range(50)), 2)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert all(result == results[0] and len(result) == 50 for result in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_threads_of_its_own():
    assert len(squares_of(list(range(9)), 2)) == 9  # threads are running now
    child = os.fork()
    if child == 0:
        os._exit(0 if len(squares_of(list(range(9)), 2)) == 9 else 1)
    assert os.waitpid(child, 0)[1] == 0


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


class InterruptedAt:
    """Raises KeyboardInterrupt at the given line event inside the module of the threads, as Ctrl-C may."""

    def __init__(self, line):
        self.left = line

    def __enter__(self):
        sys.settrace(self.enter)
        return self

    def __exit__(self, *error):
        sys.settrace(None)

    def enter(self, frame, event, argument):
        return self.line if frame.f_code.co_filename == gramless.arrays.threads.__file__ else None

    def line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.line


def some_work():
    with use_threads(2):
        run_in_threads(lambda piece: np.ones((4, 4)) @ np.ones((4, 4)), [[0, 1, 2]])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line_leaves_blas_as_it_was():
    """One that struck between two lines left BLAS held, and whoever needed all of its threads waited for ever."""
    before = sys.gettrace()
    struck, cores = 0, thread_count()
    try:
        with threadpool_limits(2, user_api="blas"):
            for line in range(1, 500):
                try:
                    with InterruptedAt(line) as interrupt:
                        some_work()
                except KeyboardInterrupt:
                    struck += 1
                assert thread_count() == cores, f"after an interrupt at line event {line}"
                some_work()  # whoever was kept from leaving leaves now
                assert set(blas_threads()) == {2}, f"after an interrupt at line event {line}"
                with one_blas_thread():
                    assert set(blas_threads()) == {1}, f"after an interrupt at line event {line}"
                with blas_threads_for(5000):
                    assert set(blas_threads()) == {2}, f"after an interrupt at line event {line}"
                if interrupt.left > 0:
                    break
    finally:
        sys.settrace(before)
    assert interrupt.left > 0, "not all lines were tried"
    assert struck > 20


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line_leaves_the_limit_of_the_context_around():
    before = sys.gettrace()
    try:
        with use_threads(3):
            for line in range(1, 500):
                with contextlib.suppress(KeyboardInterrupt), InterruptedAt(line) as interrupt, use_threads(2):
                    assert thread_count() == 2
                assert thread_count() == 3, f"after an interrupt at line event {line}"
                if interrupt.left > 0:
                    break
    finally:
        sys.settrace(before)
    assert interrupt.left > 0, "not all lines were tried"
    assert line > 5


def test_a_context_that_was_left_behind_does_not_end_another():
    cores = thread_count()
    left_behind = use_threads(2)
    left_behind.__enter__()
    with use_threads(3):
        del left_behind  # as the traceback of an interrupt does when the next one takes its place
        gc.collect()
        assert thread_count() == 3
    assert thread_count() == cores


def test_nobody_waits_for_another_who_holds_blas():
    holding, done = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread():
            holding.set()
            done.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    assert holding.wait(60)
    with blas_threads_for(5000), one_blas_thread():
        done.set()
    other.join(60)
    assert not other.is_alive()
