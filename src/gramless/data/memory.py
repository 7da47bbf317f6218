"""Rows in memory: one block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import scipy.sparse

from gramless.arrays import Array, parse_memory
from gramless.data.rows import Block, Place, Sum
from gramless.data.scaling import Scaling, column_moments
from gramless.data.survey import Look, Survey
from gramless.features import Box


class MemoryRows:
    """Rows (n, d) in the memory of this process: an array, a CSR matrix or a Gram matrix.

    Parameters
    ----------
    block : Block
    names : tuple of str, optional
        Names of the columns.
    boxed : bool
        False for a Gram matrix, whose rows are not points.
    scaling : Scaling, optional
        Scaling already applied to the rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = MemoryRows(Block(np.arange(6.0).reshape(3, 2), np.ones(3)))
    >>> rows.n, rows.d, rows.sum(lambda block: block.x.sum(axis=0))
    (3, 2, array([6., 9.]))
    """

    name = "X"
    place = Place()
    parts = None
    begun = None

    def __init__(
        self, block: Block, names: tuple[str, ...] | None = None, boxed: bool = True, scaling: Scaling | None = None
    ) -> None:
        self.block, self.names, self.boxed = block, names, boxed
        self.scaling = Scaling() if scaling is None else scaling
        self.n, self.d = (int(size) for size in block.x.shape)
        self.dtype: Any = block.x.dtype if block.given is None else block.given.dtype
        self.sparse = bool(scipy.sparse.issparse(block.x))

    def survey(self, look: Look | None = None) -> Survey:
        """See :class:`~gramless.data.Rows`."""
        x, weights = self.block.x, self.block.weights
        mean = variances = None
        if look is not None and look.measures:
            mean, variances = column_moments(x, weights, look.measures)
        box = None if self.sparse or not self.boxed else Box.around(x)
        return Survey(
            n=self.n,
            weight=float(weights.sum()),
            view=x,
            sample=lambda: (x, weights),
            box=box,
            memory_limit=0 if look is None else parse_memory(look.memory_limit),
            mean=mean,
            variances=variances,
            complete=True,
        )

    def moved(self, scaling: Scaling) -> MemoryRows:
        """See :class:`~gramless.data.Rows`."""
        x = self.block.x
        return MemoryRows(replace(self.block, x=scaling(x), given=x, tensor=None), self.names, self.boxed, scaling)

    def weighted(self, weights: Array) -> MemoryRows:
        """The same rows with other weights."""
        return MemoryRows(replace(self.block, weights=weights), self.names, self.boxed)

    def blocks(self) -> Iterator[Block]:
        """See :class:`~gramless.data.Rows`."""
        return iter((self.block,))

    def sum(self, work: Callable[[Block], Sum], task: str = "", begun: Any = None) -> Sum:
        """See :class:`~gramless.data.Rows`."""
        return work(self.block)

    def whole(self, most: int | None = None) -> Block:
        """See :class:`~gramless.data.Rows`."""
        return self.block
