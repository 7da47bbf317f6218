import os
import threading

import pytest

from gramless.arrays import run_in_threads, use_threads


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
