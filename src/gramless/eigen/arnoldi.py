r"""Arnoldi iteration: the Krylov basis by modified Gram-Schmidt, without using that A is symmetric.

For j = 1, 2, ...: w = A v_j; for each i <= j, h_ij = (w, v_i) and w = w - h_ij v_i; then h_{j+1,j} = |w| and
v_{j+1} = w / h_{j+1,j}.
H is upper Hessenberg, and for symmetric A tridiagonal to rounding: Lanczos is Arnoldi with the zeros left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.eigen.base import Basis, Goal, Operator, Solver, solvers
from gramless.eigen.fresh_starts import Run, Settled, away_from, fresh_starts
from gramless.eigen.lanczos import default_steps


@solvers.register("arnoldi")
@dataclass(frozen=True)
class Arnoldi(Solver):
    """Arnoldi iteration without restart; runs are repeated from fresh starts until one finds nothing new.

    ``goal.max_iter`` limits the steps of all runs together; default: n, at most 1000 or 20 k.

    Parameters
    ----------
    sweeps : int
        Gram-Schmidt sweeps per step; the second keeps the basis orthogonal to rounding.

    Examples
    --------
    >>> from gramless.eigen import eigsh
    >>> eigsh(np.diag([3.0, 2.0, 1.0]), 2, Arnoldi(), rng=0).values.round(12)
    array([3., 2.])
    """

    sweeps: int = 2

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        limit = default_steps(operator, goal) if goal.max_iter is None else goal.max_iter
        return fresh_starts(operator, goal, self._run, limit)

    def _run(self, operator: Operator, start: Array, held: Array, settled: Settled, limit: int) -> Run:
        n = len(start)
        room = n - held.shape[1]
        v = [start]
        h = np.zeros((limit + 1, limit))
        for j in range(limit):
            w = operator @ v[j]
            for _ in range(self.sweeps):
                w = away_from(held, w)
                for i in range(j + 1):
                    overlap = w @ v[i]
                    h[i, j] += overlap
                    w = w - overlap * v[i]
            h[j + 1, j] = np.linalg.norm(w)
            m = j + 1
            exhausted = m == room or h[m, j] <= 10 * max(n, 100) * unit_roundoff() * np.abs(h[:m, :m]).max()
            if exhausted or m == limit or m % (1 + m // 20) == 0:
                values, residuals = _ritz(h[: m + 1, :m])
                done = exhausted or settled(values, residuals)
                if done or m == limit:
                    break
            v.append(w / h[m, j])
        return Run(np.array(v).T, values, done)


def _ritz(hessenberg: Array) -> tuple[Array, Array]:
    """Descending Ritz values and residual norms from H of shape (m + 1, m); A is symmetric, so H is made so."""
    square = hessenberg[:-1]
    values, coordinates = np.linalg.eigh((square + square.T) / 2)
    return values[::-1], (hessenberg[-1, -1] * np.abs(coordinates[-1]))[::-1]
