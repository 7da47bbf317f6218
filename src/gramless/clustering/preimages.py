"""A point of input space whose image lies near a mean in feature space."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.gram import rectangular_product
from gramless.kernels import Kernel, RadialKernel
from gramless.spaces import Combinations, descend, mean_shift

_STEPS = 200


def approximate_preimage(kernel: Kernel, x: Any, shares: Array, starts: Array) -> tuple[Array, float]:
    r"""The z that minimizes \|phi(z) - sum_i a_i phi(x_i)\|^2, descending from several starts.

    For a radial kernel by :func:`~gramless.spaces.mean_shift`, for other kernels by
    :func:`~gramless.spaces.descend`.

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
        k(z, z) - 2 sum_i a_i k(z, x_i): the squared distance minus the squared norm of the mean.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.array([[0.0], [0.2], [0.4]])
    >>> z, _ = approximate_preimage(Gaussian(5.0), x, np.full(3, 1 / 3), x[:1])
    >>> z.round(6)
    array([0.2])
    """
    x, starts = np.asarray(x, dtype=np.float64), np.asarray(starts, dtype=np.float64)
    found = np.vstack([_descend(kernel, x, shares, starts), starts])
    costs = kernel.diagonal(found) - 2 * rectangular_product(kernel, found, x, shares[:, None])[:, 0]
    best = int(np.argmin(costs))
    return found[best], float(costs[best])


def _descend(kernel: Kernel, x: Array, shares: Array, starts: Array) -> Array:
    shares = shares / shares.sum()
    size = float(np.sqrt(shares @ ((x - shares @ x) ** 2).sum(axis=1)))
    weights = np.broadcast_to(shares, (len(starts), len(shares)))
    if isinstance(kernel, RadialKernel):
        return mean_shift(kernel, x, weights, starts, shortest=1e-9 * size, max_iter=_STEPS)[0]
    return descend(Combinations(kernel, x, weights), starts, shortest=1e-9 * size, max_iter=_STEPS)[0]
