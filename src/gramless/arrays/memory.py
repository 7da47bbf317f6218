"""Memory limits: sizes as strings, and the memory that is free."""

from __future__ import annotations

import math
import os
import re
import sys
import time
from contextlib import suppress
from functools import lru_cache

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_RECENT = 0.1  # seconds for which the free memory is taken as known


def parse_memory(limit: int | float | str | None) -> int:
    """Bytes meant by `limit`: a number, a string such as ``"2GB"`` or ``"512MiB"``, or None for half the free memory.

    Examples
    --------
    >>> parse_memory("2GB"), parse_memory("1 KiB"), parse_memory(5e6)
    (2000000000, 1024, 5000000)
    """
    if limit is None:
        return free_memory() // 2
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*(?:e\d+)?|\.\d+)\s*([KMGT]?)(i?)B?\s*", limit, flags=re.IGNORECASE)
        if match is None:
            raise ValueError(f"memory_limit={limit!r} is invalid; pass a number of bytes, '500MB' or '2GiB'")
        number, unit, binary = match.groups()
        power = "KMGT".find(unit.upper()) + 1 if unit else 0
        limit = float(number) * (1024**power if binary else _UNITS[unit.upper()])
    if not 0 < limit < float("inf"):
        raise ValueError(f"memory_limit={limit!r} must be a positive number of bytes, or a string such as '2GB'")
    return int(limit)


def readable_bytes(count: float) -> str:
    """Bytes in a readable unit.

    Examples
    --------
    >>> readable_bytes(9.341e6), readable_bytes(17)
    ('9.34 MB', '17 B')
    """
    number, unit = _in_unit(count)
    return f"{number:.3g} {unit}"


def enough_bytes(count: float) -> str:
    """Bytes rounded up, as a string that :func:`parse_memory` reads.

    Examples
    --------
    >>> enough_bytes(9.341e6), enough_bytes(1001)
    ('9.4MB', '1.1kB')
    """
    number, unit = _in_unit(count)
    return f"{math.ceil(10 * number) / 10:g}{unit}"


def _in_unit(count: float) -> tuple[float, str]:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return count, unit
        count /= 1000
    return count, "TB"


def free_memory() -> int:
    """Bytes this process can still allocate without swapping, within its own limits and those of its container."""
    return max(1, min(_free_outside(int(time.monotonic() / _RECENT)), _free_of_process()))


@lru_cache(maxsize=1)
def _free_outside(moment: int) -> int:
    """Of the machine and the container, asked for once in each moment: a small fit takes as long as reading files."""
    return min(_free_of_machine(), _free_of_container())


def resident_bytes() -> int | None:
    """Memory that this process holds now; None where the system does not say."""
    held = _number_after("/proc/self/status", "VmRSS:")
    return None if held is None else 1024 * held


def peak_bytes() -> int | None:
    """Largest memory of this process since it began, or since `restart_peak`; None where the system does not count."""
    peak = _number_after("/proc/self/status", "VmHWM:")
    return None if peak is None else 1024 * peak


def restart_peak() -> None:
    """Let `peak_bytes` start again, where the system can."""
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def _free_of_machine() -> int:
    available = _number_after("/proc/meminfo", "MemAvailable:")
    if available is not None:
        return available * 1024
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return 4 * 10**9


def _free_of_process() -> int:
    """Bytes that `ulimit -v` leaves to this process."""
    try:
        import resource
    except ImportError:  # not on this platform
        return sys.maxsize
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    return limit - 1024 * (_number_after("/proc/self/status", "VmSize:") or 0)


def _free_of_container() -> int:
    """Bytes that the control group (cgroup v2 or v1) leaves; the inactive file cache counts as free."""
    group = "/sys/fs/cgroup"
    for limit, used, cache in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        most, now = _number_after(f"{group}/{limit}"), _number_after(f"{group}/{used}")
        if most is not None and now is not None:
            folder = os.path.dirname(f"{group}/{used}")
            return most - now + (_number_after(f"{folder}/memory.stat", cache) or 0)
    return sys.maxsize


def _number_after(path: str, word: str = "") -> int | None:
    """The number that follows `word` at the beginning of a line of a file; None where there is none."""
    try:
        with open(path, encoding="ascii") as lines:
            for line in lines:
                if line.startswith(word):
                    return int(line[len(word) :].split()[0])
    except (OSError, ValueError):
        pass
    return None
