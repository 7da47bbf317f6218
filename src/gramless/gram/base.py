"""The interface of Gram operators: symmetric LinearOperators with a bound on their error."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gramless.arrays import Array, is_tensor
from gramless.certificates import Perturbation


@dataclass(frozen=True)
class Statistics:
    """Quantities that one pass over a Gram matrix S gives besides its products.

    Attributes
    ----------
    frobenius2 : float
        Upper bound on the squared Frobenius norm of the exact matrix.
    sums : ndarray of shape (n,)
        S r, r the roots of the weights (plain row sums when there are no weights).
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
        The same operator, cheaper and less accurate.
    rough : GramOperator or None
        The same operator up to ``rough.perturbation``, cheaper.
    """

    draft: GramOperator | None = None
    rough: GramOperator | None = None

    def __init__(self, roots: Array) -> None:
        super().__init__(np.dtype(np.float64), (len(roots), len(roots)))
        self.roots = roots

    @abstractmethod
    def _matmat(self, v: Array) -> Array:
        """S v for v of shape (n, b)."""

    def __matmul__(self, v: Any) -> Any:
        return self._matmat(v) if is_tensor(v) else super().__matmul__(v)

    def place(self, v: Any) -> Any:
        """A block of vectors (n, b) moved to the device that computes the products."""
        return v

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal of S: (n,)."""

    @abstractmethod
    def statistics(self) -> Statistics:
        """Computed with the first product, or in a pass of its own if there was none."""

    @property
    def norm(self) -> float:
        """Upper bound on the spectral norm of the matrix of moduli."""
        return self.statistics().norm

    @property
    def frobenius2(self) -> float:
        """Upper bound on the squared Frobenius norm of the exact matrix."""
        return self.statistics().frobenius2

    @property
    def trace(self) -> float:
        """Sum of the diagonal."""
        return float(self.diagonal().sum())

    @property
    def trace_bounds(self) -> tuple[float, float] | None:
        """Bounds on the trace of the operator's own matrix; None where they would hold only probably.

        An entry of the diagonal differs from the exact one by no more than the whole matrix does.
        """
        away = self.perturbation
        slack = (self.shape[0] + 2) * (self.error + away.norm)
        return None if away.failure_probability else (self.trace - slack, self.trace + slack)

    @property
    @abstractmethod
    def error(self) -> float:
        """For every v, the computed S v is within ``error * |v|`` of the exact one."""

    @property
    def stored(self) -> bool:
        """Whether a product need not compute most of the entries again."""
        return False

    @property
    def perturbation(self) -> Perturbation:
        """How far the operator's matrix is from the exact one; `error` does not include it."""
        return Perturbation()

    @abstractmethod
    def to_dense(self) -> Array:
        """S as a dense array (n, n), which the caller may overwrite."""

    def _adjoint(self) -> GramOperator:
        return self
