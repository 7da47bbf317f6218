"""Sums of monomials over rows, each computed once: the entry (a, b) of their Gram matrix depends on a + b only."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from math import comb

import numpy as np

from gramless.arrays import Array, namespace, row_inner
from gramless.features.compress import count, monomials, tuples


class HankelSums:
    """A layout for the sums sum_i w_i u_i^(a + b) of all monomials a, b of one degree.

    A sorted tuple of 2 `degree` variables is split in its middle. For each variable v, one matrix product computes the
    sums of all tuples whose left half ends with v: left halves that end with v times right halves that start with v or
    later. Both sets of halves are slices, the right one because its variables are numbered from the last.

    Parameters
    ----------
    variables : int
    degree : int
        At least 1.

    Examples
    --------
    >>> sums = HankelSums(2, 1)
    >>> u = np.array([[1.0, 1.0], [3.0, 5.0]])
    >>> total = np.zeros(sums.size)
    >>> sums.add(u, np.ones(2), total)
    >>> sums.matrix(total)
    array([[ 2.,  8.],
           [ 8., 34.]])
    """

    def __init__(self, variables: int, degree: int) -> None:
        self.variables, self.degree = variables, degree
        self.width = count(variables, degree)
        bounds = [count(v, degree) for v in range(variables + 1)]
        self._lefts = [slice(low, high) for low, high in pairwise(bounds)]
        self._rights = [count(variables - v, degree) for v in range(variables)]
        sizes = [(left.stop - left.start) * right for left, right in zip(self._lefts, self._rights, strict=True)]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.size = int(self._starts[-1])

    def add(self, u: Array, weights: Array, total: Array) -> None:
        """Add the sums of the columns of `u` (variables, n), an array or a tensor, to `total` (size,)."""
        left, right = monomials(u, self.degree, weights), monomials(namespace(u).flip(u, (0,)), self.degree)
        for v, (rows, columns) in enumerate(zip(self._lefts, self._rights, strict=True)):
            block = total[self._starts[v] : self._starts[v + 1]]
            block += row_inner(left[rows], right[:columns]).ravel()

    @cached_property
    def squares(self) -> Array:
        """Positions (D,) of the diagonal of :meth:`matrix` in the sums."""
        terms = tuples(self.variables, self.degree)
        return self._places(terms.repeat(2, axis=1))

    def matrix(self, total: Array) -> Array:
        """The symmetric matrix (D, D) of all monomials that `total` describes."""
        out = np.empty((self.width, self.width))
        for places, rows in self._pairs():
            out[rows] = total[places]
        return out

    def collect(self, matrix: Array) -> Array:
        """The sums (size,) of a matrix (D, D): the inverse of :meth:`matrix`."""
        total = np.empty(self.size)
        for places, rows in self._pairs():
            total[places] = matrix[rows]
        return total

    def _pairs(self) -> Iterator[tuple[Array, slice]]:
        """Positions of the entries of the matrix in the sums, some rows at a time."""
        terms = tuples(self.variables, self.degree)
        step = max(1, 2**18 // (self.width * 2 * self.degree))
        for first in range(0, self.width, step):
            rows = slice(first, min(self.width, first + step))
            pairs = np.empty((rows.stop - first, self.width, 2 * self.degree), dtype=np.int64)
            pairs[..., : self.degree], pairs[..., self.degree :] = terms[rows, None], terms
            pairs.sort(axis=-1)
            yield self._places(pairs), rows

    def _places(self, merged: Array) -> Array:
        """Positions of the sums of sorted tuples (..., 2 degree)."""
        left, right = merged[..., : self.degree], self.variables - 1 - merged[..., : self.degree - 1 : -1]
        last = left[..., -1]
        lows = np.array([rows.start for rows in self._lefts])
        return np.asarray(
            self._starts[last] + (self._rank(left) - lows[last]) * np.array(self._rights)[last] + self._rank(right)
        )

    def _rank(self, rows: Array) -> Array:
        """Position of ascending tuples in colexicographic order: sum_i C(t_i + i, i + 1)."""
        table = _binomials(self.variables, self.degree)
        return sum((table[rows[..., i], i] for i in range(self.degree)), start=np.zeros(rows.shape[:-1], np.int64))


@lru_cache(maxsize=32)
def _binomials(variables: int, degree: int) -> Array:
    return np.array([[comb(t + i, i + 1) for i in range(degree)] for t in range(variables)], dtype=np.int64)
