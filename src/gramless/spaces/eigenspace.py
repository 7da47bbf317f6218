"""Leading principal components in feature space: project, reconstruct, truncate, add."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, evenly_spaced, like
from gramless.kernels import Precomputed
from gramless.spaces.bounds import Bounds
from gramless.spaces.span import PointSpan, Span

_MANY = 2048  # points from which on projections in float32 are considered


@dataclass(frozen=True, eq=False)
class Eigenspace:
    """Mean and principal components of a cloud of points in feature space.

    Attributes
    ----------
    span : Span
        The p vectors of which mean and components are combinations.
    mean : ndarray of shape (p,)
        Coefficients of the mean.
    basis : ndarray of shape (p, k)
        Coefficients of the components, which are orthonormal in feature space.
    scatter : ndarray of shape (k,)
        Eigenvalues, on the scale of the Gram matrix (variance times weight).
    offset : ndarray of shape (k,)
        Inner products of the mean with the components.
    mean_norm2 : float
        Squared norm of the mean.
    weight : float
        Total weight W.
    trace : float
        Exact total scatter: the sum of all eigenvalues. After a reduction and a merge, up to the slip of `bounds`.
    bounds : Bounds or None
        Bounds on the errors of all these; None where none are known.
    """

    span: Span
    mean: Array
    basis: Array
    scatter: Array
    offset: Array
    mean_norm2: float
    weight: float
    trace: float
    bounds: Bounds | None = None

    def project(self, x: Any) -> Array:
        """Principal components (m, k) of rows `x` (m, d) (Raykar & Ankur, eq. 22)."""
        products = self.span.dot(x, self.basis)
        return products - like(self.offset, products)  # type: ignore[no-any-return]

    def project_in_float32(self, x: Any) -> Array:
        """The same in float32, where :meth:`float32_error` allows it."""
        span: Any = self.span
        products: Array = span.dot_in_float32(x, self.basis)
        return products - self.offset

    def float32_error(self) -> float:
        """Largest difference between projections in float32 and in float64, of up to 64 of the points.

        It is relative to the standard deviation of each component. Infinite where no float32 is used: for other spans
        than dense points on the CPU, and for few points, which take no time.
        """
        span = self.span
        if not isinstance(span, PointSpan) or span.device != "cpu" or scipy.sparse.issparse(span.points):
            return np.inf
        if isinstance(span.kernel, Precomputed) or len(span.points) < _MANY or not self.scatter.size:
            return np.inf
        some = span.points[evenly_spaced(len(span.points), 64)]
        with np.errstate(all="ignore"):  # what overflows in float32 becomes nan
            apart = np.abs(self.project_in_float32(some) - self.project(some)).max(axis=0)
            return float(np.nan_to_num(apart / np.sqrt(self.scatter / self.weight), nan=np.inf).max())

    def residual(self, x: Any) -> Array:
        """Squared distance (m,) of each phi(x) from the subspace through the mean (Welling, eq. 5)."""
        products = self.span.dot(x, np.column_stack([self.basis, self.mean]))
        scores = products[:, :-1] - self.offset
        height = self.span.norms2(x) - 2 * products[:, -1] + self.mean_norm2
        error: Array = np.maximum(height - np.einsum("ij,ij->i", scores, scores), 0.0)
        return error

    def truncate(self, k: int) -> Eigenspace:
        """The leading `k` components; the discarded ones are added to the bounds."""
        bounds = None if self.bounds is None else self.bounds.truncated(self.scatter, k)
        return replace(self, basis=self.basis[:, :k], scatter=self.scatter[:k], offset=self.offset[:k], bounds=bounds)

    def scaled(self, factor: float) -> Eigenspace:
        """As if every weight were multiplied by `factor` > 0."""
        return replace(
            self,
            scatter=factor * self.scatter,
            weight=factor * self.weight,
            trace=factor * self.trace,
            bounds=None if self.bounds is None else self.bounds.scaled(factor),
        )

    def __add__(self, other: Eigenspace) -> Eigenspace:
        """The eigenspace of both clouds together, without truncation: see :func:`gramless.spaces.merge`."""
        from gramless.spaces.merge import merge

        return merge(self, other) if isinstance(other, Eigenspace) else NotImplemented
