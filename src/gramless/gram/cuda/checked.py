"""A fast product whose error is measured: a random sample of rows in float64 bounds the error of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gramless.arrays import Array, is_tensor, to_numpy
from gramless.certificates import FAILURE_PROBABILITY, hoeffding_upper
from gramless.gram.base import GramOperator, Statistics
from gramless.gram.cuda.operator import TorchGram


class CheckedGram(GramOperator):
    r"""S v by the fused product, each product checked on a sample of rows.

    The worst case of rounding is a hundred times its usual size. With E the error of the product and B the worst case
    for a row, the squares E_i^2 / B^2 of sampled rows lie in [0, 1]. Hoeffding's inequality bounds their mean, and with
    it \|E v\|^2 = sum_i E_i^2.

    Parameters
    ----------
    fast : TorchGram
        With precision ``"fp32"``.
    rng : numpy.random.Generator
        Independent of the data and of the vectors.
    sample : int
        Rows checked for each product.

    Attributes
    ----------
    error : float
        Bounds \|E v\| / \|v\| for each column v multiplied so far; before the first product, the worst case. Products
        since the last access are checked together: most of the time goes into computing the sampled rows.
    failure_probability : float
        Chance that `error` was too small at any access.
    """

    def __init__(self, fast: TorchGram, rng: np.random.Generator, sample: int = 65536) -> None:
        super().__init__(fast.roots)
        self.fast, self._rng = fast, rng
        self._sample = sample
        self._error: float | None = None
        self._unchecked: list[tuple[Any, Any]] = []
        self.failure_probability = 0.0

    def place(self, v: Any) -> Any:
        return self.fast.place(v)

    def _matmat(self, v: Any) -> Any:
        block = self.place(v)
        product = self.fast @ block
        if block.shape[1]:
            self._unchecked.append((block, product))
        return product if is_tensor(v) else to_numpy(product)

    def _measure(self, v: Any, product: Any) -> float:
        index = self._rng.integers(0, len(self.roots), self._sample)
        exact = self.fast.rows_times(index, v)
        slip = product[torch.as_tensor(index, device=v.device)] - exact
        self.failure_probability += FAILURE_PROBABILITY
        sizes = v.norm(dim=0)
        worst = self._worst_row()
        ratios = to_numpy((slip / torch.where(sizes > 0, sizes, 1.0)) ** 2) / worst**2
        each = FAILURE_PROBABILITY / max(1, v.shape[1])
        means = [hoeffding_upper(np.minimum(column, 1.0), each) for column in ratios.T]
        return float(worst * np.sqrt(len(self.roots) * max(means)))

    def _worst_row(self) -> float:
        """Bound on |E_i v| for unit v and any row i: |E_ij| is relative to |K_ij|, and `row` bounds a row of S."""
        statistics, rounding = self.fast.statistics(), self.fast.rounding
        heaviest = float(self.roots.max())
        most = self.fast.kernel.bound(self.fast.radius) * heaviest**2
        row = np.sqrt(most * statistics.norm)
        small = rounding.absolute * heaviest * float(np.sqrt((self.roots**2).sum()))
        return float((rounding.relative + self.fast.growth) * row + small)

    def diagonal(self) -> Array:
        return self.fast.diagonal()

    def statistics(self) -> Statistics:
        return self.fast.statistics()

    @property
    def error(self) -> float:
        if self._unchecked:
            blocks, products = (torch.cat(part, dim=1) for part in zip(*self._unchecked, strict=True))
            self._unchecked.clear()
            self._error = max(self._error or 0.0, self._measure(blocks, products))
        return self.fast.error if self._error is None else min(self._error, self.fast.error)

    def to_dense(self) -> Array:
        return self.fast.to_dense()
