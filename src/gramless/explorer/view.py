"""The numbers behind the pictures of one setting of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramless.arrays import Array
from gramless.explorer.settings import Settings
from gramless.kernels import Kernel

Extent = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Slice:
    """Two components as heights over a plane through the data.

    Attributes
    ----------
    across, up : ndarray of shape (r,)
        Grid lines.
    heights : ndarray of shape (2, r, r)
        Values of the two components, that across first, at the crossings of grid lines; the second index goes up.
    points : ndarray of shape (m, 2)
        The rows in the plane.
    names : tuple of str
        Names of the axes of the plane.
    aspect : float
        How many times as long a unit is up as across, where scales are equal.
    """

    across: Array
    up: Array
    heights: Array
    points: Array
    names: tuple[str, str]
    aspect: float


@dataclass(frozen=True, eq=False)
class View:
    """An embedding, contours and a spectrum.

    Attributes
    ----------
    settings : Settings
    kernel : Kernel
    scores : ndarray of shape (m, 2)
        The two components of the rows that are drawn.
    plane : Slice
    shares : ndarray of shape (k,)
        Shares of the exact total variance.
    lower, upper : ndarray of shape (k,)
        The certified intervals, as shares.
    method : str
    rows : int
        Number of rows that the model was fitted to.
    seconds : float
        Time of the fit and the projections.
    draft : bool
        Whether only a sample of the rows was used, to save time.
    """

    settings: Settings
    kernel: Kernel
    scores: Array
    plane: Slice
    shares: Array
    lower: Array
    upper: Array
    method: str
    rows: int
    seconds: float
    draft: bool

    @property
    def extent(self) -> Extent:
        """Box (left, right, bottom, top) around the embedding, with a margin."""
        return extent_of(self.scores)

    @property
    def summary(self) -> str:
        """One line about the view."""
        width = float((self.upper - self.lower).max(initial=0.0))
        return (
            f"{self.kernel}: {100 * self.shares.sum():.3g} % of the variance in {len(self.shares)} components; "
            f"{self.rows:,} rows by {self.method} in {self.seconds:.2f} s, explained variance certified to "
            f"{100 * width:.1g} %"
        )

    @property
    def code(self) -> str:
        """The lines that fit this model."""
        name = type(self.kernel).__name__
        before = "X = StandardScaler().fit_transform(X)\n" if self.settings.standardize else ""
        imports = "from sklearn.preprocessing import StandardScaler\n" if self.settings.standardize else ""
        return (
            f"{imports}from gramless import KernelPCA\nfrom gramless.kernels import {name}\n\n"
            f"{before}kpca = KernelPCA({self.settings.k}, kernel={self.kernel!r}).fit(X)"
        )


def widened(extent: Extent, size: tuple[int, int], aspect: float) -> Extent:
    """The box made wider or higher, so that a picture of `size` pixels shows units up `aspect` times as long as across.

    Examples
    --------
    >>> widened((0.0, 1.0, 0.0, 1.0), (200, 100), 1.0)
    (-0.5, 1.5, 0.0, 1.0)
    """
    left, right, bottom, top = extent
    pixel = max((right - left) / size[0], aspect * (top - bottom) / size[1])  # units across
    across, up = pixel * size[0] / 2, pixel * size[1] / aspect / 2
    x, y = (left + right) / 2, (bottom + top) / 2
    return x - across, x + across, y - up, y + up


def extent_of(points: Array, margin: float = 0.05) -> Extent:
    """Box (left, right, bottom, top) around `points` (m, 2); never empty.

    Examples
    --------
    >>> import numpy as np
    >>> extent_of(np.array([[0.0, 1.0], [10.0, 1.0]]), margin=0.1)
    (-1.0, 11.0, 0.0, 2.0)
    """
    low, high = points.min(axis=0), points.max(axis=0)
    room: Any = margin * (high - low)
    room[high == low] = margin * float((high - low).max()) or 1.0
    (left, bottom), (right, top) = low - room, high + room
    return float(left), float(right), float(bottom), float(top)
