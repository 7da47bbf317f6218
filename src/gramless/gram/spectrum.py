"""How large the leading eigenvalue of a Gram matrix will be, from a sample of the rows: what a plan depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, evenly_spaced
from gramless.kernels import Kernel, Precomputed

CAUTION = 0.7  #: factor of the estimate of the largest eigenvalue
SAMPLE = 512  #: rows of a sample that plans look at


def spread(low: Any, high: Any) -> Array:
    """Rows that fill a box, always the same: what a stream is planned with, so that streams of one domain merge."""
    rows: Array = low + (high - low) * np.random.default_rng(0).random((SAMPLE, len(low)))
    return rows


def some_rows(x: Any, most: int = SAMPLE) -> Any:
    """Up to so many rows, evenly spaced."""
    return x[evenly_spaced(x.shape[0], most)]


def estimate_spectrum(kernel: Kernel, x: Any, n: int | None = None) -> tuple[float, float]:
    """The largest eigenvalue of the centered Gram matrix, cautiously, and its trace, divided by the weight.

    From up to 1024 rows `x`, which are all, or a sample of `n`. The leading vector of one half of them is tried on the
    other half: on its own half it would seem larger than it is, the more so the narrower the kernel.
    """
    if isinstance(kernel, Precomputed):
        return 1.0, 1.0
    n = x.shape[0] if n is None else n
    rows = some_rows(x, 2 * SAMPLE)
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
    return float(CAUTION * scale * max(share, trace / n)), scale * trace


def _leading_vector(gram: Array) -> Array:
    """Of the centered matrix, by a few powers."""
    centred = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    vector = np.random.default_rng(0).standard_normal(len(gram))
    for _ in range(8):
        vector = centred @ vector
        vector /= max(float(np.linalg.norm(vector)), float(np.finfo(float).tiny))
    return vector
