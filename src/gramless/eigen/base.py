"""Operators, solvers and results: one signature for every way to find leading eigenpairs."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from gramless.arrays import Array, beside, in_float64, inner, normal_columns, orthonormalize, times
from gramless.certificates import Certificate, Outside
from gramless.progress import observer
from gramless.registry import Registry

solvers: Registry[type[Solver]] = Registry("solver")


class Operator(Protocol):
    """A symmetric linear map: anything with a shape and a product (SciPy's LinearOperator is one).

    Optional attributes, used where present: ``error`` (for every v, the computed product is within ``error * |v|`` of
    the exact one), ``frobenius2`` (an upper bound on the squared Frobenius norm), ``draft`` (the same operator, cheaper
    and less accurate, or None), ``perturbation`` (how far its matrix is from the exact one), ``rough`` (the same
    operator up to its perturbation, cheaper, or None), ``to_dense()`` and ``place(v)`` (a block of vectors moved to
    the device that computes products: on a GPU a torch tensor, and then its products are tensors too). Without them,
    products are taken as exact to rounding.
    """

    shape: tuple[int, int]

    def __matmul__(self, v: Array) -> Array: ...


class Outcome(enum.Enum):
    """How an iteration ended."""

    CONVERGED = "every requested pair meets the tolerance"
    ROUNDING = "residuals are at the rounding error of the products: not improvable in this precision"
    MAX_ITERATIONS = "the iteration limit was reached before the tolerance"
    APPROXIMATE = "the method's error bound exceeds the tolerance; the certificate states the accuracy achieved"
    TIME_LIMIT = "the time limit was reached before the tolerance"
    LOST_ORTHOGONALITY = "the basis lost its orthogonality, so some pairs may be copies of converged pairs"

    @property
    def ok(self) -> bool:
        """Whether the pairs are as accurate as requested, or as rounding allows."""
        return self in (Outcome.CONVERGED, Outcome.ROUNDING)


@dataclass(frozen=True)
class Goal:
    """The request to a solver.

    Attributes
    ----------
    k : int
        Number of leading (algebraically largest) pairs.
    tol : float
        Tolerance: ``norm(A v - l v) <= tol * l_1`` for each pair.
    rng : numpy.random.Generator
    start : ndarray of shape (n, b), optional
        Starting vectors.
    max_iter : int, optional
        Limit on iterations; each solver has its own default.
    deadline : float, optional
        Value of ``time.perf_counter()`` by which the certificate should be finished; block Krylov stops before it.
    """

    k: int
    tol: float
    rng: np.random.Generator
    start: Array | None = None
    max_iter: int | None = None
    deadline: float | None = None

    def leaves(self, seconds: float) -> bool:
        """Whether the deadline leaves so many seconds."""
        return self.deadline is None or perf_counter() + seconds <= self.deadline

    def starting_block(self, n: int, columns: int) -> Any:
        """Orthonormal (n, columns): the given start, filled up with random vectors; a tensor if the start is one."""
        given = np.zeros((n, 0)) if self.start is None else in_float64(self.start)[:, :columns]
        block = beside(given, normal_columns(self.rng, columns - given.shape[1], given))
        return orthonormalize(block)[0]


@dataclass(frozen=True)
class Basis:
    """What a solver returns: an orthonormal basis and the action of the operator on it.

    Attributes
    ----------
    vectors : ndarray of shape (n, m)
        Q, orthonormal columns, m >= k.
    projected : ndarray of shape (m, m)
        T = Q^T A Q, symmetric.
    residual_vectors : ndarray of shape (n, p)
        P, orthonormal and orthogonal to Q.
    coupling : ndarray of shape (p, m)
        F with A Q - Q T = P F.
    outcome : Outcome
    outside : Outside
        Bounds on the operator outside the basis, as far as known to the solver.
    rounding : float
        Error of T and of P F beyond that of the operator's products.
    probes : tuple of ndarray of shape (n, r)
        Gaussian vectors G projected off Q, C G, C^2 G, ... (C: A projected off Q), if the solver has computed them.
    by_modulus : bool
        Whether the leading pairs are those of largest modulus rather than largest value.
    floors : ndarray of shape (f,) or None
        Lower bounds on the leading eigenvalues of the operator, descending.
    around : Basis or None
        A larger basis whose leading Ritz vectors span Q, less accurate: bounds on the operator outside it are proved
        first, as they are smaller.
    failure_probability : float
        Chance that `rounding` is wrong, here or of `around`.
    """

    vectors: Array
    projected: Array
    residual_vectors: Array
    coupling: Array
    outcome: Outcome
    outside: Outside = field(default_factory=Outside)
    rounding: float = 0.0
    probes: tuple[Array, ...] = ()
    by_modulus: bool = False
    floors: Array | None = None
    around: Basis | None = None
    failure_probability: float = 0.0

    @classmethod
    def from_vectors(cls, operator: Operator, vectors: Array, outcome: Outcome, **more: Any) -> Basis:
        """Orthonormalize `vectors` (n, m) and multiply the operator with them once."""
        basis, _ = orthonormalize(vectors)
        return cls.from_products(basis, operator @ basis, outcome, **more)

    @classmethod
    def from_products(cls, basis: Array, products: Array, outcome: Outcome, **more: Any) -> Basis:
        """From orthonormal columns and the operator's products with them."""
        projected = inner(basis, products)
        residual = products - times(basis, projected)
        residual_vectors, coupling = orthonormalize(residual, basis, drop=0.0)
        room = len(basis) - basis.shape[1]  # any further direction would be rounding inside the basis
        residual_vectors, coupling = residual_vectors[:, :room], coupling[:room]
        return cls(basis, (projected + projected.T) / 2, residual_vectors, coupling, outcome, **more)

    def ritz(self) -> tuple[Array, Array, Array]:
        """Ritz values (m,) in descending order, their coordinates (m, m) in Q, their residual norms (m,)."""
        return self._ritz

    def changed(self, **changes: Any) -> Basis:
        """The same basis with another outcome or other bounds; its Ritz pairs are not computed again."""
        other = replace(self, **changes)
        if "_ritz" in self.__dict__:
            other.__dict__["_ritz"] = self._ritz
        return other

    @cached_property
    def diagonal(self) -> bool:
        """Whether the columns of Q are the Ritz vectors already, in descending order: no second eigenproblem."""
        values = np.diagonal(self.projected)
        off_diagonal = np.count_nonzero(self.projected) - np.count_nonzero(values)
        return not self.coupling.size and off_diagonal == 0 and bool((np.diff(values) <= 0).all())

    @cached_property
    def _ritz(self) -> tuple[Array, Array, Array]:
        if self.diagonal:
            return np.diagonal(self.projected), np.eye(len(self.projected)), np.zeros(len(self.projected))
        values, coordinates = np.linalg.eigh(self.projected)
        values, coordinates = values[::-1], coordinates[:, ::-1]
        return values, coordinates, np.linalg.norm(self.coupling @ coordinates, axis=0)


class Solver(ABC):
    """Finds a basis that contains the leading eigenvectors. Subclasses are frozen dataclasses of their settings."""

    @abstractmethod
    def basis(self, operator: Operator, goal: Goal) -> Basis:
        """Iterate until the leading ``goal.k`` pairs meet ``goal.tol``, or say in the outcome why not."""


@dataclass(frozen=True)
class EigenResult:
    """Leading eigenpairs, and how accurate they are.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Descending.
    vectors : ndarray of shape (n, k)
        Orthonormal.
    residuals : ndarray of shape (k,)
        norm(A v - l v), as computed.
    certificate : Certificate
    outcome : Outcome
    passes : int
        How many times the operator was multiplied (by a block of any width).
    """

    values: Array
    vectors: Array
    residuals: Array
    certificate: Certificate
    outcome: Outcome
    passes: int


class Counted:
    """An operator that counts its products, those of its draft included."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.shape = operator.shape
        self._products = 0

    def __matmul__(self, v: Array) -> Array:
        self._products += 1
        observer().passing()
        product = self._operator @ (v if v.ndim == 2 else v[:, None])
        observer().passed()
        return product if v.ndim == 2 else product[:, 0]

    @cached_property
    def draft(self) -> Counted | None:
        """The operator's draft, counted too."""
        draft = getattr(self._operator, "draft", None)
        return None if draft is None else Counted(draft)

    @cached_property
    def rough(self) -> Counted | None:
        """The operator's cheaper form with a known perturbation, counted too."""
        rough = getattr(self._operator, "rough", None)
        return None if rough is None else Counted(rough)

    @property
    def passes(self) -> int:
        """Products so far."""
        return self._products + sum(other.passes for other in (self.draft, self.rough) if other is not None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operator, name)


def meets(values: Array, residuals: Array, goal: Goal) -> bool:
    """Whether the leading pairs meet the tolerance. `values` and `residuals` start with the leading pair."""
    k = min(goal.k, len(values))
    return bool((residuals[:k] <= goal.tol * np.abs(values[:k]).max(initial=0.0)).all())
