"""How much of recent rows the points of a stream leave out, and a sample of rows that might become points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.spaces import stack_points

_GROWN = 1.5  # new points are needed when the recent leak exceeds this multiple of the first leak
_BEYOND = 0.01  # plus this share of the trace


@dataclass(frozen=True, eq=False)
class Newcomers:
    """A sample of rows, drawn in proportion to their leaks, and the average leak of recent rows.

    The leak of a row is the part of k(x, x) that the points leave out.

    Attributes
    ----------
    most : int
        Maximum number of rows in the sample.
    window : int
        Number of rows over which the relative leak is averaged.
    points : array of shape (m, d) or None
    keys : ndarray of shape (m,)
        Logarithm of weight times leak, plus Gumbel noise: the largest keys are a weighted sample without replacement.
    leaks : ndarray of shape (m,)
        Weight times leak of each row of the sample.
    total : float
        Sum of weight times leak over all rows since the points were chosen.
    seen : int
        Number of rows since the points were chosen.
    at_first : float or None
        Relative leak of the first window; None until the window is full.
    lately : float
        Relative leak of recent rows.
    """

    most: int
    window: int
    points: Any = None
    keys: Array | None = None
    leaks: Array | None = None
    total: float = 0.0
    seen: int = 0
    at_first: float | None = None
    lately: float = 0.0

    def add(self, x: Any, leaks: Array, height: float, rng: np.random.Generator) -> Newcomers:
        """With rows `x` (n, d) added; `leaks` (n,) are weight times leak, `height` sums weight times k(x, x)."""
        n = x.shape[0]
        with np.errstate(divide="ignore"):
            keys = np.log(leaks) + rng.gumbel(size=n)
        points, known = x, leaks
        if self.keys is not None and self.leaks is not None:
            points, keys = stack_points(self.points, x), np.concatenate([self.keys, keys])
            known = np.concatenate([self.leaks, leaks])
        best = np.sort(np.argsort(-keys, kind="stable")[: self.most])
        best = best[known[best] > 0]
        part = float(leaks.sum()) / height if height > 0 else 0.0
        fresh = min(1.0, n / min(self.seen + n, self.window))
        lately = (1 - fresh) * self.lately + fresh * part
        seen = self.seen + n
        at_first = self.at_first
        if at_first is None and seen >= self.window:
            at_first = lately
        return replace(
            self,
            points=points[best],
            keys=keys[best],
            leaks=known[best],
            total=self.total + float(leaks.sum()),
            seen=seen,
            at_first=at_first,
            lately=lately,
        )

    def crowd(self) -> bool:
        """Whether recent rows leak so much more than the first rows that new points are needed."""
        if self.at_first is None or self.points is None or not self.points.shape[0]:
            return False
        return self.seen >= 2 * self.window and self.lately > _GROWN * self.at_first + _BEYOND

    def masses(self, kernel: Any) -> Array:
        """Weights (m,) that the rows represent: the sum of weight times k(x, x) is the total leak."""
        each = self.total / max(1, self.points.shape[0])
        return np.asarray(each / np.maximum(kernel.diagonal(self.points), 1e-300))

    def scaled(self, factor: float) -> Newcomers:
        """The newcomers with every weight multiplied by `factor`."""
        if self.keys is None or self.leaks is None:
            return self
        return replace(self, keys=self.keys + np.log(factor), leaks=factor * self.leaks, total=factor * self.total)
