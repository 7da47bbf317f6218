"""The choice of the terms of a truncated series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, one_blas_thread


@dataclass(frozen=True, eq=False)
class Moment:
    """Sums of features over rows, from which a series is computed: the sums of two sets of rows add.

    Attributes
    ----------
    weight : float
    total : ndarray of shape (s,)
        sum w phi.
    square : ndarray of shape (s, s)
        sum w phi phi^T.
    """

    weight: float
    total: Array
    square: Array

    def __add__(self, other: Moment) -> Moment:
        return Moment(self.weight + other.weight, self.total + other.total, self.square + other.square)

    def __sub__(self, other: Moment) -> Moment:
        return Moment(self.weight - other.weight, self.total - other.total, self.square - other.square)

    def eigen(self) -> tuple[Array, Array]:
        """Eigenvalues (r,) of sum w phi phi^T / W, descending, those above rounding, and their axes (s, r)."""
        with one_blas_thread():
            values, axes = np.linalg.eigh(self.square / self.weight)
        kept = values > 1e-12 * max(float(values[-1]), np.finfo(float).tiny)
        return values[kept][::-1], axes[:, kept][:, ::-1]


def retained_by_rule(moment: Moment, values: Array, axes: Array) -> Array:
    """Mask (r,) of the terms that lower the integrated squared error, each judged by itself.

    With e_j the eigenfunction of unit mean square, term j is kept if (mean of e_j)^2 > 2 / (1 + N) times the mean of
    e_j^2 (Girolami 2002, after Kronmal & Tarter 1968): in Gram eigenvectors (1^T u_j)^2 > 2 N / (1 + N).

    Parameters
    ----------
    moment : Moment
    values : ndarray of shape (r,)
    axes : ndarray of shape (s, r)

    Returns
    -------
    ndarray of bool of shape (r,)
        The first term is always kept.
    """
    along = (moment.total / moment.weight) @ axes
    kept: Array = along**2 / values > 2 / (1 + moment.weight)
    kept[:1] = True
    return kept


def held_out_count(folds: list[Moment], overlap: Array) -> int:
    """The number of leading terms with the minimum integrated squared error on held-out rows.

    For a fold v and the series p_M of the other rows, the integral of (p_M - p)^2 is, up to a constant, the integral of
    p_M^2 minus twice the mean of p_M over v. Both follow from moments alone.

    Parameters
    ----------
    folds : list of Moment
        Two or more.
    overlap : ndarray of shape (s, s)
        Integral of phi phi^T over all of space, divided by that of the kernel.
    """
    whole = folds[0]
    for fold in folds[1:]:
        whole = whole + fold
    curves = []
    for fold in folds:
        if fold.weight <= 0 or fold.weight >= whole.weight:
            continue
        rest = whole - fold
        _, axes = rest.eigen()
        terms = (rest.total / rest.weight) @ axes
        with one_blas_thread():
            turned = axes.T @ overlap @ axes
        products = np.cumsum(np.cumsum(terms[:, None] * turned * terms, axis=0), axis=1).diagonal()
        curves.append((products - 2 * np.cumsum(terms * (fold.total / fold.weight @ axes))) * fold.weight)
    shortest = min(map(len, curves))
    error = sum(curve[:shortest] for curve in curves)
    return int(np.argmin(error)) + 1
