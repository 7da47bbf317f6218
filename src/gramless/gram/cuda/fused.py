"""Launches of the fused kernel: shapes of tiles, numbers split into float16 halves, waves of partial sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from gramless.arrays.devices import card_workspace
from gramless.gram.cuda.kernel import gather_partials, product_tiles
from gramless.gram.cuda.recipe import Recipe, binary_scale, halves

_WIDEST = 64  # vectors in one launch
_RESIDENT = 64  # columns of the data up to which a block of rows stays in shared memory
_GATHERED = 32  # rows whose partial sums one program adds


@dataclass(frozen=True)
class Shape:
    """One division of the matrix into tiles, tuned by measurements on an H200.

    Attributes
    ----------
    rows, columns : int
        Size of a tile; `columns` divides `rows`.
    step : int
        Columns of the data multiplied at a time.
    sub : int
        Blocks of rows whose contributions to a column sum are added before they are written.
    chunk : int
        Columns of the matrix that one program goes through.
    warps, stages : int
    symmetric : bool
        Whether a tile is used twice: for its rows and, transposed, for its columns.
    """

    rows: int
    columns: int
    step: int
    sub: int
    chunk: int
    warps: int
    stages: int
    symmetric: bool

    @property
    def group(self) -> int:
        """Rows of one program."""
        return self.rows * self.sub


def shape_for(n: int, d: int, vectors: int, square: bool) -> Shape:
    """The shape for n columns of the matrix and d of the data.

    Tiles are used twice where the products x.y outweigh those with the vectors: to write and add the partial sums of
    the second use costs as much as 48 columns of data for 32 vectors.

    Examples
    --------
    >>> shape_for(131072, 64, 32, True).symmetric, shape_for(131072, 16, 32, True).symmetric
    (True, False)
    """
    step = max(16, 1 << max(0, d - 1).bit_length()) if d <= _RESIDENT else 64
    symmetric = square and 2 * d >= 3 * vectors
    chunk = 4096 if symmetric or n > 2**18 else 8192
    while chunk > 512 and (n / chunk) * (n / 512) < 1024:  # enough programs for every multiprocessor
        chunk //= 2
    sub = 4 if symmetric and n >= 16384 else 1
    if d > _RESIDENT:
        return Shape(128, 128, step, sub, chunk, 8, 3, symmetric)
    return Shape(128, 64, step, sub, chunk, 4, 2 if symmetric else 3, symmetric)


class Scaled:
    """Rows scaled and split into float16 halves, with the terms that depend on one row alone.

    Parameters
    ----------
    x : tensor of shape (n, d)
        float64, shifted where the kernel allows.
    recipe : Recipe
    scale : float
        A power of two.
    """

    def __init__(self, x: Any, recipe: Recipe, scale: float, step: int) -> None:
        self.n, d = x.shape
        self.columns = -(-d // step) * step
        padded = -(-self.n // 512) * 512
        self.high, self.low = halves(x * scale, padded, self.columns)
        rounded = (self.high[: self.n].double() + self.low[: self.n].double()) / scale
        norms = (rounded * rounded).sum(1)
        self.bias = torch.zeros(padded, dtype=torch.float32, device=x.device)
        self.bias[: self.n] = (recipe.bias * norms + recipe.lift).float()
        self.fold = torch.exp2(recipe.fold * norms)[:, None] if recipe.fold else None


class FusedProduct:
    """K(x, y) v on a GPU, without K in its memory.

    Sums are taken in a fixed order and finished in float64: the same bits from run to run, and an error that does not
    grow with the number of rows.

    Parameters
    ----------
    x : tensor of shape (n, d)
    recipe : Recipe
    y : tensor of shape (m, d), optional
        `x` itself when None.
    single : bool
        One product of 11-bit halves instead of three: the precision of tf32.
    """

    def __init__(self, x: Any, recipe: Recipe, y: Any | None = None, *, single: bool = False) -> None:
        self.recipe, self._halves, self._square = recipe, 1 if single else 2, y is None
        self._d = x.shape[1]
        size = float(max(x.abs().max(), x.abs().max() if y is None else y.abs().max()))
        self._scale = binary_scale(size)
        step = shape_for(512, self._d, 32, True).step
        self._x = Scaled(x, recipe, self._scale, step)
        self._y = self._x if y is None else Scaled(y, recipe, self._scale, step)

    @property
    def tile_columns(self) -> int:
        """Columns of a tile."""
        return shape_for(512, self._d, 32, self._square).columns

    @property
    def chunk(self) -> int:
        """Largest number of columns summed in float32."""
        return max(shape_for(len(self._y.bias), self._d, width, self._square).chunk for width in (16, 32, _WIDEST))

    def __call__(self, v: Any) -> Any:
        """K v for v (m, b), float64: (n, b), float64."""
        out = torch.empty((self._x.n, v.shape[1]), dtype=torch.float64, device=v.device)
        first = 0
        while first < v.shape[1]:
            left = v.shape[1] - first
            width = 16 if left <= 16 else 32 if left <= 32 else _WIDEST
            part = slice(first, first + width)
            out[:, part] = self._multiply(v[:, part], width)
            first += width
        return out

    def _multiply(self, v: Any, width: int) -> Any:
        recipe = self.recipe
        if self._y.fold is not None:
            v = v * self._y.fold
        scales = torch.exp2(13 - torch.floor(torch.log2(v.abs().amax(0).clamp_min(1e-290))))
        high, low = halves(v * scales, len(self._y.bias), width)
        total = self._sweep(high, low, width)[: self._x.n, : v.shape[1]]
        total = total / (scales * recipe.factor)
        return total if self._x.fold is None else total * self._x.fold

    def _sweep(self, high: Any, low: Any, width: int) -> Any:
        """The product in waves: partial sums of as many groups of rows as the workspace holds, then their sum."""
        x, y, recipe = self._x, self._y, self.recipe
        n, m = len(x.bias), len(y.bias)
        shape = shape_for(m, self._d, width, self._square)
        groups, chunks = n // shape.group, -(-m // shape.chunk)
        bytes_each = 4 * width * (m * shape.symmetric + chunks * shape.group)
        wave = max(1, min(groups, card_workspace(high.device) // bytes_each))
        of_rows = torch.empty(chunks * wave * shape.group * width, dtype=torch.float32, device=high.device)
        of_columns = torch.empty(wave * m * width * shape.symmetric, dtype=torch.float32, device=high.device)
        out = torch.zeros((n, width), dtype=torch.float64, device=high.device)
        cut = {"ROWS": shape.rows, "VECTORS": width, "SUB": shape.sub, "CHUNK": shape.chunk}
        for first in range(0, groups, wave):
            count = min(wave, groups - first)
            product_tiles[(count, chunks)](
                x.high, x.low, x.bias, y.high, y.low, y.bias, high, low, of_rows, of_columns,
                m, count, first,
                recipe.first / self._scale**2, recipe.second, recipe.power,
                **cut, D=x.columns, STEP=shape.step, COLUMNS=shape.columns, SYMMETRIC=shape.symmetric,
                PROFILE=recipe.profile, DEGREE=recipe.degree, X_HALVES=self._halves, V_HALVES=self._halves,
                EXACT_DIAGONAL=recipe.exact_diagonal and self._square, STAGES=shape.stages,
                num_warps=shape.warps, num_stages=shape.stages,
            )  # fmt: skip
            gather_partials[(n // _GATHERED,)](
                of_rows, of_columns, out, m, first, count, chunks, **cut, SYMMETRIC=shape.symmetric, TILE=_GATHERED
            )
        return out
