"""Descent to a point of input space whose image is near a sum of images, for radial kernels."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array
from gramless.kernels import RadialKernel
from gramless.kernels.gradients import descents


def mean_shift(
    kernel: RadialKernel, points: Array, weights: Array, begin: Array, *, shortest: float, max_iter: int
) -> tuple[Array, Array, int]:
    r"""Iterate z = sum_i a_i g'(s_i) x_i / sum_i a_i g'(s_i), s_i = \|z - x_i\|^2, for k = g(\|x - y\|^2).

    A stationary point of the distance from phi(z) to sum_i a_i phi(x_i) satisfies this equation (Mika et al. 1999, eq.
    10, for the Gaussian, where g' is k up to a factor). With a >= 0 and g convex and decreasing no step increases the
    distance (Comaniciu & Meer 2002, theorem 1). All rows are iterated together, with two matrix products per step; rows
    that have converged drop out.

    Parameters
    ----------
    kernel : RadialKernel
    points : ndarray of shape (n, d)
    weights : ndarray of shape (m, n)
        a, a row for each of `begin`.
    begin : ndarray of shape (m, d)
    shortest : float
        A row has converged when its step is no longer than this.
    max_iter : int

    Returns
    -------
    z : ndarray of shape (m, d)
        The start, where the descent ended farther from the sum of images than it began.
    converged : ndarray of bool of shape (m,)
    iterations : int

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.array([[0.0], [0.2], [0.4]])
    >>> z, converged, _ = mean_shift(Gaussian(5.0), x, np.ones((1, 3)) / 3, x[:1], shortest=1e-9, max_iter=100)
    >>> z.round(6), converged
    (array([[0.2]]), array([ True]))
    """
    center = points.mean(axis=0)
    points = points - center  # centered, so that differences lose fewer digits
    ready = kernel.prepare(points)
    z, left = begin - center, np.arange(len(begin))
    converged = np.zeros(len(begin), dtype=bool)
    first = np.einsum("ij,ij->i", weights, kernel.evaluate(kernel.prepare(z), ready))
    iteration = 0
    while len(left) and iteration < max_iter:
        iteration += 1
        pull = weights[left] * descents(kernel, kernel.prepare(z[left]), ready)
        total = pull.sum(axis=1)
        alive = np.abs(total) > 1e-12 * np.abs(pull).sum(axis=1)  # the others are too far from every point
        left, pull, total = left[alive], pull[alive], total[alive]
        moved = pull @ points / total[:, None]
        step2 = ((moved - z[left]) ** 2).sum(axis=1)
        z[left] = moved
        converged[left] = step2 <= shortest**2
        left = left[~converged[left]]
    last = np.einsum("ij,ij->i", weights, kernel.evaluate(kernel.prepare(z), ready))
    nearer = np.isfinite(last) & (last >= first - 1e-9 * np.abs(first)) & (last > 0)
    return np.where(nearer[:, None], z + center, begin), converged & nearer, iteration
