r"""The merge of two eigenspaces (Sharma, Chaudhury & Srivastava, Kernel Eigen Space Merging).

Their equation 1, on the scale of Gram matrices, is the scatter of both clouds together,

    S = U L U^T + V D V^T + (n m / (n + m)) d d^T,    d the difference of the means,

written in an orthonormal basis of [U, V, d]. Orthonormalization divides by the norms of residuals, which for
overlapping spaces are small differences of large numbers. Here the *factors* F = [U L^1/2, V D^1/2, sqrt(c) d] of
S = F F^T are kept as they are: the Gram matrix F^T F, of size p + q + 1, has the same eigenvalues as S, and
F z / sqrt(l) are the components. A factor of small norm stays small, so nothing is divided by it, and errors stay at
the level of rounding times the trace, however much the two spaces overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramless.arrays import Array, blas_threads_for, inner, inner_rounding, unit_roundoff
from gramless.gram import rectangular_error, rectangular_product
from gramless.spaces.bounds import Bounds
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.signs import largest_positive
from gramless.spaces.span import PointSpan, stack_points


def merge(a: Eigenspace, b: Eigenspace, n_components: int | None = None, share: float | None = None) -> Eigenspace:
    """The eigenspace of both clouds together.

    No Gram matrix of all points is formed. One (p, q) block of kernel values is used, tile by tile, and an eigenproblem
    of size r + s + 1, for r and s components. The discarded components are added to the bounds.

    Parameters
    ----------
    a, b : Eigenspace
        On points, with the same kernel. Components have the signs of those of `a` that they continue.
    n_components : int, optional
        Maximum number of components; default: all above the level of rounding.
    share : float, optional
        Retain more components than that, if this fraction of the total scatter needs them.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> from gramless.spaces import batch_space
    >>> x = np.random.default_rng(0).random((40, 2))
    >>> kernel = Gaussian(sigma=1.0)
    >>> both = merge(batch_space(kernel, x[:25]), batch_space(kernel, x[25:]))
    >>> bool(np.allclose(both.scatter[:5], batch_space(kernel, x).scatter[:5]))
    True
    """
    refuse_different(a, b)
    pair = _Pair.of(a, b)
    gram = pair.gram()
    with blas_threads_for(len(gram)):
        values, turn = np.linalg.eigh(gram)
    values, turn = values[::-1], turn[:, ::-1]
    floor = 20 * len(gram) * unit_roundoff() * max(float(values[0]), 0.0)
    kept = count_kept(values, pair.trace, n_components, share, floor)
    left_out = float(values[kept]) if kept < len(values) else 0.0
    values, turn = values[:kept], turn[:, :kept]
    factors = pair.factors(turn)
    signs = _signs(turn[: a.basis.shape[1]], a.scatter, values, factors)
    factors *= signs
    turn = turn * signs
    roots = np.sqrt(values)
    return Eigenspace(
        span=PointSpan(a.span.kernel, stack_points(a.span.points, b.span.points)),  # type: ignore[attr-defined]
        mean=np.concatenate([a.mean * (a.weight / pair.weight), b.mean * (b.weight / pair.weight)]),
        basis=factors / roots,
        scatter=values,
        offset=turn.T @ pair.heights() / roots,
        mean_norm2=pair.mean_norm2,
        weight=pair.weight,
        trace=pair.trace,
        bounds=pair.bounds(gram, values, turn, max(left_out, 0.0), floor),
    )


def refuse_different(a: Eigenspace, b: Eigenspace) -> None:
    """Raise a ValueError that says what differs, unless both lie in one feature space, on points."""
    for space in (a, b):
        if not isinstance(space.span, PointSpan):
            raise ValueError(
                f"{type(space.span).__name__} cannot be merged as an eigenspace: it is not spanned by points"
            )
    left, right = a.span, b.span
    if left.kernel != right.kernel:  # type: ignore[attr-defined]
        raise ValueError(f"kernels differ: {left.kernel} and {right.kernel}")  # type: ignore[attr-defined]
    widths = left.points.shape[1], right.points.shape[1]  # type: ignore[attr-defined]
    if widths[0] != widths[1]:
        raise ValueError(f"{widths[0]} columns in one and {widths[1]} in the other: the feature spaces differ")


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two eigenspaces and the inner products between them.

    Attributes
    ----------
    a, b : Eigenspace
    left, right : ndarray of shape (p, r), (q, s)
        Coefficients of the factors U L^1/2 and V D^1/2.
    cross : ndarray of shape (r + 1, s + 1)
        Inner products of (left, mean of a) with (right, mean of b).
    error : float
        Error of one kernel value, and of sums of kernel values relative to the moduli of the coefficients.
    """

    a: Eigenspace
    b: Eigenspace
    left: Array
    right: Array
    cross: Array
    error: float

    @classmethod
    def of(cls, a: Eigenspace, b: Eigenspace) -> _Pair:
        kernel, x, y = a.span.kernel, a.span.points, b.span.points  # type: ignore[attr-defined]
        left, right = a.basis * np.sqrt(a.scatter), b.basis * np.sqrt(b.scatter)
        columns = np.column_stack([left, a.mean])
        image = rectangular_product(kernel, y, x, columns)
        cross = inner(image, np.column_stack([right, b.mean]))
        known = a.bounds is not None and b.bounds is not None
        error = rectangular_error(kernel, y, x) if known else np.nan
        largest = np.sqrt(kernel.diagonal(x).max() * kernel.diagonal(y).max()) if known else np.nan
        return cls(a, b, left, right, cross, float(error + inner_rounding(len(right)) * largest))

    @property
    def weight(self) -> float:
        return self.a.weight + self.b.weight

    @property
    def _coupling(self) -> float:
        """The number c = n m / (n + m): the scatter of the two means is c d d^T."""
        return self.a.weight * self.b.weight / self.weight

    @property
    def _distance2(self) -> float:
        """Squared distance of the means."""
        return max(0.0, self.a.mean_norm2 - 2 * float(self.cross[-1, -1]) + self.b.mean_norm2)

    @property
    def trace(self) -> float:
        return self.a.trace + self.b.trace + self._coupling * self._distance2

    @property
    def mean_norm2(self) -> float:
        n, m = self.a.weight / self.weight, self.b.weight / self.weight
        return n * n * self.a.mean_norm2 + 2 * n * m * float(self.cross[-1, -1]) + m * m * self.b.mean_norm2

    @property
    def _largest(self) -> float:
        """Largest norm of the image of a point."""
        points = (self.a.span, self.a.span.points), (self.b.span, self.b.span.points)  # type: ignore[attr-defined]
        return float(np.sqrt(max(span.norms2(x).max() for span, x in points)))

    def gram(self) -> Array:
        """Inner products of the factors [U L^1/2, V D^1/2, sqrt(c) d]."""
        a, b, r, s = self.a, self.b, self.left.shape[1], self.right.shape[1]
        gram = np.zeros((r + s + 1, r + s + 1))
        gram[:r, :r], gram[r:-1, r:-1] = np.diag(a.scatter), np.diag(b.scatter)
        gram[:r, r:-1] = self.cross[:-1, :-1]
        root = np.sqrt(self._coupling)
        gram[:r, -1] = root * (np.sqrt(a.scatter) * a.offset - self.cross[:-1, -1])
        gram[r:-1, -1] = root * (self.cross[-1, :-1] - np.sqrt(b.scatter) * b.offset)
        gram[-1, -1] = self._coupling * self._distance2
        upper = np.triu(gram, 1)
        return np.asarray(np.triu(gram) + upper.T)

    def factors(self, turn: Array) -> Array:
        """Coefficients (p + q, k) of F z for the columns z of `turn`."""
        r, root = self.left.shape[1], np.sqrt(self._coupling)
        above = self.left @ turn[:r]
        above += np.outer(root * self.a.mean, turn[-1])
        below = self.right @ turn[r:-1]
        below -= np.outer(root * self.b.mean, turn[-1])
        return np.vstack([above, below])

    def heights(self) -> Array:
        """Inner products of the factors with the mean of both clouds."""
        a, b, cross = self.a, self.b, self.cross
        n, m = a.weight / self.weight, b.weight / self.weight
        meeting = float(cross[-1, -1])
        along = n * (a.mean_norm2 - meeting) + m * (meeting - b.mean_norm2)
        return np.concatenate(
            [
                n * np.sqrt(a.scatter) * a.offset + m * cross[:-1, -1],
                n * cross[-1, :-1] + m * np.sqrt(b.scatter) * b.offset,
                [np.sqrt(self._coupling) * along],
            ]
        )

    def bounds(self, gram: Array, values: Array, turn: Array, left_out: float, floor: float) -> Bounds | None:
        """Bounds on the errors of the result."""
        a, b = self.a.bounds, self.b.bounds
        if a is None or b is None:
            return None
        unit, error, c = unit_roundoff(), self.error, self._coupling
        n, m = self.a.weight / self.weight, self.b.weight / self.weight
        sums = [np.abs(self.left).sum(axis=0), np.abs(self.right).sum(axis=0)]  # |x^T dK y| <= error |x|_1 |y|_1
        reach, other_reach = (float(np.linalg.norm(part)) for part in sums)
        mass, other_mass = (float(np.abs(mean).sum()) for mean in (self.a.mean, self.b.mean))  # 1 before a reduction
        meeting = error * mass * other_mass
        squares = max(self.a.mean_norm2, 0.0) + max(self.b.mean_norm2, 0.0)
        apart = a.mean_norm2 + b.mean_norm2 + 2 * meeting + 6 * unit * squares
        tilt = np.hypot(a.offset + error * reach * other_mass, b.offset + error * other_reach * mass)
        size = float(np.linalg.norm(gram))
        blur = max(a.gram, b.gram, c * apart) + error * reach * other_reach + float(np.sqrt(c)) * float(tilt)
        blur += floor + 8 * unit * size
        steps = (len(turn) + 4) * unit
        moduli = np.concatenate([*sums, [np.sqrt(c) * (mass + other_mass)]]) @ np.abs(turn)
        largest = self._largest
        first, second = n * a.offset + m * error * reach * other_mass, m * b.offset + n * error * other_reach * mass
        height = np.linalg.norm([first, second, np.sqrt(c) * apart])
        lost = a.limited(self.a.scatter, self.a.trace), b.limited(self.b.scatter, self.b.trace)
        r = self.left.shape[1]
        inside = _carried(a.inside_of(self.a.scatter), lost[0], self.a.scatter, slice(0, r), gram, blur, values, turn)
        inside += _carried(b.inside_of(self.b.scatter), lost[1], self.b.scatter, slice(r, -1), gram, blur, values, turn)
        return Bounds(
            discarded=sum(lost) + (left_out + blur if turn.shape[1] < len(turn) else 0.0),
            inside=inside + blur**2 * np.eye(len(values)),
            slip=float(
                np.sqrt(a.whole_slip**2 + b.whole_slip**2 + c * (a.mean_slip + b.mean_slip) ** 2)
                + steps * largest * np.linalg.norm(moduli)
            ),
            gram=blur,
            offset=float(height) + steps * float(np.linalg.norm(self.heights())) + 4 * unit * largest * np.sqrt(size),
            mean_slip=n * a.mean_slip + m * b.mean_slip + 4 * unit * largest * (n * mass + m * other_mass),
            mean_norm2=n * n * a.mean_norm2 + 2 * n * m * meeting + m * m * b.mean_norm2 + 14 * unit * largest**2,
            trace=a.trace + b.trace + c * apart + 6 * unit * self.trace,
        )


def _carried(
    inside: Array, lost: float, before: Array, part: slice, gram: Array, blur: float, values: Array, turn: Array
) -> Array:
    """Bound on F^T E F for the new components F and the E of one of the two spaces; `inside` is its bound before.

    The new factors are the old factors times H, plus a rest Y. `inside` bounds the first part, the norm of E the
    second, and (p + q)^2 <= (1 + t) p^2 + (1 + 1/t) q^2 their sum. Any H gives a bound; this one makes Y orthogonal to
    the old components, as far as these are above the level of rounding.
    """
    keep = np.array(turn[part])
    known = before > 1e-6 * gram.diagonal().max(initial=0.0)
    keep[known] *= values / before[known, None]
    rest = np.array(turn)
    rest[part] -= keep
    old = keep.T @ inside @ keep
    new = lost * (rest.T @ gram @ rest + blur * rest.T @ rest)
    sizes = [float((part.diagonal() / values).sum()) for part in (old, new)]
    balance = np.sqrt(sizes[1] / sizes[0]) if min(sizes) > 0 else 1.0
    return np.asarray((1 + balance) * old + (1 + 1 / balance) * new)


def count_kept(
    values: Array, trace: float, n_components: int | None, share: float | None = None, floor: float = 0.0
) -> int:
    """Number of descending `values` to retain: above `floor`, at most `n_components` or as the fraction needs."""
    count = int((values > floor).sum())
    if n_components is None:
        return count
    wanted = n_components
    if share is not None:
        wanted = max(wanted, int(np.searchsorted(np.cumsum(values[:count]), share * trace)) + 1)
    return min(count, wanted)


def _signs(turn: Array, before: Array, values: Array, factors: Array) -> Array:
    """Signs (k,) that make components agree with those of the first space; of new ones, by their largest coefficient.

    The inner product of component i before and j now is turn_ij sqrt(l_j / l_i).
    """
    signs = largest_positive(factors)
    k = min(turn.shape)
    agreement = turn.diagonal()[:k] * np.sqrt(values[:k] / before[:k])
    signs[:k] = np.where(np.abs(agreement) > 0.1, np.sign(agreement), signs[:k])
    return signs
