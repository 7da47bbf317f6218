"""Fits by the thousand in one process, as in a service or a search: neither memory nor threads grow."""

import threading

import numpy as np
import pytest

from gramless import KernelPCA


def resident_bytes():
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return 4096 * int(file.read().split()[1])
    except OSError:
        pytest.skip("memory is read from /proc")


@pytest.mark.parametrize("fits", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_memory_and_threads_do_not_grow(fits):
    rng = np.random.default_rng(0)

    def fit(count):
        for number in range(count):
            kernel = ("rbf", "poly", "linear", "cosine")[number % 4]
            KernelPCA(3, kernel=kernel).fit(rng.standard_normal((100, 4)))

    fit(200)
    before, threads = resident_bytes(), threading.active_count()
    fit(fits)
    assert threading.active_count() <= threads
    assert resident_bytes() - before < 8e6
