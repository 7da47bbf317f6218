"""Covariances of many coordinates from few rows, shrunk towards a multiple of the identity."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array


def ledoit_wolf(covariance: Array, fourth: float, weight: float) -> float:
    r"""The shrinkage that brings a covariance nearest to the true one (Ledoit & Wolf 2004, theorem 3.1).

    With S the covariance of r coordinates and m = tr S / r: d^2 = \|S - m I\|^2,
    b^2 = min(d^2, (1/W^2) sum_i w_i \|z_i z_i^T - S\|^2), and the shrinkage is b^2 / d^2.

    Parameters
    ----------
    covariance : ndarray of shape (r, r)
    fourth : float
        sum_i w_i \|z_i\|^4.
    weight : float
        W = sum_i w_i.

    Examples
    --------
    >>> z = np.random.default_rng(0).standard_normal((50, 3))
    >>> norms = (z**2).sum(axis=1)
    >>> 0 < ledoit_wolf(z.T @ z / 50, (norms**2).sum(), 50) <= 1
    True
    """
    size = float(np.einsum("ij,ij->", covariance, covariance))
    r = len(covariance)
    apart = size - float(np.trace(covariance)) ** 2 / r
    blur = (fourth / weight - size) / weight
    if apart <= 0:
        return 1.0
    return float(min(max(blur, 0.0), apart) / apart)


def shrink(covariance: Array, amount: float) -> Array:
    """(1 - amount) covariance + amount (trace / r) I."""
    shrunk: Array = (1 - amount) * covariance
    shrunk[np.diag_indices_from(shrunk)] += amount * float(np.trace(covariance)) / len(covariance)
    return shrunk
