"""The explicit route over rows that are read in blocks: moments of each, added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, evenly_spaced, refuse_weights
from gramless.arrays.devices import rows_on
from gramless.execution import Block, Rows
from gramless.features import Box, FeatureMap, LandmarkMap, Moments
from gramless.planning import Plan
from gramless.problem import Problem, Request
from gramless.routes.explicit import SIGN_ROWS, conclude
from gramless.routes.fitted import Fitted, sign_flips
from gramless.spaces import RowSample
from gramless.spaces.batch import largest_positive

_FEWEST_PAIRS = 1000


@dataclass(frozen=True, eq=False)
class Begun:
    """What a pass for moments is begun with: all that another process needs to go on with it.

    Attributes
    ----------
    plan : Plan
    features : FeatureMap
    gamma : float
    rows : int or None
        Of the source, where that is known.
    mean, scale : ndarray of shape (d,) or None
        What rows are moved and divided by before the kernel sees them.
    """

    plan: Plan
    features: FeatureMap
    gamma: float
    rows: int | None
    mean: Array | None = None
    scale: Array | None = None


@dataclass(frozen=True, eq=False)
class Gathered:
    """What one pass keeps of the rows.

    Attributes
    ----------
    moments : Moments
    signs : array of shape (m, d)
        Rows on which the signs of the components are settled.
    sample : RowSample or None
        For pre-images.
    """

    moments: Moments
    signs: Any
    sample: RowSample | None = None

    def __add__(self, other: Gathered) -> Gathered:
        stack = scipy.sparse.vstack if scipy.sparse.issparse(self.signs) else np.concatenate
        sample = None if self.sample is None or other.sample is None else self.sample + other.sample
        return Gathered(self.moments + other.moments, stack([self.signs, other.signs])[:SIGN_ROWS], sample)


@dataclass(frozen=True, eq=False)
class Gathering:
    """The work of the pass: moments of a block.

    Attributes
    ----------
    features : FeatureMap
    n_rows : int or None
        Of all blocks: then signs are settled on rows evenly spaced, as for rows in memory; None: on the first ones.
    center : ndarray of shape (d,) or None
        Subtracted from rows before the kernel sees them.
    domain : Box or None
        Refuses rows outside, as they come.
    size : int
        Rows of the sample for pre-images; 0 for none.
    seed : int
    device : str
        Where a block is summed.
    scale : ndarray of shape (d,) or None
        Rows are divided by it after `center` was subtracted.
    """

    features: FeatureMap
    n_rows: int | None = None
    center: Array | None = None
    domain: Box | None = None
    size: int = 0
    seed: int = 0
    device: str = "cpu"
    scale: Array | None = None

    def __call__(self, block: Block) -> Gathered:
        x = block.x if self.center is None else block.x - self.center
        x = x if self.scale is None else x / self.scale
        if self.domain is not None:
            refuse_outside(self.domain, Box.around(block.x))
        sample = None
        if self.size:
            sample = RowSample.of(block.x, block.weights, self.size, seed=[self.seed, block.number])
        picked = self._picked(block)
        moments = self.features.moments(rows_on(self.device, x), block.weights)
        return Gathered(moments, x[picked], sample)

    def _picked(self, block: Block) -> Array:
        m = block.x.shape[0]
        if self.n_rows is None:
            rows = np.arange(min(m, SIGN_ROWS))
        else:
            spaced = evenly_spaced(self.n_rows, SIGN_ROWS)
            rows = spaced[(spaced >= block.first) & (spaced < block.first + m)] - block.first
        return rows[block.weights[rows] > 0]


def refuse_outside(domain: Box, box: Box, back: Callable[[Array], Array] = np.asarray) -> None:
    """Raise unless `box` lies inside `domain`; the message has what `back` makes of their sides."""
    for column in range(len(domain.low)):
        if box.low[column] < domain.low[column] or box.high[column] > domain.high[column]:
            low, high = back(box.low)[column], back(box.high)[column]
            raise ValueError(
                f"column {column} has values from {low:g} to {high:g}, outside domain="
                f"({back(domain.low)[column]:g}, {back(domain.high)[column]:g}); widen domain"
            )


def shared_pairs(features: FeatureMap, blocks: int) -> FeatureMap:
    """Landmarks draw pairs of rows for a bound: over many blocks, fewer in each."""
    if not isinstance(features, LandmarkMap) or not features.pairs:
        return features
    return replace(features, pairs=max(_FEWEST_PAIRS, features.pairs // max(1, blocks)))


def fit_blockwise(rows: Rows, work: Gathering, problem: Problem, request: Request) -> tuple[Fitted, RowSample | None]:
    """A model of all rows from one pass, and the sample that was gathered by the way.

    Parameters
    ----------
    rows : Rows
    work : Gathering
    problem : Problem
        Its `k` may be 0, for all components there are.
    request : Request

    Raises
    ------
    ValueError
        Where there are fewer rows than components, or no weight.
    """
    gathered = rows.map_reduce(work, "moments")
    moments = gathered.moments
    refuse_weights(moments.weight)
    if problem.k > moments.rows:
        raise ValueError(
            f"n_components={problem.k} is more than the {moments.rows} rows of {rows.name}; pass at most {moments.rows}"
        )
    k = problem.k or min(moments.rows, work.features.n_features)
    problem = replace(problem, k=k, n=moments.rows, weight=moments.weight, device=work.device)
    fitted = conclude(work.features, moments, problem, request)
    signs, count = gathered.signs, gathered.signs.shape[0]
    flips = sign_flips(fitted.space.project(signs), np.ones(count)) if count else largest_positive(fitted.space.basis)
    return fitted.flipped(flips), gathered.sample
