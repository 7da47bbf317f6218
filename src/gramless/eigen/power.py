r"""Power iteration, one pair at a time: each pair found is deflated before the next iteration.

Wielandt's deflation replaces A by :math:`A - \sum_j (\lambda_j - s)\, u_j u_j^T` (Saad's :math:`A - \sigma u v^H`;
for symmetric A the best v is u itself), which moves each eigenvalue found to the shift s, where the iteration cannot
see it. In the Schur-Wielandt form each new vector is made orthonormal to the earlier ones first, so that their errors
do not add up.

The iteration converges to the value farthest from the shift. If that is :math:`\lambda`, every value still to be found
is at most :math:`s + |\lambda - s|`: the search ends when the k-th largest value found is no smaller than this ceiling.
So on an indefinite operator plain power iteration (s = 0) finds negative values, too, before the search ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gramless.arrays import Array
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, solvers
from gramless.eigen.fresh_starts import away_from, fresh_vector
from gramless.eigen.lanczos import ends
from gramless.eigen.stopping import filled, judged, last_wanted, target_residual


@dataclass
class _Found:
    """Pairs found so far, and an upper bound on the eigenvalues not yet found."""

    vectors: Array
    values: Array = field(default_factory=lambda: np.zeros(0))
    ceiling: float = np.inf

    def take(self, vector: Array, value: float) -> None:
        self.vectors = np.column_stack([self.vectors, vector])
        self.values = np.append(self.values, value)


@solvers.register("power")
@dataclass(frozen=True)
class Power(Solver):
    """Power iteration with deflation.

    It is slow where eigenvalues are close, and fails where both l and -l are eigenvalues: then the outcome says
    that it did not converge. ``goal.max_iter`` limits the products of all pairs together; default: 20,000.

    Parameters
    ----------
    deflation : {"wielandt", "schur"}

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag([-5.0, 2.0, 1.0]), 2, Power(), rng=0).values.round(9)
    array([2., 1.])
    """

    deflation: Literal["wielandt", "schur"] = "wielandt"

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        n = operator.shape[0]
        left = 20_000 if goal.max_iter is None else goal.max_iter
        found = _Found(np.zeros((n, 0)))
        random = goal.start is None
        complete = False
        while left > 0 and not complete:
            held = np.linalg.qr(found.vectors)[0]
            start = fresh_vector(goal, held, given=not random)
            shift, spent = self._shift(operator, start, held)
            vector, value, used, converged = _iterate(operator, start, found, shift, left - spent, goal)
            left -= used + spent
            rest = away_from(held, vector)
            new = float(np.linalg.norm(rest))
            if new < 0.5:  # only rounding is left: the iteration drifted back to pairs already found
                break
            found.take(rest / new if self.deflation == "schur" else vector, value)
            if not converged:
                break
            if random:  # a start that was given may have been an eigenvector: it proves no ceiling
                found.ceiling = shift + abs(found.values[-1] - shift)
            random = True
            slack = target_residual(found.values, goal, n)
            complete = last_wanted(found.values, goal.k) >= found.ceiling - slack or len(found.values) == n
        return judged(Basis.from_vectors(operator, filled(found.vectors, goal), Outcome.MAX_ITERATIONS), goal, complete)

    def _shift(self, operator: Operator, start: Array, held: Array) -> tuple[float, int]:
        """The shift for the next pair, and how many products it cost."""
        return 0.0, 0


@solvers.register("power_schur")
@dataclass(frozen=True)
class SchurPower(Power):
    """Power iteration with Schur-Wielandt deflation."""

    deflation: Literal["wielandt", "schur"] = "schur"


@solvers.register("shifted_power")
@dataclass(frozen=True)
class ShiftedPower(Power):
    r"""Power iteration on A - s I.

    To find :math:`\lambda_1` with the others in :math:`[\lambda_n, \lambda_2]`, the best shift is the middle of this
    interval. It about halves the number of steps for a positive semidefinite operator, and makes the algebraically
    largest value l of an indefinite one also the largest in modulus, even if -l is an eigenvalue. The shift used is
    :math:`s = 0.6 \lambda_n + 0.4 \lambda_2`, a little below the middle, so that components of the lower end decay
    quickly even where :math:`\lambda_2 = \lambda_1`. Both ends are estimated by a short Lanczos run. Its second Ritz
    value lies below :math:`\lambda_2` and its smallest, minus its residual, below :math:`\lambda_n`: the shift is
    rather too low, which is slower but still correct.

    Parameters
    ----------
    deflation : {"wielandt", "schur"}
    probe : int
        Lanczos steps that each shift is estimated with.

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag([-2.0, 2.0, 1.0]), 2, ShiftedPower(), rng=0).values.round(9)
    array([2., 1.])
    """

    deflation: Literal["wielandt", "schur"] = "schur"
    probe: int = 20

    def _shift(self, operator: Operator, start: Array, held: Array) -> tuple[float, int]:
        lowest, _, ritz = ends(operator, start, held, self.probe)
        second = float(ritz[1]) if len(ritz) > 1 else lowest
        return 0.6 * lowest + 0.4 * second, len(ritz)


def _iterate(
    operator: Operator, start: Array, found: _Found, shift: float, limit: int, goal: Goal
) -> tuple[Array, float, int, bool]:
    """Multiply, deflate, normalize, until the residual is a tenth of the target, because later pairs inherit it.

    Returns vector, value, number of products, and whether the iteration converged.
    """
    u, moved = found.vectors, found.values - shift
    v = start
    used, value, converged = 0, shift, False
    while used < limit and not converged:
        used += 1
        w = operator @ v - shift * v - u @ (moved * (u.T @ v))
        value = float(w @ v)
        residual = float(np.linalg.norm(w - value * v))
        converged = residual <= 0.1 * target_residual(np.append(found.values, [value + shift, shift]), goal, len(v))
        if not converged:
            v = w / np.linalg.norm(w)
    return v, value + shift, used, converged
