"""Block Krylov: a draft in low precision where the operator offers one, then full precision and a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from gramless.arrays import (
    Array,
    beside,
    in_float32,
    in_float64,
    normal_columns,
    one_blas_thread,
    orthonormalize,
    times,
    unit_roundoff,
)
from gramless.certificates import Outside, largest_of_sums
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, meets, solvers
from gramless.eigen.block_krylov.restart import Fact, known_outside, prove, restart
from gramless.eigen.block_krylov.step import State, expand
from gramless.eigen.solve import PROBES, off, operator_for_probes, product_rounding
from gramless.progress import observer

_MORE = 2  # blocks that a draft adds at most for the sake of the certificate
_LEFT = 4  # passes that must still fit before the deadline: the next one, verification and certificate


def block_width(k: int) -> int:
    """Columns of a block for `k` pairs: wide blocks need fewer passes, and a pass costs little more for them."""
    return max(30, k + 28, 9 * k // 8)


def basis_columns(width: int) -> int:
    """Columns of a basis before a restart: ten blocks, fewer of wide ones, whose small eigenproblems cost more."""
    return width * int(np.clip(1200 // width, 3, 10))


@solvers.register("block_krylov")
@dataclass(frozen=True)
class BlockKrylov(Solver):
    """Krylov space of a block of vectors, fully orthogonalized, with thick restart.

    It takes few passes over the operator: a pass over a Gram matrix that is never stored costs nearly the same for
    60 vectors as for one. Where the operator offers a draft (the same operator in float32), the space is built with
    the draft. A last pass in full precision, on the leading Ritz vectors and on new random vectors at once, completes
    pairs and certificate.

    Parameters
    ----------
    width : int, optional
        Columns of a block; default: see :func:`block_width`.
    max_columns : int, optional
        Maximum number of columns of the basis before a restart; default: see :func:`basis_columns`.
    """

    width: int | None = None
    max_columns: int | None = None

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        with one_blas_thread():  # the large products are threaded by rows
            return self._basis(operator, goal)

    def _basis(self, operator: Operator, goal: Goal) -> Basis:
        n = operator.shape[0]
        place = getattr(operator, "place", None)
        if place is not None:
            goal = replace(goal, start=place(np.zeros((n, 0)) if goal.start is None else goal.start))
        start, products = goal.start, None
        probes: tuple[Array, ...] = ()
        coarse = getattr(operator, "draft", None)
        if coarse is not None and n > 4 * self._width(goal.k, n):
            draft = Draft(coarse)
            most = self._most_verified(goal.k)

            def complete(values: Array) -> bool:
                """Whether the certificate needs no random vectors; these cost more than another pass."""
                estimate = getattr(coarse, "frobenius2_estimate", np.inf)
                return estimate == np.inf or not _columns_to_verify(operator, values[:most] * draft.scale, goal.k)[1]

            drafted = self._iterate(draft, goal, complete=complete)
            start, products, probes = _verify(operator, drafted, draft.scale, goal, most)
        return self._iterate(operator, replace(goal, start=start), products=products, probes=probes)

    def _most_verified(self, k: int) -> int:
        """Maximum columns of the pass in full precision: six copies of them must fit the memory of the basis."""
        width = self.width or block_width(k)
        return max(k + 10, int(2.2 * (self.max_columns or basis_columns(width)) + 8 * width) // 6 - PROBES)

    def _width(self, k: int, n: int) -> int:
        return min(n, self.width or block_width(k))

    def _iterate(
        self,
        operator: Operator,
        goal: Goal,
        *,
        products: Array | None = None,
        probes: tuple[Array, ...] = (),
        complete: Callable[[Array], bool] | None = None,
    ) -> Basis:
        """Expand until the leading pairs meet the tolerance; restart when the basis is full.

        A draft continues for a few more blocks until ``complete(values)``, if given.
        """
        n, coarse, more = operator.shape[0], complete is not None, _MORE
        width = self._width(goal.k, n)
        room = self.max_columns or basis_columns(width)
        if coarse:  # twice as many columns take the same memory in float32
            room = max(room, min(2 * room, basis_columns(width)))
        most = min(n, max(room, goal.k + 2 * width))
        guard = min(width, goal.k + 10)
        given = goal.start is not None and goal.start.shape[1] > 0 and products is None
        state = _begin(operator, goal, width, products, coarse)
        facts: tuple[Fact, ...] = ()
        limit = goal.max_iter if goal.max_iter is not None else 300
        history: list[float] = []
        outcome, began = Outcome.MAX_ITERATIONS, perf_counter()
        for done in range(limit + 1):
            values, _, residuals = state.ritz()
            worst = float(residuals[: goal.k].max() / max(abs(values).max(), np.finfo(float).tiny))
            observer().reached(worst, goal.tol)
            if (
                len(values) >= goal.k
                and meets(values, residuals, goal)
                and _nothing_rises(values, residuals, goal, given)
            ):
                outcome = Outcome.CONVERGED
                more -= 1
                full = state.q.shape[1] + width > most
                if complete is None or more < 0 or full or complete(values):
                    break
            history.append(worst)
            if not goal.leaves(_LEFT * (perf_counter() - began) / max(1, done)):
                outcome = Outcome.TIME_LIMIT
                break
            if state.q.shape[1] == n or _stagnant(history, operator, float(values[0]), coarse):
                break  # only rounding is left, or the outcome says that the tolerance was not met
            if len(history) > limit:
                break
            if state.q.shape[1] + width > most:
                keep = min(goal.k + max(10, width // 2), state.q.shape[1])
                fact = None if coarse else prove(operator, state, facts, keep)
                facts = facts if fact is None else (*facts, fact)
                state = restart(state, keep)
            state = expand(operator, state, min(width, n - state.q.shape[1]), guard, goal.rng)
            probes = ()  # they are orthogonal to the previous basis only
        basis = state.as_basis(outcome).changed(probes=probes)
        return basis if coarse or not facts else basis.changed(outside=_outside(operator, basis, facts))


def _begin(operator: Operator, goal: Goal, width: int, products: Array | None, coarse: bool) -> State:
    """The state of a first block; `products` are the operator's products with the start, if known."""
    start = goal.start
    if products is None and start is not None:  # leave room for random columns
        goal = replace(goal, start=start[:, : max(1, width - 5)])
    q = goal.starting_block(operator.shape[0], width) if products is None or start is None else start
    if coarse:
        q = in_float32(q)
    return State.begin(q, operator @ q if products is None else products)


class Draft:
    """An operator in float32, divided by the norm of its first product: no square of an entry leaves the range.

    Attributes
    ----------
    scale : float
        The number that products are divided by; 0 before the first product.
    """

    def __init__(self, operator: Operator) -> None:
        self._operator, self.shape, self.scale = operator, operator.shape, 0.0

    def __matmul__(self, v: Any) -> Any:
        product = self._operator @ in_float64(v)
        if not self.scale and product.shape[1]:
            self.scale = float((product**2).sum(0).max()) ** 0.5 or 1.0
        product /= self.scale or 1.0
        return in_float32(product)


def _outside(operator: Operator, basis: Basis, facts: tuple[Fact, ...]) -> Outside:
    values, coordinates, _ = basis.ritz()
    rounding = product_rounding(operator, basis)
    return Outside(rigorous=known_outside(operator, (values, basis.coupling @ coordinates), facts, rounding))


def _nothing_rises(values: Array, residuals: Array, goal: Goal, given: bool) -> bool:
    """Whether no other Ritz value may still rise among the leading ones.

    A given start may consist of eigenvectors that are not the leading ones. Then only the random columns of the block
    can find the leading ones, so the Ritz value after the requested ones has to converge below them.
    """
    k = goal.k
    if not given or len(values) <= k:
        return True
    return bool(residuals[k] <= max(0.1 * (values[k - 1] - values[k]), goal.tol * abs(values[0])))


def _stagnant(history: list[float], operator: Operator, scale: float, coarse: bool) -> bool:
    """Whether residuals, relative to the largest Ritz value `scale`, have stopped falling.

    A draft is only a start, so it ends at the first sign of stagnation. In full precision, residuals must have reached
    the operator's own bound on rounding, or have fallen by less than half in 30 passes.
    """
    if coarse:
        slow = len(history) > 8 and history[-1] > 0.9 * history[-5]
        return slow or (len(history) > 2 and history[-1] < 3e-6 and history[-1] > 0.7 * history[-3])
    if len(history) > 40 and history[-1] > 0.5 * history[-31]:
        return True
    if len(history) <= 3:
        return False
    error = (getattr(operator, "error", None) or 0.0) / max(abs(scale), np.finfo(float).tiny)
    floor = max(1e5 * unit_roundoff(), error)
    return history[-1] < floor and history[-1] > 0.3 * history[-4]


def _verify(
    operator: Operator, drafted: Basis, scale: float, goal: Goal, most: int
) -> tuple[Array, Array, tuple[Array, ...]]:
    """One pass in full precision: leading Ritz vectors of the draft, and random vectors beside them where needed."""
    values, coordinates, _ = drafted.ritz()
    count, probed = _columns_to_verify(operator, values[:most] * scale, goal.k)
    q = orthonormalize(in_float64(times(drafted.vectors, coordinates[:, :count])))[0]
    last = float(values[min(goal.k, len(values)) - 1] * scale)
    if not probed or operator_for_probes(operator, last) is not operator:
        return q, operator @ q, ()
    probes = off(q, normal_columns(goal.rng, PROBES, q))
    products = operator @ beside(q, probes)
    m = q.shape[1]
    return q, products[:, :m], (probes, off(q, products[:, m:]))


def _columns_to_verify(operator: Operator, values: Array, k: int) -> tuple[int, bool]:
    """The number of Ritz vectors to take, and whether to take probes: the fewest columns that allow a certificate.

    To separate requested eigenvalues from the rest, what Frobenius norm and trace allow outside must fall below the
    last requested value. With probes, whose third power overestimates the norm outside by a quarter, the next value
    must be smaller by as much.
    """
    last, least, most = values[min(k, len(values)) - 1], min(len(values), k + 10), len(values)
    squares = getattr(getattr(operator, "draft", None), "frobenius2_estimate", np.inf) - np.cumsum(values**2)
    low, high = getattr(operator, "trace_bounds", None) or (-np.inf, np.inf)
    sums, others = np.cumsum(values), np.maximum(1, operator.shape[0] - np.arange(1, most + 1))
    outside = largest_of_sums(low - sums, high - sums, np.maximum(squares, 0.0), others)
    enough = np.flatnonzero(outside < 0.9 * last)
    by_norm = max(least, int(enough[0]) + 1) if len(enough) else most + 1
    small = np.flatnonzero(values < last / 1.4)
    by_probes = max(least, int(small[0]) if len(small) else most)
    return (by_norm, False) if by_norm <= min(most, by_probes + 3 * PROBES) else (by_probes, True)
