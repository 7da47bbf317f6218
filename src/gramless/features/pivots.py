"""Landmarks among rows: randomly pivoted Cholesky, with many candidates drawn at once and some of them rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gramless.arrays import Array, blank, row_squares, to_numpy, triangular_solve
from gramless.arrays.devices import rows_on
from gramless.kernels import Kernel, column_shift

_ROWS_PER_PIVOT = 20
_FEWEST_ROWS = 5000


@dataclass(frozen=True, eq=False)
class Pivots:
    """Chosen rows, and an estimate of the residual K - Phi Phi^T of their features.

    Attributes
    ----------
    indices : ndarray of shape (s,)
        Rows of `x`, in the order of choice.
    leak : float
        Estimate of the mean of k(x, x) - |phi(x)|^2 over rows drawn by weight.
    """

    indices: Array
    leak: float


def choose_pivots(
    kernel: Kernel,
    x: Any,
    weights: Array,
    most: int,
    goal: float,
    rng: np.random.Generator,
    choice: Literal["cholesky", "uniform"] = "cholesky",
    device: str = "cpu",
) -> Pivots:
    """At most `most` rows, fewer if the mean residual per unit of weight falls to `goal`.

    Each row is drawn with probability proportional to its residual k(x, x) - |phi(x)|^2 after the rows before it (Chen,
    Epperly, Tropp & Webber 2024), from a sample of 20 `most` rows (and 5000 at least: a smaller sample would miss
    outliers). Candidates are drawn in blocks and thinned out by rejection (Epperly, Tropp & Webber 2024), so that the
    choice has the same distribution as if made one by one.

    Parameters
    ----------
    kernel : Kernel
        A Mercer kernel.
    x : ndarray or CSR of shape (n, d)
    weights : ndarray of shape (n,)
    most : int
    goal : float
    rng : numpy.random.Generator
    choice : {"cholesky", "uniform"}
    device : str
        Device for the computations on the sample.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> x = np.random.default_rng(0).standard_normal((50, 2))
    >>> len(choose_pivots(Linear(), x, np.ones(50), 10, 0.0, np.random.default_rng(0)).indices)
    2
    """
    sample = _sample(weights, max(_FEWEST_ROWS, _ROWS_PER_PIVOT * most), rng)
    if choice == "uniform":
        return Pivots(rng.permutation(sample)[:most], float("nan"))
    share = np.ones(len(sample)) if len(sample) < np.count_nonzero(weights) else weights[sample]
    cholesky = PartialCholesky(kernel, rows_on(device, x[sample]), most)
    cholesky.extend(most, goal, share, rng)
    chosen, left = np.array(cholesky.chosen, dtype=np.int64), cholesky.left
    unseen = max(1, len(sample) - len(chosen)) / len(sample)  # pivots have residual 0, other rows have not
    return Pivots(sample[chosen], float(left @ share / share.sum()) / unseen)


def pivoted_columns(kernel: Kernel, x: Any, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Up to `most` pivots among rows `x` (n, d), and the columns (n, p) of the Cholesky factor that belong to them."""
    cholesky = PartialCholesky(kernel, x, most)
    cholesky.extend(most, 0.0, np.ones(x.shape[0]), rng)
    return np.array(cholesky.chosen, dtype=np.int64), cholesky.columns


class PartialCholesky:
    """The leading columns of a Cholesky factor of K(rows, rows), and the diagonal of the residual.

    Attributes
    ----------
    chosen : list of int
        The rows that the columns belong to.
    left : ndarray of shape (n,)
        Diagonal of K - F F^T, F the columns so far.
    negligible : float
        Residuals below this are rounding errors.
    """

    def __init__(self, kernel: Kernel, rows: Any, most: int) -> None:
        self._kernel, self._rows = kernel, rows
        self._shift = column_shift(rows) if kernel.shift_invariant else None
        self._ready = kernel.prepare(rows, self._shift)
        self._factor = blank((rows.shape[0], most), rows)
        self.chosen: list[int] = []
        self.left = np.array(to_numpy(kernel.diagonal(rows)), dtype=np.float64)
        self.negligible = 1e-13 * max(1, most) * float(self.left.max(initial=0.0))

    @property
    def columns(self) -> Array:
        """F (n, p)."""
        return to_numpy(self._factor[:, : len(self.chosen)])

    @property
    def lower(self) -> Array:
        """The rows of F that belong to the pivots: the Cholesky factor (p, p) of their Gram matrix, in their order."""
        return np.tril(to_numpy(self._factor[self.chosen, : len(self.chosen)]))

    def extend(self, most: int, goal: float, share: Array, rng: np.random.Generator) -> None:
        """Choose pivots, up to `most` in all, until the mean residual per unit of weight falls to `goal`.

        `share` (n,) are the weights of the rows.
        """
        block = int(np.clip(most // 8, 8, 128))
        while (free := most - len(self.chosen)) > 0:
            left, negligible = self.left, self.negligible
            chances = np.where(left > negligible, left * share, 0.0)
            total = float(chances.sum())
            if total <= goal * share.sum() or total == 0:
                break
            candidates = rng.choice(len(left), size=block, p=chances / total)
            gram = self.residual(candidates)
            kept, lower = _thin(gram, left[candidates], negligible, rng)
            if len(kept):
                self.add(candidates[kept[:free]], lower[:free, :free])
            else:  # so that rounding cannot make the loop endless
                fresh = np.where(gram.diagonal() <= negligible, 0.0, gram.diagonal())
                left[candidates] = np.minimum(left[candidates], fresh)

    def residual(self, some: Array) -> Array:
        """K - F F^T among some rows: (m, m)."""
        done, near = len(self.chosen), self._kernel.prepare(self._rows[some], self._shift)
        known = self._factor[some, :done] @ self._factor[some, :done].T
        return to_numpy(self._kernel.evaluate(near, near) - known)

    def add(self, new: Array, lower: Array) -> None:
        """Add the columns of the rows `new` (p,); `lower` (p, p) is the Cholesky factor of their residual."""
        done = len(self.chosen)
        columns = self._kernel.evaluate(self._ready, self._kernel.prepare(self._rows[new], self._shift))
        columns -= self._factor[:, :done] @ self._factor[new, :done].T
        columns = triangular_solve(lower, columns.T).T
        self._factor[:, done : done + len(new)] = columns
        self.left = np.maximum(self.left - to_numpy(row_squares(columns)), 0.0)
        self.left[new] = 0.0
        self.chosen.extend(int(i) for i in new)


def _sample(weights: Array, size: int, rng: np.random.Generator) -> Array:
    """Rows drawn by weight without replacement; all rows of positive weight if there are no more than `size`."""
    there = np.flatnonzero(weights > 0)
    if len(there) <= size:
        return there
    chances = weights[there] / weights[there].sum()
    even = None if np.ptp(weights[there]) == 0 else chances
    return np.sort(rng.choice(there, size=size, replace=False, p=even))


def _thin(gram: Array, before: Array, negligible: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Candidates, accepted with probability (residual now) / (residual when drawn), and their Cholesky factor."""
    n = len(gram)
    gram, factor = gram.copy(), np.zeros((n, n))
    kept: list[int] = []
    for i in range(n):
        if gram[i, i] > negligible and rng.random() * before[i] < gram[i, i]:
            column = gram[:, i] / np.sqrt(gram[i, i])
            column[:i] = 0.0
            gram -= np.outer(column, column)
            factor[:, len(kept)] = column
            kept.append(i)
    accepted = np.array(kept, dtype=np.int64)
    return accepted, factor[accepted][:, : len(kept)]
