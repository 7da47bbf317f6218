"""Evenly spaced rows, as a sample of many."""

from __future__ import annotations

import numpy as np

from gramless.arrays.dtypes import Array


def evenly_spaced(n: int, most: int) -> Array:
    """Indices of at most `most` of `n` rows, ascending, spread evenly from the first to the last; not random.

    Examples
    --------
    >>> evenly_spaced(10, 4).tolist(), evenly_spaced(3, 4).tolist()
    ([0, 3, 6, 9], [0, 1, 2])
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
