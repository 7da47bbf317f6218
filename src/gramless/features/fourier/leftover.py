"""A bound on the part of a kernel matrix that the omitted frequencies make, from pairs of rows."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gramless.arrays import Array, unit_roundoff
from gramless.certificates.quadrature import root_mean_square_bound
from gramless.features.fourier.grid import FourierGrid, distance_values
from gramless.features.fourier.nufft import point_values, promised

_PAIRS = 2**19
_FEW = 400  # rows up to which all pairs are computed
_FAILURE = 1e-14  # failure probability of one batch: that of 10,000 batches is 1e-10


def left_out_bound(grid: FourierGrid, x: Array, weights: Array, eps: float, seed: int) -> tuple[float, str]:
    """Bound on the norm of D^1/2 T D^1/2, T = K - K_grid apart from aliasing, and the kind of that bound.

    For few rows it is the norm itself; for many, a bound on |T|_F from pairs drawn with probability w_i w_j / W^2.
    D is the diagonal matrix of the weights, which must not all be 0.
    """
    used = np.nonzero(weights > 0)[0]
    total = float(weights.sum())
    if len(used) <= _FEW:
        rows = np.asarray(x[used], dtype=np.float64)
        left, right = np.divmod(np.arange(len(used) ** 2), len(used))
        values, error = _differences(grid, rows[left] - rows[right], eps)
        roots = np.sqrt(weights[used])
        matrix = roots[:, None] * values.reshape(len(used), -1) * roots
        largest = float(scipy.linalg.eigvalsh((matrix + matrix.T) / 2)[-1])
        slack = (error + 10 * len(used) * unit_roundoff() * grid.tail) * total
        return min(total * grid.tail, max(0.0, largest) + slack), "rigorous"
    rng = np.random.default_rng(seed)
    if np.ptp(weights) == 0:
        chosen = rng.integers(0, len(weights), (2, _PAIRS))
    else:
        steps = np.cumsum(weights)
        chosen = np.minimum(np.searchsorted(steps, rng.random((2, _PAIRS)) * steps[-1], side="right"), used[-1])
    first, second = (np.asarray(x[rows], dtype=np.float64) for rows in chosen)
    values, error = _differences(grid, first - second, eps)
    shares = np.minimum(1.0, (np.abs(values) + error) / grid.tail) ** 2
    return total * grid.tail * root_mean_square_bound(shares, _FAILURE), "probabilistic"


def _differences(grid: FourierGrid, displacement: Array, eps: float) -> tuple[Array, float]:
    """K - k_grid (n,) at these displacements (n, d), and a bound on the error, aliasing included."""
    distance = np.sqrt(np.einsum("ij,ij->i", displacement, displacement))
    exact = distance_values(grid.kernel, distance)
    shape = tuple(2 * m + 1 for m in grid.axes.counts)
    coefficients = np.zeros((1, *shape), dtype=np.complex128)
    coefficients.reshape(-1)[grid.places(shape)] = grid.weights
    angles = [displacement[:, a] * (2 * np.pi / period) for a, period in enumerate(grid.axes.periods)]
    rounding = grid.kernel.rounding(float(distance.max()), 1, unit_roundoff())
    error = promised(eps, shape) * grid.peak + rounding.absolute + (rounding.relative + 1e-14) * grid.peak
    return exact - point_values(angles, coefficients, eps)[0].real, error + grid.aliasing
