"""The radius beyond which a radial kernel may be truncated, and the rounding of its values within."""

from __future__ import annotations

import numpy as np

from gramless.arrays import unit_roundoff
from gramless.kernels.base import RadialKernel
from gramless.kernels.rounding import growth, underflow

SLACK = 1e-9  # relative: a KD-tree rounds its distances, but no pair within the radius may be missed


def cut_radius(kernel: RadialKernel, entry: float) -> float:
    """The least distance beyond which no value of the kernel exceeds `entry`, up to underflow.

    Raises
    ------
    ValueError
        If the kernel does not fall that far.

    Examples
    --------
    >>> from gramless.kernels import Epanechnikov, Gaussian
    >>> round(cut_radius(Epanechnikov(3.0), 0.0), 6)
    3.0
    >>> round(cut_radius(Gaussian(1.0), np.exp(-8.0)), 6)
    4.0
    """
    low, high = -1000.0, 1000.0  # exponents of two of the squared distance
    if not largest_beyond(kernel, 2.0 ** (high / 2)) <= max(entry, underflow(unit_roundoff())):
        raise ValueError(f"{kernel} does not decay to {entry:g} at any distance; use method='tiled'")
    for _ in range(60):
        middle = (low + high) / 2
        if largest_beyond(kernel, 2.0 ** (middle / 2)) <= max(entry, underflow(unit_roundoff())):
            high = middle
        else:
            low = middle
    return float(2.0 ** (high / 2) * (1 + SLACK))


def largest_beyond(kernel: RadialKernel, radius: float) -> float:
    """Upper bound on the kernel's values at distances of `radius` or more, rounding included."""
    unit = unit_roundoff()
    with np.errstate(under="ignore", over="ignore"):
        value = float(kernel.profile(np.array([radius**2 * (1 - 32 * unit)]))[0])
    return value * (1 + (kernel.profile_error + 32) * unit) + underflow(unit)


def direct_rounding(kernel: RadialKernel, radius: float, d: int) -> tuple[float, float]:
    """Absolute and relative error of values from distances formed by differences of d coordinates, up to `radius`.

    A convex decreasing profile is steepest on the left: on [a, b], an error of at most m in the argument changes the
    value by at most profile(a - m) - profile(a). The intervals have b = sqrt(2) a.
    """
    unit = unit_roundoff()
    right = (radius * (1 + 2 * SLACK)) ** 2 * 2.0 ** (-0.5 * np.arange(200))
    left = np.append(right[1:], 0.0)
    moved = growth(d + 16, unit) * right + (d + 4) * underflow(unit)
    with np.errstate(under="ignore"):
        values = kernel.profile(np.concatenate([np.maximum(left - moved, 0), np.maximum(left, moved)]))
    noise = (kernel.profile_error + 8) * unit * values
    fall = values[: len(left)] - values[len(left) :] + noise[: len(left)] + noise[len(left) :]
    return float(fall.max()) + underflow(unit), (kernel.profile_error + 4) * unit
