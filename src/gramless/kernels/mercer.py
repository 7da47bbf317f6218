"""Is a Gram matrix positive semidefinite? If not, a vector and a few points that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.kernels.base import Kernel
from gramless.kernels.points import column_shift

_PRUNED = 64  # largest set of points that is thinned out one by one


@dataclass(frozen=True, eq=False)
class Witness:
    """Proof that a Gram matrix K is not positive semidefinite: ``vector @ K @ vector = value < 0``.

    Attributes
    ----------
    vector : ndarray of shape (n,)
        Of norm 1, zero outside `points`.
    value : float
    points : ndarray of shape (p,)
        Indices of rows whose own Gram matrix is already indefinite.
    """

    vector: Array
    value: float
    points: Array


def check_mercer(
    gram: Array, *, tol: float | None = None, method: Literal["cholesky", "eigenvalues"] = "cholesky"
) -> Witness | None:
    """Look for a vector v with v^T K v < -tol |v|^2.

    Vasconcelos' condition (iii), that all leading minors be nonnegative, is not the
    test: it proves definiteness when they are positive, but diag(0, -1) has two minors
    equal to 0 and is not semidefinite. With pivoting on the largest remaining diagonal
    entry the elimination does decide semidefiniteness, and its failure names the points.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Symmetric up to rounding.
    tol : float, optional
        Spectral norm of the error of `gram`. The default allows an error of 16
        roundoffs of the largest entry in every entry.
    method : {"cholesky", "eigenvalues"}
        "cholesky" returns few points; "eigenvalues" the most negative direction, which
        involves most points.

    Returns
    -------
    Witness or None
        None when K is positive semidefinite as far as `tol` allows to say.

    See Also
    --------
    find_witness : Points on which a kernel is not positive semidefinite.

    Examples
    --------
    >>> witness = check_mercer(np.array([[1.0, 0.0, 2.0], [0.0, 5.0, 0.0], [2.0, 0.0, 1.0]]))
    >>> witness.points, round(witness.value, 12)
    (array([0, 2]), -1.0)
    >>> check_mercer(np.ones((3, 3))) is None
    True
    """
    gram = _checked(gram)
    n, largest = len(gram), float(np.abs(gram).max(initial=0.0))
    if tol is None:
        tol = 16 * unit_roundoff() * n * largest
    if not tol >= 0:
        raise ValueError(f"tol={tol!r} must be at least 0")
    if not n or not largest:
        return None
    if method == "eigenvalues":
        return _lowest(gram, np.arange(n), tol)
    if method != "cholesky":
        raise ValueError(f"method={method!r} is invalid; pass 'cholesky' or 'eigenvalues'")
    points = _failed_points(gram, max(tol, 4 * unit_roundoff() * n * largest) / n)
    if points is None:
        return None
    # rounding in the elimination may have made the pivot fail: then the eigenvalues of the whole matrix decide
    witness = _lowest(gram, points, tol) or _lowest(gram, np.arange(n), tol)
    return None if witness is None else _thin_out(gram, witness, tol)


def find_witness(kernel: Kernel, x: Any, *, method: Literal["cholesky", "eigenvalues"] = "cholesky") -> Witness | None:
    """:func:`check_mercer` of the Gram matrix of rows `x` (n, d), allowing for the rounding of this kernel.

    See Also
    --------
    check_mercer : Whether a Gram matrix is positive semidefinite.

    Examples
    --------
    >>> from gramless.kernels import Polynomial
    >>> find_witness(Polynomial(degree=1, c=-1.0), np.array([[0.0], [3.0]])).points
    array([0])
    """
    rows = kernel.prepare(x, column_shift(x) if kernel.shift_invariant else None)
    gram = kernel.evaluate(rows, rows)
    error = kernel.rounding(kernel.radius(rows), x.shape[1], unit_roundoff())
    entry = error.absolute + error.relative * float(np.abs(gram).max(initial=0.0))
    return check_mercer(gram, tol=1.01 * len(gram) * entry, method=method)


def _checked(gram: Array) -> Array:
    gram = np.asarray(gram, dtype=np.float64)
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"gram has shape {gram.shape}; a Gram matrix is square")
    if not np.isfinite(gram).all():
        raise ValueError("gram has entries that are not finite")
    apart = np.abs(gram - gram.T).max(initial=0.0)
    if apart > 1e-6 * np.abs(gram).max(initial=0.0):
        raise ValueError(f"gram must be symmetric, but it and its transpose differ by {apart:g}")
    return gram


def _lowest(gram: Array, points: Array, tol: float) -> Witness | None:
    """Witness from the lowest eigenvector of the Gram matrix of `points`, its value in extended precision."""
    part = gram[np.ix_(points, points)]
    _, vectors = np.linalg.eigh((part + part.T) / 2)
    vector = np.zeros(len(gram))
    vector[points] = vectors[:, 0]
    entries = vectors[:, 0].astype(np.longdouble)
    value = float(entries @ part.astype(np.longdouble) @ entries / (entries @ entries))
    return Witness(vector, value, np.sort(points)) if value < -tol else None


def _failed_points(gram: Array, negligible: float) -> Array | None:
    """Pivots of a diagonally pivoted Cholesky factorization and the one or two points where it fails, or None."""
    n = len(gram)
    factor, remaining = np.zeros((n, n)), gram.diagonal().copy()
    pivots: list[int] = []
    active = np.ones(n, dtype=bool)
    while active.any():
        lowest = int(np.argmin(np.where(active, remaining, np.inf)))
        if remaining[lowest] < -negligible:
            return np.array([*pivots, lowest])
        pivot = int(np.argmax(np.where(active, remaining, -np.inf)))
        if remaining[pivot] <= negligible:
            return _failed_pair(gram, factor[:, : len(pivots)], pivots, np.flatnonzero(active), negligible)
        done = len(pivots)
        column = gram[:, pivot] - factor[:, :done] @ factor[pivot, :done]
        factor[:, done] = np.where(active, column / np.sqrt(remaining[pivot]), 0.0)
        remaining -= factor[:, done] ** 2
        active[pivot] = False
        pivots.append(pivot)
    return None


def _failed_pair(gram: Array, factor: Array, pivots: list[int], rest: Array, negligible: float) -> Array | None:
    """The pivots and the pair of points where the remaining diagonal is 0, but an entry off the diagonal is not."""
    left = np.abs(gram[np.ix_(rest, rest)] - factor[rest] @ factor[rest].T)
    i, j = np.unravel_index(int(np.argmax(left)), left.shape)
    return np.array([*pivots, *sorted({int(rest[i]), int(rest[j])})]) if left[i, j] > negligible else None


def _thin_out(gram: Array, witness: Witness, tol: float) -> Witness:
    """Remove points, those of smallest weight first, as long as the others still prove indefiniteness."""
    if len(witness.points) > _PRUNED:
        return witness
    for point in sorted(witness.points, key=lambda p: abs(float(witness.vector[p]))):
        fewer = witness.points[witness.points != point]
        if len(fewer):
            witness = _lowest(gram, fewer, tol) or witness
    return witness
