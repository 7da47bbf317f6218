"""A bound on the norm of a positive semidefinite residual from a sample of its entries, often far below its trace."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramless.arrays import Array
from gramless.certificates.interval import FAILURE_PROBABILITY
from gramless.certificates.sampled_mean import bernstein_upper


def pair_bound(
    diagonal: Array,
    entries: Callable[[Array, Array], Array],
    pairs: int,
    rng: np.random.Generator,
    failure_probability: float = FAILURE_PROBABILITY,
) -> float:
    r"""Bound on the spectral norm of a positive semidefinite E, wrong with at most `failure_probability`.

    Pairs i, j are drawn with probability proportional to the diagonal d. Then Y = E_ij^2 / (d_i d_j) lies in [0, 1]
    and has the mean \|E\|_F^2 / tau^2, tau = sum d; Maurer & Pontil's empirical Bernstein inequality bounds that mean,
    and \|E\| <= \|E\|_F.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Upper bounds d_i >= E_ii, so that the rounding error of the diagonal may be included.
    entries : callable
        ``entries(i, j)`` returns bounds (m,) on \|E_ij\| for index arrays `i`, `j` (m,).
    pairs : int
        At least 2.
    rng : numpy.random.Generator
        Independent of everything E depends on.
    failure_probability : float

    Returns
    -------
    float
        At most tau.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> spread_out = np.full(2000, 1.0)  # the identity: its norm is 1, its trace 2000
    >>> round(pair_bound(spread_out, lambda i, j: (i == j) * 1.0, 10_000, rng))
    180
    """
    if pairs < 2:
        raise ValueError(f"pairs={pairs!r} must be at least 2")
    total = float(diagonal.sum())
    if not total > 0:
        return 0.0
    steps = np.cumsum(diagonal)
    drawn = np.searchsorted(steps, rng.random((2, pairs)) * steps[-1], side="right")
    drawn = np.minimum(drawn, len(diagonal) - 1)
    i, j = np.sort(drawn, axis=0)  # E is symmetric: with i <= j, the callable needs one triangle only
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = entries(i, j) ** 2 / (diagonal[i] * diagonal[j])
    ratios = np.where(ratios <= 1, ratios, 1.0)  # E_ij^2 <= E_ii E_jj: a larger ratio is due to rounding
    return total * (1 + 1e-9) * float(np.sqrt(bernstein_upper(ratios, failure_probability)))
