"""The grid of frequencies that approximates a kernel on a box, and the error of this approximation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gramless.arrays import Array
from gramless.certificates.quadrature import aliasing_bound, truncation
from gramless.features.base import Box
from gramless.kernels import Kernel
from gramless.kernels.spectral import SpectralDensity


@dataclass(frozen=True, eq=False)
class Axes:
    """The choices for each axis, made before any array of the size of the grid.

    Attributes
    ----------
    reach : float
        rho: k is taken as 0 between the points of the box and a point farther than rho outside it along an axis.
    periods : ndarray of shape (d,)
        1 / h_a, at least extent + 2 rho: no point within rho of the box is within rho of an image of the box.
    counts : tuple of int
        m_a: axis a has the frequencies -m_a to m_a.
    """

    reach: float
    periods: Array
    counts: tuple[int, ...]

    @property
    def n_modes(self) -> int:
        """Number of frequencies of the whole grid."""
        return int(np.prod([2.0 * m + 1 for m in self.counts]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of differences of two frequencies along each axis: the shape of the moments."""
        return tuple(4 * m + 1 for m in self.counts)


@dataclass(frozen=True, eq=False)
class FourierGrid:
    """k(r) ~ sum_j w_j exp(2 pi i sum_a j_a r_a / P_a), over frequencies that come in pairs j, -j.

    Attributes
    ----------
    kernel : Kernel
    box : Box
        Box that contains the data.
    axes : Axes
    modes : ndarray of shape (D, d)
        j, in the order of the grid: reversing the list changes every sign.
    weights : ndarray of shape (D,)
        w_j > 0.
    goal : float
        The error asked for.
    """

    kernel: Kernel
    box: Box
    axes: Axes
    modes: Array
    weights: Array
    goal: float

    @cached_property
    def peak(self) -> float:
        """k(0)."""
        return float(self.kernel.diagonal(np.zeros((1, 1)))[0])

    @cached_property
    def tail(self) -> float:
        """Bound on the weight of the frequencies left out: k(0) minus the diagonal of the map."""
        periods = self.axes.periods
        aliases = aliasing_bound(lambda r: distance_values(self.kernel, r), periods, periods)
        return truncation(self.peak, aliases, float(self.weights.sum()), _density(self.kernel).error)

    @cached_property
    def aliasing(self) -> float:
        """Bound on the sum of the images of one point of the box at another point of the box."""
        periods = self.axes.periods
        return aliasing_bound(lambda r: distance_values(self.kernel, r), periods, periods - self.box.extent)

    @cached_property
    def error(self) -> float:
        """Bound on |k(x, y) - phi(x).phi(y)|, x in the box and y anywhere, apart from rounding."""
        nearest = np.full(len(self.axes.counts), self.axes.reach)
        images = aliasing_bound(lambda r: distance_values(self.kernel, r), self.axes.periods, nearest)
        return images + self.tail  # at least k(reach), the error for a point beyond the reach

    @property
    def roots(self) -> Array:
        """sqrt(w_j)."""
        return np.sqrt(self.weights)

    def matches(self, other: FourierGrid) -> bool:
        """Whether the features of both are the same."""
        return (
            self.kernel == other.kernel
            and np.array_equal(self.box.low, other.box.low)
            and np.array_equal(self.box.high, other.box.high)
            and np.array_equal(self.axes.periods, other.axes.periods)
            and np.array_equal(self.modes, other.modes)
        )

    def angles(self, x: Array) -> list[Array]:
        """T = 2 pi (x - center) / P, one contiguous array (n,) per axis."""
        factors = 2 * np.pi / self.axes.periods
        return [(x[:, a] - c) * f for a, (c, f) in enumerate(zip(self.box.center, factors, strict=True))]

    def places(self, shape: tuple[int, ...]) -> Array:
        """Flat positions (D,) of the modes in a centered array of this (odd) shape."""
        return np.asarray(np.ravel_multi_index(tuple((self.modes + np.array(shape) // 2).T), shape))


def distance_values(kernel: Kernel, distance: Array) -> Array:
    """Kernel values (n,) of points `distance` (n,) apart."""
    return np.asarray(kernel(np.zeros((1, 1)), distance[:, None])[0])


def choose_axes(kernel: Kernel, extent: Array, error: float) -> Axes:
    """Periods and counts for a box of this extent, such that aliasing and truncation stay below `error`."""
    density, d = _density(kernel), len(extent)
    # truncation shifts all eigenvalues nearly alike, images do not: where the goal is missed, images must stay small
    images = error if density.smooth else min(0.01 * error, 1e-3 * density.factor)
    reach = _reach(kernel, density, images / (4 * d))
    periods = extent + 2 * reach
    cut = density.cut(error / (4 * d))
    return Axes(reach, periods, tuple(max(1, int(m)) for m in np.ceil(np.minimum(cut * periods - 0.5, 1e9))))


def make_grid(kernel: Kernel, box: Box, axes: Axes, error: float, *, goal: float) -> FourierGrid:
    """The grid without the frequencies whose weights are negligible even in total."""
    density, d = _density(kernel), len(axes.counts)
    lines = [np.arange(-m, m + 1) for m in axes.counts]
    squares = np.ix_(*((line / period) ** 2 for line, period in zip(lines, axes.periods, strict=True)))
    weights = density(np.sqrt(np.asarray(sum(squares))), d) / float(np.prod(axes.periods))
    lightest = np.sort(weights, axis=None)
    spare = error / 4 if density.smooth else error / 64  # a slowly decaying tail keeps more
    least = lightest[min(int(np.searchsorted(np.cumsum(lightest), spare, side="right")), lightest.size - 1)]
    kept = np.nonzero(weights >= max(least, np.finfo(float).tiny))  # >= keeps j and -j together: equal weights
    modes = np.column_stack([line[index] for line, index in zip(lines, kept, strict=True)])
    counts = tuple(max(1, int(m)) for m in np.abs(modes).max(axis=0))
    return FourierGrid(kernel, box, Axes(axes.reach, axes.periods, counts), modes, weights[kept], goal)


def _reach(kernel: Kernel, density: SpectralDensity, value: float) -> float:
    """The distance from which on k is at most `value`."""
    high = density.lengthscale
    while distance_values(kernel, np.array([high]))[0] > value:
        high *= 2
    line = np.linspace(0, high, 2049)
    return float(line[np.argmax(distance_values(kernel, line) <= value)])


def _density(kernel: Kernel) -> SpectralDensity:
    density = kernel.spectral_density()
    if density is None:
        raise ValueError(f"the Fourier transform of {kernel} is unknown")
    return density
