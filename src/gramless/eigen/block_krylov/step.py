"""The growing basis: one product with a block, one orthogonalization, one small eigenproblem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gramless.arrays import Array, beside, inner, normal_columns, orthonormalize, orthonormalize_roughly, times
from gramless.eigen.base import Basis, Operator, Outcome


@dataclass(frozen=True)
class State:
    """A Q = Q T + P F, with Q (n, m) and P (n, p) orthonormal: P spans all residuals."""

    q: Array
    t: Array
    p: Array
    f: Array

    @classmethod
    def begin(cls, q: Array, products: Array) -> State:
        """From orthonormal columns and their products."""
        if q.dtype == np.float32:
            t = inner(q, products)
            p, f = orthonormalize_roughly(products - times(q, t), q)
            return cls(q, (t + t.T) / 2, p, f)
        made = Basis.from_products(q, products, Outcome.MAX_ITERATIONS)
        return cls(made.vectors, made.projected, made.residual_vectors, made.coupling)

    def ritz(self) -> tuple[Array, Array, Array]:
        """Descending Ritz values (m,), their coordinates (m, m), residual norms (m,)."""
        return self._basis.ritz()

    def as_basis(self, outcome: Outcome) -> Basis:
        """The state in the form that every solver returns."""
        return self._basis.changed(outcome=outcome)

    @cached_property
    def _basis(self) -> Basis:
        return Basis(self.q, self.t, self.p, self.f, Outcome.MAX_ITERATIONS)


def expand(operator: Operator, state: State, width: int, wanted: int, rng: np.random.Generator) -> State:
    """Extend the basis by the `width` directions that contribute most to the `wanted` leading residuals."""
    n, m = state.q.shape
    chosen, rest, f_rest = _split(state, width, wanted)
    fresh = min(width, n - m) - chosen.shape[1]
    if fresh > 0 and chosen.shape[1] < min(wanted, width):  # an invariant subspace: add random directions
        held = beside(state.q, state.p)
        random = normal_columns(rng, min(fresh, n - held.shape[1]), held)
        extra, _ = orthonormalize(_off(held, random), held)
        chosen = beside(chosen, extra)
    b = chosen.shape[1]
    products = operator @ chosen
    q = beside(state.q, chosen)
    h = inner(q, products)
    residual = products - times(q, h)
    # directions of the residuals: the rest of those of the old columns, and those that the new columns add
    held = beside(q, rest) if rest.shape[1] else q
    draft = q.dtype == np.float32
    add, coefficients = orthonormalize_roughly(residual, held) if draft else orthonormalize(residual, held, drop=1e-14)
    along = inner(rest, residual)
    f = np.zeros((rest.shape[1] + add.shape[1], m + b))
    f[: rest.shape[1], :m] = f_rest
    f[: rest.shape[1], m:] = along
    f[rest.shape[1] :, m:] = coefficients
    t = np.zeros((m + b, m + b))
    t[:m, :m] = state.t
    t[:, m:] = h
    t[m:, :m] = h[:m].T
    t[m:, m:] = (h[m:] + h[m:].T) / 2
    return State(q, t, beside(rest, add), f)


def _split(state: State, width: int, wanted: int) -> tuple[Array, Array, Array]:
    """Rotate P so that its first columns contain most of the wanted residuals: (chosen, rest, F of the rest)."""
    if state.p.shape[1] <= width:
        return state.p, state.p[:, :0], state.f[:0]
    _, coordinates, _ = state.ritz()
    turn = np.linalg.svd(state.f @ coordinates[:, :wanted])[0]
    turned = times(state.p, turn)
    return turned[:, :width], turned[:, width:], (turn.T @ state.f)[width:]


def _off(held: Array, block: Array) -> Array:
    rest: Array = block - times(held, inner(held, block))
    return rest
