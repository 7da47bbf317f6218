"""What a Gram operator is: a symmetric LinearOperator that states its error."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gramless.arrays import Array, is_tensor


@dataclass(frozen=True)
class Statistics:
    """What one pass over a Gram matrix S tells besides its products.

    Attributes
    ----------
    frobenius2 : float
        Upper bound on the squared Frobenius norm of the exact matrix.
    sums : ndarray of shape (n,)
        S r, r the roots of the weights (plain row sums when there are none).
    norm : float
        Upper bound on the spectral norm of the matrix of moduli |S|.
    squares : float
        The squared Frobenius norm as it was computed: an estimate, not a bound.
    """

    frobenius2: float
    sums: Array
    norm: float
    squares: float = np.nan


class GramOperator(LinearOperator):  # type: ignore[misc]
    """S = D^1/2 K D^1/2 for a Gram matrix K and weights w, D = diag(w).

    Attributes
    ----------
    roots : ndarray of shape (n,)
        Square roots of the weights.
    draft : GramOperator or None
        The same map, cheaper and coarser.
    """

    draft: GramOperator | None = None

    def __init__(self, roots: Array) -> None:
        super().__init__(np.dtype(np.float64), (len(roots), len(roots)))
        self.roots = roots

    @abstractmethod
    def _matmat(self, v: Array) -> Array:
        """S v for v of shape (n, b)."""

    def __matmul__(self, v: Any) -> Any:
        return self._matmat(v) if is_tensor(v) else super().__matmul__(v)

    def place(self, v: Any) -> Any:
        """A block of vectors (n, b) moved to where the products are made."""
        return v

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal of S: (n,)."""

    @abstractmethod
    def statistics(self) -> Statistics:
        """Gathered with the first product; a pass of its own if there was none."""

    @property
    def frobenius2(self) -> float:
        """Upper bound on the squared Frobenius norm of the exact matrix."""
        return self.statistics().frobenius2

    @property
    @abstractmethod
    def error(self) -> float:
        """For every v, the computed S v is within ``error * |v|`` of the exact one."""

    @abstractmethod
    def to_dense(self) -> Array:
        """S written down: (n, n), the caller's own."""

    def _adjoint(self) -> GramOperator:
        return self
