"""Pre-images from distances: the input whose distances to its neighbors agree with those in feature space."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array
from gramless.kernels import RadialKernel
from gramless.spaces.preimage.expansion import Expansion


def from_distances(expansion: Expansion, scores: Array, neighbours: int = 10) -> Array:
    """Least squares on the distances to the nearest neighbors (Kwok & Tsang 2004).

    The distance in feature space between P phi and phi(x_i) determines that in input space, since the kernel falls with
    the distance. With x_i the nearest neighbors, m their mean and d_i these distances, z = m + u satisfies
    (x_i - m).u = (|x_i - m|^2 - d_i^2) / 2 + constant; of all solutions the shortest u is taken.

    Parameters
    ----------
    expansion : Expansion
        Of a radial kernel.
    scores : ndarray of shape (m, k)
    neighbours : int

    Returns
    -------
    ndarray of shape (m, d)
    """
    kernel = expansion.kernel
    if not isinstance(kernel, RadialKernel):
        raise ValueError(
            f"method='distances' is for radial kernels that decay with the distance, not {kernel}; use method='auto'"
        )
    points, products = expansion.candidates
    q = min(neighbours, len(points))
    out = np.empty((len(scores), points.shape[1]))
    step = int(np.clip(2**22 // max(len(points), q * points.shape[1]), 1, 1024))
    for first in range(0, len(scores), step):
        part = slice(first, first + step)
        along = scores[part] @ products[:, 1:].T + products[:, 0]  # <P phi, phi(x_i)>
        near = np.argpartition(-along, q - 1, axis=1)[:, :q]
        top = kernel.bound(0.0)
        # the image of z has norm^2 k(z, z) = top: from equal distances, k(x_i, z) = <P phi, phi(x_i)> + ...
        values = np.take_along_axis(along, near, axis=1) + (top - expansion.norms2(scores[part]))[:, None] / 2
        squared = invert_profile(kernel, values)
        out[part] = _locate(points[near], squared)
    return out


def invert_profile(kernel: RadialKernel, values: Array) -> Array:
    """Squared distances at which the kernel takes `values`, by bisection; values are clipped to its range.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> invert_profile(Gaussian(sigma=1.0), np.exp([-0.5, -2.0])).round(6)
    array([1., 4.])
    """
    top = kernel.bound(0.0)
    wanted = np.clip(values, 1e-12 * top, top)
    high = np.ones_like(wanted)
    for _ in range(2000):
        far = kernel.profile(high.copy()) > wanted
        if not far.any():
            break
        high[far] *= 4.0
    low = np.zeros_like(wanted)
    for _ in range(80):
        middle = (low + high) / 2
        far = kernel.profile(middle.copy()) >= wanted
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return np.where(wanted >= top, 0.0, (low + high) / 2)


def _locate(near: Array, squared: Array) -> Array:
    """Points (m, d) at squared distances `squared` (m, q) from neighbors `near` (m, q, d), by least squares."""
    middle = near.mean(axis=1)
    arms = near - middle[:, None]
    right = (np.einsum("mqd,mqd->mq", arms, arms) - squared) / 2
    right -= right.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(arms @ arms.transpose(0, 2, 1))
    kept = values > 1e-10 * np.maximum(values[:, -1:], np.finfo(float).tiny)
    scaled = np.einsum("mqr,mq->mr", vectors, right) * kept / np.where(kept, values, 1.0)
    along = np.einsum("mqr,mr->mq", vectors, scaled)
    return np.asarray(middle + np.einsum("mq,mqd->md", along, arms))
