"""Weights that decay with the age of a row; ``forget=`` is the half-life, in rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import Array
from gramless.data import Block
from gramless.kernels import Kernel

_LEAST = 1e-100  # total weight below which a state is not scaled down further: its rows are negligible


def faded(weights: Array, half_life: float | None) -> Array:
    """Decayed weights (n,) of the rows of a batch, at its end; rows of weight 0 do not add to the age of other rows.

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
    """Factor for the weights of a state of total `weight`, after `n` further rows."""
    if half_life is None:
        return 1.0
    return max(float(np.exp2(-n / half_life)), min(1.0, _LEAST / weight))


def lasting(kernel: Kernel, block: Block, weights: Array) -> Block:
    """The rows of a batch whose decayed `weights` (n,) are not negligible.

    For a Mercer kernel a row of tiny weight is kept where its weight times k(x, x) is not negligible. For an indefinite
    kernel all rows of positive weight are kept.
    """
    there = weights > _LEAST * weights.max()
    if not there.all():
        heights = weights * np.abs(kernel.diagonal(block.x))
        there |= heights > _LEAST * heights.max() if kernel.mercer else weights > 0
    block = block if weights is block.weights else replace(block, weights=weights)
    return block if there.all() else block.chosen(there)
