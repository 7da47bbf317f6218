"""Search on the orthogonal group: first pairs of columns are rotated, then all columns together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize

from gramless.arrays import Array, evenly_spaced
from gramless.independence.contrast import Contrast

_ANGLES = 24  # in a quarter turn: beyond it, columns only change places or sign
_SWEEPS = 5
_SAMPLE = 2000


@dataclass(frozen=True, eq=False)
class Rotation:
    """The result of the search.

    Attributes
    ----------
    turn : ndarray of shape (m, m)
        Orthogonal W that minimizes the dependence of the columns of z W^T.
    value : float
        Their contrast.
    iterations : int
        Iterations of the last search, over all columns together.
    converged : bool
    """

    turn: Array
    value: float
    iterations: int
    converged: bool


def find_rotation(
    contrast: Contrast,
    z: Array,
    weights: Array,
    starts: list[Array],
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> Rotation:
    """The rotation of whitened columns `z` (n, m) with the minimum contrast, the best of several starts.

    From each start, pairs of columns are rotated through a quarter circle in steps (on at most 2000 rows), sweep after
    sweep, which comes near a minimum. Then L-BFGS on W = exp(S) W_0, S skew, with the exact gradient, converges to it.

    Parameters
    ----------
    contrast : Contrast
    z : ndarray of shape (n, m)
    weights : ndarray of shape (n,)
    starts : list of ndarray of shape (m, m)
        Orthogonal.
    tol : float
        Stop when no entry of the gradient on the group exceeds this.
    max_iter : int
    """
    rows = evenly_spaced(len(z), _SAMPLE)
    found = [
        descend(contrast, z, weights, sweep_pairs(contrast, z[rows], weights[rows], start), tol, max_iter)
        for start in starts
    ]
    return min(found, key=lambda rotation: rotation.value)


def sweep_pairs(contrast: Contrast, z: Array, weights: Array, start: Array) -> Array:
    """Rotate two columns at a time to the best of 24 angles, until a sweep over all pairs changes nothing."""
    turn, m = start.copy(), len(start)
    angles = np.arange(_ANGLES) * (np.pi / 2 / _ANGLES)
    for _ in range(_SWEEPS):
        moved = False
        for i in range(m):
            for j in range(i + 1, m):
                pair = z @ turn[[i, j]].T
                values = [contrast.value(pair @ _plane(angle).T, weights) for angle in angles]
                best = int(np.argmin(values))
                if values[best] < values[0]:
                    turn[[i, j]] = _plane(angles[best]) @ turn[[i, j]]
                    moved = True
        if not moved:
            break
    return turn


def descend(contrast: Contrast, z: Array, weights: Array, start: Array, tol: float, max_iter: int) -> Rotation:
    """L-BFGS on exp(S) start over skew matrices S; SciPy has the derivative of exp."""
    m = len(start)
    upper = np.triu_indices(m, 1)

    def skew(angles: Array) -> Array:
        matrix = np.zeros((m, m))
        matrix[upper] = angles
        return matrix - matrix.T

    def objective(angles: Array) -> tuple[float, Array]:
        matrix = skew(angles)
        value, gradient = contrast.value_and_gradient(z, scipy.linalg.expm(matrix) @ start, weights)
        slope = scipy.linalg.expm_frechet(matrix.T, gradient @ start.T, compute_expm=False)
        return value, (slope - slope.T)[upper]

    settings = {"maxiter": max_iter, "gtol": tol, "ftol": 1e-12}
    result = scipy.optimize.minimize(objective, np.zeros(len(upper[0])), jac=True, method="L-BFGS-B", options=settings)
    turn = scipy.linalg.expm(skew(result.x)) @ start
    converged = bool(result.success) or float(np.abs(result.jac).max(initial=0.0)) <= np.sqrt(tol)
    return Rotation(turn, float(result.fun), int(result.nit), converged)


def _plane(angle: float) -> Array:
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, sine], [-sine, cosine]])
