"""The Gram operator on torch tensors: data copied to the device once, products fused or tile by tile."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch

from gramless.arrays import Array, in_dtype, is_tensor, refuse_scale, to_numpy, unit_roundoff
from gramless.arrays.devices import to_device
from gramless.gram.base import GramOperator, Statistics
from gramless.gram.cuda.rectangular import TILE, refuse_without_tensors
from gramless.gram.tiled.tiles import overflow_message
from gramless.kernels import Kernel, column_shift
from gramless.kernels.rounding import Rounding

Precision = Literal["fp64", "fp32", "fast"]


class TorchGram(GramOperator):
    """D^1/2 K D^1/2 on a torch device, with K never stored.

    Parameters
    ----------
    kernel : Kernel
        One whose ``tensors`` is true.
    x : ndarray or tensor of shape (n, d)
        Copied to the device once.
    weights : ndarray of shape (n,), optional
        Not negative; default: ones.
    device : str
        ``"cuda"``, or ``"torch"`` for torch's CPU.
    precision : {"fp64", "fp32", "fast"}
        ``"fp32"``: on a GPU fused, three products of float16 halves, a relative error of some 4e-7 that does not grow
        with n; elsewhere float32 tiles. ``"fast"``: one product instead of three, with the 11 bits of tf32.
    draft : bool
        Whether to offer the same operator in ``"fp32"`` as `draft`.

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> operator = TorchGram(Gaussian(1.0), x, device="torch")
    >>> np.allclose(operator @ np.ones(3), Gaussian(1.0)(x).sum(axis=1))
    True
    """

    def __init__(
        self,
        kernel: Kernel,
        x: Any,
        weights: Array | None = None,
        *,
        device: str = "cuda",
        precision: Precision = "fp64",
        draft: bool = False,
    ) -> None:
        n, self._d = x.shape
        super().__init__(np.ones(n) if weights is None else np.sqrt(np.asarray(weights, dtype=np.float64)))
        refuse_without_tensors(kernel)
        self.kernel, self.precision = kernel, precision
        self._x = to_device(x, device)
        self.device = self._x.device
        self._shift = column_shift(self._x) if kernel.shift_invariant else None
        self._weighted = weights is not None
        self._roots = torch.as_tensor(self.roots, device=self.device)[:, None]
        self._statistics: Statistics | None = None
        if draft and 1e-25 < kernel.bound(self.radius) < 1e25:
            self.draft = TorchGram(kernel, self._x, weights, device=device, precision="fp32")

    def place(self, v: Any) -> Any:
        return torch.as_tensor(v, dtype=torch.float64, device=self.device)

    @property
    def dtype_of_tiles(self) -> Any:
        """float64 for ``"fp64"``, float32 otherwise."""
        return np.float64 if self.precision == "fp64" else np.float32

    @cached_property
    def _tile(self) -> int:
        return TILE.get(self.device.type, 512)

    @cached_property
    def prepared(self) -> Any:
        """All rows, prepared for tiles."""
        return self.kernel.prepare(self._x, self._shift, self.dtype_of_tiles)

    @cached_property
    def _fused(self) -> Any | None:
        """The fused product, where there is a GPU and the kernel has a recipe."""
        if self.precision == "fp64" or self.device.type != "cuda":
            return None
        from gramless.gram.cuda.fused import FusedProduct
        from gramless.gram.cuda.recipe import recipe_for

        recipe = recipe_for(self.kernel, self.radius)
        if recipe is None:
            return None
        x = self._x.double()
        if self._shift is not None:
            x = x - self._shift
        return FusedProduct(x, recipe, single=self.precision == "fast")

    @cached_property
    def radius(self) -> float:
        """Largest norm of a row, as the kernel uses them."""
        return self.kernel.radius(self.kernel.prepare(self._x, self._shift))

    def diagonal(self) -> Array:
        return self.roots**2 * to_numpy(self.kernel.diagonal(self._x))

    def _matmat(self, v: Any) -> Any:
        block = self.place(v)
        first = self._statistics is None
        if first:
            block = torch.cat([block, self._roots], dim=1)
        product, squares = self._sweep(block, gather=first)
        if first:
            self._statistics = self._conclude(to_numpy(product[:, -1]), squares)
            product = product[:, :-1]
        return product if is_tensor(v) else to_numpy(product)

    def _sweep(self, v: Any, gather: bool) -> tuple[Any, float]:
        """S v, and with `gather` the sum of the squared entries of S: NaN where the product is fused."""
        scaled = self._roots * v if self._weighted else v
        if self._fused is not None:
            out, squares = self._fused(scaled), math.nan
        else:
            out, squares = self._tiles(scaled, gather)
        if self._weighted:
            out = self._roots * out
        if gather and not bool(torch.isfinite(out).all()):
            raise ValueError(overflow_message(self.kernel))
        return out, squares

    def _tiles(self, v: Any, gather: bool) -> tuple[Any, float]:
        """K v from tiles of the upper triangle, one after the other: the order of the sums is fixed."""
        n, step = len(v), self._tile
        out = torch.zeros_like(v)
        scales = torch.exp2(torch.floor(torch.log2(v.abs().amax(0).clamp_min(1e-290))))  # float32 has a smaller range
        block = in_dtype(v / scales, self.dtype_of_tiles)
        squares = torch.zeros((), dtype=torch.float64, device=self.device)
        for i in range(0, n, step):
            rows = slice(i, i + step)
            left = self.prepared.part(rows)
            for j in range(i, n, step):
                columns = slice(j, j + step)
                tile = self.kernel.evaluate(left, left if i == j else self.prepared.part(columns))
                out[rows] += tile @ block[columns]
                if i != j:
                    out[columns] += tile.T @ block[rows]
                if gather:
                    squares += self._square(tile, rows, columns) * (1 if i == j else 2)
        return out * scales, float(squares)

    def _square(self, tile: Any, rows: slice, columns: slice) -> Any:
        """Sum of squared entries of a tile of S."""
        sums = tile.mul_(tile).double() @ self._roots[columns] ** 2
        return (sums * self._roots[rows] ** 2).sum()

    @cached_property
    def rounding(self) -> Rounding:
        """Error of an entry of K."""
        unit = unit_roundoff(self.dtype_of_tiles)
        if self._fused is not None:
            from gramless.gram.cuda.rounding import entry_rounding

            return entry_rounding(self.kernel, self._fused.recipe, self.radius, self._d, self.precision == "fast")
        return self.kernel.rounding(self.radius, self._d, unit)

    @property
    def growth(self) -> float:
        """Relative error of summing a row."""
        if self._fused is not None:
            from gramless.gram.cuda.rounding import sum_rounding

            return sum_rounding(self._fused.tile_columns, self._fused.chunk, self.precision == "fast")
        blocks = -(-len(self.roots) // self._tile)
        unit = unit_roundoff(self.dtype_of_tiles)
        return float(1.01 * (min(self._tile, len(self.roots)) * unit + (blocks + 8) * unit_roundoff()))

    def _conclude(self, sums: Array, squares: float) -> Statistics:
        """Bounds from the first pass, rounding included."""
        rounding, weight = self.rounding, float((self.roots**2).sum())
        most = self.kernel.bound(self.radius)
        refuse_scale(most, "kernel values")
        size = most * weight
        if rounding.relative + self.growth >= 0.5:
            return Statistics(size**2, sums, size, squares)
        slack = 1 / (1 - rounding.relative - self.growth)
        norm = size
        if self.kernel.nonnegative:
            used = self.roots > 0
            peak = float((sums[used] / self.roots[used]).max(initial=0.0))
            norm = min(norm, (peak + rounding.absolute * weight) * slack)
        if math.isnan(squares):  # |K|_F^2 <= max |k| times the sum of |k|
            total = (float(self.roots @ sums) + rounding.absolute * weight**2) * slack
            frobenius = math.sqrt(min(size * size, most * total if self.kernel.nonnegative else size * size))
        else:
            frobenius = (math.sqrt(max(0.0, squares)) + rounding.absolute * weight) * slack
        return Statistics(frobenius**2, sums, min(norm, frobenius), squares)

    def statistics(self) -> Statistics:
        if self._statistics is None:
            self._matmat(np.zeros((len(self.roots), 0)))
        assert self._statistics is not None  # the sweep has just set it
        return self._statistics

    @property
    def error(self) -> float:
        rounding, statistics = self.rounding, self.statistics()
        if rounding.relative >= 0.5:
            return 2 * statistics.norm
        weight = float((self.roots**2).sum())
        return rounding.absolute * weight + (rounding.relative + self.growth) * statistics.norm

    def rows_times(self, index: Array, v: Any) -> Any:
        """Rows `index` of S v in float64, for a tensor v (n, b): tile by tile, (len(index), b)."""
        at = torch.as_tensor(index, device=self.device)
        kernel, step = self.kernel, self._tile
        picked = kernel.prepare(self._x[at], self._shift)
        out = torch.zeros((len(index), v.shape[1]), dtype=torch.float64, device=self.device)
        block = self._roots * v
        for j in range(0, len(v), step):
            columns = kernel.prepare(self._x[j : j + step], self._shift)
            for i in range(0, len(index), step):
                out[i : i + step] += kernel.evaluate(picked.part(slice(i, i + step)), columns) @ block[j : j + step]
        return out * self._roots[at]

    def to_dense(self) -> Array:
        index = np.arange(len(self.roots))
        return to_numpy(self.rows_times(index, torch.eye(len(index), dtype=torch.float64, device=self.device)))
