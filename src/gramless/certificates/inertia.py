r"""Upper bounds on eigenvalues from a subspace and a bound outside it.

Write a symmetric A in an orthonormal basis that begins with Q: the blocks are T = Q^T A Q, B (with
B^T B = R^T R, R = A Q - Q T) and C, A on the complement of Q. For any x above the largest eigenvalue of C,
Sylvester's law of inertia says that A - x I has as many positive eigenvalues as its Schur complement

    T - x I + B^T (x I - C)^-1 B  <=  T - x I + R^T R / (x - s),    s >= l_1(C).

So whenever ``l_j(T + R^T R / (x - s)) <= x``, at most j - 1 eigenvalues of A exceed x: l_j(A) <= x.
Everything here is in Ritz coordinates: T is diagonal, R^T R = F^T F.
"""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array, unit_roundoff

_SPLIT = 0.1  # |a + b|^2 <= (1 + split) |a|^2 + (1 + 1/split) |b|^2: what the rounding of R costs


def least_upper_bound(ritz: Array, coupling: Array, j: int, outside: float, rounding: float) -> float:
    """Smallest x found with ``l_j(T + R^T R / (x - s)) <= x``: a bound on eigenvalue `j` (from 0) of A.

    Parameters
    ----------
    ritz : ndarray of shape (m,)
        Descending Ritz values.
    coupling : ndarray of shape (p, m)
        F, in the coordinates of the Ritz vectors.
    j : int
    outside : float
        s, a bound on the largest eigenvalue of A on the complement; ``-inf`` when the basis spans everything.
    rounding : float
        Bound on the norm of the error of T, and of R.
    """
    if outside == -np.inf:  # nothing lies outside
        return float(ritz[j] + rounding)
    if not np.isfinite(outside) or not np.isfinite(rounding):
        return np.inf
    reach = float(np.linalg.norm(coupling, 2)) if coupling.size else 0.0
    base = max(ritz[j] + rounding, outside)
    spread = 1.2 * (reach + 4 * rounding) + 4 * unit_roundoff() * len(ritz) * abs(base)
    if spread == 0:  # Q is invariant, exactly: nothing couples it to the rest
        return float(base)

    def bound_at(x: float) -> float:
        return _bound_at(x, ritz, coupling, j, outside, rounding)

    if ritz[j] - outside > 0:  # the usual case: one evaluation at x = t_j proves itself, l_j(.) only falls with x
        y = bound_at(ritz[j])
        if y - ritz[j] <= 0.1 * (ritz[j] - outside):
            return y
    low, high = base, base + spread
    while bound_at(high) > high:
        high = base + 2 * (high - base)
        if not np.isfinite(high):
            return np.inf
    for _ in range(40):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if middle > outside and bound_at(middle) <= middle:
            high = middle
        else:
            low = middle
        if high - low <= 1e-3 * (high - base):
            break
    return float(high)


def bound_at_ritz_value(ritz: Array, coupling: Array, j: int, outside: float, rounding: float) -> float:
    """``l_j(T + R^T R / (t_j - s))``, a bound at the price of one small eigenproblem; infinite where t_j <= s.

    It is what :func:`least_upper_bound` finds where the gap t_j - s is wide, and larger where it is not.
    """
    return _bound_at(float(ritz[j]), ritz, coupling, j, outside, rounding) if ritz[j] > outside else np.inf


def _bound_at(x: float, ritz: Array, coupling: Array, j: int, outside: float, rounding: float) -> float:
    """l_j(T + R^T R / (x - s)), rounding of T, R and of this small eigenproblem included."""
    gap = x - outside
    square = (1 + _SPLIT) * coupling.T @ coupling
    square[np.diag_indices_from(square)] += (1 + 1 / _SPLIT) * rounding**2
    small = np.diag(ritz) + square / gap
    value = float(np.linalg.eigvalsh(small)[-1 - j])
    # norms, not diagonals: those of `small` may cancel where its other entries do not
    formed = (sum(coupling.shape) + 4) * float(np.linalg.norm(coupling)) ** 2 / gap
    return value + rounding + unit_roundoff() * (4 * len(ritz) * float(np.linalg.norm(small)) + 2 * formed)
