"""The centered scatter of Fourier features, applied axis by axis or as a dense matrix."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.fft

from gramless.arrays import Array, run_in_threads, unit_roundoff
from gramless.features.fourier.axis import TrigonometricAxis
from gramless.features.fourier.grid import FourierGrid

_SLAB = 2**17  # values on the grid processed at a time, so that they stay in cache


class ToeplitzScatter:
    """S = sum_n w_n (phi_n - mean)(phi_n - mean)^T, phi the features of a grid of frequencies.

    Two orthonormal bases of the same features are in use. Hartley's, phi_j(x) = sqrt(w_j) (cos t.j + sin t.j), defines
    the map. Products of sines and cosines, one for each axis, serve to apply S: the sums F over the rows equal those of
    a density on a grid of points, so that S = E^T diag(density) E, and E acts axis by axis. All numbers are real.

    Parameters
    ----------
    grid : FourierGrid
    sums : ndarray, complex
    weight : float
    """

    def __init__(self, grid: FourierGrid, sums: Array, weight: float) -> None:
        self.grid, self.sums, self.weight = grid, sums, weight
        self.shape = (len(grid.weights), len(grid.weights))
        self._roots = grid.roots
        self._axes = [TrigonometricAxis(m) for m in grid.axes.counts]
        self._sizes = tuple(axis.size for axis in self._axes)
        self._box = tuple(2 * m + 1 for m in grid.axes.counts)
        self._places = grid.places(self._box)
        first = sums.reshape(-1)[grid.places(sums.shape)]
        self._hartley_mean = self._roots * (first.real - first.imag) / np.sqrt(weight)
        self._mean = self._turned(self._hartley_mean[:, None], before=1.0, after=self._signs)[:, 0]

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        spread = self.weight * self.grid.weights - self._hartley_mean**2
        return float(spread.sum())

    @cached_property
    def frobenius2(self) -> float:
        """Bound on the sum of the squares of all eigenvalues."""
        full = np.zeros(self._box)
        full.reshape(-1)[self._places] = self.grid.weights
        spectrum = scipy.fft.rfftn(full, self._sizes)
        spectrum *= spectrum.conj()
        products = np.maximum(scipy.fft.irfftn(spectrum, self._sizes), 0.0)
        lags = (np.arange(-(size // 2), size // 2 + 1) for size in self.sums.shape)
        square = float((products[np.ix_(*lags)] * np.abs(self.sums) ** 2).sum())
        length = float(self._mean @ self._mean)
        cross = float(self._mean @ self._uncentred(self._mean))
        return max(0.0, square - 2 * cross + length**2) + 1e-14 * square

    @cached_property
    def _density(self) -> Array:
        """The density (S_1, ..., S_d) on the grid of points whose sums of exponentials are F."""
        full = np.zeros((*self._sizes[:-1], self._sizes[-1] // 2 + 1), dtype=np.complex128)
        half = self.sums[..., self.sums.shape[-1] // 2 :]
        lags = [np.arange(-(size // 2), size // 2 + 1) for size in half.shape[:-1]]
        full[np.ix_(*lags, np.arange(half.shape[-1]))] = half
        return np.asarray(scipy.fft.irfftn(full, self._sizes, overwrite_x=True))

    @cached_property
    def error(self) -> float:
        """Bound on the rounding error of a product, relative to the norm of the vector."""
        points = float(np.prod(self._sizes))
        size = float(self.grid.weights.max()) * points * float(np.abs(self._density).max())
        steps = 2 * sum(axis.rounding for axis in self._axes) + 8 * np.log2(points) * unit_roundoff()
        return float(1.1 * steps * size + 8 * unit_roundoff() * self.weight * self.grid.peak)

    def to_dense(self) -> Array:
        """The matrix (D, D) in Hartley's basis: cas a cas b = cos(a - b) + sin(a + b), a Toeplitz and a Hankel part."""
        flat = self.sums.reshape(-1)
        middle = flat.size // 2
        offset = self.grid.places(self.sums.shape) - middle
        dense = flat.real[middle + offset[:, None] - offset]
        dense -= flat.imag[middle + offset[:, None] + offset]
        dense *= self._roots
        dense *= self._roots[:, None]
        dense -= np.outer(self._hartley_mean, self._hartley_mean)
        return np.asarray(dense)

    def to_hartley(self, b: Array) -> Array:
        """Coefficients (D, r) of products of sines and cosines in Hartley's basis."""
        return self._turned(b, before=self._signs, after=1.0)

    def __matmul__(self, b: Array) -> Array:
        """S b for a vector (D,) or columns (D, r), in the basis of products of sines and cosines."""
        if b.ndim == 2:
            return np.stack([self @ np.ascontiguousarray(column) for column in b.T], axis=1)
        product: Array = self._uncentred(b)
        product -= self._mean * (self._mean @ b)
        return product

    def _uncentred(self, b: Array) -> Array:
        box = np.zeros(self._box)
        box.reshape(-1)[self._places] = self._roots * b
        first, rest = self._axes[0], self._box[1:]
        lines = first.evaluate(box.reshape(self._box[0], -1), -2).reshape(-1, *rest)
        rows = max(1, _SLAB // int(np.prod(self._sizes[1:], dtype=int)))

        def work(begin: int) -> None:
            part = slice(begin, begin + rows)
            lines[part] = self._weigh(lines[part], self._density[part])

        run_in_threads(work, [list(range(0, len(lines), rows))])
        gathered = first.gather(lines.reshape(len(lines), -1), -2)
        return np.asarray(gathered.reshape(-1)[self._places] * self._roots)

    def _weigh(self, coefficients: Array, density: Array) -> Array:
        """E^T diag(density) E along all axes but the first, along which E has been applied already."""
        values = coefficients
        inner_axes = list(enumerate(self._axes[1:], start=1 - len(self._axes)))
        for place, axis in inner_axes:
            values = axis.evaluate(values, place)
        values = values * density
        for place, axis in reversed(inner_axes):
            values = axis.gather(values, place)
        return values

    @cached_property
    def _signs(self) -> Array:
        """The sign (D,) of each product, which has a sine for each negative frequency, in cos + sin."""
        sines = (self.grid.modes < 0).sum(axis=1)
        signs: Array = np.array([1.0, 1.0, -1.0, -1.0])[sines]
        return signs

    def _turned(self, coefficients: Array, *, before: Array | float, after: Array | float) -> Array:
        """Change of basis: signs before or after, sums and differences of j and -j along every axis."""
        # cas(sum x_a) = sum over sets A of sines: sign(A) prod_A sin prod_not A cos; -x_a changes the sign of its sine
        box = np.zeros((*self._box, coefficients.shape[1]))
        flat = box.reshape(-1, coefficients.shape[1])
        flat[self._places] = (coefficients.T * before).T
        for axis, m in enumerate(self.grid.axes.counts):
            lines = np.moveaxis(box, axis, 0)
            up, down = lines[m + 1 :].copy(), lines[:m][::-1].copy()
            lines[m + 1 :] = (up + down) * np.sqrt(0.5)
            lines[:m] = ((up - down) * np.sqrt(0.5))[::-1]
        return np.asarray((flat[self._places].T * after).T)
