"""Thick restart: retain the leading Ritz vectors, and the bound that the full basis proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import times
from gramless.certificates import from_fact, outside_leading
from gramless.eigen.base import Operator, Outcome
from gramless.eigen.block_krylov.step import State
from gramless.eigen.solve import outside_by_sums, product_rounding


@dataclass(frozen=True)
class Fact:
    """At most `count` eigenvalues of the operator exceed `bound`: valid whichever basis proved it."""

    count: int
    bound: float


def restart(state: State, keep: int) -> State:
    """The same relation A Q = Q T + P F on the `keep` leading Ritz vectors."""
    values, coordinates, _ = state.ritz()
    lead = coordinates[:, :keep]
    return State(times(state.q, lead), np.diag(values[:keep]), state.p, state.f @ lead)


def prove(operator: Operator, state: State, facts: tuple[Fact, ...], keep: int) -> Fact | None:
    """The bound that this basis proves on eigenvalue ``keep + 1``, before a restart drops most of the basis."""
    basis = state.as_basis(Outcome.MAX_ITERATIONS)
    values, coordinates, _ = basis.ritz()
    coupling = state.f @ coordinates
    rounding = product_rounding(operator, basis)
    outside = known_outside(operator, basis_values=(values, coupling), facts=facts, rounding=rounding)
    bound = outside_leading(values, coupling, outside, keep, rounding)
    return Fact(keep, bound) if np.isfinite(bound) else None


def known_outside(
    operator: Operator, basis_values: tuple[np.ndarray, np.ndarray], facts: tuple[Fact, ...], rounding: float
) -> float:
    """Best rigorous bound outside a basis: from what Frobenius norm and trace leave, or a fact before a restart."""
    values, coupling = basis_values
    bounds = [from_fact(fact.count, fact.bound, values, coupling, rounding) for fact in facts]
    return min([*bounds, outside_by_sums(operator, values, coupling, rounding)])
