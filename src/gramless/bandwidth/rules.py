"""Rules for gamma that depend on the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.kernels.manhattan import Manhattan, sums_of_differences
from gramless.kernels.points import prepare_points, squared_distances

_SAMPLE = 1000
_BLOCK = 8192


def resolve_gamma(gamma: float | str | None, x: Any, weights: Array, kernel: Any = "rbf") -> float:
    """The value of `gamma` for given rows.

    Parameters
    ----------
    gamma : float, None, "scale" or "median"
        None: 1 / d, scikit-learn's default. ``"scale"``: 1 / (d var(x)), as in scikit-learn's SVC.
        ``"median"``: 1 / (2 m^2), where m is the median Euclidean distance of two different points: sigma = m. For
        the Laplacian kernel 1 / m, where m is the median Manhattan distance.
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
        Rows of weight 0 have no influence.
    kernel : str or Kernel
        The kernel that `gamma` is for.
    """
    d = x.shape[1]
    if gamma is None:
        return 1.0 / int(d)
    if gamma == "scale":
        return gamma_of_variance(_variance(x, weights), d, kernel)
    if gamma == "median":
        middle = _median_distance(x, weights, kernel)
        return (1.0 if adds_differences(kernel) else 0.5) / middle if middle > 0 else 1.0
    return float(gamma)


def gamma_of_variance(variance: float, d: int, kernel: Any = "rbf") -> float:
    """The value of ``gamma="scale"``, where `variance` is the variance of all entries of rows with `d` columns.

    The bandwidth of the Laplacian kernel is the sigma that the Gaussian kernel would get.

    Examples
    --------
    >>> gamma_of_variance(0.5, 4), gamma_of_variance(0.5, 4, "laplacian")
    (0.5, 1.0)
    """
    if not variance > 0:
        return 1.0
    gamma = float(1.0 / (d * variance))
    return float(np.sqrt(2 * gamma)) if adds_differences(kernel) else gamma


def adds_differences(kernel: Any) -> bool:
    """Whether a kernel, given as an object or by name, uses Manhattan distances: its gamma is 1 / bandwidth."""
    return isinstance(kernel, Manhattan) or (isinstance(kernel, str) and kernel == "laplacian")


def _variance(x: Any, weights: Array) -> float:
    """Weighted variance of all entries together."""
    part = weights / (weights.sum() * x.shape[1])
    if scipy.sparse.issparse(x):
        mean = float((part @ x).sum())
        return float((part @ x.multiply(x)).sum()) - mean**2
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(part), _BLOCK)]
    mean = sum(float((part[rows] @ np.asarray(x[rows], dtype=np.float64)).sum()) for rows in blocks)
    return sum(float(part[rows] @ ((np.asarray(x[rows], dtype=np.float64) - mean) ** 2).sum(axis=1)) for rows in blocks)


def _median_distance(x: Any, weights: Array, kernel: Any) -> float:
    """Median of the squared distances between different points, or of Manhattan distances where the kernel uses them.

    The weight of a pair is the product of the weights of its points. Of more than 1,000 rows, 1,000 are drawn with
    probabilities proportional to their weights; the seed is fixed.
    """
    used = np.flatnonzero(weights > 0)
    share = weights[used]
    if len(used) > _SAMPLE:
        rng = np.random.default_rng(0)
        used = np.sort(rng.choice(len(weights), _SAMPLE, replace=False, p=weights / weights.sum()))
        share = np.ones(_SAMPLE)
    rows = x[used]
    points = prepare_points(rows, None if scipy.sparse.issparse(rows) else rows.mean(axis=0, dtype=np.float64), float)
    i, j = np.triu_indices(len(used), 1)
    squared = squared_distances(points, points)[i, j].clip(0)
    counts = (share[:, None] * share)[i, j]
    apart = squared > 1e-13 * float(points.squared_norms.max(initial=0.0))  # duplicates say nothing of the scale
    lengths = sums_of_differences(points, points)[i, j] if adds_differences(kernel) else squared
    if not apart.any():
        return 0.0
    if (share == share[0]).all():
        return float(np.median(lengths[apart]))
    order = np.argsort(lengths[apart], kind="stable")
    total = np.cumsum(counts[apart][order])
    middle = np.searchsorted(total, [total[-1] * (0.5 - 1e-12), total[-1] * (0.5 + 1e-12)])
    return float(lengths[apart][order][np.minimum(middle, len(order) - 1)].mean())
