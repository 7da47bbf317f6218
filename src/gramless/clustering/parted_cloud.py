"""Points with coordinates in distributed parts: labels and distances are collected, coordinates stay in the parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array
from gramless.clustering.cloud import CenterModel, cluster_weights, inverse, settle
from gramless.clustering.feature_cloud import FeatureCloud
from gramless.clustering.points import Coordinates, place_points
from gramless.data import Block, ClusterRows
from gramless.features import FeatureMap, Moments


class PartedCloud:
    """Weighted points in parts.

    Parameters
    ----------
    features : FeatureMap
    coordinates : Coordinates or None
        Coordinates in which each part stores its points; None: points are not stored.
    rows : ClusterRows
    """

    sample = FeatureCloud.sample

    def __init__(self, features: FeatureMap, coordinates: Coordinates | None, rows: ClusterRows) -> None:
        self._features, self._coordinates, self._rows = features, coordinates, rows
        self.clouds = rows.parts.kept(cloud_of, features, coordinates)
        self.weights = rows.weights
        self._norms2: Array | None = None

    def order(self, rng: np.random.Generator) -> Array:
        direction = rng.standard_normal(self._rows.d)
        return np.argsort(np.concatenate(self.clouds.map(heights_of, direction)), kind="stable")

    def norms2(self) -> Array:
        if self._norms2 is None:
            self._norms2 = np.concatenate(self.clouds.map(norms2_of))
        return self._norms2

    def columns(self, indices: Array) -> Array:
        return np.concatenate(self.clouds.map(products_of, self._combined(indices, np.eye(len(indices)))))

    def nearest(self, rows: Array, coefficients: Array) -> Array:
        return np.concatenate(self.clouds.map(nearest_of, self._combined(rows, coefficients)))

    def _combined(self, rows: Array, coefficients: Array) -> Array:
        """Combinations (p, k) of some of the points."""
        return self.subset(rows).points.sums(np.arange(len(rows)), coefficients)

    def subset(self, rows: Array) -> FeatureCloud:
        x = self._rows.view[rows]
        return FeatureCloud(place_points(self._features, x, self._coordinates), x, self.weights[rows])

    def centers(self, labels: Array, k: int) -> PartedCenters:
        return PartedCenters(self, labels, k)

    def sums(self, labels: Array, k: int) -> Array:
        """Weighted sums (p, k) of points by cluster."""
        return np.asarray(self.clouds.reduce(sums_of, k, each=self.split(labels)))

    def split(self, values: Array) -> list[Array]:
        """The values of all points, as one array for each part."""
        return self._rows.split(values)

    def variance(self) -> float:
        total = float(self.weights.sum())
        mean = self.sums(np.zeros(len(self.weights), dtype=np.intp), 1) / total
        return max(float(self.weights @ self.norms2()) / total - float((mean**2).sum()), 0.0)

    def model(self, centers: PartedCenters) -> CenterModel:
        return CenterModel(*self.subset(np.zeros(1, dtype=np.intp)).points.restore(centers.vectors))


@dataclass(frozen=True, eq=False)
class Assigned:
    """Nearest centers of some points, and the sums by cluster that the next step most likely needs: one round trip.

    Attributes
    ----------
    labels : ndarray of shape (m,)
    sums : ndarray of shape (p, k)
    """

    labels: Array
    sums: Array

    def __add__(self, other: Assigned) -> Assigned:
        return Assigned(np.concatenate([self.labels, other.labels]), self.sums + other.sums)


class PartedCenters:
    """Means of clusters as vectors of coordinates, of points in parts."""

    def __init__(self, cloud: PartedCloud, labels: Array, k: int) -> None:
        self.cloud, self.labels, self.k = cloud, labels, k
        self._assigned: Assigned | None = None
        self.vectors = self._means(labels)

    def _means(self, labels: Array) -> Array:
        found = self._assigned
        sums = found.sums if found is not None and labels is found.labels else self.cloud.sums(labels, self.k)
        return sums * inverse(cluster_weights(labels, self.cloud.weights, self.k))

    def assign(self) -> Array:
        self._assigned = self.cloud.clouds.reduce(assigned_of, self.vectors)
        return self._assigned.labels

    def distances2(self, labels: Array) -> Array:
        own = np.concatenate(self.cloud.clouds.map(own_distances_of, self.vectors, each=self.cloud.split(labels)))
        return settle(own, self.cloud.norms2())

    def move(self, labels: Array) -> float:
        before, self.labels = self.vectors, labels
        self.vectors = self._means(labels)
        return float(((self.vectors - before) ** 2).sum())


def moments_of(part: Block, features: FeatureMap) -> Moments:
    """Moments of one part."""
    return features.moments(part.x, part.weights)


def cloud_of(part: Block, features: FeatureMap, coordinates: Coordinates | None) -> FeatureCloud:
    """The points of one part."""
    return FeatureCloud(place_points(features, part.x, coordinates), part.x, part.weights)


def heights_of(cloud: FeatureCloud, direction: Array) -> Array:
    """Coordinates (m,) of the rows along a direction."""
    return np.asarray(cloud.x @ direction)


def norms2_of(cloud: FeatureCloud) -> Array:
    """Squared norms."""
    return cloud.norms2()


def products_of(cloud: FeatureCloud, vectors: Array) -> Array:
    """Inner products (m, k) with `vectors` (p, k), a chunk at a time."""
    step = cloud.points.chunk
    firsts = range(0, len(cloud.weights), step)
    return np.concatenate([cloud.points.dot(slice(first, first + step), vectors) for first in firsts])


def nearest_of(cloud: FeatureCloud, vectors: Array) -> Array:
    """The nearest of `vectors` (p, k) to each point."""
    squares = np.einsum("ij,ij->j", vectors, vectors)
    return np.asarray(np.argmin(squares - 2 * products_of(cloud, vectors), axis=1))


def assigned_of(cloud: FeatureCloud, vectors: Array) -> Assigned:
    """The nearest of `vectors` (p, k) to each point, and the sums by cluster."""
    labels = nearest_of(cloud, vectors)
    return Assigned(labels, sums_of(cloud, vectors.shape[1], labels))


def own_distances_of(cloud: FeatureCloud, vectors: Array, labels: Array) -> Array:
    """Squared distances (m,) from the vectors named by `labels` (m,)."""
    own = products_of(cloud, vectors)[np.arange(len(labels)), labels]
    return np.asarray(cloud.norms2() - 2 * own + np.einsum("ij,ij->j", vectors, vectors)[labels])


def sums_of(cloud: FeatureCloud, k: int, labels: Array) -> Array:
    """Weighted sums (p, k) of the points by cluster."""
    return cloud.sums(np.arange(len(labels)), labels, None, k)
