"""Where the rows lie, and how large the leading eigenvalue will be: what the explicit route plans with."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, evenly_spaced
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


def spread(low: Any, high: Any) -> Array:
    """Rows that fill a box, always the same: what a stream is planned with, so that streams of one domain merge."""
    rows: Array = low + (high - low) * np.random.default_rng(0).random((_SAMPLE, len(low)))
    return rows


def some_rows(x: Any, most: int = _SAMPLE) -> Any:
    """Up to so many rows, evenly spaced."""
    return x[evenly_spaced(x.shape[0], most)]


def estimate_spectrum(kernel: Kernel, x: Any, n: int | None = None) -> tuple[float, float]:
    """The largest eigenvalue of the centred Gram matrix, cautiously, and its trace, divided by the weight.

    From up to 1024 rows `x`, which are all, or a sample of `n`. The leading vector of one half of them is tried on the
    other half: on its own half it would seem larger than it is, the more so the narrower the kernel.
    """
    if isinstance(kernel, Precomputed):
        return 1.0, 1.0
    n = x.shape[0] if n is None else n
    rows = some_rows(x, 2 * _SAMPLE)
    with np.errstate(all="ignore"):
        gram = kernel(rows)
    scale = float(np.abs(gram).max(initial=0.0))
    if not np.isfinite(scale):
        return 1.0, 1.0
    if scale == 0:
        return 0.0, 0.0
    gram /= scale  # sums of squares must not overflow
    alone = float(gram.diagonal().mean())
    trace = max(alone - float(gram.mean()), 0.0)
    if len(gram) == n:  # these are all
        vector = _leading_vector(gram)
        vector -= vector.mean()
        share = float(vector @ gram @ vector) / float(vector @ vector) / len(gram) if vector.any() else 0.0
    else:
        tried = gram[1::2, ::2] @ _leading_vector(gram[::2, ::2])
        tried -= tried.mean()
        other = gram[1::2, 1::2] - np.diag(gram.diagonal()[1::2])
        square = float(tried @ tried)
        share = float(tried @ other @ tried) / square / (len(tried) - 1) if square > 0 else 0.0
    return float(0.7 * scale * max(share, trace / n)), scale * trace


def _leading_vector(gram: Array) -> Array:
    """Of the centred matrix, by a few powers."""
    centred = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    vector = np.random.default_rng(0).standard_normal(len(gram))
    for _ in range(8):
        vector = centred @ vector
        vector /= max(float(np.linalg.norm(vector)), float(np.finfo(float).tiny))
    return vector
