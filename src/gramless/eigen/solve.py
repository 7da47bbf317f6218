"""One function for leading eigenpairs by any solver: iterate, project, certify."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from gramless.arrays import (
    Array,
    in_float64,
    inner,
    inner_rounding,
    normal_columns,
    one_blas_thread,
    refuse_scale,
    times,
    to_numpy,
    unit_roundoff,
)
from gramless.certificates import (
    EXACT,
    FAILURE_PROBABILITY,
    Certificate,
    Outside,
    certify,
    from_frobenius,
    from_probes,
    outside_leading,
    probe_unit,
)
from gramless.certificates.outside import chi2_lower
from gramless.eigen.base import Basis, Counted, EigenResult, Goal, Operator, Outcome, Solver, meets, solvers
from gramless.warning import warn

PROBES = 30  # Gaussian columns: enough that their chi-squared quantile costs a factor of 3 to 5, not more


class NotConvergedWarning(UserWarning):
    """A solver stopped before its tolerance; the certificate states how accurate the pairs are."""


def eigsh(
    operator: Any,
    k: int,
    solver: str | Solver = "block_krylov",
    *,
    tol: float = 1e-10,
    start: Array | None = None,
    rng: np.random.Generator | int | None = None,
    max_iter: int | None = None,
    deadline: float | None = None,
) -> EigenResult:
    """Find the `k` leading eigenpairs of a symmetric operator, and certify them.

    Parameters
    ----------
    operator : ndarray, sparse matrix, LinearOperator or Operator of shape (n, n)
        Symmetric.
    k : int
        How many pairs, of the algebraically largest eigenvalues.
    solver : str or Solver
        A name from ``gramless.eigen.solvers``, or a solver with settings of its own.
    tol : float
        Tolerance: ``norm(A v - l v) <= tol * l_1`` for every pair.
    start : ndarray of shape (n, b), optional
        Vectors to begin with.
    rng : Generator, int or None
        Seed; an int gives bitwise reproducible results.
    max_iter : int, optional
    deadline : float, optional
        Value of ``time.perf_counter()`` by which block Krylov should have finished, with what was reached until then.

    Returns
    -------
    EigenResult
        If the outcome is not ok, a :class:`NotConvergedWarning` has been issued.

    Examples
    --------
    >>> result = eigsh(np.diag([4.0, 2.0, 1.0, 0.5]), 2, "lanczos", rng=0)
    >>> result.values.round(10)
    array([4., 2.])
    >>> result.outcome.name
    'CONVERGED'
    """
    counted = Counted(as_operator(operator))
    n = counted.shape[0]
    if not 1 <= k <= n:
        raise ValueError(f"k={k} is invalid for an operator with {n} rows; pass 1 to {n}")
    if start is not None:
        start = in_float64(start)
        start = start[:, None] if start.ndim == 1 else start
        if start.shape[0] != n or not np.isfinite(to_numpy(start)).all():
            raise ValueError(f"start of shape {start.shape} must have {n} rows of finite numbers")
    goal = Goal(k=k, tol=tol, rng=np.random.default_rng(rng), start=start, max_iter=max_iter, deadline=deadline)
    chosen = solvers[solver]() if isinstance(solver, str) else solver
    basis = chosen.basis(counted, goal)
    refuse_scale(float(np.abs(basis.projected).max(initial=0.0)), "eigenvalues")
    with one_blas_thread():
        result = _finish(counted, basis, goal)
    if not result.outcome.ok:
        worst = float(result.residuals.max() / max(abs(result.values).max(), np.finfo(float).tiny))
        limit = "time_limit" if result.outcome is Outcome.TIME_LIMIT else "max_iter"
        other = "" if type(chosen) is solvers["block_krylov"] else ", or use block_krylov (solver=, or eigen_solver=)"
        warn(
            f"{type(chosen).__name__}: {result.outcome.value}; worst residual {worst:.1e} of the largest eigenvalue, "
            f"tol={tol:.1e}. Increase {limit} or tol{other}.",
            NotConvergedWarning,
        )
    return result


def as_operator(operator: Any) -> Operator:
    """A plain matrix or LinearOperator with the error bound and the norm that certificates use."""
    if hasattr(type(operator), "error") or "error" in getattr(operator, "__dict__", ()):  # reading it may cost a pass
        return operator  # type: ignore[no-any-return]
    shape: tuple[int, ...] = getattr(operator, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"operator must be square; got shape {tuple(shape)}")
    return MatrixOperator(operator)


class MatrixOperator(LinearOperator):  # type: ignore[misc]
    """A given symmetric matrix, with the rounding error of its products."""

    draft = None

    def __init__(self, matrix: Any) -> None:
        super().__init__(np.float64, matrix.shape)
        n = self.shape[0]
        self.frobenius2: float | None = None
        self.error: float | None = None
        self.trace_bounds: tuple[float, float] | None = None
        if isinstance(matrix, LinearOperator):
            self._matrix = matrix
            return
        matrix = matrix.astype(np.float64)  # squares of float32 or integers could overflow
        entries = matrix.data if issparse(matrix) else matrix
        if not np.isfinite(entries).all():
            raise ValueError("operator has entries that are not finite")
        self._matrix = aslinearoperator(matrix)
        largest = float(np.abs(entries).max(initial=0.0))
        refuse_scale(largest, "entries of the matrix")
        norm = largest * float(np.linalg.norm(entries / largest)) if largest > 0 else 0.0  # scaled against underflow
        self.frobenius2 = norm**2 * (1 + 4 * n * unit_roundoff()) + (n**2 * np.finfo(float).tiny if norm else 0.0)
        self.error = n * unit_roundoff() * norm
        self.to_dense = matrix.toarray if issparse(matrix) else matrix.copy
        trace, slack = float(matrix.diagonal().sum()), n * unit_roundoff() * n * largest
        self.trace_bounds = (trace - slack, trace + slack)

    def _matmat(self, v: Array) -> Array:
        return np.asarray(self._matrix.matmat(v))


def _finish(operator: Counted, basis: Basis, goal: Goal) -> EigenResult:
    """Rayleigh-Ritz on the basis, then the certificate."""
    values, coordinates, residuals = basis.ritz()
    k = min(goal.k, len(values))
    rounding = basis.rounding + product_rounding(operator, basis)
    certificate = _certificate(operator, basis, goal, k, rounding)
    lead = np.sort(np.argsort(-np.abs(values), kind="stable")[:k]) if basis.by_modulus else np.arange(k)
    values, residuals = values[lead], residuals[lead]
    outcome = basis.outcome
    if (
        outcome in (Outcome.MAX_ITERATIONS, Outcome.TIME_LIMIT)
        and not basis.by_modulus
        and _proved(certificate, goal, rounding)
    ):
        # small residuals do not suffice: the pairs may not be the leading ones
        if meets(values, residuals, goal):
            outcome = Outcome.CONVERGED
        elif (residuals <= rounding).all():
            outcome = Outcome.ROUNDING
    vectors = to_numpy(basis.vectors[:, lead] if basis.diagonal else times(basis.vectors, coordinates[:, lead]))
    return EigenResult(values, vectors, residuals, certificate, outcome, operator.passes)


def product_rounding(operator: Operator, basis: Basis) -> float:
    """Bound on the norms of the errors of T and of R: products, inner products and lost orthogonality.

    With Q' the orthonormal basis nearest to Q, A Q' differs from A Q by about A Q (Q^T Q - I) / 2: the norm of A Q
    counts, not that of A.
    """
    (n, m), p = basis.vectors.shape, basis.residual_vectors.shape[1]
    size = np.hypot(np.linalg.norm(basis.projected), np.linalg.norm(basis.coupling))
    skew = (m + p) * inner_rounding(n) + np.linalg.norm(inner(basis.vectors, basis.vectors) - np.eye(m))
    if p:
        skew += np.linalg.norm(inner(basis.vectors, basis.residual_vectors))
        skew += np.linalg.norm(inner(basis.residual_vectors, basis.residual_vectors) - np.eye(p))
    error = product_error(operator, size)
    small = (m + p) * unit_roundoff() * size  # rounding of intermediate m x m matrices
    return float(np.sqrt(m) * error + np.sqrt(m) * inner_rounding(n) * size + 3 * skew * size + 10 * small)


def product_error(operator: Operator, size: float) -> float:
    """The operator's own error bound; if it has none, that of a product with a stored matrix of norm `size`."""
    error = getattr(operator, "error", None)
    return operator.shape[0] * unit_roundoff() * size if error is None else float(error)


def _certificate(operator: Counted, basis: Basis, goal: Goal, k: int, rounding: float) -> Certificate:
    """Certify with bounds that cost no pass; where these do not suffice, use random vectors, pass by pass."""
    values, coordinates, _ = basis.ritz()
    coupling = basis.coupling @ coordinates
    perturbation = getattr(operator, "perturbation", EXACT)
    if basis.failure_probability:
        chance = perturbation.failure_probability + basis.failure_probability
        perturbation = replace(perturbation, failure_probability=chance)
    beyond = _Beyond(operator, basis, float(values[k - 1]), rounding)
    certificate = certify(values, coupling, beyond.outside, k, rounding, perturbation)
    while not _proved(certificate, goal, rounding + perturbation.norm) and beyond.probed(goal):
        certificate = certify(values, coupling, beyond.outside, k, rounding, perturbation)
    return certificate


class _Beyond:
    """Bounds on an operator outside a basis, which random vectors improve, one pass at a time.

    Parameters
    ----------
    operator : Counted
    basis : Basis
    last : float
        The last value that was asked for.
    rounding : float
        Bound on the errors of the basis.
    """

    def __init__(self, operator: Counted, basis: Basis, last: float, rounding: float) -> None:
        self._operator, self._last, self._columns = operator, last, len(basis.projected)
        self._basis = basis if basis.around is None else basis.around
        self._rounding = rounding
        if basis.around is not None:
            self._rounding = basis.around.rounding + product_rounding(operator, basis.around)
        values, coordinates, _ = self._basis.ritz()
        self._values, self._coupling = values, self._basis.coupling @ coordinates
        self._outside, self._probes, self._done = self._basis.outside, list(self._basis.probes), False
        if self._basis.vectors.shape[1] == operator.shape[0]:
            self._outside = Outside(-np.inf, -np.inf)
        elif not self._outside.rigorous < last:  # the solver has not proved enough
            known = outside_by_sums(operator, values, self._coupling, self._rounding, self._basis.floors)
            self._outside = self._outside.tightened(rigorous=known)

    @property
    def outside(self) -> Outside:
        """Bounds outside the basis that is certified, which may be a part of the one that the bounds are proved for."""
        if len(self._values) == self._columns:
            return self._outside
        rigorous, probable = (
            outside_leading(self._values, self._coupling, bound, self._columns, self._rounding)
            for bound in (self._outside.rigorous, self._outside.probable)
        )
        return Outside(rigorous, probable)

    def probed(self, goal: Goal) -> bool:
        """Multiply random vectors once more; False where this would not improve the bounds."""
        if self._done or len(self._probes) > 3 or not goal.leaves(0.0):
            return False
        operator, basis, before = self._operator, self._basis, self._outside.probable
        probed = operator if basis.probes else operator_for_probes(operator, self._last)
        if len(self._probes) < 2 or before < np.inf:
            self._probes = probe(probed, basis.vectors, goal.rng, self._probes)
        error = _probe_error(probed, basis, self._rounding)
        bound = from_probes(self._probes, FAILURE_PROBABILITY, error, unit=probe_unit(self._probes))
        if probed is not operator:
            bound += probed.perturbation.norm
        self._outside = self._outside.tightened(probable=bound)
        floor = error * np.sqrt(operator.shape[0] * PROBES / chi2_lower(PROBES, FAILURE_PROBABILITY / 2))
        # because of rounding, another power would hardly lower the bound
        self._done = bool(bound < 2 * floor or (before < np.inf and bound > 0.9 * before))
        return True


def outside_by_sums(
    operator: Operator, values: Array, coupling: Array, rounding: float, floors: Array | None = None
) -> float:
    """Bound outside a basis from the operator's Frobenius norm, and from trace and `floors` where they are known."""
    frobenius2 = getattr(operator, "frobenius2", None)
    if frobenius2 is None:
        return np.inf
    trace = getattr(operator, "trace_bounds", None)
    return from_frobenius(frobenius2, values, coupling, rounding, trace, operator.shape[0], floors)


def operator_for_probes(operator: Operator, last: float) -> Any:
    """The operator to multiply probes by: its rough form, if stored and accurate beside the `last` wanted value."""
    rough = getattr(operator, "rough", None)
    if rough is None or not rough.stored:
        return operator
    away = rough.perturbation  # a probable one would be one more event that may fail
    return rough if away.norm <= 0.05 * last and not away.failure_probability else operator


def _probe_error(operator: Counted, basis: Basis, rounding: float) -> float:
    """Error of one product with a vector outside the basis: the operator's own, and that of the projections.

    `rounding` contains the operator's error once for each column of the basis; for one vector it counts only once.
    """
    columns = basis.vectors.shape[1]
    error = product_error(operator, float(np.hypot(np.linalg.norm(basis.projected), np.linalg.norm(basis.coupling))))
    return error + max(0.0, rounding - float(np.sqrt(columns)) * error)


def _proved(certificate: Certificate, goal: Goal, rounding: float) -> bool:
    """Whether every interval is as narrow as the tolerance, or as rounding allows."""
    enough = goal.tol * abs(certificate.values[0]) + 4 * rounding
    return bool((certificate.upper - certificate.lower <= enough).all())


def probe(operator: Operator, vectors: Array, rng: np.random.Generator, powers: list[Array]) -> list[Array]:
    """`powers` and one more power of the operator, restricted to the complement of the basis, on Gaussian vectors.

    Powers from the second on are in units of :func:`~gramless.certificates.probe_unit`.
    """
    if not powers:
        powers = [off(vectors, normal_columns(rng, PROBES, vectors))]
    unit = probe_unit(powers) if len(powers) > 1 else 1.0
    return [*powers, off(vectors, operator @ (powers[-1] / unit))]


def off(vectors: Array, block: Array) -> Array:
    """`block` projected off orthonormal `vectors`, twice: once is not enough in floating point."""
    for _ in range(2):
        block = block - times(vectors, inner(vectors, block))
    return block
