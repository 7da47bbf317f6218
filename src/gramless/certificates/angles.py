"""How far a computed component may be from the true one."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array


def angle_bounds(values: Array, residuals: Array, lower: Array, upper: Array, next_upper: float) -> Array:
    """Largest angle between each computed eigenvector and the true one, in radians; pi/2 where no bound is proved.

    The smaller of two bounds is returned. The first is Davis & Kahan's: sin <= residual / gap, the gap taken from the
    intervals. The second uses the intervals alone: the leading j vectors capture sum(values), the true ones sum(l), so
    the squared sine of their subspace is at most sum(upper - value) / (lower_j - upper_{j+1}). Vector j lies inside
    subspace j and outside subspace j - 1, so its squared sine is at most the sum of both.

    Parameters
    ----------
    values, residuals, lower, upper : ndarray of shape (k,)
        Residuals must include the rounding of the products.
    next_upper : float
        Upper bound on eigenvalue k + 1.
    """
    k = len(values)
    if k == 0:
        return np.zeros(0)
    above = np.concatenate([[np.inf], lower[:-1]])
    below = np.concatenate([upper[1:], [next_upper]])
    gap = np.minimum(above - values, values - below)
    sine2 = np.ones(k)
    open_gap = gap > 0
    sine2[open_gap] = np.minimum(1.0, residuals[open_gap] / gap[open_gap]) ** 2
    split = lower - below
    subspace = np.full(k, np.inf)
    excess = np.cumsum(np.maximum(upper - lower, 0.0))
    subspace[split > 0] = excess[split > 0] / split[split > 0]
    by_energy = subspace + np.concatenate([[0.0], subspace[:-1]])
    bound: Array = np.arcsin(np.sqrt(np.minimum(1.0, np.minimum(sine2, by_energy))))
    return bound
