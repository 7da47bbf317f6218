"""k-means++ in feature space: seeds drawn far from those before."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array
from gramless.clustering.cloud import Cloud


def draw(cloud: Cloud, k: int, rng: np.random.Generator, *, spread: bool = True) -> Array:
    """Indices (k,) of points to start from (Arthur & Vassilvitskii 2007), by distances in feature space.

    The first seed is drawn by weight, each further seed with a probability proportional to its weight times its squared
    distance from the seeds before; of 2 + log k candidates, the one that lowers the inertia most is taken. Points are
    drawn along an order that depends on their values alone, so that neither the order of the rows nor a weight given as
    repeated rows changes the result.

    Parameters
    ----------
    cloud : Cloud
    k : int
    rng : numpy.random.Generator
    spread : bool
        False: all seeds are drawn by weight alone, but none is a copy of another.

    Examples
    --------
    >>> from gramless.clustering import GramCloud
    >>> from gramless.kernels import Linear
    >>> cloud = GramCloud(Linear(), np.array([[0.0], [0.1], [9.0]]), np.ones(3))
    >>> seeds = draw(cloud, 2, np.random.default_rng(0))
    >>> 2 in seeds
    True
    """
    order, weights, norms2 = cloud.order(rng), cloud.weights, cloud.norms2()
    trials = 2 + int(np.log(k)) if spread else 1
    seeds = [_positions(weights, order, rng.random(1))[0]]
    nearest = _distances2(cloud, norms2, np.array(seeds))[:, 0]
    for _ in range(1, k):
        potential = weights * (nearest if spread else nearest > 0)
        if not potential.sum() > 0:  # all points coincide with seeds: take any others
            return _completed(np.array(seeds), weights, order, k)
        candidates = np.unique(_positions(potential, order, rng.random(trials)))
        reached = np.minimum(_distances2(cloud, norms2, candidates), nearest[:, None])
        best = int(np.argmin(weights @ reached))
        seeds.append(int(candidates[best]))
        nearest = reached[:, best]
    return np.array(seeds)


def _distances2(cloud: Cloud, norms2: Array, indices: Array) -> Array:
    """Squared distances (n, t) from the points `indices` (t,); exactly 0 from a point to itself."""
    distances: Array = norms2[:, None] + norms2[indices] - 2 * cloud.columns(indices)
    np.maximum(distances, 0.0, out=distances)
    # a distance of a few units of roundoff means a copy, which must not be drawn as another seed
    distances[distances < 1e-13 * (norms2[:, None] + norms2[indices])] = 0.0
    distances[indices, np.arange(len(indices))] = 0.0
    return distances


def _positions(mass: Array, order: Array, uniform: Array) -> Array:
    """Points at given fractions of the cumulative mass."""
    total = np.cumsum(mass[order])
    found = np.searchsorted(total, uniform * total[-1], side="right")
    return np.asarray(order[np.minimum(found, np.flatnonzero(mass[order])[-1])])


def _completed(seeds: Array, weights: Array, order: Array, k: int) -> Array:
    """The seeds and, up to k, the first other points of positive weight."""
    rest = [i for i in order[weights[order] > 0] if i not in set(seeds.tolist())]
    return np.concatenate([seeds, rest[: k - len(seeds)]]).astype(np.intp)
