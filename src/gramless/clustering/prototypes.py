"""Prototypes of clusters: the row nearest to a center, or a point whose image is nearer still."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array
from gramless.clustering.preimages import approximate_preimage
from gramless.kernels import Kernel


def nearest_members(labels: Array, distances2: Array, weights: Array, k: int) -> Array:
    """The row (k,) of each cluster that is nearest to its center; -1 for a cluster without a row of positive weight.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    distances2 : ndarray of shape (n,)
        Squared distances of the rows from their centers.
    weights : ndarray of shape (n,)
    k : int

    Examples
    --------
    >>> nearest_members(np.array([0, 2, 0]), np.array([3.0, 1.0, 2.0]), np.ones(3), 3)
    array([ 2, -1,  1])
    """
    cost = np.where(weights > 0, distances2, np.inf)
    order = np.lexsort((cost, labels))
    first = np.searchsorted(labels[order], np.arange(k))
    nearest = order[np.minimum(first, len(order) - 1)]
    there = (labels[nearest] == np.arange(k)) & np.isfinite(cost[nearest])
    return np.where(there, nearest, -1)


def center_preimage(kernel: Kernel, members: Array, weights: Array, nearest: Array) -> Array:
    """The point (d,) whose image is nearest to the mean of a cluster, by descent from two starts.

    Parameters
    ----------
    kernel : Kernel
    members : ndarray of shape (m, d)
        Rows of the cluster.
    weights : ndarray of shape (m,)
        Weights of these rows, positive.
    nearest : ndarray of shape (1, d)
        The first start: the member nearest to the center. The second is the mean of all members.
    """
    shares = weights / weights.sum()
    return approximate_preimage(kernel, members, shares, np.vstack([nearest, shares @ members]))[0]
