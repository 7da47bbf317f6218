"""A few of each fault in the suite; `make torture` injects them by the hundred."""

import os
from pathlib import Path

import pytest
from torture import crowding, histories, killing, starving


@pytest.mark.parametrize("name", crowding.MODELS)
def test_threads_see_one_model(name):
    found = crowding.crowd(name, seed=0, turns=3)
    assert found["failures"] == []
    assert found["projections"] == 3 * crowding.THREADS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_killed_stream_goes_on_with_the_same_bits():
    found = killing.run(kills=6, seed=0)
    assert found["failures"] == []
    assert found["kills"] == 6


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not count a process's memory")
def test_memory_that_a_limit_forbids_is_not_asked_for():
    assert starving.run(seed=0)["failures"] == []


def test_a_few_histories():
    found = histories.run(300.0, seed=5, most=180)  # the 172nd was too large to square
    assert found["failures"] == []
    assert found["histories"] == 180
