"""The box that ``domain=`` declares for all rows, including rows of later batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.features import Box


def read_domain(domain: Any, d: int) -> Box:
    """A box from ``domain=(low, high)``; a scalar applies to all columns."""
    try:
        low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), (d,)).copy() for side in domain)
    except (TypeError, ValueError):
        raise ValueError(f"domain={domain!r} must be a pair (low, high) of numbers or of {d} numbers each") from None
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ValueError(f"domain={domain!r} must be finite, with low <= high in every column")
    return Box(low, high)


def refuse_outside(domain: Box, box: Box, back: Callable[[Array], Array] = np.asarray) -> None:
    """Raise unless `box` lies inside `domain`; `back` converts the bounds to the units of the message."""
    for column in range(len(domain.low)):
        if box.low[column] < domain.low[column] or box.high[column] > domain.high[column]:
            low, high = back(box.low)[column], back(box.high)[column]
            raise ValueError(
                f"column {column} has values from {low:g} to {high:g}, outside domain="
                f"({back(domain.low)[column]:g}, {back(domain.high)[column]:g}); widen domain"
            )
