"""The input whose image is nearest to a point of feature space: the fixed point of Mika et al., or gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, run_in_threads
from gramless.kernels import Gaussian, RadialKernel
from gramless.spaces.preimage.descent import Combinations, descend
from gramless.spaces.preimage.expansion import Expansion
from gramless.spaces.preimage.mean_shift import mean_shift


@dataclass(frozen=True, eq=False)
class FixedPoints:
    """What the iteration found.

    Attributes
    ----------
    points : ndarray of shape (m, d)
    converged : ndarray of bool of shape (m,)
        Where False, the point is the start or, by gradient descent, the nearest of all iterates.
    iterations : int
        The largest number of iterations that a row took.
    """

    points: Array
    converged: Array
    iterations: int


def fixed_points(
    expansion: Expansion, scores: Array, start: Array | None = None, *, tol: float = 1e-6, max_iter: int = 500
) -> FixedPoints:
    """The points whose images are nearest to P phi, by iteration from `start`.

    For a radial kernel by :func:`mean_shift`, where weights are the coefficients of P phi, those of the mean
    included (Mika et al. 1999, eq. 10); for other kernels by :func:`~gramless.spaces.preimage.descent.descend`.

    Parameters
    ----------
    expansion : Expansion
    scores : ndarray of shape (m, k)
    start : ndarray of shape (m, d), optional
        By default the point among the candidates whose image is nearest.
    tol : float
        A row has converged when a step is shorter than `tol` times the bandwidth of a Gaussian, or, for another kernel,
        times the square root of the total variance of the points.
    max_iter : int

    Returns
    -------
    FixedPoints
    """
    kernel, points = expansion.kernel, expansion.points
    length = kernel.sigma if isinstance(kernel, Gaussian) else float(np.sqrt(points.var(axis=0).sum()))
    shortest = tol * length
    begin = nearest_candidates(expansion, scores) if start is None else np.asarray(start, dtype=np.float64)
    found, converged = begin.copy(), np.zeros(len(scores), dtype=bool)
    step = int(np.clip(2**20 // max(1, len(expansion.points)), 8, 1024))
    counts = np.zeros(-(-len(scores) // step), dtype=int)

    def work(block: int) -> None:
        part = slice(block * step, (block + 1) * step)
        weights = expansion.coefficients(scores[part])
        if isinstance(kernel, RadialKernel):
            ended, converged[part], counts[block] = mean_shift(
                kernel, points, weights, begin[part], shortest=shortest, max_iter=max_iter
            )
            found[part][converged[part]] = ended[converged[part]]
        else:
            target = Combinations(kernel, points, weights)
            found[part], converged[part], counts[block] = descend(
                target, begin[part], shortest=shortest, max_iter=max_iter
            )

    run_in_threads(work, [list(range(len(counts)))])
    return FixedPoints(found, converged, int(counts.max(initial=0)))


def nearest_candidates(expansion: Expansion, scores: Array) -> Array:
    """For each of `scores` (m, k) the candidate point whose image is nearest: (m, d)."""
    points, products = expansion.candidates
    own = expansion.kernel.diagonal(points) / 2
    best = np.empty(len(scores), dtype=np.int64)
    for first in range(0, len(scores), 1024):
        part = slice(first, first + 1024)
        best[part] = np.argmax(scores[part] @ products[:, 1:].T + products[:, 0] - own, axis=1)
    return np.asarray(points[best])
