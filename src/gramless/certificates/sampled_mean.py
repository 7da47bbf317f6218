"""Bounds on the mean of a bounded quantity from samples of it."""

from __future__ import annotations

import math

import numpy as np

from gramless.arrays import Array


def bernstein_upper(samples: Array, failure_probability: float) -> float:
    """Upper bound on the mean of variables in [0, 1] from independent samples (Maurer & Pontil 2009, theorem 4).

    Examples
    --------
    >>> round(bernstein_upper(np.zeros(10_001), 1e-10), 5)
    0.00553
    """
    n, log = len(samples), float(np.log(2 / failure_probability))
    bound = samples.mean() + np.sqrt(2 * samples.var(ddof=1) * log / n) + 7 * log / (3 * (n - 1))
    return float(min(1.0, bound))


def hoeffding_upper(samples: Array, failure_probability: float) -> float:
    """Upper bound on the same mean by relative entropy (Hoeffding 1963, theorem 1): half as large for samples near 0.

    Examples
    --------
    >>> round(hoeffding_upper(np.zeros(10_001), 1e-10), 5)
    0.0023
    """
    return entropy_upper(float(samples.mean()), math.log(1 / failure_probability) / len(samples))


def entropy_upper(mean: float, allowed: float) -> float:
    """The largest q in [mean, 1] with mean ln(mean / q) + (1 - mean) ln((1 - mean) / (1 - q)) <= `allowed`.

    If `mean` is that of n samples in [0, 1], their expectation is at most q except with probability exp(-n allowed).

    Examples
    --------
    >>> round(entropy_upper(0.0, 0.1), 5), round(entropy_upper(0.2, 0.0), 5)
    (0.09516, 0.2)
    """
    if mean >= 1:
        return 1.0

    def apart(q: float) -> float:
        below = mean * math.log(mean / q) if mean > 0 else 0.0
        return below + (1 - mean) * math.log((1 - mean) / (1 - q))

    low, high = mean, 1.0
    for _ in range(60):  # low satisfies the inequality, high does not
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if apart(middle) <= allowed else (low, middle)
    return high
