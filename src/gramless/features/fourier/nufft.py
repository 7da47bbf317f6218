"""Sums of exponentials over scattered points, by finufft, with a bound on their error."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array

_LEAST = 1e-14  # the least tolerance that finufft supports
_SAFETY = 5.0  # with upsampfac=2, errors of 4 times the tolerance were observed
_RANGE = 3 * np.pi * (1 + 1e-9)
_FLOOR = 7e-16  # rounding, per frequency of an axis


def asked(wanted: float) -> float:
    """The accuracy to ask finufft for, so that :func:`promised` stays near `wanted`."""
    return float(np.clip(wanted / (2 * _SAFETY), _LEAST, 1e-2))


def promised(eps: float, shape: tuple[int, ...]) -> float:
    """Bound on the error of a sum at accuracy `eps`, relative to the sum of the moduli of its coefficients."""
    return _SAFETY * eps + _FLOOR * sum(shape)


def frequency_sums(angles: list[Array], strengths: Array, shape: tuple[int, ...], eps: float) -> Array:
    """sum_n c_n exp(-i q.t_n) for all integer q centered in `shape` (odd sizes), on one thread.

    Parameters
    ----------
    angles : list of d ndarrays of shape (n,)
        t, each in [-3 pi, 3 pi].
    strengths : ndarray of shape (n,)
        c, real.
    """
    if not len(strengths):
        return np.zeros(shape, dtype=np.complex128)
    _refuse_wild(angles)
    transform = getattr(_finufft(), f"nufft{len(shape)}d1")
    modes = shape if len(shape) > 1 else shape[0]
    settings = {"eps": eps, "isign": -1, "nthreads": 1, "upsampfac": 2.0}
    settings["spread_sort"] = int(np.prod([2.0 * size for size in shape]) > 2**16)  # a small grid stays in cache anyway
    sums = transform(*angles, strengths.astype(np.complex128), modes, **settings)
    return np.asarray(sums)


def point_values(angles: list[Array], coefficients: Array, eps: float) -> Array:
    """sum_j c_j exp(i j.t_n) at every point: (r, n) complex for coefficients (r, *shape), on one thread."""
    if not len(angles[0]):
        return np.zeros((len(coefficients), 0), dtype=np.complex128)
    _refuse_wild(angles)
    transform = getattr(_finufft(), f"nufft{len(angles)}d2")
    values = transform(*angles, coefficients, eps=eps, isign=1, nthreads=1, upsampfac=2.0)
    return np.asarray(values).reshape(len(coefficients), -1)


def _refuse_wild(angles: list[Array]) -> None:
    """Raise where an angle is not in its range: finufft would write beyond its grid."""
    for angle in angles:
        if not -_RANGE <= angle.min() <= angle.max() <= _RANGE:  # False for NaN too
            raise ValueError(f"angles from {angle.min():g} to {angle.max():g} lie outside [-3 pi, 3 pi]")


def measured_error(angles: list[Array], strengths: Array, sums: Array) -> float:
    """Error of `sums`, relative to the sum of the strengths, at a few frequencies: it is largest at the edge."""
    off = []
    middle = [size // 2 for size in sums.shape]
    for share in (1.0, -0.9, 0.4):
        q = [round(share * half * (-1) ** axis) for axis, half in enumerate(middle)]
        phase = sum(frequency * angle for frequency, angle in zip(q, angles, strict=True))
        direct = strengths @ np.cos(phase) - 1j * (strengths @ np.sin(phase))
        off.append(abs(direct - sums[tuple(m + frequency for m, frequency in zip(middle, q, strict=True))]))
    return float(np.max(off) / max(strengths.sum(), np.finfo(float).tiny))  # NaN if any error is NaN


def _finufft() -> Any:
    try:
        import finufft
    except ImportError as error:
        raise ImportError("the Fourier map needs finufft: pip install finufft") from error
    return finufft
