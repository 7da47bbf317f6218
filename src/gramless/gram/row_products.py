"""Products with B B^T and B^T B for centered rows B that are never formed: sparse rows stay sparse."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from gramless.arrays import Array, inner, inner_rounding, run_in_threads, unit_roundoff
from gramless.kernels.rounding import growth

_CHUNK = 4096  # rows that are multiplied together
_SMALL = 2**22  # multiplications that take less time than threads need to begin


class CenteredRows:
    """B = D^1/2 (X - 1 m^T): rows X less their weighted mean m, times the roots of their weights.

    Parameters
    ----------
    x : ndarray or CSR of shape (n, d)
        float64. Dense rows are centered once; with sparse rows each product is centered.
    weights : ndarray of shape (n,)
    entry_error : float
        Relative error of the entries of `x`.

    Examples
    --------
    >>> rows = CenteredRows(np.array([[1.0, 0.0], [3.0, 2.0]]), np.ones(2))
    >>> rows.mean, rows @ np.ones((2, 1))
    (array([2., 1.]), array([[-2.],
           [ 2.]]))
    """

    def __init__(self, x: Any, weights: Array, entry_error: float = 0.0) -> None:
        self.shape: tuple[int, int] = x.shape
        self.sparse = bool(scipy.sparse.issparse(x))
        self.weight, self.roots = float(weights.sum()), np.sqrt(weights)
        self._entry_error = entry_error
        self._parts = [slice(first, min(x.shape[0], first + _CHUNK)) for first in range(0, x.shape[0], _CHUNK)]
        self._chunks = [_rows_of(x, part) for part in self._parts]
        self._entries = int(x.nnz) if self.sparse else x.size
        self.mean = self._sums(weights[:, None])[:, 0] / self.weight
        self.size = self._size()
        if not self.sparse:
            roots = self.roots
            self._chunks = [roots[p, None] * (c - self.mean) for p, c in zip(self._parts, self._chunks, strict=True)]

    def __matmul__(self, v: Array) -> Array:
        """B v for v (d, b)."""
        out = np.empty((self.shape[0], v.shape[1]))
        along = inner(self.mean[:, None], v) if self.sparse else None

        def work(number: int) -> None:
            part = self._parts[number]
            out[part] = self._chunks[number] @ v
            if along is not None:
                out[part] -= along
                out[part] *= self.roots[part, None]

        self._run(work, list(range(len(self._parts))), v.shape[1])
        return out

    def transposed(self, z: Array) -> Array:
        """B^T z for z (n, b)."""
        if not self.sparse:
            return self._sums(z)
        z = z * self.roots[:, None]
        sums = self._sums(z)
        sums -= np.multiply.outer(self.mean, inner(np.ones((len(z), 1)), z)[0])
        return sums

    def _sums(self, z: Array) -> Array:
        """X^T z over the chunks as they are, added in their order."""
        total = np.zeros((self.shape[1], z.shape[1]))
        made: dict[int, Array] = {}

        def work(number: int) -> None:
            made[number] = self._chunks[number].T @ z[self._parts[number]]

        for first in range(0, len(self._parts), 8):
            numbers = list(range(first, min(len(self._parts), first + 8)))
            self._run(work, numbers, z.shape[1])
            for number in numbers:
                total += made.pop(number)
        return total

    def _run(self, work: Callable[[int], None], numbers: list[int], columns: int) -> None:
        """Do `work` for each chunk, in threads where that is worth their while."""
        if columns * self._entries > _SMALL:
            run_in_threads(work, [numbers])
            return
        for number in numbers:
            work(number)

    def _size(self) -> float:
        """Bound on the squared norm of D^1/2 |X|, and so on that of B.

        For a matrix A >= 0 and any positive v, the norm of A^T A is at most the largest of (A^T A v)_j / v_j (Collatz
        and Wielandt); the squared Frobenius norm is a bound too.
        """
        frobenius2 = self._squares(self.roots**2) * (1 + 1e-10)
        if not self.sparse:
            return frobenius2
        v = np.ones(self.shape[1])
        for _ in range(4):
            image = np.zeros(self.shape[1])
            for part, chunk in zip(self._parts, self._chunks, strict=True):
                moduli = abs(chunk)
                image += moduli.T @ (self.roots[part] ** 2 * (moduli @ v))
            positive = image > 0
            bound = float((image[positive] / v[positive]).max(initial=0.0)) * (1 + 1e-10)
            v = np.where(positive, image / max(float(image.max()), np.finfo(float).tiny), 1.0) + 1e-12
        return min(bound, frobenius2)

    @cached_property
    def error(self) -> float:
        """Bound on the norms of the errors of B^T (B v) and B (B^T z), relative to |v| and |z|."""
        n, d = self.shape
        unit = unit_roundoff()
        across = max(int(np.diff(chunk.indptr).max(initial=0)) for chunk in self._chunks) if self.sparse else d
        down = growth(min(n, _CHUNK) + len(self._parts) + 8, unit)
        one = growth(across + 8, unit) + 2 * down + 2 * inner_rounding(d) + 2 * inner_rounding(n)
        tiny = 8 * (n + d) * float(np.finfo(np.float64).tiny) * (1 + float(self.roots.max(initial=0.0)) ** 2)
        return 2.2 * (2 * one + self._entry_error) * self.size + tiny

    @cached_property
    def trace(self) -> float:
        """Trace of B B^T."""
        if not self.sparse:
            return self._squares(np.ones(self.shape[0]))
        return self._squares(self.roots**2) - self.weight * float(self.mean @ self.mean)

    def _squares(self, weights: Array) -> float:
        """Weighted sum of the squared entries of the chunks as they are."""
        total = 0.0
        for part, chunk in zip(self._parts, self._chunks, strict=True):
            rows = chunk.power(2).sum(axis=1) if self.sparse else np.einsum("ij,ij->i", chunk, chunk)
            total += float(weights[part] @ np.asarray(rows).ravel())
        return total


def _rows_of(x: Any, part: slice) -> Any:
    """Some rows, without a copy."""
    if not scipy.sparse.issparse(x):
        return x[part]
    first, last = int(x.indptr[part.start]), int(x.indptr[part.stop])
    rows = scipy.sparse.csr_array((part.stop - part.start, x.shape[1]), dtype=x.dtype)
    rows.data, rows.indices = x.data[first:last], x.indices[first:last]  # the constructor would copy short parts
    rows.indptr = x.indptr[part.start : part.stop + 1] - first
    return rows


class RowProducts(LinearOperator):  # type: ignore[misc]
    """B B^T (n, n), or B^T B (d, d) where there are fewer columns than rows: the same eigenvalues but for zeros."""

    draft = None
    frobenius2: float | None = None

    def __init__(self, rows: CenteredRows) -> None:
        n, d = rows.shape
        self.rows, self.by_columns = rows, d < n
        super().__init__(np.dtype(np.float64), (min(n, d), min(n, d)))

    @property
    def error(self) -> float:
        """See :class:`~gramless.eigen.base.Operator`."""
        return self.rows.error

    def _matmat(self, v: Array) -> Array:
        if self.by_columns:
            return self.rows.transposed(self.rows @ v)
        return self.rows @ self.rows.transposed(v)
