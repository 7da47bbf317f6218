"""Randomized range finder (Halko, Martinsson & Tropp): a fixed number of products, whatever the accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, meets, solvers


@solvers.register("randomized")
@dataclass(frozen=True)
class Randomized(Solver):
    """Multiply random vectors a few times, orthonormalise, project: scikit-learn's ``randomized`` eigensolver.

    Finds the pairs of largest *modulus*. The work is fixed in advance: the outcome is ``CONVERGED`` where the
    tolerance was met, else ``MAX_ITERATIONS``. Its guarantee needs random vectors, so ``goal.start`` is not used.
    ``goal.max_iter`` is a ceiling on `iterated_power`.

    Parameters
    ----------
    iterated_power : int or "auto"
        Power iterations, of two products each; "auto" is 7 if k < 0.1 n, else 4.
    oversampling : int
        Number of random vectors in addition to `k` (oversampling).

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag(0.1 ** np.arange(40.0)), 2, Randomized(), rng=0).values.round(9)
    array([1. , 0.1])
    """

    iterated_power: int | Literal["auto"] = "auto"
    oversampling: int = 10

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        n = operator.shape[0]
        powers = (7 if goal.k < 0.1 * n else 4) if self.iterated_power == "auto" else self.iterated_power
        powers = powers if goal.max_iter is None else min(powers, goal.max_iter)
        q = np.linalg.qr(goal.rng.standard_normal((n, min(n, goal.k + self.oversampling))))[0]
        for _ in range(2 * powers + 1):
            q = np.linalg.qr(operator @ q)[0]
        basis = Basis.from_products(q, operator @ q, Outcome.MAX_ITERATIONS, by_modulus=True)
        values, _, residuals = basis.ritz()
        lead = np.argsort(-np.abs(values), kind="stable")[: goal.k]
        outcome = Outcome.CONVERGED if meets(values[lead], residuals[lead], goal) else Outcome.MAX_ITERATIONS
        return basis.changed(outcome=outcome)
