"""Memory limits: what a user may write, and what the machine has."""

from __future__ import annotations

import os
import re

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_memory(limit: int | float | str | None) -> int:
    """Bytes meant by `limit`: a number, a text such as ``"2GB"`` or ``"512MiB"``, or None for half of what is free.

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
            raise ValueError(f"memory_limit={limit!r} is not understood; write a number of bytes, '500MB' or '2GiB'")
        number, unit, binary = match.groups()
        power = "KMGT".find(unit.upper()) + 1 if unit else 0
        limit = float(number) * (1024**power if binary else _UNITS[unit.upper()])
    if not 0 < limit < float("inf"):
        raise ValueError(f"memory_limit={limit!r} must be a positive number of bytes, or a text such as '2GB'")
    return int(limit)


def free_memory() -> int:
    """Bytes this process could still take without swapping."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return 4 * 10**9
