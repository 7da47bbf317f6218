"""The interface that k-means needs of points in feature space, however they are represented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gramless.arrays import Array, copied, like, namespace, to_numpy
from gramless.spaces import Span


class Centers(Protocol):
    """Means of clusters in feature space, moved from one partition to the next.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The partition whose means these are.
    """

    labels: Array

    def assign(self) -> Array:
        """The nearest center of each point: (n,)."""

    def distances2(self, labels: Array) -> Array:
        """Squared distances (n,) of the points from the centers named by `labels` (n,)."""

    def move(self, labels: Array) -> float:
        """Move the centers to the means of another partition; returns the sum of their squared displacements."""


class Cloud(Protocol):
    """Weighted points in feature space.

    Attributes
    ----------
    weights : ndarray of shape (n,)
    sample : int
        Size of the sample that a start is computed on, if there are many more points.
    """

    weights: Array
    sample: int

    def order(self, rng: np.random.Generator) -> Array:
        """Indices (n,) that sort the points into an order that depends on their values alone."""

    def norms2(self) -> Array:
        """Squared norms (n,)."""

    def columns(self, indices: Array) -> Array:
        """Inner products (n, t) of all points with those of `indices` (t,)."""

    def nearest(self, rows: Array, coefficients: Array) -> Array:
        """Labels (n,) of the points, for centers sum_i coefficients[i, j] phi(x[rows[i]])."""

    def subset(self, rows: Array) -> Cloud:
        """The cloud of the points `rows`."""

    def centers(self, labels: Array, k: int) -> Centers:
        """Means of the clusters of a partition, none of them empty."""

    def variance(self) -> float:
        """Mean squared distance from the mean."""

    def model(self, centers: Any) -> CenterModel:
        """The centers in a form that does not need the cloud."""


@dataclass(frozen=True, eq=False)
class CenterModel:
    """Centers as combinations of the vectors of a span, and the distances of new rows from them.

    Attributes
    ----------
    span : Span
    coefficients : ndarray of shape (p, k)
    squared_norms : ndarray of shape (k,)
        Squared norms of the centers: Vasconcelos' S, each with its own cluster size.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> from gramless.spaces import PointSpan
    >>> span = PointSpan(Linear(), np.array([[1.0], [3.0]]))
    >>> model = CenterModel(span, np.array([[0.5], [0.5]]), np.array([4.0]))
    >>> model.distances2(np.array([[5.0]]))
    array([[9.]])
    """

    span: Span
    coefficients: Array
    squared_norms: Array

    def nearest(self, x: Any) -> Array:
        """Nearest center (m,) of rows `x`; does not need k(x, x)."""
        apart: Any = self.squared_norms - 2 * self.span.dot(x, self.coefficients)
        return namespace(apart).argmin(apart, axis=1)  # type: ignore[no-any-return]

    def distances2(self, x: Any, norms2: Array | None = None) -> Array:
        """Squared distances (m, k) of rows `x` from the centers; `norms2` (m,) are k(x, x), if known."""
        own = self.span.norms2(x) if norms2 is None else norms2
        return settle(own[:, None] + self.squared_norms - 2 * self.span.dot(x, self.coefficients), own[:, None])


def nearest_two(products: Any, squares: Array) -> tuple[Array, Array, Array]:
    """Nearest center (m,) of points with inner products (m, k), and |c|^2 - 2 x.c for it and the second nearest: (m,).

    Examples
    --------
    >>> nearest_two(np.array([[0.0, 3.0]]), np.array([1.0, 1.0]))
    (array([1]), array([-5.]), array([1.]))
    """
    xp, scores = namespace(products), copied(products.T)
    scores *= -2
    scores += like(squares, scores)[:, None]
    nearest = xp.argmin(scores, 0)
    place = like(np.arange(scores.shape[1]), nearest)
    best = copied(scores[nearest, place])
    scores[nearest, place] = np.inf
    return to_numpy(nearest), to_numpy(best), to_numpy(xp.amin(scores, 0))


def settle(distances2: Array, norms2: Array) -> Array:
    """Squared distances with 0 where only rounding of the squared norms is left."""
    return np.where(distances2 > 64 * np.finfo(float).eps * np.abs(norms2), distances2, 0.0)


def indicator(labels: Array, weights: Array, k: int) -> Array:
    """Weighted membership (n, k): weights[i] at (i, labels[i]), 0 elsewhere."""
    matrix = np.zeros((len(labels), k))
    matrix[np.arange(len(labels)), labels] = weights
    return matrix


def exchange(before: Array, after: Array, weights: Array, k: int) -> Array:
    """Change (n, k) of the weighted membership when points go from one cluster to another."""
    matrix = indicator(after, weights, k)
    matrix[np.arange(len(before)), before] -= weights
    return matrix


def cluster_weights(labels: Array, weights: Array, k: int) -> Array:
    """Total weight of each cluster (k,)."""
    return np.asarray(np.bincount(labels, weights=weights, minlength=k))


def inverse(sizes: Array) -> Array:
    """1 / sizes, 0 where the size is 0."""
    return np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
