r"""Upper bounds on eigenvalues from a subspace and a bound outside it.

Write a symmetric A in an orthonormal basis that begins with Q: the blocks are T = Q^T A Q, B (with
B^T B = R^T R, R = A Q - Q T) and C, A on the complement of Q. For any x above the largest eigenvalue of C,
Sylvester's law of inertia says that A - x I has as many positive eigenvalues as its Schur complement

    T - x I + B^T (x I - C)^-1 B  <=  T - x I + R^T R / (x - s),    s >= l_1(C).

So whenever ``l_j(T + R^T R / (x - s)) <= x``, at most j - 1 eigenvalues of A exceed x: l_j(A) <= x.
Everything here is in Ritz coordinates: T is diagonal, R^T R = F^T F.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gramless.arrays import Array, unit_roundoff

_SPLIT = 0.1  # |a + b|^2 <= (1 + split) |a|^2 + (1 + 1/split) |b|^2: what the rounding of R costs
_GROUP = 1.5  # Ritz values whose distances from s differ by a smaller factor share one small eigenproblem


def upper_bounds(
    ritz: Array, coupling: Array, count: int, outside: float, rounding: float, *, refine: bool = True
) -> Array:
    """Bounds (count,) on the leading eigenvalues of A, descending. See :func:`least_upper_bound` for the parameters.

    One eigenproblem serves a group of Ritz values t_j: any x with s < x <= t_j gives a bound, so the least t of the
    group is taken as x. Where t_j <= s there is no such x, and the bound is infinite. With `refine`, the best x is
    searched for where the bound is not close to t_j.
    """
    if outside == -np.inf or not np.isfinite(outside) or not np.isfinite(rounding):
        return np.array([least_upper_bound(ritz, coupling, j, outside, rounding) for j in range(count)])
    schur = _Schur(ritz, coupling, outside, rounding)
    bounds = np.full(count, np.inf)
    j = 0
    while j < count:
        gaps = ritz[j:count] - outside
        group = max(1, int((gaps > gaps[0] / _GROUP).sum())) if gaps[0] > 0 else 1
        found = np.full(group, np.inf)
        if gaps[0] > 0:
            found = schur.at(ritz[j + group - 1])[j : j + group]
        for i in range(group):
            enough = not refine or found[i] - ritz[j + i] <= 0.1 * gaps[i]
            bounds[j + i] = found[i] if enough else schur.least(j + i)
        j += group
        if refine and bounds[j - 1] - outside <= 0.1 * abs(outside) and gaps[group - 1] <= 0:
            bounds[j:] = bounds[j - 1]  # no bound falls below s
            break
    return np.asarray(np.minimum.accumulate(bounds))


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
    return _Schur(ritz, coupling, outside, rounding).least(j)


def is_upper_bound(x: float, ritz: Array, coupling: Array, j: int, outside: float, rounding: float) -> bool:
    """Whether `x` is proved to bound eigenvalue `j` (from 0) of A; see :func:`least_upper_bound`.

    Examples
    --------
    >>> is_upper_bound(1.1, np.array([2.0, 1.0]), np.array([[0.0, 0.1]]), 1, 0.5, 0.0)
    True
    """
    return outside < x < np.inf and _Schur(ritz, coupling, outside, rounding).holds(j, x)


class _Schur:
    """T + R^T R / (x - s) as x varies, with the rounding of T, R and of this small eigenproblem included."""

    def __init__(self, ritz: Array, coupling: Array, outside: float, rounding: float) -> None:
        self._ritz, self._coupling, self._outside, self._rounding = ritz, coupling, outside, rounding

    @cached_property
    def _square(self) -> Array:
        square: Array = (1 + _SPLIT) * self._coupling.T @ self._coupling
        square[np.diag_indices_from(square)] += (1 + 1 / _SPLIT) * self._rounding**2
        return square

    @cached_property
    def _size(self) -> float:
        return float(np.linalg.norm(self._coupling))

    def at(self, x: float) -> Array:
        """Bounds (m,) on l_j(T + R^T R / (x - s)), descending."""
        gap = x - self._outside
        if not self._coupling.size:  # a diagonal matrix
            small: Array = self._ritz + (1 + 1 / _SPLIT) * self._rounding**2 / gap
            values: Array = small
        else:
            small = np.diag(self._ritz) + self._square / gap
            values = np.linalg.eigvalsh(small)[::-1]
        # norms, not diagonals: diagonal entries of `small` may cancel where its other entries do not
        formed = (sum(self._coupling.shape) + 4) * self._size**2 / gap
        spread = 4 * len(self._ritz) * float(np.linalg.norm(small)) + 2 * formed
        return np.asarray(values + self._rounding + unit_roundoff() * spread)

    def least(self, j: int) -> float:
        """The smallest x found that bounds eigenvalue `j`."""
        ritz, outside, rounding = self._ritz, self._outside, self._rounding
        base = max(ritz[j] + rounding, outside)
        spread = 1.2 * (self._size + 4 * rounding) + 4 * unit_roundoff() * len(ritz) * abs(base)
        if spread == 0:  # Q is invariant, exactly: nothing couples it to the rest
            return float(base)
        # usually l_j at x = t_j, just above t_j, is a bound itself, because l_j(.) decreases with x
        if ritz[j] - outside > 0 and not self._is_wide(j):
            y = float(self.at(ritz[j])[j])
            if y - ritz[j] <= 0.1 * (ritz[j] - outside):
                return y
        low, high = base, base + spread
        while not self.holds(j, high):
            high = base + 2 * (high - base)
            if not np.isfinite(high):
                return np.inf
        for _ in range(40):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            if middle > outside and self.holds(j, middle):
                high = middle
            else:
                low = middle
            if high - low <= 1e-2 * (high - base):
                break
        return float(high)

    def holds(self, j: int, x: float) -> bool:
        """Whether `x` bounds eigenvalue `j`."""
        return self._dominates(x) if self._is_wide(j) else bool(self.at(x)[j] <= x)

    def _is_wide(self, j: int) -> bool:
        p, m = self._coupling.shape
        return j == 0 and m > 2 * p

    def _dominates(self, x: float) -> bool:
        """Whether `x` bounds the largest eigenvalue, from a p x p matrix.

        With D = x - T > 0, D >= F^T F / gap means l_1(F D^-1 F^T) <= gap.
        """
        gap = x - self._outside
        p, m = self._coupling.shape
        slack = self._rounding + (1 + 1 / _SPLIT) * self._rounding**2 / gap + 8 * unit_roundoff() * abs(x)
        room = x - self._ritz - slack - 8 * unit_roundoff() * np.abs(self._ritz)
        if not (room > 0).all() or not gap > 0:
            return False
        scaled = self._coupling / np.sqrt(room)
        small = scaled @ scaled.T
        largest = float(np.linalg.eigvalsh(small)[-1]) if p else 0.0
        largest += 2 * (m + 4 * p + 16) * unit_roundoff() * float(np.trace(small))
        return bool((1 + _SPLIT) * largest <= gap * (1 - 8 * unit_roundoff()))
