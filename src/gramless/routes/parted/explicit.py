"""The explicit route in parts: moments of every part, added in a tree; the model is the one of all rows together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramless.arrays import evenly_spaced
from gramless.execution import Block
from gramless.features import FeatureMap, Moments, maps
from gramless.planning import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.routes.blockwise import Gathering, fit_blockwise, shared_pairs
from gramless.routes.explicit import ExplicitMethod
from gramless.routes.fitted import Fitted
from gramless.routes.parted.methods import parted_methods
from gramless.routes.parted.rows import PartedRows

_MACHINE = Machine()
_SAMPLE = 4096  # rows shown to maps that are made for a box, which is known


class PartedExplicit:
    """Moments of explicit features, part by part.

    Parameters
    ----------
    name : str
        A registered feature map.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def estimate(self, problem: Problem) -> Estimate:
        """One worker's share of the rows, then the way up the tree; nothing is sent but moments."""
        seen = problem if self.name == "landmarks" else replace(problem, sample=None)
        method = ExplicitMethod(self.name)
        whole = method.estimate(seen)
        if whole.refusal:
            return whole
        share = method.estimate(replace(seen, n=-(-problem.n // problem.workers), threads=1))
        return replace(
            whole,
            seconds=share.seconds + reduction_seconds(problem, share.bytes / 4),
            bytes=share.bytes,
        )

    def run(self, problem: Problem, rows: PartedRows, request: Request) -> Fitted:
        features = shared_pairs(parted_map(self.name, problem, rows, request.rng), problem.partitions)
        problem = replace(problem, k=min(problem.k, features.n_features))  # all there are, where all were asked for
        return fit_blockwise(rows, Gathering(features, rows.n_rows), problem, request)[0]


def parted_map(name: str, problem: Problem, rows: PartedRows, rng: np.random.Generator) -> FeatureMap:
    """The feature map for rows in parts: landmarks are chosen among all of them, other maps know the box."""
    x, weights = rows.view()
    if name != "landmarks" and not isinstance(x, np.ndarray):
        chosen = evenly_spaced(x.shape[0], _SAMPLE)
        x, weights = x[chosen], weights[chosen]
    return maps[name].make(problem, x, weights, rng)


def moments_of(part: Block, features: FeatureMap) -> Moments:
    """Of one part."""
    return features.moments(part.x, part.weights)


def reduction_seconds(problem: Problem, size: float) -> float:
    """Time of a tree that joins results of `size` bytes, one of every part.

    A worker first joins those of its own parts; then log4 of the workers levels follow, on each of which three results
    are received one after another.
    """
    levels = np.ceil(np.log2(max(problem.workers, 1)) / 2)
    tasks = 2 * problem.partitions * _MACHINE.task
    return float(tasks + levels * 3 * size / _MACHINE.network + size / _MACHINE.network)


for _name in maps:
    parted_methods.register(_name)(PartedExplicit(_name))
