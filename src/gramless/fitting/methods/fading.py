"""Rows that weigh less the older they are: ``forget=`` is their half-life, in rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array
from gramless.data import Block
from gramless.kernels import Kernel

_LEAST = 1e-100  # total weight below which a state is not scaled down any further: its rows are negligible by then


def faded(weights: Array, half_life: float | None) -> Array:
    """Weights (n,) of the rows of a batch at its end; rows of weight 0 do not make the others older.

    Examples
    --------
    >>> faded(np.ones(3), 1.0).tolist(), faded(np.array([1.0, 0.0, 1.0]), 1.0).tolist()
    ([0.25, 0.5, 1.0], [0.5, 0.0, 1.0])
    """
    if half_life is None:
        return weights
    there = weights > 0
    ages = there.sum() - np.cumsum(there)
    return np.asarray(weights * np.exp2(-ages / half_life))


def fading(weight: float, n: int, half_life: float | None) -> float:
    """What the weights of a state, `weight` in all, are multiplied by when `n` rows have followed."""
    if half_life is None:
        return 1.0
    return max(float(np.exp2(-n / half_life)), min(1.0, _LEAST / weight))


def lasting(kernel: Kernel, block: Block, weights: Array) -> Block:
    """The rows of a batch whose `weights` (n,) have not faded to nothing.

    A long row may count however small its weight is, where the kernel is positive semidefinite and k(x, x) says so.
    """
    there = weights > _LEAST * weights.max()
    if not there.all():
        heights = weights * np.abs(kernel.diagonal(block.x))
        there |= heights > _LEAST * heights.max() if kernel.mercer else weights > 0
    block = block if weights is block.weights else replace(block, weights=weights)
    return block if there.all() else block.chosen(there)
