"""Where the rows lie, and how large the leading eigenvalue will be: what the explicit route plans with."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.features import Box
from gramless.kernels import Kernel, Precomputed

_SAMPLE = 512


def read_domain(domain: Any, d: int) -> Box:
    """A box from ``domain=(low, high)``; numbers stand for all columns."""
    try:
        low, high = (np.broadcast_to(np.asarray(side, dtype=np.float64), (d,)).copy() for side in domain)
    except (TypeError, ValueError):
        raise ValueError(f"domain={domain!r} must be a pair (low, high) of numbers or of {d} numbers each") from None
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ValueError(f"domain={domain!r} must be finite, with low <= high in every column")
    return Box(low, high)


def refuse_outside(domain: Box, box: Box) -> None:
    """Raise unless `box` lies inside `domain`."""
    for column in range(len(domain.low)):
        if box.low[column] < domain.low[column] or box.high[column] > domain.high[column]:
            raise ValueError(
                f"column {column} has values from {box.low[column]:g} to {box.high[column]:g}, outside domain="
                f"({domain.low[column]:g}, {domain.high[column]:g}); widen domain"
            )


def spread(low: Any, high: Any) -> Array:
    """Rows that fill a box, always the same: what a stream is planned with, so that streams of one domain merge."""
    rows: Array = low + (high - low) * np.random.default_rng(0).random((_SAMPLE, len(low)))
    return rows


def estimate_peak(kernel: Kernel, x: Any) -> float:
    """The largest eigenvalue of the centred Gram matrix divided by the weight, cautiously, from up to 512 rows."""
    if isinstance(kernel, Precomputed):
        return 1.0
    rows = np.unique(np.linspace(0, x.shape[0] - 1, min(x.shape[0], _SAMPLE)).astype(int))
    with np.errstate(all="ignore"):
        gram = kernel(x[rows])
    if not np.isfinite(gram).all():
        return 1.0
    alone = float(gram.diagonal().mean())
    gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    vector = np.random.default_rng(0).standard_normal(len(rows))
    for _ in range(8):
        vector = gram @ vector
        vector /= max(np.linalg.norm(vector), np.finfo(float).tiny)
    # each point adds its own k(x, x) to the sample's eigenvalue, which says nothing of more points
    shared = (float(vector @ gram @ vector) - alone) / len(rows)
    return float(0.5 * max(shared, alone / max(x.shape[0], len(rows))))
