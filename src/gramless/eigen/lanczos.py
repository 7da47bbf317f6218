r"""The Lanczos iteration, line by line as Raykar & Ankur write it (eq. 23), and what rounding does to it.

With :math:`\beta_1 = 0,\ v_0 = 0` and :math:`v_1` a unit vector, for j = 1, 2, ...

.. math::
    w_j &= A v_j - \beta_j v_{j-1} \\
    \alpha_j &= (w_j, v_j) \\
    w_j &= w_j - \alpha_j v_j \\
    \beta_{j+1} &= \|w_j\|_2 \\
    v_{j+1} &= w_j / \beta_{j+1}

The alphas and betas are the diagonal and subdiagonal of a tridiagonal T, whose extreme eigenvalues approach those
of A. In exact arithmetic the vectors are orthonormal. In floating point they cease to be, exactly when the first
eigenvalue converges (Paige), and copies of it, 'ghosts', appear in T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import eigh_tridiagonal

from gramless.arrays import Array, inner, unit_roundoff
from gramless.eigen.base import Basis, Goal, Operator, Solver, solvers
from gramless.eigen.fresh_starts import Run, Settled, away_from, fresh_starts

Reorthogonalization = Literal["full", "selective", "none"]

_INDEPENDENT = 0.01  # |V^T V - I| below this: no column can be a copy of others


class LanczosProcess:
    """The iteration as an object that takes one step at a time.

    Parameters
    ----------
    operator : Operator of shape (n, n)
    start : ndarray of shape (n,)
        Of unit length.
    steps : int
        Maximum number of steps.
    reorthogonalization : {"full", "selective", "none"}
        "full" orthogonalizes each new vector against all earlier ones. "selective" is the scheme of Parlett & Scott:
        orthogonality is lost only along Ritz vectors that have converged, so each new vector is orthogonalized against
        the Ritz vectors whose residual estimate has fallen below the square root of the unit roundoff. "none" is
        eq. 23 as it stands.
    held : ndarray of shape (n, h), optional
        Orthonormal vectors; the iteration stays in their complement.

    Examples
    --------
    >>> start = np.array([0.6, 0.8])
    >>> process = LanczosProcess(np.diag([3.0, 1.0]), start, steps=2)
    >>> process.step(), process.step()
    (True, False)
    >>> process.ritz()[0].round(12)
    array([3., 1.])
    """

    def __init__(
        self,
        operator: Operator,
        start: Array,
        steps: int,
        reorthogonalization: Reorthogonalization = "full",
        held: Array | None = None,
    ) -> None:
        n = len(start)
        self._operator = operator
        self._mode = reorthogonalization
        self._held = np.zeros((n, 0)) if held is None else held
        self._v = np.empty((n, steps + 1), order="F")
        self._v[:, 0] = start
        self.alpha: list[float] = []
        self.beta: list[float] = [0.0]

    @property
    def vectors(self) -> Array:
        """V (n, j): one column for each step taken."""
        return self._v[:, : len(self.alpha)]

    def step(self) -> bool:
        """Equation 23, once. False when the space is exhausted: the next vector would be zero."""
        j = len(self.alpha)
        v, beta = self._v[:, j], self.beta[j]
        before = self._v[:, j - 1] if j else np.zeros_like(v)

        w = self._operator @ v - beta * before
        alpha = float(w @ v)
        w = w - alpha * v
        self.alpha.append(alpha)
        w = self._reorthogonalize(away_from(self._held, w))
        beta_next = float(np.linalg.norm(w))
        self.beta.append(beta_next)
        size = max(map(abs, self.alpha)) + max(self.beta[:-1])
        if beta_next <= 10 * max(len(v), 100) * unit_roundoff() * size:
            return False
        self._v[:, j + 1] = w / beta_next
        return True

    def renew(self, vector: Array) -> None:
        """Go on from another unit vector, orthogonal to all before, after :meth:`step` has exhausted the space."""
        self.beta[-1] = 0.0
        self._v[:, len(self.alpha)] = vector

    def relation(self) -> tuple[Array, Array, Array, Array]:
        """V (n, j), the vector v that follows (n, 1), T (j, j) and F (1, j) with A V = V T + v F."""
        j = len(self.alpha)
        tridiagonal = np.diag(self.alpha) + np.diag(self.beta[1:j], 1) + np.diag(self.beta[1:j], -1)
        coupling = np.zeros((1, j))
        coupling[0, -1] = self.beta[-1]
        return self.vectors, self._v[:, j : j + 1], tridiagonal, coupling

    def ritz(self) -> tuple[Array, Array]:
        """Descending eigenvalues of T, and their residuals ``beta_{j+1} |last entry of the eigenvector|``."""
        values, vectors = self._eigen()
        return values[::-1], (self.beta[-1] * np.abs(vectors[-1]))[::-1]

    def orthogonality_loss(self) -> float:
        """Largest entry of ``|V^T V - I|``."""
        vectors = self.vectors
        return float(np.abs(inner(vectors, vectors) - np.eye(vectors.shape[1])).max())

    def _eigen(self) -> tuple[Array, Array]:
        j = len(self.alpha)
        size = max(max(map(abs, self.alpha)), max(self.beta)) or 1.0  # LAPACK might overflow without it
        values, vectors = eigh_tridiagonal(np.array(self.alpha) / size, np.array(self.beta[1:j]) / size)
        return values * size, vectors

    def _reorthogonalize(self, w: Array) -> Array:
        if self._mode == "full":
            return away_from(self.vectors, w)
        if self._mode == "selective":
            converged = self._converged_ritz_vectors(float(np.linalg.norm(w)))
            return away_from(converged, w)
        return w

    def _converged_ritz_vectors(self, beta: float) -> Array:
        """Ritz vectors accurate to half the digits, at either end of the spectrum."""
        values, vectors = self._eigen()
        good = beta * np.abs(vectors[-1]) <= np.sqrt(unit_roundoff()) * np.abs(values).max()
        return np.asarray(np.linalg.qr(self.vectors @ vectors[:, good])[0])


@solvers.register("lanczos")
@dataclass(frozen=True)
class Lanczos(Solver):
    """Lanczos iteration without restart: stores every vector, multiplies one at a time.

    One run finds one copy of each eigenvalue; runs are repeated from fresh starts until one finds nothing new.
    ``goal.max_iter`` limits the steps of all runs together; default: n, at most 1000 or 20 k.

    Parameters
    ----------
    reorthogonalization : {"full", "selective", "none"}
        See :class:`LanczosProcess`. With "none", the loss of orthogonality is measured, and the basis made orthonormal
        before it is returned; where columns had become copies of others the outcome is ``LOST_ORTHOGONALITY``.

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag([1.0, 1.0, 1.0, 0.5]), 3, Lanczos(), rng=0).values.round(12)
    array([1., 1., 1.])
    """

    reorthogonalization: Reorthogonalization = "full"

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        limit = default_steps(operator, goal) if goal.max_iter is None else goal.max_iter
        return fresh_starts(operator, goal, self._run, limit)

    def _run(self, operator: Operator, start: Array, held: Array, settled: Settled, limit: int) -> Run:
        process = LanczosProcess(operator, start, limit, self.reorthogonalization, held)
        room = len(start) - held.shape[1]
        for steps in range(1, limit + 1):
            exhausted = not process.step() or steps == room
            if exhausted or steps == limit or steps % (1 + steps // 20) == 0:  # T grows: solve it less often
                values, residuals = process.ritz()
                if exhausted or settled(values, residuals):
                    break
        orthogonal = self.reorthogonalization == "full" or process.orthogonality_loss() < _INDEPENDENT
        return Run(process.vectors, values, exhausted or settled(values, residuals), orthogonal)


@solvers.register("lanczos_selective")
@dataclass(frozen=True)
class SelectiveLanczos(Lanczos):
    """Lanczos that orthogonalizes new vectors against converged Ritz vectors only (Parlett & Scott)."""

    reorthogonalization: Reorthogonalization = "selective"


@solvers.register("lanczos_none")
@dataclass(frozen=True)
class PlainLanczos(Lanczos):
    """Equation 23 as it stands: it loses orthogonality, and the outcome says so."""

    reorthogonalization: Reorthogonalization = "none"


def default_steps(operator: Operator, goal: Goal) -> int:
    """Steps allowed where the caller sets no limit: a basis of so many columns can be kept and projected on."""
    return min(operator.shape[0], max(1000, 20 * goal.k))


def confirmed(operator: Operator, basis: Basis, goal: Goal) -> Basis:
    """Check a basis that looks converged, by Lanczos from a random vector orthogonal to it.

    Some solvers may converge to pairs that are not the leading ones: to one copy of a repeated value, or to the
    eigenvectors that happened to be in ``goal.start``. Pairs that were missed are added.
    """
    if not basis.outcome.ok or basis.vectors.shape[1] == operator.shape[0]:
        return basis
    return fresh_starts(operator, goal, Lanczos()._run, default_steps(operator, goal), basis)


def ends(operator: Operator, start: Array, held: Array, steps: int = 20) -> tuple[float, float, Array]:
    """The ends of the spectrum on the complement of `held`, from a short Lanczos run.

    Returns
    -------
    lowest, highest : float
        Smallest Ritz value minus its residual, largest plus its residual: most likely outside the spectrum.
    ritz : ndarray of shape (m,)
        Descending; each is always at most the eigenvalue of its rank (Cauchy).
    """
    room = min(steps, len(start) - held.shape[1])
    process = LanczosProcess(operator, start, room, held=held)
    for _ in range(room):
        if not process.step():
            break
    ritz, residuals = process.ritz()
    return float(ritz[-1] - residuals[-1]), float(ritz[0] + residuals[0]), ritz
