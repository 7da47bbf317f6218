"""Incremental kernel PCA by rank-one updates (Hallgren & Northrop, Incremental Kernel PCA and the Nystroem Method).

All eigenpairs of the centred Gram matrix are kept. A row more changes every mean, which is a symmetric matrix of rank
two, and borders the matrix, which is another one: four updates of rank one, each an equation for the eigenvalues (Golub
1973) and a product of two m x m matrices for the eigenvectors (Bunch, Nielsen & Sorensen 1978).
"""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array
from gramless.kernels import Kernel


class RankOneKernelPCA:
    """Eigenpairs of the centred Gram matrix, row by row.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.random.default_rng(0).standard_normal((12, 2))
    >>> model = RankOneKernelPCA(Gaussian(1.0))
    >>> for row in x:
    ...     model.add(row)
    >>> centring = np.eye(12) - 1 / 12
    >>> exact = np.linalg.eigvalsh(centring @ Gaussian(1.0)(x) @ centring)
    >>> bool(np.allclose(model.values, exact, atol=1e-8))
    True
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.x = np.zeros((0, 0))
        self.values, self.vectors = np.zeros(1), np.ones((1, 1))  # of one row: the centred matrix is 0
        self.sums = np.zeros(0)  # of the rows of the Gram matrix

    def add(self, row: Array) -> None:
        """Take in a row (d,)."""
        own = float(self.kernel.diagonal(row[None])[0])
        if len(self.x) == 0:
            self.x, self.sums = row[None], np.array([own])
            return
        column, m = self.kernel(self.x, row[None])[:, 0], len(self.x)
        means, total = self.sums / m, self.sums.sum() / m**2
        self.sums = np.append(self.sums + column, column.sum() + own)
        new_means, new_total = self.sums / (m + 1), self.sums.sum() / (m + 1) ** 2
        shift = means - new_means[:m] + (new_total - total) / 2  # the old block changes by 1 u^T + u 1^T
        self._update(1 + shift, 0.5)
        self._update(1 - shift, -0.5)
        border = column - new_means[:m] - new_means[m] + new_total
        corner = own - 2 * new_means[m] + new_total
        self.values = np.append(self.values, corner / 4)
        self.vectors = np.block([[self.vectors, np.zeros((m, 1))], [np.zeros((1, m)), np.ones((1, 1))]])
        self._sort()
        self._update(np.append(border, corner / 2), 4 / corner)
        self._update(np.append(border, corner / 4), -4 / corner)
        self.x = np.vstack([self.x, row])

    def _sort(self) -> None:
        order = np.argsort(self.values)
        self.values, self.vectors = self.values[order], self.vectors[:, order]

    def _update(self, v: Array, sigma: float) -> None:
        """Eigenpairs of U L U^T + sigma v v^T."""
        z = self.vectors.T @ v
        moved = np.abs(z) > 1e-14 * np.linalg.norm(v)  # the others are eigenvectors still
        d, part = self.values[moved], z[moved]
        if len(d) == 0:
            return
        if sigma < 0:  # the same problem upside down
            poles, offsets = _secular_roots(-d[::-1], part[::-1], -sigma)
            roots, gaps = -(poles + offsets)[::-1], -_gaps(-d[::-1], poles, offsets)[::-1, ::-1]
        else:
            poles, offsets = _secular_roots(d, part, sigma)
            roots, gaps = poles + offsets, _gaps(d, poles, offsets)
        turn = part[:, None] / gaps
        turn /= np.linalg.norm(turn, axis=0)
        vectors = self.vectors.copy()
        vectors[:, moved] = self.vectors[:, moved] @ turn
        values = self.values.copy()
        values[moved] = roots
        self.values, self.vectors = values, vectors
        self._sort()


def _gaps(d: Array, poles: Array, offsets: Array) -> Array:
    """d_i - root_j, from the distances of the roots to their nearest poles: no cancellation."""
    return (d[:, None] - poles) - offsets


def _secular_roots(d: Array, z: Array, sigma: float) -> tuple[Array, Array]:
    """Roots of 1 + sigma sum z_i^2 / (d_i - x) for ascending d and sigma > 0, as nearest pole and distance from it."""
    ends = np.append(d[1:], d[-1] + sigma * float(z @ z))
    width = np.maximum(ends - d, np.finfo(float).tiny)

    def value(poles: Array, offsets: Array) -> Array:
        with np.errstate(divide="ignore"):
            return 1 + sigma * (z[:, None] ** 2 / _gaps(d, poles, offsets)).sum(axis=0)

    left = value(d, width / 2) >= 0  # then the root lies in the lower half
    left[-1] = True
    poles = np.where(left, d, ends)
    low = np.where(left, 0.0, -width / 2)
    high = np.where(left, np.append(width[:-1] / 2, width[-1]), 0.0)
    for _ in range(56):
        middle = (low + high) / 2
        below = value(poles, middle) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return poles, (low + high) / 2
