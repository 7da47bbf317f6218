"""Which representation to cluster in: what each would cost here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.clustering.cloud import Cloud
from gramless.clustering.feature_cloud import FeatureCloud
from gramless.clustering.gram_cloud import GramCloud
from gramless.clustering.parted_cloud import PartedCloud
from gramless.clustering.parted_gram_cloud import PartedGramCloud
from gramless.clustering.points import choose_coordinates, make_points
from gramless.errors import MemoryLimitError
from gramless.features import maps
from gramless.gram.tiled import TILE
from gramless.kernels import Precomputed
from gramless.machine import Machine
from gramless.planning import Plan, methods
from gramless.planning.plan import choose
from gramless.problem import Estimate, Problem
from gramless.routes.layout import gram_seconds
from gramless.routes.parted import PartedRows, moments_of, parted_map, parted_methods

_MACHINE = Machine()
_STEPS = 20  # iterations of a run, when nothing is known
_COLUMNS = 64  # principal coordinates, when nothing is known


def plan_clustering(problem: Problem, n_init: int, method: str) -> Plan:
    """The cheapest of explicit features and Gram sums that is accurate enough; ``problem.k`` is the clusters.

    Raises
    ------
    MemoryLimitError
        If nothing fits; the message says what would.
    """
    estimates = {name: _explicit(name, problem, n_init) for name in maps}
    estimates["tiled"] = _implicit(problem, n_init)
    try:
        return choose(problem, estimates, method)
    except MemoryLimitError:
        asked = [name for name, e in estimates.items() if not e.refusal and method in ("auto", name)]
        least = min((estimates[name].bytes, name) for name in asked)
        raise MemoryLimitError(
            f"memory_limit={problem.memory_limit:.3g} bytes is too little for {problem.k} clusters of {problem.n} "
            f"rows: method {least[1]!r} needs {least[0]:.3g}; raise memory_limit"
        ) from None


def make_cloud(
    method: str, problem: Problem, x: Any, weights: Array, accuracy: float, rng: np.random.Generator
) -> Cloud:
    """The rows as points in feature space, in the form that was planned."""
    if method == "tiled":
        room = 0.8 * problem.memory_limit - _implicit(problem, 1).bytes
        return GramCloud(problem.kernel, x, weights, max(0, int(min(room, 8.2 * problem.n**2 / 2 + 8 * TILE**2))))
    features = maps[method].make(problem, x, weights, rng)
    room = int(0.8 * problem.memory_limit - 8 * problem.n * _VECTORS)
    return FeatureCloud(make_points(features, x, weights, accuracy, max(0, room), rng), x, weights)


def make_parted_cloud(
    method: str, problem: Problem, rows: PartedRows, accuracy: float, rng: np.random.Generator
) -> Cloud:
    """The same for rows in parts: their coordinates stay with them."""
    if method == "tiled":
        return PartedGramCloud(problem.kernel, rows)
    features = parted_map(method, problem, rows, rng)
    room = int(0.8 * problem.memory_limit * problem.workers - 8 * problem.n * _VECTORS)
    coordinates = choose_coordinates(
        features, problem.n, lambda: rows.parts.reduce(moments_of, features), accuracy, max(0, room), rng
    )
    return PartedCloud(features, coordinates, rows)


_VECTORS = 12  # arrays of length n that an iteration on coordinates holds


def _explicit(name: str, problem: Problem, n_init: int) -> Estimate:
    if isinstance(problem.kernel, Precomputed):
        return Estimate(refusal="a given matrix has no features")
    ask = parted_methods[name] if problem.workers else methods[name]
    estimate = ask.estimate(replace(problem, solver="auto"))
    if estimate.refusal:
        return estimate
    together = problem.workers or problem.threads
    compare = problem.n * (2 * _COLUMNS * problem.k / _MACHINE.gemm + 2e-9 * problem.k) / together
    size = max(estimate.bytes, 8 * problem.n * (_VECTORS + 2)) + 2**20
    return replace(estimate, seconds=estimate.seconds + n_init * _STEPS / 3 * compare, bytes=int(size))


def _implicit(problem: Problem, n_init: int) -> Estimate:
    """A product at the start, then columns of those that moved: about as much again."""
    width = problem.k
    problem = replace(problem, threads=problem.workers or problem.threads)
    kept = not problem.workers and 8 * problem.n**2 / 2 < 0.5 * problem.memory_limit
    make, multiply = gram_seconds(problem), 2 * problem.n**2 * width / (_MACHINE.gemm * problem.threads)
    seconds = make + n_init * 3 * (multiply + (0 if kept else make))
    tiles = problem.threads * 4 * 8 * min(TILE, problem.n) ** 2 + min(2**25, 8 * problem.n * (problem.d + 4))
    return Estimate(seconds, int(8 * problem.n * (5 * width + 8) + tiles + 2**20), 1e-15 * float(np.sqrt(problem.n)))
