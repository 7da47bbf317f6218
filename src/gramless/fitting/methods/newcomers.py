"""Rows that a stream's points leave out: how much of them, and which might become points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.spaces import stack_points

_GROWN = 1.5  # times what was left out at first, and
_BEYOND = 0.01  # this part of everything: then other points are needed


@dataclass(frozen=True, eq=False)
class Newcomers:
    """A few rows, each drawn by what the points leave out of it, and the part that is left out of all.

    Attributes
    ----------
    most : int
        Rows to hold.
    window : int
        Rows over which the part left out is averaged.
    points : array of shape (m, d) or None
    keys : ndarray of shape (m,)
        Logarithm of weight times leak, plus Gumbel noise: the largest keys are a weighted sample without replacement.
    leaks : ndarray of shape (m,)
        Weight times leak of each.
    total : float
        Sum of weight times leak over all rows since the points were chosen.
    seen : int
        Rows since then.
    at_first : float or None
        Part left out of the first window; None until it is full.
    lately : float
        Part left out of recent rows.
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
        """Take notice of rows `x` (n, d) with `leaks` (n,), weights included, of a total of `height`."""
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
        """Whether so much is left out, compared with the first rows, that other points are needed."""
        if self.at_first is None or self.points is None or not self.points.shape[0]:
            return False
        return self.seen >= 2 * self.window and self.lately > _GROWN * self.at_first + _BEYOND

    def masses(self, kernel: Any) -> Array:
        """Weight (m,) that each row stands for: all of them together leak what was leaked."""
        each = self.total / max(1, self.points.shape[0])
        return np.asarray(each / np.maximum(kernel.diagonal(self.points), 1e-300))

    def scaled(self, factor: float) -> Newcomers:
        """As if every weight were multiplied by `factor`."""
        if self.keys is None or self.leaks is None:
            return self
        return replace(self, keys=self.keys + np.log(factor), leaks=factor * self.leaks, total=factor * self.total)
