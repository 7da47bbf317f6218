"""Bounds on the difference between an eigenspace and the cloud of points that it represents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramless.arrays import Array
from gramless.certificates import upper_bounds


@dataclass(frozen=True, eq=False)
class Bounds:
    r"""Bounds on all errors that truncation, reduction and rounding have made so far.

    Let S be the exact scatter of the cloud, and F the stored components times the roots of their eigenvalues, so that
    F F^T is the part of S that is kept. There are vectors G with S = G G^T, a positive semidefinite E, and a matrix V
    with orthonormal rows, such that

        \|G - [C, E^1/2] V\|_F <= slip,    P C = F,    \|(I - P) C\|_F^2 <= leak,    \|E\| <= discarded,

    P being the projection on the stored span: E is the part removed by truncation, leak that removed by a reduction of
    the support, and slip the rest. (The documentation, under streams, proves that merging preserves this.)

    Attributes
    ----------
    discarded : float
        Norm of E. (Its trace is bounded too, by the total minus the stored eigenvalues: :meth:`limited`.)
    leak : float
    slip : float
        On the scale of square roots of eigenvalues.
    gram : float
        Norm of the error of F^T F, which should be diagonal.
    offset : float
        Norm of the error of F^T mean.
    mean_slip : float
        Distance of the stored mean from the exact one.
    mean_norm2 : float
        Error of the squared norm of the stored mean.
    trace : float
        Rounding error of the stored total. Until a mean is reduced, the total is tr S up to this error. Later merges
        add the distance of stored means; then the square roots of the total and of tr S differ by at most slip.
    inside : ndarray of shape (r, r) or None
        N with F^T E F <= N, in the order of positive semidefinite matrices. It is not 0, because merges change the
        components: parts discarded earlier need not be orthogonal to the present ones. None where only \\|E\\| F^T F is
        known.
    """

    discarded: float = 0.0
    leak: float = 0.0
    slip: float = 0.0
    gram: float = 0.0
    offset: float = 0.0
    mean_slip: float = 0.0
    mean_norm2: float = 0.0
    trace: float = 0.0
    inside: Array | None = None

    def scaled(self, factor: float) -> Bounds:
        """As if every weight were multiplied by `factor`."""
        root = float(np.sqrt(factor))
        return Bounds(
            discarded=factor * self.discarded,
            leak=factor * self.leak,
            slip=root * self.slip,
            gram=factor * self.gram,
            offset=root * self.offset,
            mean_slip=self.mean_slip,
            mean_norm2=self.mean_norm2,
            trace=factor * self.trace,
            inside=None if self.inside is None else factor**2 * self.inside,
        )

    def truncated(self, values: Array, k: int) -> Bounds:
        """The bounds after all but the leading `k` of the components, with these `values` (r,), are discarded."""
        if k >= len(values):
            return self
        inside = self.inside_of(values)[:k, :k] + self.gram**2 * np.eye(k)
        return replace(self, discarded=self.discarded + float(values[k]) + self.gram, inside=inside)

    def inside_of(self, values: Array) -> Array:
        """The matrix N for components of these `values` (r,)."""
        if self.inside is not None:
            return self.inside
        return np.diag(self.discarded * (values + self.gram))

    def limited(self, values: Array, trace: float) -> float:
        """Bound on the norm of E, also from its trace, which is at most the total minus the stored eigenvalues."""
        whole = (np.sqrt(max(0.0, trace + self.trace)) + self.slip) ** 2  # bounds |C|_F^2 + trace of E
        return min(self.discarded, max(0.0, float(whole - values.sum()) + len(values) * self.gram))

    @property
    def whole_slip(self) -> float:
        """The slip after a merge with other points: from then on the leak counts by its square root."""
        return self.slip + float(np.sqrt(self.leak))

    def intervals(self, values: Array, trace: float, count: int | None = None) -> tuple[Array, Array, Array]:
        """Bounds on the eigenvalues of S from the stored ones.

        Parameters
        ----------
        values : ndarray of shape (r,)
            Stored eigenvalues, descending: all of them.
        trace : float
            The stored total.
        count : int, optional
            Number of leading intervals that are made as narrow as possible; default: all.

        Returns
        -------
        lower : ndarray of shape (r,)
        upper : ndarray of shape (r + 1,)
            The last entry bounds every further eigenvalue.
        residual : ndarray of shape (r,)
            Bound on the norm of S w - l w for each stored component w, as a unit vector, and its value l.
        """
        beyond = self.limited(values, trace)
        lower = np.maximum(np.sqrt(np.maximum(values - self.gram, 0.0)) - self.slip, 0.0) ** 2
        upper = np.append(values, 0.0) + self.gram + beyond + self.leak
        if self.leak == 0 and beyond > 0:
            count = len(values) if count is None else min(count, len(values))
            upper[:count] = np.minimum(upper[:count], self._by_inertia(values, beyond, count))
        upper = np.minimum.accumulate((np.sqrt(upper) + self.slip) ** 2)
        largest = float(np.sqrt(upper[0]))
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.sqrt(beyond * np.minimum(self.inside_of(values).diagonal() / values, beyond))
            turned = np.where(values > 2 * self.gram, self.gram * largest / np.sqrt(values), np.inf)
        slip = 2 * largest * self.whole_slip  # and slip^2: `largest` bounds |[C, E^1/2]| + slip
        return lower, upper, np.asarray(1.5 * (np.where(values > 0, moved, np.inf) + turned + slip))

    def _by_inertia(self, values: Array, beyond: float, count: int) -> Array:
        """Upper bounds (count,) from the action of E on the components.

        With Q the span of the leading q components, T = L + Q^T E Q, and B^T B <= Q^T E^2 Q <= beyond Q^T E Q, so that
        the theorem of :mod:`gramless.certificates.inertia` applies; all further components count as part of E.
        """
        best = np.full(count, np.inf)
        solid = int((values > 1e-6 * values.max(initial=0.0) + 4 * self.gram).sum())
        if solid == 0:
            return best
        outside = beyond + (float(values[solid]) + self.gram if solid < len(values) else 0.0)
        roots, least = np.sqrt(values[:solid]), float(values[solid - 1])
        mixed = (self.inside_of(values)[:solid, :solid] + self.gram**2 * np.eye(solid)) / np.outer(roots, roots)
        ritz, turn = np.linalg.eigh(np.diag(values[:solid]) + mixed)
        ritz, turn = ritz[::-1], turn[:, ::-1]
        share, axes = np.linalg.eigh(mixed)
        coupling = np.sqrt(outside * np.maximum(share, 0.0))[:, None] * (axes.T @ turn)
        largest = float(values[0]) + outside
        rounding = self.gram * (2 * np.sqrt(largest / least) + (self.gram + 1.5 * largest) / least)
        first = min(count, solid)
        best[:first] = upper_bounds(ritz, coupling, first, outside, rounding, refine=False)
        return best
