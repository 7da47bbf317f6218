"""Landmarks: the Nyström features of any Mercer kernel, with an error bound that includes rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from gramless.arrays import (
    Array,
    blank,
    in_float64,
    is_tensor,
    like,
    namespace,
    refuse_scale,
    row_squares,
    run_in_threads,
    threads_for,
    unit_roundoff,
)
from gramless.features.base import FeatureMap
from gramless.features.paired import PairedMap
from gramless.features.rows import FeatureRows
from gramless.features.triangle import Triangle
from gramless.kernels import Kernel, column_shift
from gramless.kernels.rounding import growth

_NEGLIGIBLE = 1e-6  # rounding of what landmarks leave out, relative to it


@dataclass(frozen=True, eq=False)
class Solved:
    """Features, and norms of the terms of the residual identity of :class:`LandmarkMap`, for each row.

    Attributes
    ----------
    rows : FeatureRows
    c, f, g : ndarray or tensor of shape (n,)
        Bounds on the norms.
    """

    rows: FeatureRows
    c: Array
    f: Array
    g: Array


@dataclass(frozen=True, eq=False)
class LandmarkMap(PairedMap):
    r"""phi(x) = L^-1 k(points, x) with L L^T = k(points, points): the projection on the span of the points' images.

    Rounding of the kernel and of both solves is bounded by a residual identity instead of a condition number. With
    c = L^-T phi, f = L phi - k(points, x), g = phi - L^T c and F = L L^T - k(points, points), all as computed,
    K = Phi Phi^T + R + C^T F C - C^T f - f^T C - g^T g  holds exactly. R, the Gram matrix of
    psi(x) - sum_s c_s psi(points_s), is positive semidefinite, however ill-conditioned the points are.

    Parameters
    ----------
    kernel : Kernel
        A Mercer kernel.
    points : ndarray or CSR of shape (s, d)
    shift : ndarray of shape (d,) or None
        Subtracted from rows where that changes no value.
    triangle : Triangle
        L.
    pairs : int
        Pairs of rows that :meth:`moments` draws for a bound narrower than the trace; 0 for none.
    seed : int
        Seed for these pairs.
    expected_leak : float
        Mean of k(x, x) - \|phi(x)\|^2, as estimated by the choice of the points; nan without an estimate.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.random.default_rng(0).standard_normal((40, 2))
    >>> kernel = Gaussian(sigma=2.0)
    >>> phi = LandmarkMap.at(kernel, x[:25])
    >>> bool(np.abs(phi(x) @ phi(x).T - kernel(x)).max() < 1e-2)
    True
    """

    kernel: Kernel
    points: Any
    shift: Array | None
    triangle: Triangle
    pairs: int = 0
    seed: int = 0
    expected_leak: float = float("nan")

    @classmethod
    def at(cls, kernel: Kernel, points: Any, **settings: Any) -> LandmarkMap:
        """The map of rows `points` (s, d); points that the others determine up to rounding are left out."""
        if not kernel.mercer:
            raise ValueError(f"landmarks need a Mercer kernel, and {kernel} is not known to be one")
        shift = column_shift(points) if kernel.shift_invariant else None
        ready = kernel.prepare(points, shift)
        with np.errstate(over="ignore", invalid="ignore"):
            gram = kernel.evaluate(ready, ready)
        if not np.isfinite(gram).all():
            raise ValueError(f"{kernel} overflows on this data; rescale it")
        largest = float(gram.diagonal().max(initial=0.0))
        refuse_scale(largest, "kernel values")
        entry = _entry_error(kernel, kernel.radius(ready), points.shape[1], largest)
        drop = max(8 * len(gram) * entry, 64 * len(gram) * unit_roundoff() * largest)
        _, order, rank, _ = scipy.linalg.lapack.dpstrf((gram + gram.T) / 2, lower=1, tol=drop)
        kept = order[: max(1, rank)] - 1
        gram = gram[np.ix_(kept, kept)]
        if rank == 0:  # a kernel that vanishes at all points has one feature, 0
            gram[0, 0] = max(gram[0, 0], np.finfo(np.float64).tiny ** 0.5)
        factor = np.linalg.cholesky(gram)
        return cls(kernel, points[kept], shift, Triangle(factor), **settings)

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of points."""
        return int(self.points.shape[0])

    @property
    def tensors(self) -> bool:
        return self.kernel.tensors and not scipy.sparse.issparse(self.points)

    def beside(self, x: Any) -> LandmarkMap:
        if not is_tensor(x) or is_tensor(self.points):
            return self
        rows = in_float64(x[:0])
        shift = None if self.shift is None else like(self.shift, rows)
        there = replace(self, points=like(self.points, rows), shift=shift, triangle=self.triangle.beside(rows))
        known = {"_balance": self._balance, "gram_error": self.gram_error, "_weights_bound": self._weights_bound}
        there.__dict__.update(known)
        return there

    def rows(self, x: Any) -> FeatureRows:
        return self.solved(x).rows

    def solved(self, x: Any) -> Solved:
        """The features of rows `x` (n, d) with bounds on the terms of the residual identity."""
        kernel, s, d = self.kernel, self.n_features, x.shape[1]
        here, there = kernel.prepare(x, self.shift), kernel.prepare(self.points, self.shift)
        radius = max(kernel.radius(here), kernel.radius(there))
        rounding = kernel.rounding(radius, d, unit_roundoff())
        trace, xp = float(kernel.diagonal(self.points).sum()), namespace(self.points)
        diagonal = kernel.diagonal(x).clip(0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.triangle.solve(kernel.evaluate(here, there))
            norms2 = row_squares(values)
            weights2 = self._weights_bound * norms2
            if not self._weights_bound < np.inf:
                weights2 = row_squares(self.triangle.solve_transposed(values))
        norms, reach = xp.sqrt(norms2), xp.sqrt(diagonal * trace)  # reach bounds |k(points, x)|
        f = s**0.5 * rounding.absolute + rounding.relative * reach + self.triangle.residual(norms, reach)
        g = self.triangle.residual(xp.sqrt(weights2), norms)
        slip = 1.01 * ((self.gram_error + self._balance) * weights2 + f**2 / self._balance + g**2)
        blur = rounding.absolute + (rounding.relative + (s + 4) * unit_roundoff()) * diagonal + slip
        leak = (diagonal - norms2).clip(0.0) + blur
        rows = FeatureRows(
            values=values, leak=leak, leak_error=xp.minimum(leak, 2 * blur), error=xp.zeros_like(f), rounding=slip
        )
        return Solved(rows, 1.01 * xp.sqrt(weights2), f, g)

    @cached_property
    def _weights_bound(self) -> float:
        """A bound on |L^-T phi|^2 / |phi|^2 where that is enough; infinite where the norms must be computed.

        It is enough where rounding stays far below what the landmarks leave out: this saves a third of the time.
        """
        bound = self.triangle.inverse_norm**2
        rounding = (self.gram_error + self._balance) * bound * float(self.kernel.diagonal(self.points).max())
        return bound if rounding < _NEGLIGIBLE * self.expected_leak else float("inf")

    @cached_property
    def _radius(self) -> float:
        return self.kernel.radius(self.kernel.prepare(self.points, self.shift))

    @cached_property
    def gram_error(self) -> float:
        """Bound on the norm of L L^T - k(points, points), from the computed difference."""
        kernel, lower = self.kernel, self.triangle.lower
        ready, s = kernel.prepare(self.points, self.shift), self.n_features
        trace = float(kernel.diagonal(self.points).sum())
        rounding = kernel.rounding(self._radius, self.points.shape[1], unit_roundoff())
        difference = -kernel.evaluate(ready, ready).astype(np.longdouble)
        step = max(8, s // 32)
        for first in range(0, s, step):  # short products, added in extended precision
            part = lower[:, first : first + step]
            difference += part @ part.T.copy()
        formed = growth(step + 4, unit_roundoff()) * trace
        measured = float(np.linalg.norm(difference.astype(np.float64))) * (1 + 1e-9)
        return s * rounding.absolute + rounding.relative * trace + formed + measured

    @cached_property
    def _balance(self) -> float:
        """The b of 2 |C| |f| <= b |C|^2 + |f|^2 / b: about the size of f, and one for all rows so that bounds add."""
        diagonal = self.kernel.diagonal(self.points)
        trace, largest = float(diagonal.sum()), float(diagonal.max())
        rounding = self.kernel.rounding(self._radius, self.points.shape[1], unit_roundoff())
        reach = np.array(np.sqrt(largest * trace))
        solved = float(self.triangle.residual(np.sqrt(np.array(largest)), reach))
        f = float(np.sqrt(self.n_features)) * rounding.absolute + rounding.relative * float(reach) + solved
        return max(f, 1e-150)

    def dot(self, x: Any, coefficients: Array) -> Array:
        out: Array = blank((x.shape[0], coefficients.shape[1]), x)
        turned = like(self.triangle.solve_transposed(coefficients.T).T, out)
        here, kernel, chunk = self.beside(x), self.kernel, self.chunk(x)
        there = kernel.prepare(here.points, here.shift)

        def work(first: int) -> None:
            part = slice(first, first + chunk)
            out[part] = kernel.evaluate(kernel.prepare(x[part], here.shift), there) @ turned

        with threads_for(x):
            run_in_threads(work, [list(range(0, x.shape[0], chunk))])
        return out

    def dot_error(self, coefficients: Array, radius: float, largest: float, weight: float, rounding: float) -> Array:
        entry = self.kernel.rounding(max(radius, self._radius), self.points.shape[1], unit_roundoff())
        turned = np.linalg.norm(self.triangle.solve_transposed(coefficients.T), axis=1)
        trace, norm = float(self.kernel.diagonal(self.points).sum()), float(np.sqrt(largest))
        reach, s = np.array(np.sqrt(largest * trace)), self.n_features
        values = float(np.sqrt(s)) * entry.absolute + (entry.relative + growth(s + 4, unit_roundoff())) * reach
        solved = self.triangle.residual(np.array(norm), reach)
        turning = self.triangle.residual(turned, np.linalg.norm(coefficients, axis=0))
        return np.asarray(np.sqrt(weight) * 1.01 * ((2 * values + solved) * turned + norm * turning))

    def on_points(self, coefficients: Array) -> tuple[Any, Array]:
        return self.points, self.triangle.solve_transposed(coefficients.T).T

    def projected(self, products: Array) -> tuple[Array, Array]:
        """Projections on the span of the points: least squares in feature space.

        Parameters
        ----------
        products : ndarray of shape (s, k)
            Inner products of k vectors with the images of the points.

        Returns
        -------
        inside : ndarray of shape (s, k)
            Coordinates of the projections as features.
        coefficients : ndarray of shape (s, k)
            Their coefficients on the points.
        """
        inside = self.triangle.solve(np.array(products.T, order="C"))
        return inside.T, self.triangle.solve_transposed(inside).T

    def same_space(self, other: FeatureMap) -> bool:
        if not isinstance(other, LandmarkMap) or self.kernel != other.kernel:
            return False
        same = self.points.shape == other.points.shape
        if scipy.sparse.issparse(self.points) or scipy.sparse.issparse(other.points):
            apart = scipy.sparse.csr_array(self.points) - scipy.sparse.csr_array(other.points) if same else None
            return apart is not None and not abs(apart).sum()
        return bool(same and np.array_equal(self.points, other.points))


def _entry_error(kernel: Kernel, radius: float, d: int, largest: float) -> float:
    rounding = kernel.rounding(radius, d, unit_roundoff())
    return rounding.absolute + rounding.relative * largest
