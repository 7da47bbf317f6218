"""Centering in feature space, as an operator wrapped around another, without a second matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gramless.arrays import Array, in_float64, inner, inner_rounding, like, times, unit_roundoff
from gramless.certificates import Perturbation
from gramless.gram.base import GramOperator, Statistics

_ROWS = 64  # rows centered together


class CenteredGram(GramOperator):
    r"""(I - u u^T) S (I - u u^T), with u the unit vector along the roots of the weights.

    With D = diag(w), S = D^1/2 K D^1/2 and H = I - 1 w^T / W this is D^1/2 H K H^T D^1/2 (Raykar & Ankur, eq. 21;
    Welling, eq. 14): the Gram matrix of the points less their weighted mean.

    Parameters
    ----------
    gram : GramOperator
        S.

    Examples
    --------
    >>> from gramless.gram import DenseGram
    >>> centered = CenteredGram(DenseGram(np.array([[1.0, 0.0], [0.0, 1.0]])))
    >>> centered.to_dense()
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    >>> round(centered.trace, 12)
    1.0
    """

    def __init__(self, gram: GramOperator) -> None:
        super().__init__(gram.roots)
        self.gram = gram
        self.weight = float((gram.roots**2).sum())
        self._unit = (gram.roots / np.sqrt(self.weight))[:, None]
        self.draft = None if gram.draft is None else CenteredGram(gram.draft)
        self.rough = None if gram.rough is None else CenteredGram(gram.rough)

    def _project(self, v: Any) -> Any:
        unit = like(self._unit, v)
        along = times(unit, inner(unit, v))
        along -= v
        along *= -1
        return along

    def _matmat(self, v: Any) -> Any:
        return self._project(self.gram @ self._project(in_float64(v)))

    def place(self, v: Any) -> Any:
        return self.gram.place(v)

    def statistics(self) -> Statistics:
        """Of the centered matrix: ``|C|_F^2 = |S|_F^2 - 2 |S u|^2 + (u^T S u)^2``, each term with its rounding."""
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        whole = self.gram.statistics()
        image = np.linalg.norm(whole.sums) / np.sqrt(self.weight)
        slack = self.gram.error + inner_rounding(self.shape[0]) * image
        along = abs(self._mean_square) + slack
        frobenius2 = whole.frobenius2 - 2 * max(0.0, image - slack) ** 2 + along**2
        floor = 8 * unit_roundoff() * whole.frobenius2
        return Statistics(max(0.0, frobenius2) + floor, np.zeros_like(whole.sums), 2 * whole.norm)

    @property
    def frobenius2_estimate(self) -> float:
        """The squared Frobenius norm of the centered matrix without allowance for rounding."""
        whole = self.gram.statistics()
        image = float(np.linalg.norm(whole.sums)) ** 2 / self.weight
        return whole.squares - 2 * image + self._mean_square**2

    @cached_property
    def error(self) -> float:
        return self.gram.error + 4 * (inner_rounding(self.shape[0]) + 4 * unit_roundoff()) * self.gram.norm

    @property
    def stored(self) -> bool:
        return self.gram.stored

    @property
    def perturbation(self) -> Perturbation:
        return self.gram.perturbation  # a projection does not enlarge it

    @property
    def expected(self) -> float:
        """Norm of the perturbation after the next product."""
        return float(getattr(self.gram, "expected", self.perturbation.norm))

    @cached_property
    def _mean_square(self) -> float:
        """u^T S u, the squared norm of the mean times W."""
        return float(inner(self._unit, self.gram.statistics().sums[:, None])[0, 0] / np.sqrt(self.weight))

    @cached_property
    def trace(self) -> float:
        """The exact total variance, times W: sum_i w_i k(x_i, x_i) - w^T K w / W."""
        return float(self.gram.diagonal().sum()) - self._mean_square

    @property
    def mean_norm2(self) -> float:
        """Squared norm of the mean in feature space, w^T K w / W^2."""
        return self._mean_square / self.weight

    def offset(self, coefficients: Array) -> Array:
        """Inner products of the mean with sum_i c_i phi(x_i), for `coefficients` (n, k): (k,).

        The coefficients must vanish where the weights do.
        """
        sums = self.gram.statistics().sums / self.weight
        heights = np.divide(sums, self.roots, out=np.zeros_like(sums), where=self.roots > 0)
        products: Array = inner(heights[:, None], coefficients)[0]
        return products

    def diagonal(self) -> Array:
        k = self.gram.statistics().sums / self.weight
        r = self.roots
        return self.gram.diagonal() - 2 * r * k + r**2 * float(r @ k) / self.weight

    def to_dense(self) -> Array:
        matrix = self.gram.to_dense()
        r = self.roots
        k = inner(matrix, r[:, None])[:, 0] / self.weight
        mean = float(r @ k) / self.weight
        for first in range(0, len(matrix), _ROWS):  # some rows at a time: no second matrix
            rows = slice(first, first + _ROWS)
            away = np.multiply.outer(r[rows], k)
            away += np.multiply.outer(k[rows] - r[rows] * mean, r)
            matrix[rows] -= away
        return matrix
