"""A Gram matrix that is stored in memory."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array, times, unit_roundoff
from gramless.gram.base import GramOperator, Statistics


class DenseGram(GramOperator):
    """A symmetric matrix in memory.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    error : float
        Bound on the spectral norm of the error of `matrix` itself.

    Examples
    --------
    >>> DenseGram(np.eye(2)) @ np.array([1.0, 2.0])
    array([1., 2.])
    """

    def __init__(self, matrix: Array, error: float = 0.0) -> None:
        super().__init__(np.ones(len(matrix)))
        self._matrix = matrix
        self._given = error
        rows = np.einsum("ij,ij->i", matrix, matrix)
        frobenius = float(np.sqrt(rows.sum())) * (1 + len(matrix) * unit_roundoff()) + error
        self._statistics = Statistics(frobenius**2, matrix.sum(axis=1), frobenius)

    def _matmat(self, v: Array) -> Array:
        return np.asarray(times(self._matrix, v))

    def diagonal(self) -> Array:
        return np.array(self._matrix.diagonal())

    def statistics(self) -> Statistics:
        return self._statistics

    @property
    def error(self) -> float:
        return self._given + (len(self.roots) + 2) * unit_roundoff() * self._statistics.norm

    def to_dense(self) -> Array:
        return np.array(self._matrix)
