"""Block Davidson: Rayleigh-Ritz on directions that an approximate inverse suggests, in two precisions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from gramless.arrays import (
    Array,
    beside,
    inner,
    normal_columns,
    one_blas_thread,
    orthonormalize,
    times,
    unit_roundoff,
)
from gramless.certificates import EXACT, outside_leading
from gramless.eigen.base import Basis, Goal, Operator, Outcome, Solver, solvers
from gramless.eigen.block_krylov import BlockKrylov
from gramless.eigen.solve import off, outside_by_sums, product_rounding
from gramless.progress import observer

_RANDOM = 3  # random columns of the first block: they find what the start does not contain
_MORE = 10  # neighbors of the wanted vectors in the first block, at least
_MOST_MORE = 40
_FALLS = 0.6  # part of the last wanted value that the first value outside the block should fall below
_BUDGET = 0.25  # part of the tolerance that the errors of products may take
_SLOW = 0.2  # residuals that fall by less in a pass: neighbors are improved as well
_NEXT = 0.3  # residual, relative to the tolerance, that is improved no further
_ROUGHEST = 1e-7  # residual that is not improved any further by products in float32
_ABOVE = 1.02  # an eigenvalue outside that is larger than the last wanted one by more must be excluded
_LEFT = 3  # passes that must still fit before the deadline


class Near(Protocol):
    """An operator near the one whose eigenpairs are wanted, with an inverse that is cheap to apply.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Its largest eigenvalues, descending.
    floors : ndarray of shape (f,)
        Lower bounds on the leading eigenvalues of the operator itself.
    """

    @property
    def values(self) -> Array: ...

    @property
    def floors(self) -> Array: ...

    def vectors(self, count: int) -> Array:
        """Leading eigenvectors (n, count)."""

    def solve(self, residuals: Array, shifts: Array) -> Array:
        """(B - s)^-1 r for each residual r (n,) and its shift s, B the operator nearby: (n, k)."""


@solvers.register("davidson")
@dataclass(frozen=True)
class Davidson(Solver):
    r"""Each pass multiplies one new direction for each wanted pair: (B - l)^-1 r, with B near the operator A.

    A residual r = A v - l v would be removed by -(A - l)^-1 r. Where B is the Nyström approximation of a Gram matrix, a
    pass reduces the residuals by a factor of about \|A - B\| / l, a hundred to a thousand; directions of a Krylov
    space, which are the residuals themselves, reduce them by the ratio of neighboring eigenvalues. Where it is not
    proved that the pairs found are the leading ones, block Krylov continues with them.

    Two precisions: where the operator offers a `rough` form with a known perturbation p, corrections are multiplied by
    it. A correction of length b then contributes an error of p b to the residual, so that one pass in full precision,
    over the vectors themselves, suffices for residuals far below p.

    Parameters
    ----------
    near : Near, optional
        B; default: a multiple of the identity, whose directions are the residuals.
    width : int, optional
        Maximum number of columns of the first block.
    max_columns : int, optional
        Maximum number of columns of the basis before a restart; default: six blocks.
    """

    near: Near | None = None
    width: int | None = None
    max_columns: int | None = None

    def basis(self, operator: Operator, goal: Goal) -> Basis:
        with one_blas_thread():  # the large products are threaded by rows
            return _Iteration(self, operator, goal).basis()

    def first_block(self, k: int, n: int) -> int:
        """Columns of the first block: with neighbors as far as the spectrum is flat, for bounds on what is outside."""
        more = _MORE
        if self.near is not None and len(self.near.values) > k:
            values = self.near.values
            more = int((values[k:] > _FALLS * values[k - 1]).sum()) + 1
        columns = k + int(np.clip(more, _MORE, _MOST_MORE)) + _RANDOM
        return min(n, columns if self.width is None else max(k, min(columns, self.width)))


class _Level(NamedTuple):
    """A form of the operator: exact, or up to a perturbation.

    Attributes
    ----------
    operator : Operator
    exact : bool
    """

    operator: Any
    exact: bool

    @property
    def apart(self) -> float:
        """Norm of the difference from the operator."""
        return 0.0 if self.exact else float(self.operator.perturbation.norm)

    @property
    def rounding(self) -> float:
        """Error of a product, apart from that of the exact form, which every certificate includes."""
        return 0.0 if self.exact else float(self.operator.error)

    @property
    def error(self) -> float:
        """Error of the product with a vector of length 1."""
        return self.apart + self.rounding


@dataclass(frozen=True, eq=False)
class _Part:
    """Columns of a basis, and the errors of the products with them.

    Attributes
    ----------
    columns : int
    apart : float
        Norm of the error that is linear in the vector.
    rounding : float or ndarray of shape (columns,)
        Bounds on further errors, column by column.
    """

    columns: int
    apart: float = 0.0
    rounding: float | Array = 0.0

    def errors(self, coordinates: Array) -> Array:
        """Bounds on the errors of the products with combinations of the columns, `coordinates` (columns, m): (m,)."""
        moduli = np.abs(coordinates)
        rounding = np.broadcast_to(self.rounding, len(moduli))
        return np.asarray(self.apart * np.linalg.norm(coordinates, axis=0) + rounding @ moduli)

    @property
    def each(self) -> Array:
        """Bounds on the errors of the products with the columns themselves."""
        return np.asarray(self.apart + np.broadcast_to(self.rounding, self.columns))


class _Ritz(NamedTuple):
    """Ritz pairs, their residuals (n, m) with norms (m,), and bounds on the errors of these (m,)."""

    values: Array
    coordinates: Array
    residuals: Array
    norms: Array
    errors: Array


@dataclass(frozen=True, eq=False)
class _Space:
    """Orthonormal Q (n, m), the products P = A Q, H = Q^T P, and the parts that Q was made of."""

    q: Array
    p: Array
    h: Array
    parts: tuple[_Part, ...] = field(default=())

    @classmethod
    def of(cls, q: Array, p: Array, level: _Level) -> _Space:
        return cls(q, p, inner(q, p), (_Part(q.shape[1], level.apart, level.rounding),))

    def with_block(self, w: Array, products: Array, level: _Level) -> _Space:
        """With more columns, orthogonal to Q."""
        m, b = self.q.shape[1], w.shape[1]
        h = np.empty((m + b, m + b))
        h[:m, :m], h[:m, m:] = self.h, inner(self.q, products)
        h[m:, :m], h[m:, m:] = inner(w, self.p), inner(w, products)
        part = _Part(b, level.apart, level.rounding)
        return _Space(beside(self.q, w), beside(self.p, products), h, (*self.parts, part))

    def ritz(self, most: int) -> _Ritz:
        """The `most` leading Ritz pairs."""
        values, coordinates = np.linalg.eigh(self._projected())
        values, coordinates = values[::-1][:most], coordinates[:, ::-1][:, :most]
        residuals = times(self.p, coordinates) - times(self.q, coordinates * values)
        return _Ritz(values, coordinates, residuals, np.linalg.norm(residuals, axis=0), self.errors(coordinates))

    def _projected(self) -> Array:
        """Q^T A Q: of the two products that give an entry, the more accurate one."""
        error = np.concatenate([part.each for part in self.parts])
        better, equal = error[None, :] < error[:, None], error[None, :] == error[:, None]
        return np.where(equal, (self.h + self.h.T) / 2, np.where(better, self.h, self.h.T))

    def errors(self, coordinates: Array) -> Array:
        """Bounds on the errors of the products with combinations of the columns: (m,)."""
        ends = np.cumsum([part.columns for part in self.parts])
        return np.asarray(
            sum(part.errors(coordinates[end - part.columns : end]) for part, end in zip(self.parts, ends, strict=True))
        )

    def restarted(self, ritz: _Ritz, count: int) -> _Space:
        """The `count` leading Ritz vectors."""
        lead = ritz.coordinates[:, :count]
        q, p = times(self.q, lead), times(self.p, lead)
        return _Space(q, p, inner(q, p), (_Part(count, 0.0, ritz.errors[:count]),))


class _Iteration:
    """One run of the solver."""

    def __init__(self, solver: Davidson, operator: Operator, goal: Goal) -> None:
        self._near, self._operator, self._goal = solver.near, operator, goal
        self._n = operator.shape[0]
        self._width = solver.first_block(goal.k, self._n)
        most = solver.max_columns or 6 * self._width
        self._most = min(self._n, max(most, self._width + 2 * goal.k))
        self._exact = _Level(operator, exact=True)
        rough = getattr(operator, "rough", None)
        self._rough = None if rough is None else _Level(rough, exact=False)
        self._history: list[float] = []
        self._chance = 0.0

    def basis(self) -> Basis:
        """Expand until the wanted pairs meet the tolerance, rounding included."""
        goal = self._goal
        outcome, began, limit = Outcome.MAX_ITERATIONS, perf_counter(), goal.max_iter or 300
        # corrections are cheap where the tiles of the rough form are kept; else every pass counts
        explores = self._rough is not None and self._rough.operator.stored
        space = self._begin(self._rough if explores and self._rough is not None else self._exact)
        for done in range(limit + 1):
            ritz = space.ritz(self._width)
            observer().reached(self._worst(ritz.norms, ritz.values), goal.tol)
            if self._meets(ritz.norms + ritz.errors, ritz.values):
                outcome = Outcome.CONVERGED
                break
            self._history.append(self._worst(ritz.norms, ritz.values))
            if not goal.leaves(_LEFT * (perf_counter() - began) / max(1, done)):
                outcome = Outcome.TIME_LIMIT
                break
            if done == limit or space.q.shape[1] == self._n or self._stagnant(ritz, explores):
                break
            block, lengths = self._directions(space, ritz)
            if explores and (self._provable(lengths, ritz) or self._stalls()):
                space, explores = self._verified(space, ritz), False
                continue
            if not explores and self._errors_dominate(ritz):
                space = self._verified(space, ritz)
                continue
            if space.q.shape[1] + block.shape[1] > self._most:
                space = space.restarted(ritz, min(self._width, space.q.shape[1]))
            space = self._expanded(space, block, lengths, explores, ritz)
        found = self._made(space, space.ritz(self._width), outcome)
        if outcome is Outcome.CONVERGED and not self._leads(found):
            start = replace(goal, start=found.vectors)
            return BlockKrylov(max_columns=self._most).basis(self._operator, start)
        return found

    def _begin(self, level: _Level) -> _Space:
        goal, n = self._goal, self._n
        given = max(1, self._width - _RANDOM)
        columns = self._width
        if self._near is not None:
            start = self._near.vectors(given)
            if goal.start is not None:  # both: each has what the other lacks
                start = beside(goal.start[:, : goal.k], start)
                columns = min(n, columns + min(goal.k, goal.start.shape[1]))
            goal = replace(goal, start=start)
        elif goal.start is not None:
            goal = replace(goal, start=goal.start[:, :given])
        q = goal.starting_block(n, columns)
        return _Space.of(q, self._product(level, q), level)

    def _product(self, level: _Level, v: Array) -> Array:
        product: Array = level.operator @ v
        if not level.exact:
            self._chance = level.operator.perturbation.failure_probability
        return product

    def _directions(self, space: _Space, ritz: _Ritz) -> tuple[Array, Array]:
        """Orthonormal directions that improve the pairs which are not accurate yet, and their expected lengths."""
        goal, scale = self._goal, float(np.abs(ritz.values).max())
        k = min(goal.k, len(ritz.values))
        wanted = np.flatnonzero(ritz.norms[:k] > _NEXT * goal.tol * scale)
        if len(self._history) > 1 and self._history[-1] > _SLOW * self._history[-2]:
            wanted = np.arange(len(ritz.values))
        residuals, shifts = ritz.residuals[:, wanted], ritz.values[wanted]
        least = unit_roundoff() * scale
        shifts = np.where(np.abs(shifts) < least, least, shifts)
        found = residuals / shifts if self._near is None else self._near.solve(residuals, shifts)
        found = off(space.q, found)
        lengths = np.linalg.norm(found, axis=0)
        some = lengths > 0
        block, _ = orthonormalize(found[:, some] / lengths[some], space.q)
        room = self._n - space.q.shape[1]
        if block.shape[1] == 0 and room:  # an invariant subspace: continue with random directions
            random = off(space.q, normal_columns(goal.rng, min(self._width, room), space.q))
            return orthonormalize(random, space.q)[0], np.ones(1)
        return block[:, :room], lengths[wanted < k]

    def _expanded(self, space: _Space, block: Array, lengths: Array, explores: bool, ritz: _Ritz) -> _Space:
        """With the directions, multiplied by the cheapest form of the operator that is accurate enough for them."""
        level = self._exact
        if self._rough is not None and (explores or self._provable(lengths, ritz)):
            level = self._rough
        return space.with_block(block, self._product(level, block), level)

    def _provable(self, lengths: Array, ritz: _Ritz) -> bool:
        """Whether corrections of these lengths may be multiplied by the rough form."""
        if self._rough is None:
            return False
        budget = _BUDGET * self._goal.tol * float(ritz.values[0])
        error = self._rough.rounding + getattr(self._rough.operator, "expected", self._rough.apart)
        return bool(2 * error * lengths.max(initial=0.0) <= budget)

    def _verified(self, space: _Space, ritz: _Ritz) -> _Space:
        """The leading Ritz vectors, multiplied in full precision; the rest of the basis goes."""
        q = orthonormalize(times(space.q, ritz.coordinates))[0]
        self._history.clear()
        self._chance = 0.0
        return _Space.of(q, self._operator @ q, self._exact)

    def _worst(self, norms: Array, values: Array) -> float:
        return float(norms[: self._goal.k].max() / max(float(np.abs(values).max()), np.finfo(float).tiny))

    def _meets(self, bounds: Array, values: Array) -> bool:
        """Whether the wanted pairs are accurate; they need not be the leading ones."""
        k, scale = self._goal.k, self._goal.tol * float(np.abs(values).max(initial=0.0))
        if len(values) < k or not (bounds[:k] <= scale).all():
            return False
        return len(values) == k or bool(
            bounds[k] <= max(0.1 * (values[k - 1] - values[k]), scale, 0.02 * values[k - 1])
        )

    def _errors_dominate(self, ritz: _Ritz) -> bool:
        """Whether errors of products, rather than residuals, keep a pair from the tolerance."""
        k, scale = self._goal.k, self._goal.tol * float(np.abs(ritz.values).max())
        return bool((ritz.errors[:k] > 0.5 * scale).any() and (ritz.norms[:k] <= 0.5 * scale).all())

    def _stalls(self) -> bool:
        """Whether the rough form has no more to give: residuals are at the size of its rounding."""
        last = self._history[-2:]
        return last[-1] < _ROUGHEST or (len(last) > 1 and last[1] > 0.5 * last[0] and last[1] < 1e-4)

    def _stagnant(self, ritz: _Ritz, explores: bool) -> bool:
        """Whether residuals in full precision have stopped falling."""
        history = self._history
        if explores or len(history) <= 3:
            return False
        if len(history) > 40 and history[-1] > 0.5 * history[-31]:
            return True
        error = (getattr(self._operator, "error", None) or 0.0) / max(float(np.abs(ritz.values).max()), 1e-300)
        return history[-1] < max(1e5 * unit_roundoff(), error) and history[-1] > 0.3 * history[-4]

    def _made(self, space: _Space, ritz: _Ritz, outcome: Outcome) -> Basis:
        """The wanted Ritz vectors, and the basis around them for bounds outside."""
        floors = None
        if self._near is not None:
            floors = self._near.floors - getattr(self._operator, "perturbation", EXACT).norm
        k, chance = min(self._goal.k, len(ritz.values)), self._chance
        count = k + self._neighbors(ritz, k, floors)
        around = self._part(space, ritz, count, outcome, floors=floors, failure_probability=chance)
        if count == k:
            return around
        return self._part(space, ritz, k, outcome, around=around, failure_probability=chance)

    def _leads(self, basis: Basis) -> bool:
        """Whether it is proved that no eigenvalue outside the basis is larger than those that were found.

        The operator nearby may lack a leading eigenvector, and directions made from it never find that one.
        """
        around = basis if basis.around is None else basis.around
        if around.vectors.shape[1] == self._n:
            return True
        values, coordinates, _ = around.ritz()
        coupling = around.coupling @ coordinates
        rounding = around.rounding + product_rounding(self._operator, around)
        outside = outside_by_sums(self._operator, values, coupling, rounding, around.floors)
        k = min(self._goal.k, len(values))
        return bool(outside_leading(values, coupling, outside, k, rounding) <= _ABOVE * values[k - 1])

    def _neighbors(self, ritz: _Ritz, k: int, floors: Array | None) -> int:
        """Neighbors of the wanted vectors whose part of the Frobenius norm exceeds what the lower bounds say of it."""
        squares = ritz.values[k:] ** 2 + 2 * ritz.norms[k:] ** 2
        if floors is None:
            return len(squares)
        known = np.append(floors, np.zeros(len(ritz.values) + 1))[k + 1 : len(ritz.values) + 1]
        return int(np.argmax(np.append(0.0, np.cumsum(squares - np.maximum(known, 0.0) ** 2))))

    def _part(self, space: _Space, ritz: _Ritz, count: int, outcome: Outcome, **more: Any) -> Basis:
        lead = ritz.coordinates[:, :count]
        rounding = float(np.linalg.norm(ritz.errors[:count]))
        rounding += (space.q.shape[1] + 4) * unit_roundoff() * float(np.linalg.norm(space.h))
        return Basis.from_products(times(space.q, lead), times(space.p, lead), outcome, rounding=rounding, **more)
