"""Points in finitely many coordinates: stored, or computed from the rows whenever they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from gramless.arrays import Array, inner, is_tensor, like, namespace, row_squares, to_numpy
from gramless.features import FeatureMap, FourierMap, Moments
from gramless.spaces import FeatureSpan

_FEW = 4096  # rows up to which features are computed rather than summed by a transform
_ON_CARD = 2**20  # points processed at a time on a GPU
_FIRST = 32  # number of components computed at first


class Points(Protocol):
    """n points with p coordinates, whose norm is Euclidean, and the distance of each point from their space.

    Attributes
    ----------
    norms2 : ndarray of shape (n,)
        Squared norms, including the part of a point outside the coordinates.
    chunk : int
        Number of points to process at a time.
    """

    @property
    def norms2(self) -> Array: ...

    @property
    def chunk(self) -> int: ...

    def dot(self, rows: Any, vectors: Array) -> Array:
        """Inner products (m, k) of points `rows` with `vectors` (p, k)."""

    def sums(self, rows: Any, coefficients: Array) -> Array:
        """sum_i coefficients[i, j] * point rows[i]: (p, k)."""

    def restore(self, centers: Array) -> tuple[FeatureSpan, Array, Array]:
        """A span, the coefficients (q, k) in it of `centers` (p, k), and their squared norms (k,)."""

    def subset(self, rows: Array) -> Points:
        """The points `rows`."""


@dataclass(frozen=True, eq=False)
class KeptPoints:
    """Stored principal coordinates of explicit features, with all but a negligible part of the variance.

    Attributes
    ----------
    features : FeatureMap
    axes : ndarray of shape (D, p)
    mean : ndarray of shape (D,)
        The origin of the coordinates.
    values : ndarray of shape (n, p)
    norms2 : ndarray of shape (n,)
        Squared distances from the mean in feature space, including the part outside the coordinates.
    device : str
        Device of the values.
    """

    features: FeatureMap
    axes: Array
    mean: Array
    values: Any
    norms2: Array
    device: str = "cpu"

    @property
    def chunk(self) -> int:
        return _ON_CARD if is_tensor(self.values) else 8192

    def dot(self, rows: Any, vectors: Array) -> Array:
        product: Array = self.values[rows] @ like(vectors, self.values)
        return product

    def sums(self, rows: Any, coefficients: Array) -> Array:
        return inner(self.values[rows], like(coefficients, self.values))

    def restore(self, centers: Array) -> tuple[FeatureSpan, Array, Array]:
        coefficients = self.axes @ centers + self.mean[:, None]
        return FeatureSpan(self.features, self.device), coefficients, np.einsum("ij,ij->j", coefficients, coefficients)

    def subset(self, rows: Array) -> KeptPoints:
        return replace(self, values=self.values[rows], norms2=self.norms2[rows])


@dataclass(frozen=True, eq=False)
class MappedPoints:
    """Explicit features of rows, computed for a chunk at a time and not stored.

    Attributes
    ----------
    features : FeatureMap
    x : ndarray or CSR of shape (n, d)
    norms2 : ndarray of shape (n,)
        k(x, x).
    device : str
        Device of the rows.
    """

    features: FeatureMap
    x: Any
    norms2: Array
    device: str = "cpu"

    chunk = 2**17

    def dot(self, rows: Any, vectors: Array) -> Array:
        return self.features.dot(self.x[rows], vectors)

    def sums(self, rows: Any, coefficients: Array) -> Array:
        x = self.x[rows]
        if isinstance(self.features, FourierMap) and len(coefficients) > _FEW:
            return np.column_stack([self._transformed(x, column) for column in coefficients.T])
        total = np.zeros((self.features.n_features, coefficients.shape[1]))
        step = max(1, 2**21 // self.features.n_features)
        for first in range(0, len(coefficients), step):
            features = self.features(x[first : first + step])
            total += inner(features, like(coefficients[first : first + step], features))
        return total

    def _transformed(self, x: Any, strengths: Array) -> Array:
        """sum_i strengths_i phi(x_i) by one non-uniform FFT for each sign: the mean of moments times their weight."""
        total = np.zeros(self.features.n_features)
        for sign in (1.0, -1.0):
            used = np.flatnonzero(sign * strengths > 0)
            if len(used):
                moments = self.features.moments(x[used], np.abs(strengths[used]))
                total += sign * moments.weight * moments.mean
        return total

    def restore(self, centers: Array) -> tuple[FeatureSpan, Array, Array]:
        return FeatureSpan(self.features, self.device), centers, np.einsum("ij,ij->j", centers, centers)

    def subset(self, rows: Array) -> MappedPoints:
        return replace(self, x=self.x[rows], norms2=self.norms2[rows])


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Principal coordinates of explicit features.

    Attributes
    ----------
    axes : ndarray of shape (D, p)
    mean : ndarray of shape (D,)
    mean_norm2 : float
    """

    axes: Array
    mean: Array
    mean_norm2: float


def make_points(
    features: FeatureMap,
    x: Any,
    weights: Array,
    accuracy: float,
    room: int,
    rng: np.random.Generator,
    device: str = "cpu",
) -> Points:
    """Coordinates of rows `x`, stored if they take at most `room` bytes.

    Parameters
    ----------
    features : FeatureMap
    x : ndarray, CSR or tensor of shape (n, d)
    weights : ndarray of shape (n,)
    accuracy : float
        Fraction of the variance that principal coordinates may leave out; no inertia changes by more than that.
    room : int
    rng : numpy.random.Generator
    device : str
        Device of the rows.
    """
    chosen = choose_coordinates(features, x.shape[0], lambda: features.moments(x, weights), accuracy, room, rng)
    return place_points(features, x, chosen, device)


def choose_coordinates(
    features: FeatureMap,
    n: int,
    moments: Callable[[], Moments],
    accuracy: float,
    room: int,
    rng: np.random.Generator,
) -> Coordinates | None:
    """Coordinates in which `n` rows can be stored in `room` bytes, from their moments; None: do not store them.

    Fourier features are not stored: a few non-uniform FFTs compare all points with a few centers, in less time than it
    takes to store the points. Nor are features that outnumber the rows: to find their axes would take too long.
    """
    width = features.n_features
    unwritten = isinstance(features, FourierMap) or width > n
    most = 0 if unwritten else min(room // (16 * max(1, n)), width)
    if not most:
        return None
    summed = moments()
    axes = _axes(summed, accuracy, int(most), width, rng)
    return None if axes is None else Coordinates(axes, summed.mean, summed.mean_norm2)


def place_points(features: FeatureMap, x: Any, coordinates: Coordinates | None, device: str = "cpu") -> Points:
    """Rows `x` (n, d) on `device` as points: with stored coordinates, or without if `coordinates` is None."""
    if coordinates is None:
        return MappedPoints(features, x, to_numpy(features.kernel.diagonal(x)), device)
    axes, mean = coordinates.axes, coordinates.mean
    products = features.dot(x, np.column_stack([axes, mean]))
    values, along = products[:, :-1], products[:, -1]
    norms2 = features.kernel.diagonal(x) - 2 * along + coordinates.mean_norm2
    values -= like(mean @ axes, values)
    norms2 = namespace(values).maximum(norms2, row_squares(values))
    return KeptPoints(features, axes, mean, values, to_numpy(norms2), device)


def _axes(moments: Moments, accuracy: float, most: int, width: int, rng: np.random.Generator) -> Array | None:
    """Principal axes (D, p) that leave out at most `accuracy` of the variance; None if `most` axes do not suffice."""
    k = min(_FIRST, most)
    while True:
        spectrum = moments.solve(k, accuracy, rng)
        captured = np.cumsum(spectrum.values)
        enough = (1 - accuracy) * moments.trace
        if captured[-1] >= enough:
            return spectrum.axes[:, : int(np.searchsorted(captured, enough)) + 1]
        if k >= width or spectrum.values[-1] <= 1e-15 * spectrum.values[0]:
            return spectrum.axes
        if k >= most:
            return None
        k = min(most, 2 * k)
