"""Gradient descent of many rows at once, for pre-images of kernels that have no fixed-point iteration."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gramless.arrays import Array
from gramless.kernels import Kernel
from gramless.kernels.gradients import central_differences, weighted_gradients
from gramless.spaces.eigenspace import Eigenspace

_LEAST_FALL = 1e-4  # share of the fall that the gradient promises (Armijo)


class Target(Protocol):
    """Points of feature space, one for each row that descends."""

    def distances(self, z: Array, rows: Array) -> Array:
        """Squared distances (m,) of phi(z_m) from points `rows` (m,), up to a constant of each."""

    def gradients(self, z: Array, rows: Array) -> Array:
        """Their gradients (m, d) in z."""


class Combinations:
    """sum_i w_mi phi(points_i), for `weights` w (m, n)."""

    def __init__(self, kernel: Kernel, points: Array, weights: Array) -> None:
        self.kernel, self.points, self.weights = kernel, points, weights

    def distances(self, z: Array, rows: Array) -> Array:
        values = np.einsum("mn,mn->m", self.weights[rows], self.kernel(z, self.points))
        return np.asarray(self.kernel.diagonal(z) - 2 * values)

    def gradients(self, z: Array, rows: Array) -> Array:
        own = weighted_gradients(self.kernel, z, z, 2 * np.eye(len(z)))  # k is symmetric
        return np.asarray(own - 2 * weighted_gradients(self.kernel, z, self.points, self.weights[rows]))


class Projections:
    """Points of an eigenspace given by `scores` (m, k): for features without points, by differences."""

    def __init__(self, space: Eigenspace, scores: Array) -> None:
        self.space, self.scores = space, scores
        self.both = np.column_stack([space.mean, space.basis])

    def distances(self, z: Array, rows: Array) -> Array:
        products = self.space.span.dot(z, self.both)
        along = products[:, 0] + np.einsum("mk,mk->m", products[:, 1:], self.scores[rows])
        return np.asarray(self.space.span.norms2(z) - 2 * along)

    def gradients(self, z: Array, rows: Array) -> Array:
        return central_differences(lambda near: self.distances(near, rows), z)


def descend(target: Target, begin: Array, *, shortest: float, max_iter: int) -> tuple[Array, Array, int]:
    """Points near `begin` (m, d) whose images are nearest to `target`; no row ends farther from it than it began.

    Steps have the length of Barzilai & Borwein (1988), shortened to a quarter as long as they do not lead nearer. All
    rows descend together; those that have converged drop out.

    Parameters
    ----------
    target : Target
    begin : ndarray of shape (m, d)
    shortest : float
        A row has converged when its step is no longer than this.
    max_iter : int

    Returns
    -------
    z : ndarray of shape (m, d)
    converged : ndarray of bool of shape (m,)
    iterations : int

    Examples
    --------
    >>> from gramless.kernels import Polynomial
    >>> x = np.array([[1.0, 2.0]])
    >>> target = Combinations(Polynomial(3), x, np.ones((1, 1)))
    >>> descend(target, x + 0.5, shortest=1e-9, max_iter=100)[0].round(6)
    array([[1., 2.]])
    """
    z, left, iteration = begin.copy(), np.arange(len(begin)), 0
    value, slope = target.distances(z, left), target.gradients(z, left)
    size = _squares(slope)
    pace = 1e4 * shortest / np.sqrt(np.maximum(size, np.finfo(float).tiny))
    left = left[np.isfinite(value) & (size > 0)]
    while len(left) and iteration < max_iter:
        iteration += 1
        step = -pace[left, None] * slope[left]
        there = target.distances(z[left] + step, left)
        nearer = there <= value[left] - _LEAST_FALL * pace[left] * size[left]  # False where not finite
        short = _squares(step) <= shortest**2
        pace[left[~nearer]] /= 4
        if nearer.any():
            moved, step = left[nearer], step[nearer]
            z[moved], value[moved] = z[moved] + step, there[nearer]
            ahead = target.gradients(z[moved], moved)
            bend = np.einsum("md,md->m", step, ahead - slope[moved])
            pace[moved] = np.where(bend > 0, _squares(step) / np.where(bend > 0, bend, 1.0), 4 * pace[moved])
            slope[moved], size[moved] = ahead, _squares(ahead)
        left = left[~short & (size[left] > 0)]
    converged = np.ones(len(begin), dtype=bool)
    converged[left] = False
    return z, converged & np.isfinite(value), iteration


def _squares(x: Array) -> Array:
    """Squared norms of rows."""
    return np.asarray(np.einsum("md,md->m", x, x))
