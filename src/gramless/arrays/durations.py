"""Time limits: durations as strings."""

from __future__ import annotations

import re

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_seconds(limit: float | str | None) -> float | None:
    """Seconds meant by `limit`: a number, or a string such as ``"90s"``, ``"5min"`` or ``"1h"``; None for no limit.

    Examples
    --------
    >>> parse_seconds("5min"), parse_seconds("1.5 h"), parse_seconds(30)
    (300.0, 5400.0, 30.0)
    """
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", limit, flags=re.IGNORECASE)
        if match is None or match[2].lower() not in _UNITS:
            raise ValueError(f"time_limit={limit!r} is invalid; pass a number of seconds, '90s' or '5min'")
        limit = float(match[1]) * _UNITS[match[2].lower()]
    if not 0 < limit < float("inf"):
        raise ValueError(f"time_limit={limit!r} must be a positive number of seconds, or a string such as '5min'")
    return float(limit)


def readable_seconds(seconds: float) -> str:
    """A duration in a readable unit.

    Examples
    --------
    >>> readable_seconds(0.25), readable_seconds(90), readable_seconds(4000), readable_seconds(9e4)
    ('0.25 s', '90 s', '67 min', '25 h')
    """
    if seconds < 120:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"
