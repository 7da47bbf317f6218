"""k-means++ in feature space: seeds drawn far from those before."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array
from gramless.clustering.cloud import Cloud


def draw(cloud: Cloud, k: int, rng: np.random.Generator, *, spread: bool = True) -> Array:
    """Indices (k,) of points to start from (Arthur & Vassilvitskii 2007), by distances in feature space.

    The first is drawn by weight, each further one with a probability proportional to its weight times its squared
    distance from those before; of 2 + log k candidates that which lowers the inertia most is taken. Positions are drawn
    along an order of the points that depends on their values alone: neither the order of the rows nor the writing of a
    weight as repeated rows changes the outcome.

    Parameters
    ----------
    cloud : Cloud
    k : int
    rng : numpy.random.Generator
    spread : bool
        False draws all of them by weight, none a copy of another.

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
        if not potential.sum() > 0:  # all points sit on seeds: any other will do
            return _completed(np.array(seeds), weights, order, k)
        candidates = np.unique(_positions(potential, order, rng.random(trials)))
        reached = np.minimum(_distances2(cloud, norms2, candidates), nearest[:, None])
        best = int(np.argmin(weights @ reached))
        seeds.append(int(candidates[best]))
        nearest = reached[:, best]
    return np.array(seeds)


def _distances2(cloud: Cloud, norms2: Array, indices: Array) -> Array:
    """Squared distances (n, t) from some of the points; 0 from itself, whatever rounding makes of it."""
    distances: Array = norms2[:, None] + norms2[indices] - 2 * cloud.columns(indices)
    np.maximum(distances, 0.0, out=distances)
    # what cancels to a few units of roundoff is a copy: it must not be drawn as a seed of its own
    distances[distances < 1e-13 * (norms2[:, None] + norms2[indices])] = 0.0
    distances[indices, np.arange(len(indices))] = 0.0
    return distances


def _positions(mass: Array, order: Array, uniform: Array) -> Array:
    """Points at given parts of the total mass."""
    total = np.cumsum(mass[order])
    found = np.searchsorted(total, uniform * total[-1], side="right")
    return np.asarray(order[np.minimum(found, np.flatnonzero(mass[order])[-1])])


def _completed(seeds: Array, weights: Array, order: Array, k: int) -> Array:
    """Seeds and the first points beside them that count."""
    rest = [i for i in order[weights[order] > 0] if i not in set(seeds.tolist())]
    return np.concatenate([seeds, rest[: k - len(seeds)]]).astype(np.intp)
