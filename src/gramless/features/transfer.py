r"""Moments carried over from one set of landmarks to another.

Let P be the projection on the images of the old points and Q that on the new. Rows that were summed as P phi(x) become
Q P phi(x). Two parts are lost. The first is phi(x) - P phi(x), the leak so far: the new points might have captured some
of it. The centered rows, times the roots of their weights, are off by a matrix of norm sqrt(leak) at most, and singular
values by no more (Weyl). From then on this error counts as `slip`. The second is P phi(x) - Q P phi(x), a new leak,
which is computed here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.features.landmarks import LandmarkMap
from gramless.features.moments import DenseMoments


def transfer_moments(moments: DenseMoments, old: LandmarkMap, new: LandmarkMap) -> DenseMoments:
    """`moments` made by `old`, as they would be had each row been projected on the span of `new` afterwards.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.random.default_rng(0).random((300, 2))
    >>> many, few = (LandmarkMap.at(Gaussian(sigma=1.0), x[:n]) for n in (60, 20))
    >>> moved = transfer_moments(many.moments(x, np.ones(300)), many, few)
    >>> exact = few.moments(x, np.ones(300))
    >>> bool(np.allclose(moved.scatter, exact.scatter, atol=1e-3)), bool(moved.leak < 0.1)
    (True, True)
    """
    if old.same_space(new):
        return moments
    rows = new.rows(old.points)
    inverse = old.triangle.solve_transposed(np.eye(old.n_features))  # row l: coefficients of axis l on the old points
    turn = inverse @ rows.values  # (old axes, new axes)
    mean = moments.mean @ turn
    scatter = turn.T @ moments.scatter @ turn
    scatter = (scatter + scatter.T) / 2
    seconds = moments.scatter + moments.weight * np.outer(moments.mean, moments.mean)
    before = float(np.trace(seconds))
    after = float(np.trace(scatter)) + moments.weight * float(mean @ mean)
    rounding = _gram_rounding(old, seconds, inverse, rows.rounding)
    blur = _product_rounding(seconds, inverse, rows.values)
    allowance = rounding + 2 * float(np.sqrt(max(before, 0.0))) * blur + blur**2
    allowance += 8 * len(turn) * unit_roundoff() * before
    squares, axes = np.linalg.eigh(seconds)
    roots = axes * np.sqrt(np.maximum(squares, 0.0))
    seen = roots.T @ turn
    norm = float(np.linalg.eigvalsh(np.diag(squares) - seen @ seen.T)[-1])
    leak = min(max(0.0, before - after) + old.n_features * allowance, before + allowance)
    return replace(
        moments,
        mean=mean,
        scatter=scatter,
        leak=leak,
        leak_error=leak,
        likely=max(0.0, norm) + allowance,
        rounding=moments.rounding + rounding + 8 * len(turn) * unit_roundoff() * before,
        mean_error=moments.mean_error + float(np.sqrt(rounding) + blur) / float(np.sqrt(moments.weight)),
        slip=moments.slip + float(np.sqrt(moments.residual_norm)) + blur,
        lost=moments.lost + moments.leak,
    )


def _gram_rounding(old: LandmarkMap, seconds: Array, inverse: Array, rounding: Array) -> float:
    """Bound on the error of inner products of the rows, where a combination of old points stands for each row.

    A row with coordinates y is the combination c = y L^-1 of the old points. B = seconds^1/2 L^-1 has the same second
    moments as these combinations: B K B^T should be `seconds`. Errors of K up to e, or errors of the new features at
    the old points (:class:`~gramless.features.FeatureRows`), contribute s sum_l e_l m_l, m_l the squared norm of column
    l of B.
    """
    kernel, s = old.kernel, old.n_features
    squares, axes = np.linalg.eigh(seconds)
    combined = np.sqrt(np.maximum(squares, 0.0))[:, None] * (axes.T @ inverse)
    ready = kernel.prepare(old.points, old.shift)
    found = combined @ kernel.evaluate(ready, ready) @ combined.T
    off = float(np.linalg.norm(found - np.diag(squares)))
    masses = np.einsum("ij,ij->j", combined, combined)
    largest = float(kernel.diagonal(old.points).max())
    entry = kernel.rounding(kernel.radius(ready), old.points.shape[1], unit_roundoff())
    error = entry.absolute + (entry.relative + 4 * (s + 8) * unit_roundoff()) * largest
    return off + s * float(masses @ (rounding + error)) + 40 * s * unit_roundoff() * float(np.trace(seconds))


def _product_rounding(seconds: Array, inverse: Array, values: Array) -> float:
    """Bound on the norm of the rounding errors of the rows, times the roots of their weights, in these products."""
    sizes = np.sqrt(np.maximum(seconds.diagonal(), 0.0))
    moduli = sizes @ (np.abs(inverse) @ np.abs(values))
    return 2 * (sum(values.shape) + 8) * unit_roundoff() * float(np.linalg.norm(moduli))
