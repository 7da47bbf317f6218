"""Points with coordinates: ordinary k-means of phi, skipping points that cannot change cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, run_in_threads, to_numpy
from gramless.clustering.cloud import CenterModel, cluster_weights, exchange, indicator, inverse, nearest_two, settle
from gramless.clustering.points import Points

_SLACK = 1e-7  # error of distances from the rounding of their squares, relative to the size of the cloud
_SUMMED = 2**16  # rows whose membership matrix is formed at a time


class FeatureCloud:
    """Weighted points with coordinates.

    Parameters
    ----------
    points : Points
    x : ndarray or CSR of shape (n, d)
        The rows that the points were made from.
    weights : ndarray of shape (n,)
    """

    sample = 32_768

    def __init__(self, points: Points, x: Any, weights: Array) -> None:
        self.points, self.x, self.weights = points, x, weights

    def order(self, rng: np.random.Generator) -> Array:
        return np.argsort(self.x @ rng.standard_normal(self.x.shape[1]), kind="stable")

    def norms2(self) -> Array:
        return self.points.norms2

    def columns(self, indices: Array) -> Array:
        vectors = self.points.sums(indices, np.eye(len(indices)))
        out = np.empty((len(self.weights), len(indices)))
        for part in self._parts(len(out)):
            out[part] = to_numpy(self.points.dot(part, vectors))
        return out

    def nearest(self, rows: Array, coefficients: Array) -> Array:
        bounds = Bounds(self, self.points.sums(rows, coefficients))
        bounds.refresh()
        return bounds.labels

    def subset(self, rows: Array) -> FeatureCloud:
        return FeatureCloud(self.points.subset(rows), self.x[rows], self.weights[rows])

    def centers(self, labels: Array, k: int) -> FeatureCenters:
        return FeatureCenters(self, labels, k)

    def variance(self) -> float:
        total = float(self.weights.sum())
        mean = self.sums(np.arange(len(self.weights)), np.zeros(len(self.weights), dtype=np.intp), None, 1) / total
        return max(float(self.weights @ self.points.norms2) / total - float((mean**2).sum()), 0.0)

    def sums(self, rows: Array, labels: Array, before: Array | None, k: int) -> Array:
        """Weighted sums (p, k) of points by cluster; with labels `before`, the change of these sums."""
        total: Array | None = None
        for part in self._parts(len(rows), _SUMMED):
            weights = self.weights[rows[part]]
            if before is None:
                change = indicator(labels[part], weights, k)
            else:
                change = exchange(before[part], labels[part], weights, k)
            added = self.points.sums(rows[part], change)
            total = added if total is None else total + added
        assert total is not None  # no caller passes an empty selection
        return total

    def model(self, centers: FeatureCenters) -> CenterModel:
        return CenterModel(*self.points.restore(centers.vectors))

    def _parts(self, n: int, size: int | None = None) -> list[slice]:
        size = max(size or 0, self.points.chunk)
        return [slice(first, min(n, first + size)) for first in range(0, n, size)]


class Bounds:
    """Nearest centers, upper bounds on the distance to them and lower bounds on that to all others (Hamerly 2010).

    If center j moves by p_j, the upper bounds of its points grow by p_j, and their lower bounds fall by the largest
    movement of another center. Only points whose bounds then cross are compared with all centers again. The triangle
    inequality holds for whole points: the part of a point outside the coordinates is one more coordinate of its own.
    """

    def __init__(self, cloud: FeatureCloud, vectors: Array) -> None:
        n = len(cloud.weights)
        self.cloud, self.vectors = cloud, vectors
        self.labels = np.zeros(n, dtype=np.intp)
        self.upper, self.lower = np.full(n, np.inf), np.zeros(n)
        self._slack = _SLACK * float(np.sqrt(cloud.points.norms2.max(initial=0.0)))

    def refresh(self) -> None:
        """Compare the points that may have another nearest center with all centers."""
        active = np.flatnonzero(self.upper >= np.maximum(self.lower, self._gaps()[self.labels]) - self._slack)
        squares = np.einsum("ij,ij->j", self.vectors, self.vectors)
        step = self.cloud.points.chunk

        def compare(first: int) -> None:
            rows: Any = active[first : first + step]
            if len(active) == len(self.labels):
                rows = slice(first, first + step)  # a view, not a copy
            nearest, best, second = nearest_two(self.cloud.points.dot(rows, self.vectors), squares)
            norms2 = self.cloud.points.norms2[rows]
            self.labels[rows] = nearest
            self.upper[rows] = np.sqrt(np.maximum(norms2 + best, 0.0))
            self.lower[rows] = np.sqrt(np.maximum(norms2 + second, 0.0))

        run_in_threads(compare, [list(range(0, len(active), step))])

    def _gaps(self) -> Array:
        """Half the distance from each center to the nearest other (k,)."""
        squares = np.einsum("ij,ij->j", self.vectors, self.vectors)
        apart = squares[:, None] + squares - 2 * self.vectors.T @ self.vectors.copy()
        np.fill_diagonal(apart, np.inf)
        return np.asarray(np.sqrt(np.maximum(apart.min(axis=1), 0.0)) / 2)

    def shift(self, vectors: Array, labels: Array) -> float:
        """Move the centers to `vectors` (p, k); returns the sum of squared movements."""
        forced = np.flatnonzero(labels != self.labels)  # points moved to a cluster that was empty
        self.labels = labels.copy()
        self.upper[forced], self.lower[forced] = np.inf, 0.0
        movement = np.linalg.norm(vectors - self.vectors, axis=0)
        self.vectors = vectors
        self.upper += movement[self.labels]
        if len(movement) > 1:
            ranked = np.argsort(movement)
            others = np.full(len(movement), movement[ranked[-1]])
            others[ranked[-1]] = movement[ranked[-2]]
            self.lower -= others[self.labels]
        return float((movement**2).sum())


class FeatureCenters:
    """Means of clusters as vectors of coordinates."""

    def __init__(self, cloud: FeatureCloud, labels: Array, k: int) -> None:
        self.cloud, self.labels, self.k = cloud, labels, k
        self._bounds = Bounds(cloud, self._means())

    def _means(self) -> Array:
        self._exchanged = 0
        self._sizes = cluster_weights(self.labels, self.cloud.weights, self.k)
        self._sums = self.cloud.sums(np.arange(len(self.labels)), self.labels, None, self.k)
        return self._sums * inverse(self._sizes)

    @property
    def vectors(self) -> Array:
        """The centers (p, k)."""
        return self._bounds.vectors

    def assign(self) -> Array:
        self._bounds.refresh()
        return self._bounds.labels.copy()

    def distances2(self, labels: Array) -> Array:
        squares = np.einsum("ij,ij->j", self.vectors, self.vectors)
        out = np.empty(len(labels))
        for part in self.cloud._parts(len(labels)):
            products = self.cloud.points.dot(part, self.vectors)
            own = to_numpy(products[np.arange(len(products)), labels[part]])
            out[part] = self.cloud.points.norms2[part] - 2 * own + squares[labels[part]]
        return settle(out, self.cloud.points.norms2)

    def move(self, labels: Array) -> float:
        changed = np.flatnonzero(labels != self.labels)
        before, self.labels = self.labels, labels
        self._exchanged += len(changed)
        if not len(changed):
            return 0.0
        if 2 * len(changed) < len(labels) and self._exchanged < 4 * len(labels):
            self._sums = self._sums + self.cloud.sums(changed, labels[changed], before[changed], self.k)
            self._sizes = cluster_weights(labels, self.cloud.weights, self.k)
            means = self._sums * inverse(self._sizes)
        else:
            means = self._means()
        return self._bounds.shift(means, labels)
