"""The centred scatter of Fourier features, applied by FFT or written down."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.fft

from gramless.arrays import Array, run_in_threads, thread_count, unit_roundoff, use_threads
from gramless.features.fourier.grid import FourierGrid

_PARALLEL = 500_000  # below this many points, FFT threads cost more than they save


class ToeplitzScatter:
    """S = sum_n w_n (phi_n - mean)(phi_n - mean)^T for phi_j(x) = sqrt(w_j) (cos t.j + sin t.j).

    In this basis (Hartley's) coefficients a are real; those of the exponentials are c = ((a + flip a) - i (a - flip a))
    / 2, and a = Re c - Im c. Phi* Phi is a convolution with the sums F; both sides have a real Fourier transform.

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
        first = sums.reshape(-1)[grid.places(sums.shape)]
        self._mean = self._roots * (first.real - first.imag) / np.sqrt(weight)
        self._counts = grid.axes.counts
        last = len(self._counts) - 1
        self._sizes = tuple(
            scipy.fft.next_fast_len(4 * m + 1, real=axis == last) for axis, m in enumerate(self._counts)
        )
        self._workers = thread_count() if np.prod(self._sizes) >= _PARALLEL else 1
        # one of each pair j, -j: those with last frequency >= 0
        self._upper = np.nonzero(grid.modes[:, -1] >= 0)[0]
        self._half = (*(2 * m + 1 for m in self._counts[:-1]), self._counts[-1] + 1)
        shifted = grid.modes[self._upper] + np.array([*self._counts[:-1], 0])
        self._places = np.ravel_multi_index(tuple(shifted.T), self._half)

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        spread = self.weight * self.grid.weights - self._mean**2
        return float(spread.sum())

    @cached_property
    def frobenius2(self) -> float:
        """Bound on the sum of the squares of all eigenvalues."""
        full = np.zeros([2 * m + 1 for m in self._counts])
        full.reshape(-1)[self.grid.places(full.shape)] = self.grid.weights
        spectrum = scipy.fft.rfftn(full, self._sizes, workers=self._workers)
        spectrum *= spectrum.conj()
        products = np.maximum(scipy.fft.irfftn(spectrum, self._sizes, workers=self._workers), 0.0)
        lags = (np.arange(-2 * m, 2 * m + 1) % size for m, size in zip(self._counts, self._sizes, strict=True))
        square = float((products[np.ix_(*lags)] * np.abs(self.sums) ** 2).sum())
        length = float(self._mean @ self._mean)
        cross = float(self._mean @ self._uncentred(self._mean))
        return max(0.0, square - 2 * cross + length**2) + 1e-14 * square

    @cached_property
    def _symbol(self) -> Array:
        """Transform of F on the padded grid: real, since F_-q is the conjugate of F_q."""
        half = self.sums[..., self.sums.shape[-1] // 2 :]
        return self._to_points(half)

    @cached_property
    def error(self) -> float:
        """Bound on the rounding error of a product, relative to the norm of the vector."""
        steps = np.log2(np.prod(self._sizes)) + 4
        size = float(self.grid.weights.max()) * float(np.abs(self._symbol).max())
        return float(8 * steps * unit_roundoff() * (size + self.weight * self.grid.peak))

    def to_dense(self) -> Array:
        """The matrix (D, D): cas a cas b = cos(a - b) + sin(a + b), a Toeplitz and a Hankel part."""
        flat = self.sums.reshape(-1)
        middle = flat.size // 2
        offset = self.grid.places(self.sums.shape) - middle
        dense = flat.real[middle + offset[:, None] - offset]
        dense -= flat.imag[middle + offset[:, None] + offset]
        dense *= self._roots
        dense *= self._roots[:, None]
        dense -= np.outer(self._mean, self._mean)
        return np.asarray(dense)

    def __matmul__(self, a: Array) -> Array:
        """S a for a vector (D,) or columns (D, r)."""
        if a.ndim == 2:
            return self._columns(a)
        product: Array = self._uncentred(a)
        product -= self._mean * (self._mean @ a)
        return product

    def _columns(self, a: Array) -> Array:
        out = np.empty((a.shape[1], a.shape[0]))

        def work(column: int) -> None:
            out[column] = self @ np.ascontiguousarray(a[:, column])

        _ = self._symbol  # made once, before the threads ask for it
        shared = np.prod(self._sizes) >= _PARALLEL // 10 and self._workers == 1
        with use_threads(None if shared else 1):
            run_in_threads(work, [list(range(a.shape[1]))])
        return np.ascontiguousarray(out.T)

    def _uncentred(self, a: Array) -> Array:
        scaled = self._roots * a
        flipped = scaled[::-1]
        small = np.zeros(self._half, dtype=np.complex128)
        upper = self._upper
        small.reshape(-1)[self._places] = 0.5 * (
            (scaled[upper] + flipped[upper]) - 1j * (scaled[upper] - flipped[upper])
        )
        points = self._to_points(small)
        points *= self._symbol
        found = self._to_modes(points).reshape(-1)[self._places]
        product = np.empty_like(scaled)
        product[len(product) - 1 - upper] = found.real + found.imag
        product[upper] = found.real - found.imag
        product *= self._roots
        return product

    def _to_points(self, small: Array) -> Array:
        """Values on the padded grid of exponentials with these coefficients; zeros are not transformed."""
        for axis, size in enumerate(self._sizes[:-1]):
            m = small.shape[axis] // 2
            moved = np.moveaxis(small, axis, 0)
            padded = np.zeros((size, *moved.shape[1:]), dtype=np.complex128)
            padded[: m + 1], padded[size - m :] = moved[m:], moved[:m]
            small = scipy.fft.ifft(
                np.moveaxis(padded, 0, axis), axis=axis, norm="forward", overwrite_x=True, workers=self._workers
            )
        return np.asarray(scipy.fft.irfft(small, self._sizes[-1], norm="forward", workers=self._workers))

    def _to_modes(self, points: Array) -> Array:
        """The inverse of :meth:`_to_points`, for the frequencies of the grid."""
        small = scipy.fft.rfft(points, norm="forward", workers=self._workers)[..., : self._counts[-1] + 1]
        for axis in reversed(range(len(self._sizes) - 1)):
            m = self._counts[axis]
            found = np.moveaxis(scipy.fft.fft(small, axis=axis, norm="forward", workers=self._workers), axis, 0)
            small = np.moveaxis(np.concatenate([found[-m:], found[: m + 1]]), 0, axis)
        return np.asarray(small)
