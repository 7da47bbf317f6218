"""Moments of monomials about a fixed point, and the eigenproblem of the kernel's features that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.linalg

from gramless.arrays import Array, leading_eigenpairs, unit_roundoff
from gramless.features.base import Spectrum
from gramless.features.hankel import HankelSums

_GRADED = 1200  # monomials up to which an SVD, three times as expensive, replaces an eigenproblem


class Shift(Protocol):
    """Features phi = matrix @ psi, psi the monomials about a fixed point; the first monomial is 1."""

    @property
    def hankel(self) -> HankelSums:
        """The layout of the sums of products of two monomials psi."""

    @property
    def matrix(self) -> Array:
        """(D, width): the binomial shift."""

    @property
    def matrix_error(self) -> float:
        """Relative error of each entry of the matrix."""

    def same_space(self, other: Any) -> bool:
        """Whether sums of both may be added."""

    def transfer(self, other: Any) -> Array:
        """Matrix (width, width) that turns monomials psi about this point into those about the point of `other`."""


@dataclass(frozen=True, eq=False)
class ShiftedMoments:
    """Sums of all monomials up to twice the degree, about a point in the middle of the data: sums of two data sets add.

    The offset of the data from the origin, and its powers, enter no sum. They enter through the shift matrix, after the
    sums have been centered. So eigenvalues far below the largest keep their digits.

    Attributes
    ----------
    shift : Shift
    weight : float
        Sum of the weights.
    sums : ndarray
        sum_i w_i psi_a(x_i) psi_b(x_i), each once: see :class:`~gramless.features.hankel.HankelSums`.
    slip : ndarray of shape (width,)
        The error of the sum of psi_a psi_b is at most sqrt(slip_a slip_b).
    rows : int
    """

    shift: Shift
    weight: float
    sums: Array
    slip: Array
    rows: int

    def __add__(self, other: ShiftedMoments) -> ShiftedMoments:
        return self._combine(other, 1)

    def __sub__(self, other: ShiftedMoments) -> ShiftedMoments:
        """The moments without those of rows that were added before."""
        return self._combine(other, -1)

    def _combine(self, other: ShiftedMoments, sign: int) -> ShiftedMoments:
        weight = self.weight + sign * other.weight
        if sign < 0 and other.weight > 0 and weight <= 0:
            raise ValueError(f"removing weight {other.weight:g} from {self.weight:g} leaves no rows")
        if not self.shift.same_space(other.shift):
            raise ValueError("moments about different points, or of different kernels, cannot be added; see `moved`")
        # errors add, by Cauchy's inequality; the addition itself has an error of one roundoff of its result
        return ShiftedMoments(
            shift=self.shift,
            weight=weight,
            sums=self.sums + sign * other.sums,
            slip=(self.slip + other.slip) * (1 + 4 * unit_roundoff())
            + unit_roundoff() * np.abs(self._squares + sign * other._squares),
            rows=self.rows + sign * other.rows,
        )

    def scaled(self, factor: float) -> ShiftedMoments:
        """As if every weight were multiplied by `factor`."""
        slip = factor * (self.slip * (1 + 4 * unit_roundoff()) + unit_roundoff() * np.abs(self._squares))
        return replace(self, weight=factor * self.weight, sums=factor * self.sums, slip=slip)

    def moved(self, shift: Shift) -> ShiftedMoments:
        """The same moments about the point of another map of the same kernel, so that they add to that map's moments.

        A move over a long distance loses digits, which the bounds include.
        """
        if self.shift.same_space(shift):
            return self
        matrix = self.shift.transfer(shift)
        hankel = shift.hankel
        size = np.abs(matrix) @ np.sqrt(np.abs(self._squares))
        terms = (2 * hankel.width + 8) * unit_roundoff() + 2 * self.shift.matrix_error
        slip = 1.01 * (np.abs(matrix) @ np.sqrt(self.slip)) ** 2 + terms * size**2
        sums = hankel.collect(matrix @ self._matrix @ matrix.T)
        return replace(self, shift=shift, sums=sums, slip=2 * slip)

    @cached_property
    def _matrix(self) -> Array:
        return self.shift.hankel.matrix(self.sums)

    @property
    def _squares(self) -> Array:
        return np.asarray(self.sums[self.shift.hankel.squares])

    @cached_property
    def mean(self) -> Array:
        if not self.weight:
            return np.zeros(len(self.shift.matrix))
        return np.asarray(self.shift.matrix @ (self._matrix[0] / self._matrix[0, 0]))

    @property
    def mean_norm2(self) -> float:
        return float(self.mean @ self.mean)

    @cached_property
    def _scatter(self) -> tuple[Array, Array]:
        """Centered scatter of psi without its constant, and h with |error_ab| <= h_a h_b."""
        gram = self._matrix
        mean = gram[0, 1:] / gram[0, 0]
        scatter = gram[1:, 1:] - np.outer(mean, gram[0, 1:])
        slip = np.sqrt(self.slip)
        blur = slip[1:] + np.abs(mean) * slip[0]  # errors of the sums, both means and the weight, in one square
        own = 4 * unit_roundoff() * np.abs(self._squares[1:])  # rounding of the two operations above
        return scatter, np.sqrt(blur**2 + own)

    @cached_property
    def trace(self) -> float:
        if not self.weight:
            return 0.0
        matrix = self.shift.matrix[:, 1:]
        return max(0.0, float(np.einsum("ij,ij->", matrix @ self._scatter[0], matrix)))

    def solve(self, k: int, tol: float, rng: np.random.Generator) -> Spectrum:
        """The `k` leading eigenpairs, by LAPACK."""
        matrix = self.shift.matrix[:, 1:]
        if not self.weight or not matrix.any():
            return _nothing(len(matrix), k)
        scatter, blur = self._scatter
        spread = np.sqrt(np.maximum(np.diag(scatter), blur**2))
        used = (spread > 0) & matrix.any(axis=0)
        if not used.any():
            return _nothing(len(matrix), k)
        matrix, scatter = matrix[:, used], scatter[np.ix_(used, used)]
        problem = _Graded(matrix, scatter, spread[used], blur[used], self.shift.matrix_error)
        with np.errstate(over="ignore", invalid="ignore"):
            if not problem.size < 1e150:
                raise ValueError(
                    f"the scatter of the features overflows: its root is {problem.size:g}; rescale the data"
                )
            if 0 < problem.real_size < 1e-140:
                raise ValueError("the squares of the features underflow; rescale the data")
            if not np.isfinite(self.mean_norm2):
                raise ValueError("the mean of the features overflows; center or rescale the data")
        values, axes, error, residual = problem.solve() if len(spread) <= _GRADED else problem.solve_squared(k)
        # rounding leaves 1e-17 along constant features, which in projections would outweigh features of size 1e-50
        axes = axes * matrix.any(axis=1, keepdims=True)
        return _spectrum(values, axes, error, residual, k)


@dataclass(frozen=True, eq=False)
class _Graded:
    """Eigenvalues of matrix @ scatter @ matrix.T, where |error of scatter| <= blur blur^T entry by entry."""

    matrix: Array
    scatter: Array
    spread: Array  # roots of the diagonal of the scatter
    blur: Array
    matrix_error: float

    @property
    def _reach(self) -> float:
        """Bound on the norm of matrix @ error @ matrix.T, for the error of the scatter."""
        return float(np.square(np.linalg.norm(np.abs(self.matrix) @ self.blur) * (1 + self.matrix_error)))

    @property
    def size(self) -> float:
        """Upper bound on the square root of the largest eigenvalue."""
        return float(np.linalg.norm(np.abs(self.matrix) @ self.spread))

    @property
    def real_size(self) -> float:
        """Spread of the largest feature, without monomials whose scatter may be rounding; 0 where all of it may be."""
        real = np.diag(self.scatter) > self.blur**2
        return float((np.abs(self.matrix[:, real]) @ self.spread[real]).max(initial=0.0))

    def solve(self) -> tuple[Array, Array, Array, Array]:
        """By the SVD of matrix @ scatter^1/2, which does not square the range of the eigenvalues.

        Scaled to a unit diagonal, the scatter is V L V^T up to an error of norm `fuzz`. In the order of symmetric
        matrices this error is at most (fuzz / L_t) V L V^T plus fuzz times the projector on v_t+1, v_t+2, ... The error
        bound of an eigenvalue is the least over all t; t = 0 is Weyl's inequality.
        """
        unit, width = unit_roundoff(), len(self.spread)
        levels, turn = scipy.linalg.eigh(self.scatter / np.outer(self.spread, self.spread), driver="evd")
        levels, turn = levels[::-1], turn[:, ::-1]
        solver = 10 * width * unit * float(levels[0]) + max(0.0, -float(levels[-1]))
        fuzz = float(np.sum((self.blur / self.spread) ** 2)) + solver
        levels = levels.clip(0)
        scaled = self.matrix * self.spread
        norm2 = 1.001 * float(leading_eigenpairs(scaled @ scaled.T, 1)[0][0])
        turned = scaled @ turn
        axes, singular, _ = scipy.linalg.svd(turned * np.sqrt(levels), full_matrices=False)
        slip = ((width + 4) * unit + self.matrix_error) * self.size + 10 * max(turned.shape) * unit * singular[0]
        largest = (singular + slip) ** 2
        weyl = self._reach + solver * norm2
        tails = np.minimum(norm2, np.append(np.cumsum(np.sum(turned**2, axis=0)[::-1])[::-1][1:], 0.0) * 1.001)
        good = levels > 2 * fuzz
        relative = fuzz / levels[good]
        error = np.full(len(singular), weyl)
        for rate, tail in zip(relative, tails[good], strict=True):
            np.minimum(error, rate * largest + fuzz * tail, out=error)
        error = error + 2 * singular * slip + slip**2
        off = (singular[0] + singular) * slip + slip**2 + weyl  # norm of S a - l a
        return singular**2, axes, error, _gram_residual(off, singular, float(largest[0]) + weyl)

    def solve_squared(self, k: int) -> tuple[Array, Array, Array, Array]:
        """By the eigenproblem of the product: cheaper for many features; errors are relative to the largest value."""
        width = len(self.matrix)
        product = self.matrix @ self.scatter @ self.matrix.T
        wanted = min(k + 1, width)
        values, axes = leading_eigenpairs((product + product.T) / 2, wanted)
        values = values.clip(0)
        terms = (2 * max(self.matrix.shape) + 8) * unit_roundoff() + (2 + self.matrix_error) * self.matrix_error
        error = self._reach + terms * self.size**2 + 40 * width * unit_roundoff() * values[0]
        residual = _gram_residual(np.full(len(values), error), np.sqrt(values), float(values[0] + error))
        return values, axes, np.full(len(values), error), residual


def _gram_residual(off: Array, roots: Array, most: float) -> Array:
    """Norm of K v - l v, from that of S a - l a in feature space: v = Phi a / sqrt(l) magnifies by sqrt(most / l).

    `most` is at least the largest eigenvalue.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        residual = off * (np.sqrt(most) / roots)  # a root of 0 gives no bound
    return np.where(residual < most, residual, most)


def _spectrum(values: Array, axes: Array, error: Array, residual: Array, k: int) -> Spectrum:
    """The spectrum of the first k + 1 values, padded with zeros where there are fewer features."""
    values, error, residual = (np.append(one, np.zeros(k + 1))[: k + 1] for one in (values, error, residual))
    axes = np.hstack([axes, np.zeros((len(axes), k))])[:, :k]
    return Spectrum(values[:k], axes, np.maximum(values - error, 0.0), values + error, residual[:k])


def _nothing(width: int, k: int) -> Spectrum:
    """The spectrum of rows that are all equal: zeros."""
    return Spectrum(np.zeros(k), np.zeros((width, k)), np.zeros(k + 1), np.zeros(k + 1), np.zeros(k))
