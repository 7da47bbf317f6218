"""A weighted sample of rows that are seen once; two samples can be merged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramless.arrays import Array


@dataclass(frozen=True, eq=False)
class RowSample:
    """Priority sample (Duffield, Lund & Thorup 2007): rows of largest priority w / u, u uniform in (0, 1), are kept.

    With t the largest priority that was dropped, each row kept gets the weight max(w, t): sums over the sample are then
    unbiased estimates of sums over all rows. While no row has been dropped, t = 0 and all sums are exact.

    Attributes
    ----------
    size : int
        Maximum number of rows.
    rows : ndarray of shape (m, d)
    own : ndarray of shape (m,)
        The original weights w of the rows.
    priority : ndarray of shape (m,)
    threshold : float
    seen : int
        Number of rows seen.

    Examples
    --------
    >>> x = np.arange(100.0)[:, None]
    >>> half, other = RowSample.of(x[:50], np.ones(50), 20), RowSample.of(x[50:], np.ones(50), 20, seed=1)
    >>> both = half + other
    >>> both.rows.shape, both.seen
    ((20, 1), 100)
    """

    size: int
    rows: Array
    own: Array
    priority: Array
    threshold: float = 0.0
    seen: int = 0

    @classmethod
    def of(cls, x: Array, weights: Array, size: int, *, seed: int | list[int] = 0) -> RowSample:
        """The sample of rows `x` (n, d) with `weights` (n,); rows of weight 0 are left out."""
        if len(weights) > size and weights[0] > 0 and (weights == weights[0]).all():
            return cls._of_equal(x, float(weights[0]), size, np.random.default_rng(seed))
        used = np.flatnonzero(weights > 0)
        uniform = 1.0 - np.random.default_rng(seed).random(len(used))
        priority = weights[used] / uniform
        threshold = 0.0
        if len(used) > size:  # before any row is copied
            threshold = float(np.partition(priority, -size - 1)[-size - 1])
            used, priority = used[priority > threshold], priority[priority > threshold]
        return cls(size, np.array(x[used]), weights[used], priority, threshold, seen=len(uniform))

    @classmethod
    def _of_equal(cls, x: Array, weight: float, size: int, rng: np.random.Generator) -> RowSample:
        """The sample of rows of equal weight: only the least uniform numbers are drawn, in ascending order.

        Of n uniforms in (0, 1) the i-th least has 1 - u_i = prod_{j < i} v_j^(1 / (n - j)), v_j uniform (Renyi 1953).
        """
        n = x.shape[0]
        least = -np.expm1(np.cumsum(np.log1p(-rng.random(size + 1)) / (n - np.arange(size + 1.0))))
        priority = weight / np.maximum(least, np.finfo(np.float64).tiny)
        chosen = rng.choice(n, size, replace=False)
        order = np.argsort(chosen)
        return cls(
            size, np.array(x[chosen[order]]), np.full(size, weight), priority[:-1][order], float(priority[-1]), seen=n
        )

    @property
    def weights(self) -> Array:
        """Weights max(w, t) of the rows (m,), for sums over all rows."""
        return np.maximum(self.own, self.threshold)

    def __add__(self, other: RowSample) -> RowSample:
        return RowSample(
            size=min(self.size, other.size),
            rows=np.concatenate([self.rows, other.rows]),
            own=np.concatenate([self.own, other.own]),
            priority=np.concatenate([self.priority, other.priority]),
            threshold=max(self.threshold, other.threshold),
            seen=self.seen + other.seen,
        )._cut()

    def scaled(self, factor: float) -> RowSample:
        """As if every weight were multiplied by `factor` > 0."""
        return replace(self, own=self.own * factor, priority=self.priority * factor, threshold=self.threshold * factor)

    def _cut(self) -> RowSample:
        """The rows of largest priority, `size` of them, in the order in which they came."""
        threshold = self.threshold
        if len(self.rows) > self.size:
            order = np.argsort(-self.priority, kind="stable")
            threshold = max(threshold, float(self.priority[order[self.size]]))
        kept = self.priority > threshold
        return replace(
            self,
            rows=np.array(self.rows[kept]),
            own=self.own[kept],
            priority=self.priority[kept],
            threshold=threshold,
        )
