"""The fixed point of Mika et al.: the point whose image is nearest to a point of feature space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, run_in_threads
from gramless.kernels import Gaussian
from gramless.spaces.preimage.expansion import Expansion


@dataclass(frozen=True, eq=False)
class FixedPoints:
    """What the iteration found.

    Attributes
    ----------
    points : ndarray of shape (m, d)
    converged : ndarray of bool of shape (m,)
        Where it did not, the point is the start.
    iterations : int
        The most that a row took.
    """

    points: Array
    converged: Array
    iterations: int


def fixed_points(
    expansion: Expansion, scores: Array, start: Array | None = None, *, tol: float = 1e-6, max_iter: int = 500
) -> FixedPoints:
    """Iterate z = sum_l g_l k(x_l, z) x_l / sum_l g_l k(x_l, z) for a Gaussian kernel.

    g are the coefficients of P phi, those of the mean included (Mika et al. 1999, eq. 10; Schoelkopf et al. 1999). A
    stationary point of the distance to P phi satisfies it. Rows are done together, two matrix products a step; those
    that have settled drop out.

    Parameters
    ----------
    expansion : Expansion
        Of a Gaussian kernel.
    scores : ndarray of shape (m, k)
    start : ndarray of shape (m, d), optional
        By default the point among the candidates whose image is nearest.
    tol : float
        A row has converged when a step is shorter than ``tol * sigma``.
    max_iter : int

    Returns
    -------
    FixedPoints
    """
    if not isinstance(expansion.kernel, Gaussian):
        raise ValueError(
            f"method='fixed_point' is for the Gaussian kernel, not {expansion.kernel}; use method='ridge', "
            "or 'distances' for another kernel of the distance"
        )
    begin = nearest_candidates(expansion, scores) if start is None else np.asarray(start, dtype=np.float64)
    found, converged = begin.copy(), np.zeros(len(scores), dtype=bool)
    step = int(np.clip(2**20 // max(1, len(expansion.points)), 8, 1024))
    counts = np.zeros(-(-len(scores) // step), dtype=int)

    def work(block: int) -> None:
        part = slice(block * step, (block + 1) * step)
        found[part], converged[part], counts[block] = _iterate(expansion, scores[part], begin[part], tol, max_iter)

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


def _iterate(expansion: Expansion, scores: Array, begin: Array, tol: float, max_iter: int) -> tuple[Array, Array, int]:
    """Some rows, together; one that ends farther from P phi than it began has not converged."""
    kernel, center = expansion.kernel, expansion.points.mean(axis=0)
    points = expansion.points - center  # differences from a middle lose fewer digits
    ready = kernel.prepare(points)
    weights = expansion.coefficients(scores)
    z, left = begin - center, np.arange(len(begin))
    converged = np.zeros(len(begin), dtype=bool)
    first = np.einsum("ij,ij->i", weights, kernel.evaluate(kernel.prepare(z), ready))
    small = (tol * kernel.sigma) ** 2  # type: ignore[attr-defined]
    iteration = 0
    while len(left) and iteration < max_iter:
        iteration += 1
        pull = weights[left] * kernel.evaluate(kernel.prepare(z[left]), ready)
        total = pull.sum(axis=1)
        alive = np.abs(total) > 1e-12 * np.abs(pull).sum(axis=1)
        left, pull, total = left[alive], pull[alive], total[alive]
        moved = pull @ points / total[:, None]
        step2 = ((moved - z[left]) ** 2).sum(axis=1)
        z[left] = moved
        converged[left] = step2 <= small
        left = left[~converged[left]]
    last = np.einsum("ij,ij->i", weights, kernel.evaluate(kernel.prepare(z), ready))
    converged &= np.isfinite(last) & (last >= first - 1e-9 * np.abs(first)) & (last > 0)
    return np.where(converged[:, None], z + center, begin), converged, iteration
