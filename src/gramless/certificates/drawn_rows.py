r"""How much a positive semidefinite residual acts on given vectors, from rows drawn at random.

Let E be positive semidefinite with diagonal e and trace tau, and v a unit vector chosen without the draw. Rows are
drawn with probability p_i = e_i / tau. By the Cauchy-Schwarz inequality (E v)_i^2 <= e_i x, x = v^T E v, so
(E v)_i^2 / (e_i x) lies in [0, 1], and its mean is \|E v\|^2 / (tau x) >= x / tau. From the mean z of
(E v)_i^2 / p_i over n rows, the inequality of relative entropy bounds x, and \|E v\| with it. Norms of E do not occur:
landmarks leave out much of the trace and little of what acts on the leading vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array
from gramless.certificates.interval import FAILURE_PROBABILITY
from gramless.certificates.sampled_mean import entropy_upper


def drawn_norm(square: float, trace: float, rows: int, failure_probability: float) -> float:
    r"""x* such that \|E v\| <= x* and v^T E v <= x*, wrong with at most `failure_probability`.

    For a block V of orthonormal vectors, with `square` the largest eigenvalue of the mean of (E V)_i^T (E V)_i / p_i,
    it bounds \|E V\|: the vector V y for which this norm is reached does not depend on the draw.

    Parameters
    ----------
    square : float
        z, the mean over the drawn rows of (E v)_i^2 / p_i.
    trace : float
        tau.
    rows : int
        n.
    failure_probability : float

    Examples
    --------
    >>> round(drawn_norm(0.0, 100.0, 10_000, 1e-10), 4)  # about 23 tau / n
    0.23
    >>> round(drawn_norm(4.0, 100.0, 10**9, 1e-10), 2)
    2.0
    """
    if not trace > 0:
        return 0.0
    allowed = float(np.log(1 / failure_probability)) / rows
    low, high = float(np.sqrt(square)), trace
    if not low < high:
        return trace
    for _ in range(60):  # trace * entropy_upper(square / (x trace)) falls as x grows
        middle = (low + high) / 2
        if not low < middle < high or high - low <= 1e-6 * high:
            break
        reached = trace * entropy_upper(min(1.0, square / (middle * trace)), allowed)
        low, high = (middle, high) if reached > middle else (low, middle)
    return high


def rows_to_draw(trace: float, norm: float, vectors: int, expected: float | None = None) -> float:
    r"""Rows that prove \|E v\| <= `norm` for some `vectors` and for their block.

    Parameters
    ----------
    trace : float
        tau.
    norm : float
    vectors : int
    expected : float, optional
        \|E v\| as expected; default: 0.3 `norm`.

    Examples
    --------
    >>> round(rows_to_draw(0.1, 1e-3, 20)), round(rows_to_draw(0.1, 1e-3, 20, 0.0))
    (3760, 2607)
    """
    if not trace > 0:
        return 0.0
    ratio2 = min(0.9, (0.3 if expected is None else expected / max(norm, 1e-300)) ** 2)
    # the relative entropy of drawn_norm for means much smaller than 1
    apart = 1 - ratio2 + (ratio2 * float(np.log(ratio2)) if ratio2 > 0 else 0.0)
    return event_log(vectors) * trace / max(apart * norm, 1e-300)


def event_log(vectors: int) -> float:
    """Logarithm of the failure probability of each of as many events, and of one more."""
    return float(np.log((vectors + 1) / FAILURE_PROBABILITY))


@dataclass(frozen=True, eq=False)
class Inside:
    """Bounds on V^T E V for b orthonormal eigenvectors V of a positive semidefinite A.

    Attributes
    ----------
    each : ndarray of shape (b,)
        Bounds on |E v_j|, and on v_j^T E v_j.
    block : float
        Bound on |E V|.
    failure_probability : float
        Chance that any of these is wrong.
    """

    each: Array
    block: float
    failure_probability: float

    def upper_bounds(self, values: Array, outside: float) -> Array:
        """Bounds (b,) on the leading eigenvalues of A + E.

        With M the part of A outside V, plus E, and s a bound on its norm, (mu - M)^-1 <= (I + M / (mu - s)) / mu for
        mu > s. Hence at most as many eigenvalues of A + E exceed mu as there are of
        a + a^1/2 (V^T E V) a^1/2 / (mu - s), a the eigenvalues of A.

        Parameters
        ----------
        values : ndarray of shape (b,)
            a, descending.
        outside : float
            s.
        """
        return np.minimum.accumulate([self._upper(values, j, outside) for j in range(len(values))])

    def _upper(self, values: Array, j: int, outside: float) -> float:
        top = float(values[j])
        if not self.block > 0:  # V is a set of eigenvectors of A + E
            return max(top, outside)

        def holds(mu: float) -> bool:
            gap = (mu - outside) * (1 - 1e-12)
            if top * (1 + self.block / gap) * (1 + 1e-14) <= mu:
                return True
            room = (mu - values[j:]) * (1 - 1e-12)
            return bool((room > 0).all() and float((values[j:] * self.each[j:] / room).sum()) <= gap * (1 - 1e-12))

        low, high = max(top, outside), max(top, outside) + self.block
        for _ in range(60):
            if holds(high):
                break
            high = low + 2 * (high - low)
        for _ in range(50):
            middle = (low + high) / 2
            if not low < middle < high or high - low <= 1e-3 * (high - top):
                break
            low, high = (low, middle) if middle > outside and holds(middle) else (middle, high)
        return high if holds(high) else float("inf")
