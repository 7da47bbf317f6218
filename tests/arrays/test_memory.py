"""How much memory a fit may take when nobody says."""

import os
from pathlib import Path

import pytest

from gramless.arrays import memory


def test_free_memory_is_no_more_than_the_machine_has():
    assert 0 < memory.free_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert memory.parse_memory(None) == pytest.approx(memory.free_memory() / 2, rel=0.5)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not count a process's memory")
def test_a_limit_on_the_address_space_counts():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    held = int(next(line.split()[1] for line in lines if line.startswith("VmSize:"))) * 1024
    room = 300_000_000
    try:
        resource.setrlimit(resource.RLIMIT_AS, (held + room, before[1]))
        assert 0 < memory.free_memory() <= room + 50_000_000
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
