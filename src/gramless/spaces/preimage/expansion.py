"""A point of feature space as a combination of images of points: the input of a search for pre-images."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, evenly_spaced
from gramless.features import LandmarkMap, PairedMap, choose_pivots
from gramless.gram import rectangular_product
from gramless.kernels import Kernel, Precomputed
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.span import FeatureSpan, PointSpan

_MOST_POINTS = 1000
_MOST_VALUES = 2 * 10**8  # kernel values that the candidates may take


@dataclass(frozen=True, eq=False)
class Expansion:
    """P phi = sum_l (mean_l + sum_j basis_lj s_j) phi(points_l), the image of scores s in feature space.

    Attributes
    ----------
    kernel : Kernel
    points : ndarray of shape (n, d)
    mean : ndarray of shape (n,)
    basis : ndarray of shape (n, k)
    offset : ndarray of shape (k,)
        Inner products of the mean with the components.
    mean_norm2 : float
    """

    kernel: Kernel
    points: Array
    mean: Array
    basis: Array
    offset: Array
    mean_norm2: float

    def coefficients(self, scores: Array) -> Array:
        """Coefficients (m, n) of the images of `scores` (m, k)."""
        return np.asarray(self.mean + scores @ self.basis.T)

    def norms2(self, scores: Array) -> Array:
        """|P phi|^2 (m,): the components are orthonormal."""
        return np.asarray(self.mean_norm2 + 2 * scores @ self.offset + np.einsum("ij,ij->i", scores, scores))

    @cached_property
    def candidates(self) -> tuple[Array, Array]:
        """Some of the points (c, d), all where that is affordable, and <phi(x), b> for b the mean and components.

        The products are of shape (c, 1 + k).
        """
        n = len(self.points)
        rows = evenly_spaced(n, max(1000, _MOST_VALUES // n))
        both = np.column_stack([self.mean, self.basis])
        return self.points[rows], rectangular_product(self.kernel, self.points[rows], self.points, both)


def has_points(space: Eigenspace) -> bool:
    """Whether the components are combinations of images of points that the space has."""
    span = space.span
    return isinstance(span, PointSpan) or (isinstance(span, FeatureSpan) and isinstance(span.features, PairedMap))


def expand(space: Eigenspace, rows: Any = None, rng: np.random.Generator | None = None) -> Expansion:
    """The eigenspace as combinations of points: its own, its landmarks, or at most 1000 chosen among `rows`.

    Features that have no points (monomials, Taylor, Fourier) are projected on the images of the rows chosen.

    Parameters
    ----------
    space : Eigenspace
    rows : ndarray of shape (n, d), optional
        Data of the kind that was fitted; needed where the space has no points of its own.
    rng : numpy.random.Generator, optional

    Raises
    ------
    ValueError
        If there are no points, or if the points are sparse.
    """
    span = space.span
    kernel: Kernel = span.kernel  # type: ignore[attr-defined]
    if isinstance(kernel, Precomputed):
        raise ValueError("kernel='precomputed' has no input space for pre-images")
    both = np.column_stack([space.mean, space.basis])
    if isinstance(span, PointSpan):
        points = span.points
    elif isinstance(span, FeatureSpan) and isinstance(span.features, PairedMap):
        points, both = span.features.on_points(both)
    elif rows is None:
        raise ValueError(
            "this model has no points for a pre-image search: fit with keep_data=True, fit_inverse_transform=True "
            "(which stores a sample of the rows) or method='landmarks'"
        )
    else:
        points, both = _on_rows(space, kernel, rows, both, np.random.default_rng(0) if rng is None else rng)
    if scipy.sparse.issparse(points):
        raise ValueError("pre-images are dense: fit to X.toarray()")
    points = np.asarray(points, dtype=np.float64)
    return Expansion(kernel, points, both[:, 0], both[:, 1:], space.offset, space.mean_norm2)


def _on_rows(
    space: Eigenspace, kernel: Kernel, rows: Any, both: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Pivots among rows, and the coefficients of the orthogonal projection on their images."""
    pivots = choose_pivots(kernel, rows, np.ones(len(rows)), min(len(rows), _MOST_POINTS), 0.0, rng)
    features = LandmarkMap.at(kernel, rows[pivots.indices if len(pivots.indices) else slice(1)])
    products = space.span.dot(features.points, both)
    return features.points, features.projected(products)[1]


def preimage_errors(space: Eigenspace, scores: Array, x: Array) -> Array:
    """Squared distances (m,) in feature space between the images of `scores` (m, k) and phi(x) of rows `x` (m, d).

    0 where x is an exact pre-image, which most points of feature space do not have (Fasel, slide 23).
    """
    products = space.span.dot(x, np.column_stack([space.mean, space.basis]))
    along = products[:, 0] + np.einsum("ij,ij->i", products[:, 1:], scores)
    norms2 = space.mean_norm2 + 2 * scores @ space.offset + np.einsum("ij,ij->i", scores, scores)
    error: Array = np.maximum(space.span.norms2(x) + norms2 - 2 * along, 0.0)
    return error
