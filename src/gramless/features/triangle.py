"""Solves with a lower triangular matrix by matrix products alone, which run in threads, and their error bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from gramless.arrays import Array, copied, like, unit_roundoff
from gramless.kernels.rounding import growth

_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Triangle:
    """L, lower triangular with a positive diagonal, its diagonal blocks inverted once.

    Parameters
    ----------
    lower : ndarray of shape (s, s)

    Examples
    --------
    >>> triangle = Triangle(np.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> triangle.solve(np.array([[2.0, 9.0]])), triangle.solve_transposed(np.array([[4.0, 4.0]]))
    (array([[1., 2.]]), array([[1.5, 1. ]]))
    """

    lower: Array

    @cached_property
    def _blocks(self) -> list[slice]:
        s = len(self.lower)
        return [slice(first, min(s, first + _BLOCK)) for first in range(0, s, _BLOCK)]

    @cached_property
    def _inverses(self) -> list[Array]:
        return [
            scipy.linalg.solve_triangular(self.lower[b, b], np.eye(b.stop - b.start), lower=True) for b in self._blocks
        ]

    def solve(self, right: Array) -> Array:
        """Rows y (n, s) with L y = b for each row b of `right` (n, s), which is overwritten."""
        for block, inverse in zip(self._blocks, self._inverses, strict=True):
            if block.start:
                right[:, block] -= right[:, : block.start] @ self.lower[block, : block.start].T
            right[:, block] = right[:, block] @ inverse.T
        return right

    def solve_transposed(self, right: Array) -> Array:
        """Rows y (n, s) with L^T y = b for each row b of `right` (n, s), in a new array."""
        out: Array = copied(right)
        for block, inverse in zip(self._blocks[::-1], self._inverses[::-1], strict=True):
            if block.stop < len(self.lower):
                out[:, block] -= out[:, block.stop :] @ self.lower[block.stop :, block]
            out[:, block] = out[:, block] @ inverse
        return out

    def residual(self, solution: Array, right: Array) -> Array:
        """Bound on the norm of L y - b (or L^T y - b) from the norms (n,) of the computed y and of b."""
        solved = float(np.nextafter(self._own_error, np.inf))
        products = growth(len(self.lower) + 4, unit_roundoff())
        size = self._size
        return (products * size + solved) * 1.01 * solution + products * right

    def beside(self, x: Any) -> Triangle:
        """The same matrix on the device of the tensor `x`, with its cached properties."""
        there = Triangle(like(self.lower, x))
        norms = {"_own_error": self._own_error, "_size": self._size, "inverse_norm": self.inverse_norm}
        there.__dict__.update(norms, _inverses=[like(i, x) for i in self._inverses])
        return there

    @cached_property
    def inverse_norm(self) -> float:
        """Bound on the norm of L^-1."""
        size = len(self.lower)
        inverse = scipy.linalg.solve_triangular(self.lower, np.eye(size), lower=True)
        off = float(np.linalg.norm(self.lower @ inverse - np.eye(size)))
        off += growth(size + 4, unit_roundoff()) * float(np.linalg.norm(self.lower)) * float(np.linalg.norm(inverse))
        spectral = float(np.sqrt(np.linalg.norm(inverse, 1) * np.linalg.norm(inverse, np.inf))) * (1 + 1e-12)
        return min(spectral, float(np.linalg.norm(inverse))) / (1 - off) if off < 1 else float("inf")

    @cached_property
    def _size(self) -> float:
        return float(np.linalg.norm(self.lower))

    @cached_property
    def _own_error(self) -> float:
        """Bound on |L_ii y - r| / |y| over the diagonal blocks, from the errors of inverses and products with them.

        It is formed entry by entry: |L| |L^-1| |L| is seldom much larger than L, the product of the norms often is.
        """
        worst = 0.0
        for block, inverse in zip(self._blocks, self._inverses, strict=True):
            own = self.lower[block, block]
            worst = max(worst, _block_error(own, inverse), _block_error(own.T, inverse.T))
        return worst


def _block_error(own: Array, inverse: Array) -> float:
    """Bound on |own y - r| / |y| for y = fl(inverse r)."""
    off = np.abs(own.astype(np.longdouble) @ inverse.astype(np.longdouble) - np.eye(len(own))).astype(np.float64)
    slip = 1.01 * off + growth(len(own) + 4, unit_roundoff()) * np.abs(own) @ np.abs(inverse)
    size = float(np.linalg.norm(slip))
    return np.inf if size >= 1 else 1.01 * float(np.linalg.norm(slip @ np.abs(own))) / (1 - size)
