"""The Nyström approximation of a centered Gram matrix: start vectors, an inverse, and lower bounds on eigenvalues."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from gramless.arrays import (
    Array,
    Tower,
    blas_threads_for,
    leading_eigenpairs,
    one_blas_thread,
    row_squares,
    times,
    unit_roundoff,
)
from gramless.features.chunks import add_in_order, row_chunks
from gramless.features.moments import DenseMoments, gather_moments
from gramless.features.rows import chunk_rows
from gramless.features.triangle import Triangle
from gramless.gram.tiled import TiledGram, middle, rectangular_product
from gramless.kernels import Kernel
from gramless.kernels.rounding import growth

_RIDGE = 1e-6  # relative to the trace: far above rounding errors, far below the eigenvalues that matter
_ROWS = 512
_RESOLVED = 0.15
_NEAR = 1e-2  # least distance, relative to the shift, of an eigenvalue from a shift


class Nystroem:
    r"""U diag(a) U^T <= D^1/2 H K H^T D^1/2, from the kernel values of all rows with some of them, the landmarks.

    The features are phi(x) = L^-1 k(landmarks, x) with L L^T = k(landmarks, landmarks) + ridge. The ridge is larger
    than the rounding errors of L, so that L L^T exceeds k(landmarks, landmarks), and Phi Phi^T does not exceed K. The
    eigenvalues a of the centered features are therefore lower bounds on those of the Gram matrix.

    Parameters
    ----------
    kernel : Kernel
        A Mercer kernel.
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    landmarks : ndarray or CSR of shape (m, d)

    Attributes
    ----------
    values : ndarray of shape (m,)
        a, descending.
    floors : ndarray of shape (m,)
        Lower bounds on the leading eigenvalues of the centered Gram matrix, rounding included.

    Examples
    --------
    >>> from gramless.gram import CenteredGram
    >>> from gramless.kernels import Gaussian
    >>> x = np.random.default_rng(0).standard_normal((50, 2))
    >>> near = Nystroem(Gaussian(2.0), x, np.ones(50), x[:20])
    >>> exact = np.linalg.eigvalsh(CenteredGram(TiledGram(Gaussian(2.0), x)).to_dense())[::-1]
    >>> bool((near.floors[:5] <= exact[:5]).all() and near.floors[2] > 0.99 * exact[2])
    True
    """

    def __init__(self, kernel: Kernel, x: Any, weights: Array, landmarks: Any) -> None:
        self._kernel, self._x, self._landmarks = kernel, x, landmarks
        self._roots = np.sqrt(weights)
        self._unit = (self._roots / np.linalg.norm(self._roots))[:, None]
        self._shift = middle(kernel, landmarks)
        self._ready = kernel.prepare(landmarks, self._shift)
        m = landmarks.shape[0]
        with one_blas_thread():
            gram = TiledGram(kernel, landmarks)
            matrix, trace = gram.to_dense(), max(gram.trace, np.finfo(float).tiny)
            formed = growth(m + 2, unit_roundoff()) * 1.01 * (1 + m * _RIDGE) * trace
            ridge = max(_RIDGE * trace, 4 * (gram.error + formed))
            matrix[np.diag_indices_from(matrix)] += ridge
            self._triangle = Triangle(np.linalg.cholesky(matrix))
        self._inverse_norm = float(1 / np.sqrt(ridge - gram.error - formed))
        self._trace = trace
        moments = gather_moments(lambda part: self._moments(part, weights[part]), x.shape[0], chunk_rows(m))
        with blas_threads_for(m):
            values, axes = leading_eigenpairs(moments.scatter, m)
        slack = moments.rounding + 40 * m * unit_roundoff() * float(values.max(initial=0.0))
        self.floors: Array = np.maximum(values - slack, 0.0)
        kept = values > 1e-12 * values.max(initial=0.0)
        self.values: Array = values[kept]
        # U = (I - u u^T) D^1/2 K(x, landmarks) T
        turned = scipy.linalg.solve_triangular(self._triangle.lower, axes[:, kept], lower=True, trans=1)
        self._turned = turned / np.sqrt(self.values)

    def _moments(self, part: slice, weights: Array) -> DenseMoments:
        """Moments of the features of some rows, with bounds on the errors of the features."""
        kernel, triangle, m = self._kernel, self._triangle, len(self._triangle.lower)
        x = self._x[part]
        rows = kernel.prepare(x, self._shift)
        radius = max(kernel.radius(rows), kernel.radius(self._ready))
        rounding = kernel.rounding(radius, x.shape[1], unit_roundoff())
        with np.errstate(over="ignore", invalid="ignore"):
            values = triangle.solve(kernel.evaluate(rows, self._ready))
        reach = np.sqrt(kernel.diagonal(x).clip(0.0) * self._trace)
        off = triangle.residual(np.sqrt(row_squares(values)), reach)
        off += float(np.sqrt(m)) * rounding.absolute + rounding.relative * reach
        return DenseMoments.of(values, weights, 0.0, errors=self._inverse_norm * off)

    def resolves(self, k: int) -> bool:
        """Whether the inverse will reduce the residuals of `k` pairs: what the landmarks leave out must be small.

        What they leave out is about as large as the eigenvalue whose number is a third of theirs.
        """
        beyond = self.values[len(self.floors) // 3 :][:1]
        return len(self.values) > k and bool((beyond < _RESOLVED * self.values[k - 1]).all())

    def vectors(self, count: int) -> Array:
        """The leading eigenvectors U (n, count), orthonormal up to rounding; fewer where there are fewer."""
        return self._combined(self._turned[:, :count])

    def solve(self, residuals: Array, shifts: Array) -> Array:
        """(U diag(a) U^T - s)^-1 r for each residual r (n,) and its shift s: (n, k).

        The residuals must be orthogonal to the roots of the weights, and the shifts must not be 0. Where an eigenvalue
        is as large as a shift, one that is a little smaller or larger is used: the inverse would be infinite.
        """
        along = self._turned.T @ self._sums(residuals)
        apart = self.values[:, None] - shifts
        least = _NEAR * np.abs(shifts)
        apart = np.where(np.abs(apart) < least, np.where(apart < 0, -least, least), apart)
        inside = self._combined(self._turned @ (along * self.values[:, None] / (shifts * apart)))
        return np.asarray(inside - residuals / shifts)

    def _combined(self, coefficients: Array) -> Array:
        """(I - u u^T) D^1/2 K(x, landmarks) c for coefficients c (m, k): (n, k)."""
        found = rectangular_product(self._kernel, self._x, self._landmarks, coefficients, self._dtype, self._shift)
        found *= self._roots[:, None]
        found -= times(self._unit, self._unit.T @ found)
        return found

    def _sums(self, v: Array) -> Array:
        """K(landmarks, x) D^1/2 v for vectors v (n, k): (m, k)."""
        kernel, dtype, sums = self._kernel, self._dtype, Tower()
        ready = kernel.prepare(self._landmarks, self._shift, dtype)

        def products(part: slice) -> Array:
            with np.errstate(over="ignore", invalid="ignore"):
                tile = kernel.evaluate(ready, kernel.prepare(self._x[part], self._shift, dtype))
            return np.asarray(tile.astype(np.float64, copy=False) @ (self._roots[part, None] * v[part]))

        add_in_order(products, row_chunks(self._x.shape[0], _ROWS), sums.push)
        return np.asarray(sums.total())

    @cached_property
    def _dtype(self) -> Any:
        """Precision of kernel values in :meth:`vectors` and :meth:`solve`, which need not be exact."""
        return np.dtype(np.float32 if self._kernel.draftable else np.float64)
