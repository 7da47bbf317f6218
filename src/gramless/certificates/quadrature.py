"""The error of a trapezoidal sum over a grid of frequencies that approximates a kernel.

Poisson's formula gives its two parts. With periods P_a = 1 / h_a and all frequencies of the infinite grid,

    sum_j w_j exp(2 pi i sum_a h_a j_a r_a) = sum_n k(r + n P),    w_j = h_1 ... h_d khat(h j).

The images n != 0 are the aliasing error, with entries >= 0. The frequencies left out are the truncation error, a
positive semidefinite matrix with a constant diagonal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramless.arrays import Array

_SHELLS = 3


def aliasing_bound(value: Callable[[Array], Array], periods: Array, nearest: Array) -> float:
    """Bound on sum_{n != 0} k(r + n P) where every image is at least `nearest` away, axis by axis.

    Parameters
    ----------
    value : callable
        The kernel as a function of the distance, decreasing at least exponentially from `nearest` on.
    periods, nearest : ndarray of shape (d,)
        0 < nearest_a <= P_a: the displacement satisfies |r_a| <= P_a - nearest_a.

    Examples
    --------
    >>> gauss = lambda r: np.exp(-(r**2) / 2)
    >>> aliasing_bound(gauss, np.array([10.0]), np.array([10.0])) >= 2 * float(np.exp(-50.0))
    True
    """
    axes, shells = [], []
    for period, near in zip(periods, nearest, strict=True):
        n = np.arange(1, _SHELLS + 1)
        axes.append(np.concatenate([[0.0], (n - 1) * period + near, n * period]))
        shells.append(np.concatenate([[0], n, n]))
    squared = np.asarray(sum(np.ix_(*(axis**2 for axis in axes))))
    shell = np.max(np.broadcast_arrays(*np.ix_(*shells)), axis=0).ravel()
    values = value(np.sqrt(squared.ravel()))
    # from shell to shell the values fall by k(P) / k(0), far below 1/4, or more: the last, twice, bounds all beyond it
    return float(values[shell > 0].sum() + values[shell == _SHELLS].sum())


def truncation(total: float, aliases: float, kept: float, error: float) -> float:
    """Bound on the weight of the omitted frequencies: by Poisson at r = 0, all weights add up to k(0) + its images.

    Parameters
    ----------
    total, aliases : float
        k(0), and a bound on its images.
    kept : float
        Sum of the weights of the retained frequencies.
    error : float
        Bound on the error of `kept`, relative to k(0).
    """
    return max(0.0, total + aliases - kept) + error * total


def root_mean_square_bound(samples: Array, failure_probability: float) -> float:
    """Bound on the root of the mean of a variable in [0, 1], from independent samples of it.

    Maurer & Pontil, Empirical Bernstein bounds, theorem 4. For a positive semidefinite E with diagonal d, and pairs
    i, j drawn with probability proportional to d_i d_j, samples of E_ij^2 / (d_i d_j) bound |E|_F by the trace of E
    times this bound.

    Examples
    --------
    >>> root_mean_square_bound(np.zeros(10**6), 1e-10) < 0.01
    True
    """
    n = len(samples)
    log = np.log(2 / failure_probability)
    spread = np.sqrt(2 * samples.var(ddof=1) * log / n)
    return float(np.sqrt(min(1.0, samples.mean() + spread + 7 * log / (3 * (n - 1)))))
