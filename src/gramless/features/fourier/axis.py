"""Sines and cosines along one axis of a grid: coefficients to values at equispaced points, and back."""

from __future__ import annotations

import numpy as np
import scipy.fft

from gramless.arrays import Array, unit_roundoff

_LARGEST_MATRIX = 320  # points up to which a product with the matrix of the functions is faster than an FFT


class TrigonometricAxis:
    """The functions sqrt(2) sin(m t), ..., sqrt(2) sin t, 1, sqrt(2) cos t, ..., sqrt(2) cos(m t) at `size` points.

    With `size` > 4 m, sums over the points integrate products of two of these functions and a third one of twice the
    degree exactly. The matrix E of the functions has E^T E = size I. Up to a few hundred points a matrix product is
    faster than an FFT: it runs at the speed of BLAS, and half of the input of an FFT would be zeros.

    Parameters
    ----------
    count : int
        m.

    Examples
    --------
    >>> axis = TrigonometricAxis(2)
    >>> axis.size
    9
    >>> values = axis.evaluate(np.array([[0.0, 0.0, 1.0, 0.0, 0.0]]))  # the constant 1
    >>> bool(np.allclose(values, 1))
    True
    >>> bool(np.allclose(axis.gather(values), [[0, 0, 9, 0, 0]]))
    True
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.size = int(scipy.fft.next_fast_len(4 * count + 1, real=True))
        self._matrix: Array | None = None
        if self.size <= _LARGEST_MATRIX:
            turns = np.outer(np.arange(self.size), np.arange(1, count + 1)) % self.size  # exact, for exact angles
            angles = 2 * np.pi / self.size * turns
            sines, cosines = np.sqrt(2) * np.sin(angles), np.sqrt(2) * np.cos(angles)
            self._matrix = np.hstack([sines[:, ::-1], np.ones((self.size, 1)), cosines])

    @property
    def rounding(self) -> float:
        """Bound on the error of one transform, relative to sqrt(size) times the norm of its input."""
        if self._matrix is None:
            return float(8 * (np.log2(self.size) + 1) * unit_roundoff())
        terms = self.size  # terms of the longer sum, that of `gather`
        return float((terms + 2) * np.sqrt(terms) * unit_roundoff())

    def evaluate(self, coefficients: Array, axis: int = -1) -> Array:
        """Values at the points, along the last axis or the one before it."""
        if self._matrix is not None:
            return coefficients @ self._matrix.T if axis == -1 else np.matmul(self._matrix, coefficients)
        parts = np.moveaxis(coefficients, axis, -1)
        half = np.zeros((*parts.shape[:-1], self.size // 2 + 1), dtype=np.complex128)
        m = self.count
        half[..., 0] = parts[..., m]
        half[..., 1 : m + 1].real = np.sqrt(0.5) * parts[..., m + 1 :]
        half[..., 1 : m + 1].imag = -np.sqrt(0.5) * parts[..., :m][..., ::-1]
        return np.moveaxis(scipy.fft.irfft(half, self.size, norm="forward", overwrite_x=True), -1, axis)

    def gather(self, values: Array, axis: int = -1) -> Array:
        """The adjoint of :meth:`evaluate`: sums of the values times each function."""
        if self._matrix is not None:
            return values @ self._matrix if axis == -1 else np.matmul(self._matrix.T, values)
        half = scipy.fft.rfft(np.moveaxis(values, axis, -1))[..., : self.count + 1]
        m = self.count
        parts = np.empty((*half.shape[:-1], 2 * m + 1))
        parts[..., m] = half[..., 0].real
        parts[..., m + 1 :] = np.sqrt(2) * half[..., 1:].real
        parts[..., :m] = -np.sqrt(2) * half[..., :0:-1].imag
        return np.moveaxis(parts, -1, axis)
