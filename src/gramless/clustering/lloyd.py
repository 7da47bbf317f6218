"""Lloyd's iteration on points in feature space: assign points, move centers, until the centers stand still."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.clustering.cloud import CenterModel, Centers, Cloud, cluster_weights, indicator, inverse
from gramless.clustering.seeding import draw

_ROUGH = 1e-5  # tolerance of the iteration on a sample, which only gives a start
_STILL = 1e-14  # squared movements below this fraction of the variance are rounding


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition, its centers, and how the iteration ended.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The nearest center of each point.
    distances2 : ndarray of shape (n,)
        Squared distance of each point from its nearest center.
    inertia : float
        Weighted sum of these squared distances.
    model : CenterModel
    n_iter : int
    converged : bool
    """

    labels: Array
    distances2: Array
    inertia: float
    model: CenterModel
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Settings:
    """Parameters of the search for a partition.

    Attributes
    ----------
    k : int
        Number of clusters.
    start : {"k-means++", "random"} or ndarray of shape (n,)
        How seeds are drawn; or labels to begin with.
    n_init : int
        Number of starts; the partition of the lowest inertia is kept.
    max_iter : int
    tol : float
        The iteration ends when the squared movements of the centers sum to less than `tol` times the variance.
    """

    k: int
    start: Any
    n_init: int
    max_iter: int
    tol: float


def find_clusters(cloud: Cloud, settings: Settings, rng: np.random.Generator) -> Clustering:
    """The best of `n_init` runs of Lloyd's iteration."""
    variance = cloud.variance()
    best: Clustering | None = None
    for _ in range(settings.n_init):
        found = lloyd(cloud, _begin(cloud, settings, rng), settings, variance)
        if best is None or found.inertia < best.inertia:
            best = found
    assert best is not None  # n_init >= 1
    return best


def lloyd(cloud: Cloud, labels: Array, settings: Settings, variance: float) -> Clustering:
    """Iterate from a partition (Vasconcelos, 'classification' and 're-estimation', in feature space)."""
    k, weights = settings.k, cloud.weights
    still = max(settings.tol, _STILL) * variance
    centers = cloud.centers(fill_empty(labels, np.ones(len(labels)), weights, k), k)
    nearest, converged, n_iter = centers.labels, False, 0
    while n_iter < settings.max_iter and not converged:
        n_iter += 1
        nearest = _occupied(centers, weights, k)
        converged = bool((nearest == centers.labels).all()) or centers.move(nearest) <= still
    nearest = centers.assign()
    distances2 = centers.distances2(nearest)
    return Clustering(nearest, distances2, float(weights @ distances2), cloud.model(centers), n_iter, converged)


def _occupied(centers: Centers, weights: Array, k: int) -> Array:
    """The nearest center of each point, except that a cluster which would be empty gets a point."""
    nearest = centers.assign()
    if (cluster_weights(nearest, weights, k) > 0).all():
        return nearest
    return fill_empty(nearest, centers.distances2(nearest), weights, k)


def fill_empty(labels: Array, distances2: Array, weights: Array, k: int) -> Array:
    """Labels in which no cluster is empty: each empty cluster gets the point of largest weighted squared distance.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    distances2 : ndarray of shape (n,)
        Squared distances of the points from their centers.
    weights : ndarray of shape (n,)
    k : int

    Examples
    --------
    >>> fill_empty(np.array([0, 0, 0]), np.array([1.0, 9.0, 2.0]), np.ones(3), 2)
    array([0, 1, 0])
    """
    members = np.bincount(labels[weights > 0], minlength=k)
    empty = np.flatnonzero(members == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    dearest = iter(np.argsort(-weights * distances2, kind="stable"))
    for cluster in empty:
        for point in dearest:
            if weights[point] > 0 and members[labels[point]] > 1:
                members[labels[point]] -= 1
                members[cluster] += 1
                labels[point] = cluster
                break
    return labels


def _begin(cloud: Cloud, settings: Settings, rng: np.random.Generator) -> Array:
    """Labels to start from: given, from seeds, or, where there are many points, from an iteration on a sample."""
    k = settings.k
    if not isinstance(settings.start, str):
        return np.asarray(settings.start)
    spread = settings.start == "k-means++"
    if len(cloud.weights) <= 2 * cloud.sample or k > cloud.sample // 10:
        return cloud.nearest(draw(cloud, k, rng, spread=spread), np.eye(k))
    share = cloud.weights / cloud.weights.sum()
    heavy = int((share > 0).sum())
    rows = np.sort(rng.choice(len(share), min(cloud.sample, heavy), replace=False, p=share))
    few = cloud.subset(rows)
    labels = few.nearest(draw(few, k, rng, spread=spread), np.eye(k))
    found = lloyd(few, labels, replace(settings, tol=max(settings.tol, _ROUGH)), few.variance()).labels
    membership = indicator(found, few.weights, k)
    return cloud.nearest(rows, membership * inverse(membership.sum(axis=0)))
