"""The Taylor map of the Gaussian kernel (Raykar & Ankur, section 11), its coefficients by recurrence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import scipy.special

from gramless.arrays import (
    Array,
    blank,
    copied,
    in_float64,
    is_tensor,
    like,
    lower_gamma,
    namespace,
    row_squares,
    to_numpy,
    unit_roundoff,
)
from gramless.arrays.gpu_rates import machine_for
from gramless.features.base import Box, FeatureMap, maps
from gramless.features.rows import FeatureRows, RowwiseMap, chunk_rows
from gramless.kernels import Gaussian
from gramless.problem import Estimate, Problem

_FAR = 1200.0  # |z|^2 beyond which exp(-|z|^2 / 2) is close to underflow: the features there are set to 0
_WIDEST = 400.0  # r^2 / sigma^2 up to which the features of rows beyond _FAR are negligible
_MOST = 2500  # features at most
_TAIL_ERROR = 4e-9  # relative error of the incomplete gamma function: 2e-9 was observed in torch


def raykar_ankur_bound(d: int, sigma: float, terms: int, radius: float | None = None) -> float:
    r"""Largest error of the map by Raykar & Ankur: (r^2/s^2)^P / P! exp(r^2/s^2).

    Parameters
    ----------
    d : int
        Dimension of the unit cube, for which r^2 = d/4.
    sigma : float
    terms : int
        P: the map has all monomials of degree below it.
    radius : float, optional
        Half the diagonal of another box.

    Examples
    --------
    >>> f"{raykar_ankur_bound(2, 1.0, 6):.1e}, {poisson_bound(np.sqrt(0.5), 1.0, 6):.1e}"
    '3.6e-05, 1.4e-05'
    """
    squared = _ratio(np.sqrt(d) / 2 if radius is None else radius, sigma)
    if squared == 0:
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.exp(terms * np.log(squared) - scipy.special.gammaln(terms + 1.0) + squared))


def poisson_bound(radius: float, sigma: float, terms: int) -> float:
    """Largest error of the map for rows within `radius` of its center: Pr[Poisson(r^2/s^2) >= P].

    1 - |phi(x)|^2 is this probability for r = |x - x*|, and by Cauchy and Schwarz the error of a pair is at most the
    geometric mean of the errors of its points.
    """
    return float(poisson_tail(np.array(_ratio(radius, sigma)), terms))


def poisson_tail(means: Array, terms: int) -> Array:
    """Upper bound on Pr[Poisson(mean) >= terms], without a difference, so that tiny values keep their digits."""
    tail = lower_gamma(float(terms), means) * (1 + _TAIL_ERROR) + float(np.finfo(np.float64).tiny)
    tail = namespace(means).clip(tail, None, 1.0)
    return namespace(means).where(means > 0, tail, 0.0)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class TaylorMap(RowwiseMap):
    r"""phi_a(x) = exp(-|z|^2/2) prod_j z_j^a_j / sqrt(a_j!), z = (x - center)/sigma, for all a with |a| < terms.

    K - Phi Phi^T is positive semidefinite, and 1 - |phi(x)|^2 = Pr[Poisson(|z|^2) >= terms] exactly.

    Parameters
    ----------
    kernel : Gaussian
    center : ndarray of shape (d,)
    terms : int
        P, at least 1. There are C(d + P - 1, d) features.

    Examples
    --------
    >>> x = np.array([[0.1, 0.4], [-0.3, 0.2]])
    >>> phi = TaylorMap(Gaussian(sigma=1.0), np.zeros(2), terms=8)
    >>> phi.n_features, bool(np.allclose(phi(x) @ phi(x).T, Gaussian(sigma=1.0)(x), atol=1e-9))
    (36, True)
    """

    kernel: Gaussian
    center: Array
    terms: int

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """C(d + P - 1, d)."""
        return comb(len(self.center) + self.terms - 1, len(self.center))

    tensors = True

    def beside(self, x: Any) -> TaylorMap:
        return replace(self, center=like(self.center, in_float64(x[:0]))) if is_tensor(x) else self

    @cached_property
    def _steps(self) -> list[tuple[slice, slice, int, Array]]:
        """How features follow from those of one degree less: (new, old, j, ratios) means new = old * z_j * ratios."""
        d, steps = len(self.center), []
        powers = np.zeros((1, d), dtype=np.int64)
        first, ends = 0, [1] * d  # of the last degree: its start, and the end of its features in variables <= j
        for _ in range(1, self.terms):
            start = first + len(powers)
            grown: list[Array] = []
            grown_ends: list[int] = []
            for j in range(d):
                new = powers[: ends[j]].copy()
                new[:, j] += 1
                top = start + sum(len(part) for part in grown)
                ratios = like(1 / np.sqrt(new[:, j]), self.center)
                steps.append((slice(top, top + len(new)), slice(first, first + ends[j]), j, ratios))
                grown.append(new)
                grown_ends.append(top + len(new) - start)
            powers, first, ends = np.concatenate(grown), start, grown_ends
        return steps

    def rows(self, x: Any) -> FeatureRows:
        d, unit, xp = len(self.center), unit_roundoff(), namespace(self.center)
        with np.errstate(over="ignore"):
            z = (in_float64(x) - self.center) / self.kernel.sigma
            squared = row_squares(z)
        far = ~(squared <= _FAR)
        near = xp.where(far, 0.0, squared)
        z[far] = 0.0
        values = blank((self.n_features, len(z)), z)
        values[0] = xp.where(far, 0.0, xp.exp(-near / 2))
        columns = copied(z.T)
        for these, those, j, ratios in self._steps:
            xp.multiply(values[those], columns[j], out=values[these])
            values[these] *= ratios[:, None]
        leak = poisson_tail(squared, self.terms)
        leak = xp.clip(leak * (1 + 2 * self.terms * (d + 8) * unit), None, 1.0)
        relative = (8 * self.terms + 12) * unit + xp.expm1((d + 8) * unit * near / 2)
        lost = self.n_features * 5e-324 * xp.exp(near / 2)  # subnormal numbers, magnified by later factors
        nothing = float(np.sqrt(scipy.special.gammaincc(float(self.terms), _FAR))) * (1 + 1e-6)
        return FeatureRows(
            values=values.T,
            leak=leak,
            leak_error=(3 * _TAIL_ERROR + 5 * self.terms * (d + 8) * unit) * leak,
            error=xp.where(far, nothing, relative + lost),
            rounding=xp.zeros_like(leak),
        )

    def symbolic(self, x: Any) -> Any:
        xp, center = namespace(x), to_numpy(self.center)
        z = (x - center) / float(self.kernel.sigma)
        squared = (z * z).sum(axis=1, keepdims=True)
        near = squared <= _FAR
        z = xp.where(near, z, 0.0)
        degrees = [xp.where(near, xp.exp(squared * -0.5), 0.0)]
        first = 0
        for steps in (self._steps[i : i + len(center)] for i in range(0, len(self._steps), len(center))):
            parents = np.concatenate([np.arange(old.start, old.stop) for _, old, _, _ in steps]) - first
            columns = np.repeat([j for _, _, j, _ in steps], [old.stop - old.start for _, old, _, _ in steps])
            ratios = np.concatenate([to_numpy(ratios) for _, _, _, ratios in steps])
            degrees.append(xp.take(degrees[-1], parents, axis=1) * xp.take(z, columns, axis=1) * ratios)
            first = steps[0][0].start
        return xp.concatenate(degrees, axis=1)

    def error_bound(self, x: Any, y: Any) -> Array:
        """Bound (n, m) on |phi(x_i) . phi(y_j) - k(x_i, y_j)|, rounding included, wherever the points lie."""
        left, right = self.rows(x), self.rows(y)
        return np.asarray(
            np.sqrt(np.outer(left.leak, right.leak))
            + np.add.outer(left.error, right.error) * 1.01
            + (self.n_features + 8) * unit_roundoff()
        )

    def same_space(self, other: FeatureMap) -> bool:
        return (
            isinstance(other, TaylorMap)
            and self.kernel == other.kernel
            and self.terms == other.terms
            and np.array_equal(self.center, other.center)
        )


class TaylorBuilder:
    """Chooses the number of terms from the Poisson bound, so that the residual stays below tol l_1."""

    boxed = True
    tensors = True
    leading = False

    def estimate(self, problem: Problem) -> Estimate:
        refusal = self._refusal(problem)
        if refusal:
            return Estimate(refusal=refusal)
        squared, share = self._expected(problem)
        if squared.max() > _WIDEST:
            reach = np.sqrt(squared.max())
            return Estimate(refusal=f"the data extend {reach:.3g} sigma from their center, too far for an expansion")
        terms = _fewest_terms(squared, share, _goal(problem))
        width = comb(problem.d + terms - 1, problem.d)
        if width > _MOST:
            return Estimate(refusal=f"would need {width} features")
        rounding = 4e-15 / np.sqrt(max(problem.peak, 1e-30))
        error = float(share @ poisson_tail(squared, terms)) / max(problem.peak, 1e-300) + rounding
        rate = machine_for(problem.device).kernel
        return dense_estimate(problem, width, 12 / rate + 3 * width / (4 * rate), error)

    def n_features(self, problem: Problem) -> int:
        """D for a problem that is not refused."""
        return comb(problem.d + _fewest_terms(*self._expected(problem), _goal(problem)) - 1, problem.d)

    def _expected(self, problem: Problem) -> tuple[Array, Array]:
        """Squared distances from the center in units of sigma, and their shares: of a sample, or the largest one."""
        box, sigma = Box(problem.low, problem.high), problem.kernel.sigma
        if problem.sample is None:  # rows may lie anywhere in the box
            return np.array([_ratio(box_radius(box), sigma)]), np.ones(1)
        with np.errstate(over="ignore"):
            return _distances(problem.sample, np.ones(len(problem.sample)), box.center, sigma)

    def make(self, problem: Problem, x: Any, weights: Array, rng: np.random.Generator) -> TaylorMap:
        refusal = self._refusal(problem)
        if refusal:
            raise ValueError(f"the Taylor map is not applicable: {refusal}")
        box, here = Box(problem.low, problem.high), Box.around(x)
        sigma = problem.kernel.sigma
        if np.array_equal(here.low, box.low) and np.array_equal(here.high, box.high):
            squared, share = _distances(x, weights, box.center, sigma)
        else:  # more rows will come: they may lie anywhere in the box
            squared, share = np.array([_ratio(box_radius(box), sigma)]), np.ones(1)
        terms = _fewest_terms(squared, share, _goal(problem))
        made = TaylorMap(problem.kernel, box.center, terms)
        if made.n_features > _MOST or squared.max() > _WIDEST:
            raise ValueError(f"the Taylor map is not applicable: it would need {made.n_features} features")
        return made

    def _refusal(self, problem: Problem) -> str:
        if not isinstance(problem.kernel, Gaussian):
            return "only for the Gaussian kernel"
        if problem.sparse:
            return "sparse rows would become dense"
        return "" if problem.low is not None else "needs a bounding box of the data"


maps.register("taylor")(TaylorBuilder())


def dense_estimate(problem: Problem, width: int, row_seconds: float, error: float) -> Estimate:
    """Cost of moments of `width` features, `row_seconds` per row to compute, and of their eigenpairs."""
    machine, n = machine_for(problem.device), problem.n
    chunk = min(n, chunk_rows(width))
    rows = n * (row_seconds + (1 + 60 / 256) * width**2 / machine.gemm + 1e-7) / problem.threads
    solve = 4 * width**3 / machine.eigh
    tower = int(np.log2(n / chunk + 1)) + 2
    size = 8 * (problem.threads * (3 * chunk * width + 3 * width**2) + tower * width**2 + 3 * width**2)
    return Estimate(rows + solve + 1e-3 + 3e-4 * n / chunk / problem.threads, int(size), float(error))


def box_radius(box: Box) -> float:
    """Half the diagonal, rounded up."""
    return float(np.linalg.norm(box.extent / 2)) * (1 + 1e-12)


def _ratio(radius: float, sigma: float) -> float:
    """(radius / sigma)^2, infinite where it overflows."""
    with np.errstate(over="ignore"):
        return float(np.square(np.float64(radius) / sigma))


def _goal(problem: Problem) -> float:
    """Residual allowed per unit of weight: half of tol l_1, because the peak is an estimate."""
    return max(0.5 * problem.tol * problem.peak, 1e-18)


def _distances(x: Any, weights: Array, center: Array, sigma: float) -> tuple[Array, Array]:
    """Squared distances from the center in units of sigma, rounded up to a few values, and the weight of each."""
    squared = np.empty(x.shape[0])
    for first in range(0, len(squared), 8192):
        z = (np.asarray(x[first : first + 8192], dtype=np.float64) - center) / sigma
        squared[first : first + 8192] = np.einsum("ij,ij->i", z, z)
    largest = float(squared.max(initial=0.0))
    if largest == 0 or not np.isfinite(largest):
        return np.array([largest]), np.ones(1)
    bins = np.minimum((256 * (squared / largest)).astype(np.int64), 255)
    share = np.bincount(bins, weights=weights, minlength=256) / max(float(weights.sum()), 1e-300)
    return largest * (np.arange(256) + 1) / 256, share


def _fewest_terms(squared: Array, share: Array, goal: float) -> int:
    """Least P >= 1 with sum share Pr[Poisson(squared) >= P] <= goal; the largest int32 for infinite distances."""

    def enough(terms: int) -> bool:
        return bool(share @ poisson_tail(squared, terms) <= goal)

    if not np.isfinite(squared).all():
        return np.iinfo(np.int32).max
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
