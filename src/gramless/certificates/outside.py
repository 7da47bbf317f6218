"""Bounds on an operator outside a subspace: the s of :mod:`gramless.certificates.inertia`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from gramless.arrays import Array, beside, inner, inner_rounding, unit_roundoff
from gramless.certificates.inertia import least_upper_bound


@dataclass(frozen=True)
class Outside:
    """Bounds on the largest eigenvalue of an operator on the complement of a basis.

    Attributes
    ----------
    rigorous : float
        Always valid.
    probable : float
        Valid except with the failure probability of the certificate.
    """

    rigorous: float = np.inf
    probable: float = np.inf

    def tightened(self, *, rigorous: float = np.inf, probable: float = np.inf) -> Outside:
        """The smaller of the known and the given bounds."""
        return Outside(min(self.rigorous, rigorous), min(self.probable, probable))


def from_frobenius(
    frobenius2: float,
    ritz: Array,
    coupling: Array,
    rounding: float,
    trace: tuple[float, float] | None = None,
    n: int | None = None,
    floors: Array | None = None,
) -> float:
    """Bound on l_1(C) from ``|C|_F^2 = |A|_F^2 - |T|_F^2 - 2 |R|_F^2`` and, if known, from ``tr C = tr A - tr T``.

    With m columns of Q, l_i(C) >= l_{m+i}(A) (Cauchy): where lower bounds on the eigenvalues of A are known, all of the
    Frobenius norm that belongs to the second and later eigenvalues of C is subtracted. Rounding is added before the
    root.

    Parameters
    ----------
    frobenius2 : float
        Upper bound on |A|_F^2.
    ritz : ndarray of shape (m,)
    coupling : ndarray of shape (p, m)
        F with F^T F = R^T R.
    rounding : float
        Bound on the norms of the errors of T and of R.
    trace : tuple of float, optional
        Bounds on the trace of A, lower and upper.
    n : int, optional
        Rows of A; needed with `trace`.
    floors : ndarray of shape (p,), optional
        Lower bounds on the leading eigenvalues of A, descending.

    Examples
    --------
    >>> round(from_frobenius(6.0, np.array([2.0]), np.zeros((0, 1)), 0.0), 6)  # of the eigenvalues 2, 1, 1
    1.414214
    >>> round(from_frobenius(6.0, np.array([2.0]), np.zeros((0, 1)), 0.0, floors=np.array([2.0, 1.0, 1.0])), 6)
    1.0
    """
    inside = np.linalg.norm(ritz)
    leak = np.linalg.norm(coupling)
    m = len(ritz)
    least = max(0.0, inside - np.sqrt(m) * rounding) ** 2 + 2 * max(0.0, leak - np.sqrt(m) * rounding) ** 2
    squares = max(0.0, frobenius2 - least * (1 - 1e-12))
    others = 0.0 if floors is None else float((np.maximum(floors[m + 1 :], 0.0) ** 2).sum())
    alone = float(np.sqrt(max(0.0, squares - others * (1 - 1e-12))))
    if trace is None or n is None or n <= m:
        return alone
    total = float(ritz.sum())
    slack = m * (rounding + 2 * unit_roundoff() * float(np.abs(ritz).max(initial=0.0)))
    return min(alone, float(largest_of_sums(trace[0] - total - slack, trace[1] - total + slack, squares, n - m)))


def largest_of_sums(low: Any, high: Any, squares: Any, count: Any) -> Any:
    """The largest that one of `count` numbers can be whose sum is between `low` and `high`, given the sum of squares.

    It is largest where all others are equal (Wolkowicz and Styan, 1980): with sum t and squares q,
    ``t / m + sqrt((m - 1) / m (q - t^2 / m))``. This increases in t up to t = sqrt(q), where only one is not 0, and
    decreases from there on. A noisy spectrum ends in many nearly equal values: their sum says so, their squares do not.

    Examples
    --------
    >>> round(float(largest_of_sums(100.0, 100.0, 100.0, 100)), 6)  # a hundred ones
    1.0
    >>> float(largest_of_sums(2.0, 2.0, 4.0, 100))  # a single 2
    2.0
    """
    root = np.sqrt(squares)
    total = np.clip(root, low, high)
    rest = np.maximum(squares - total**2 / count, 0.0) + 8 * unit_roundoff() * squares
    largest = total / count + np.sqrt((count - 1) / count * rest)
    return np.minimum(root, largest * (1 + 8 * unit_roundoff()))


def from_fact(count: int, bound: float, ritz: Array, coupling: Array, rounding: float) -> float:
    """Bound on A outside the leading `count` Ritz vectors, given that at most `count` eigenvalues of A exceed `bound`.

    Another basis may have proved the latter. Let Y be these Ritz vectors, with Ritz values above x = `bound`. All
    positive inertia of A - x I belongs to Y, so the Schur complement outside Y has no positive eigenvalue:
    C_Y <= x + |R_Y|^2 / (t_count - x).
    """
    if count > len(ritz) or count == 0:
        return np.inf
    gap = ritz[count - 1] - rounding - bound
    if not gap > 0:
        return np.inf
    leak = (float(np.linalg.norm(coupling[:, :count], 2)) if coupling.size else 0.0) + rounding
    return float(bound + leak**2 / gap)


def outside_leading(ritz: Array, coupling: Array, outside: float, q: int, rounding: float) -> float:
    """Bound on A outside the leading `q` Ritz vectors of a basis, from a bound outside the whole basis."""
    if q >= len(ritz):
        return outside
    return least_upper_bound(ritz[q:], coupling[:, q:], 0, outside, rounding)


def chi2_lower(r: int, probability: float) -> float:
    """The value that a chi-squared variable with `r` degrees of freedom falls below with `probability`."""
    return float(2 * gammaincinv(r / 2, probability))


def probe_unit(powers: list[Array]) -> float:
    """A power of two near |C|, estimated from the first two of `powers`: further powers are divided by it.

    Otherwise the tenth power of a matrix of norm 1e-40 would underflow to 0, and that of norm 1e40 overflow.
    """
    before, after = (float(abs(block).max()) for block in powers[:2])
    ratio = after / before if before > 0 else 0.0
    return float(np.ldexp(1.0, int(np.frexp(ratio)[1]))) if 0 < ratio < np.inf else 1.0


def from_probes(
    powers: list[Array], failure_probability: float, rounding: float, norm: float = np.inf, unit: float = 1.0
) -> float:
    """Bound on l_1(C) from fresh Gaussian vectors G.

    For u the leading eigenvector of C and any polynomial p, ``|p(C) G|^2 >= p(l_1)^2 |u^T G|^2``, and |u^T G|^2 is
    chi-squared with as many degrees of freedom as G has columns. With v the root of the bound on p(l_1)^2, either
    l_1 <= a or

    - p = T_m(2x/a - 1):  l_1 <= a (1 + cosh(arccosh(v) / m)) / 2, the better one where C is positive semidefinite;
    - p = T_m(x/a):       l_1 <= a cosh(arccosh(v) / m), the better one where C is indefinite.

    One random event serves all p and a. A second event, for the eigenvector of the eigenvalue of largest modulus,
    bounds |C|, the factor by which the error of one power enters the next. Each event may fail with half the
    probability.

    Parameters
    ----------
    powers : list of ndarray of shape (n, r)
        G projected onto the complement, C G, C^2 G / unit, C^3 G / unit^2, ...
    failure_probability : float
    rounding : float
        Bound on the error of one product C y, relative to |y|.
    norm : float
        A bound on |C|, if known: the factor by which the error of one power enters the next.
    unit : float
        A power of two, see :func:`probe_unit`.
    """
    n, r = powers[0].shape
    stacked = beside(powers[0], *(power / unit for power in powers[1:]))  # from here on, C stands for C / unit
    rounding, norm = rounding / unit, norm / unit
    gram = inner(stacked, stacked).reshape(
        len(powers), r, len(powers), r
    )  # entry (i, a, j, b): column a of C^i G times column b of C^j G
    sizes = np.sqrt(np.maximum(0.0, np.einsum("iaia->i", gram)))
    quantile = _least_overlap(n, r, sizes[0], failure_probability)
    if not quantile > 0:
        return np.inf
    # Frobenius norms of the errors of the powers; the error of C G needs no bound on |C|
    slips = np.array([0.0, rounding * sizes[0]])
    norm = min(norm, _largest(np.array([0.0, 1.0]), gram[:2, :, :2], sizes[:2], slips, n) / quantile)
    best = norm
    degrees = [*range(2, len(powers)), len(powers) - 1] if len(powers) > 2 and norm > 0 else []
    for degree in degrees:  # the highest degree twice: the second time with the least bound on |C|
        part, errors = gram[: degree + 1, :, : degree + 1], np.append(slips, np.zeros(degree - 1))
        for i in range(2, degree + 1):
            errors[i] = norm * errors[i - 1] + rounding * sizes[i - 1]
        for low in (0.0, -1.0):  # the interval [low a, a] on which p stays within 1
            coefficients = _chebyshev(degree, low)
            for a in norm * np.geomspace(1e-3, 1, 40):
                v = _largest(coefficients / a ** np.arange(degree + 1), part, sizes[: degree + 1], errors, n) / quantile
                reach = np.cosh(np.arccosh(max(v, 1.0)) / degree)  # where T_m, beyond 1, reaches v
                bound = a * (low + 1 + (1 - low) * reach) / 2
                best = min(best, bound)
                if low < 0:
                    norm = min(norm, bound)
    return float(best * (1 + 100 * unit_roundoff()) * unit)


def _least_overlap(n: int, r: int, size: float, failure_probability: float) -> float:
    """Lower bound on |u^T G| for two fixed u, wrong with the given probability; G was projected with rounding."""
    return float(np.sqrt(chi2_lower(r, failure_probability / 2)) - 10 * inner_rounding(n) * size)


def _chebyshev(degree: int, low: float) -> Array:
    """Coefficients, constant first, of T_degree stretched over [low, 1]."""
    stretched = np.polynomial.chebyshev.Chebyshev([0] * degree + [1], domain=[low, 1])
    return np.asarray(stretched.convert(kind=np.polynomial.Polynomial, domain=[-1, 1]).coef)


def _largest(coefficients: Array, gram: Array, sizes: Array, errors: Array, n: int) -> float:
    """Bound on |sum_j c_j C^j G|_2 from the inner products of the computed powers, which have n rows."""
    count, r = gram.shape[:2]
    total = np.tensordot(coefficients, np.tensordot(gram, coefficients, axes=(2, 0)), axes=(0, 0))
    if not np.isfinite(total).all():  # overflow: no bound
        return np.inf
    weights = np.abs(coefficients)
    slips = inner_rounding(n) + 4 * (r + count**2) * unit_roundoff()  # rounding of inner products, sum, eigenvalue
    largest = float(np.linalg.eigvalsh((total + total.T) / 2)[-1]) + slips * float(weights @ sizes) ** 2
    return float(np.sqrt(max(0.0, largest)) + weights @ errors)
