"""A point of the input whose image lies near a mean in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize

from gramless.arrays import Array
from gramless.gram import rectangular_product
from gramless.kernels import Kernel, RadialKernel

_STEPS = 200


def approximate_preimage(kernel: Kernel, x: Any, shares: Array, starts: Array) -> tuple[Array, float]:
    r"""The z that minimises \|phi(z) - sum_i a_i phi(x_i)\|^2, descending from several starts.

    For a kernel of the distance, k = g(\|x - y\|^2) with g convex and decreasing, the descent is
    z <- sum_i a_i g'(s_i) x_i / sum_i a_i g'(s_i), s_i = \|z - x_i\|^2, which never increases the distance (Comaniciu &
    Meer 2002, theorem 1; Mika et al. 1999, eq. 10, for the Gaussian). For other kernels BFGS does it.

    Parameters
    ----------
    kernel : Kernel
    x : ndarray of shape (n, d)
    shares : ndarray of shape (n,)
        a: not negative.
    starts : ndarray of shape (s, d)

    Returns
    -------
    z : ndarray of shape (d,)
    distance2 : float
        k(z, z) - 2 sum_i a_i k(z, x_i): the squared distance less the squared norm of the mean.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.array([[0.0], [0.2], [0.4]])
    >>> z, _ = approximate_preimage(Gaussian(5.0), x, np.full(3, 1 / 3), x[:1])
    >>> z.round(6)
    array([0.2])
    """
    x = np.asarray(x, dtype=np.float64)
    found = [_descend(kernel, x, shares, np.asarray(start, dtype=np.float64)) for start in starts]
    found.extend(np.asarray(start, dtype=np.float64) for start in starts)
    costs = [_cost(kernel, x, shares, z) for z in found]
    best = int(np.argmin(costs))
    return found[best], costs[best]


def _descend(kernel: Kernel, x: Array, shares: Array, z: Array) -> Array:
    if isinstance(kernel, RadialKernel):
        return _mean_shift(kernel, x, shares, z)
    return _minimize(kernel, x, shares, z)


def _cost(kernel: Kernel, x: Array, shares: Array, z: Array) -> float:
    near = rectangular_product(kernel, z[None], x, shares[:, None])[0, 0]
    return float(kernel.diagonal(z[None])[0] - 2 * near)


def _mean_shift(kernel: RadialKernel, x: Array, shares: Array, z: Array) -> Array:
    size = float(np.sqrt(shares @ ((x - shares @ x / shares.sum()) ** 2).sum(axis=1) / shares.sum()))
    for _ in range(_STEPS):
        pull = shares * _slope(kernel, ((x - z) ** 2).sum(axis=1))
        total = float(pull.sum())
        if not 0 < total < np.inf:
            return z  # out of reach of every point
        step = pull @ x / total - z
        z = z + step
        if np.linalg.norm(step) <= 1e-9 * size:
            break
    return z


def _slope(kernel: RadialKernel, squared: Array) -> Array:
    """-g', from differences of the profile: any kernel of the distance serves without a formula of its own."""
    step = 1e-5 * np.maximum(squared, 1e-6 * max(float(squared.mean()), np.finfo(float).tiny))
    below = np.maximum(squared - step, 0.0)
    above = squared + step
    fall: Array = (kernel.profile(below.copy()) - kernel.profile(above.copy())) / (above - below)
    return np.maximum(fall, 0.0)


def _minimize(kernel: Kernel, x: Array, shares: Array, z: Array) -> Array:
    size = float(np.abs(x - z).max(initial=0.0)) or 1.0

    def value_and_slope(step: Array) -> tuple[float, Array]:
        h = 1e-5
        moves = h * np.eye(len(z))
        around = z + size * np.vstack([step, step + moves, step - moves])
        near = rectangular_product(kernel, around, x, shares[:, None])[:, 0]
        costs = kernel.diagonal(around) - 2 * near
        d = len(z)
        return float(costs[0]), (costs[1 : d + 1] - costs[d + 1 :]) / (2 * h)

    result = scipy.optimize.minimize(
        value_and_slope, np.zeros(len(z)), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}
    )
    return np.asarray(z + size * result.x)
