"""The choice of a representation of the points to cluster, by its cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from gramless.arrays.devices import card_workspace, free_card_memory, rows_on
from gramless.arrays.gpu_rates import machine_for
from gramless.clustering.cloud import Cloud
from gramless.clustering.feature_cloud import FeatureCloud
from gramless.clustering.gram_cloud import GramCloud
from gramless.clustering.parted_cloud import PartedCloud, moments_of
from gramless.clustering.parted_gram_cloud import PartedGramCloud
from gramless.clustering.points import choose_coordinates, make_points
from gramless.data import ClusterRows
from gramless.errors import MemoryLimitError
from gramless.features import maps
from gramless.fitting import Prepared
from gramless.fitting.methods import ExplicitMethod, Plan, choose, methods, where_asked
from gramless.fitting.methods.cuda import float64_seconds, fused_seconds
from gramless.fitting.methods.explicit import WAKING
from gramless.fitting.methods.layout import gram_seconds
from gramless.gram.tiled import TILE
from gramless.kernels import Precomputed
from gramless.machine import Machine
from gramless.problem import Estimate, Problem, Request

_MACHINE = Machine()
_STEPS = 20  # assumed number of iterations of a run
_HALVES = 1e-6  # accuracy of the fused product on a GPU
_COLUMNS = 64  # assumed number of principal coordinates


def plan_clustering(problem: Problem, n_init: int, method: str) -> Plan:
    """The cheapest of explicit features and Gram sums that is accurate enough, for ``problem.k`` clusters.

    Raises
    ------
    MemoryLimitError
        If nothing fits; the message says what would.
    """
    estimates = {name: _explicit(name, problem, n_init) for name in maps if not maps[name].leading}
    estimates |= {"tiled": _implicit(problem, n_init), "cuda": _on_card(problem, n_init)}
    estimates = {name: where_asked(estimate, problem) for name, estimate in estimates.items()}
    try:
        return choose(problem, estimates, method)
    except MemoryLimitError:
        asked = [name for name, e in estimates.items() if not e.refusal and method in ("auto", name)]
        least = min((estimates[name].bytes, name) for name in asked)
        raise MemoryLimitError(
            f"memory_limit={problem.memory_limit:.3g} bytes is too small for {problem.k} clusters of {problem.n} "
            f"rows: method {least[1]!r} needs {least[0]:.3g}; increase memory_limit"
        ) from None


def make_cloud(plan: Plan, prepared: Prepared, accuracy: float, rng: np.random.Generator) -> Cloud:
    """The rows as points in feature space, in the form and on the device that were planned.

    Parameters
    ----------
    plan : Plan
    prepared : Prepared
        The problem, and its rows as the kernel sees them.
    accuracy : float
    rng : numpy.random.Generator
    """
    problem, rows = plan.placed, prepared.rows
    if isinstance(rows, ClusterRows):
        return _parted_cloud(plan.chosen, prepared, rows, accuracy, rng)
    block, device = rows.whole(), problem.device
    x, weights = block.x, block.weights
    if plan.chosen == "tiled":
        room = 0.8 * problem.memory_limit - _implicit(problem, 1).bytes
        return GramCloud(problem.kernel, x, weights, max(0, int(min(room, 8.2 * problem.n**2 / 2 + 8 * TILE**2))))
    if plan.chosen == "cuda":
        precision: Literal["fp64", "fp32"] = "fp32" if _in_halves(problem) else "fp64"
        return GramCloud(problem.kernel, x, weights, device=device, tensor=block.tensor, precision=precision)
    features = maps[plan.chosen].make(_for_kernel(plan.chosen, problem), x, weights, rng)
    room = int(0.8 * problem.memory_limit - 8 * problem.n * _VECTORS)
    if device != "cpu":
        room = free_card_memory(device) // 2
    points = make_points(features, rows_on(device, x, block.tensor), weights, accuracy, max(0, room), rng, device)
    return FeatureCloud(points, x, weights)


def _parted_cloud(
    method: str, prepared: Prepared, rows: ClusterRows, accuracy: float, rng: np.random.Generator
) -> Cloud:
    """The same for rows in partitions: their coordinates stay with them."""
    problem = prepared.problem
    if method == "tiled":
        return PartedGramCloud(problem.kernel, rows)
    features = ExplicitMethod(method).make(_for_kernel(method, problem), prepared.survey, Request(rng))
    room = int(0.8 * problem.memory_limit * problem.workers - 8 * problem.n * _VECTORS)
    coordinates = choose_coordinates(
        features, problem.n, lambda: rows.parts.reduce(moments_of, features), accuracy, max(0, room), rng
    )
    return PartedCloud(features, coordinates, rows)


def _for_kernel(name: str, problem: Problem) -> Problem:
    """The problem as landmarks see it where the kernel counts, and not the accuracy of leading components."""
    return replace(problem, sample=None) if name == "landmarks" else problem


_VECTORS = 12  # arrays of length n that an iteration on coordinates holds


def _explicit(name: str, problem: Problem, n_init: int) -> Estimate:
    if isinstance(problem.kernel, Precomputed):
        return Estimate(refusal="a precomputed matrix has no features")
    estimate = methods[name].estimate(replace(_for_kernel(name, problem), solver="auto"))
    if estimate.refusal:
        return estimate
    machine, together = machine_for(estimate.device), problem.workers or problem.threads
    if estimate.device != "cpu":
        together = 1
    compare = problem.n * (2 * _COLUMNS * problem.k / machine.gemm + 0.5 * problem.k / machine.kernel) / together
    size = max(estimate.bytes, 8 * problem.n * (_VECTORS + 2)) + 2**20
    return replace(estimate, seconds=estimate.seconds + n_init * _STEPS / 3 * compare, bytes=int(size))


def _implicit(problem: Problem, n_init: int) -> Estimate:
    """Cost of Gram sums: a product at the start, then columns of the points that moved, about as much again."""
    width = problem.k
    problem = replace(problem, threads=problem.workers or problem.threads)
    kept = not problem.workers and 8 * problem.n**2 / 2 < 0.5 * problem.memory_limit
    make, multiply = gram_seconds(problem), 2 * problem.n**2 * width / (_MACHINE.gemm * problem.threads)
    seconds = make + n_init * 3 * (multiply + (0 if kept else make))
    tiles = problem.threads * 4 * 8 * min(TILE, problem.n) ** 2 + min(2**25, 8 * problem.n * (problem.d + 4))
    return Estimate(seconds, int(8 * problem.n * (5 * width + 8) + tiles + 2**20), 1e-15 * float(np.sqrt(problem.n)))


def _on_card(problem: Problem, n_init: int) -> Estimate:
    """Cost of Gram sums on a GPU, where no tile is kept."""
    if problem.device == "cpu":
        return Estimate(refusal="device='cpu'")
    if problem.sparse or not problem.kernel.tensors:
        return Estimate(
            refusal="sparse rows stay on the CPU" if problem.sparse else f"{problem.kernel} does not support tensors"
        )
    needed = 8 * problem.n * (3 * problem.d + 6 * problem.k) + int(1.6 * card_workspace(problem.device))
    free = free_card_memory(problem.device)
    if needed > free:
        return Estimate(refusal=f"needs {needed / 1e9:.3g} GB of the GPU's {free / 1e9:.3g} GB")
    sweep = fused_seconds if _in_halves(problem) else float64_seconds
    seconds = WAKING + 4 * n_init * sweep(problem, problem.k)
    size = 8 * problem.n * (2 * problem.k + 8) + 2**20
    return Estimate(seconds, size, _HALVES if _in_halves(problem) else 1e-15 * problem.n**0.5, device=problem.device)


def _in_halves(problem: Problem) -> bool:
    """Whether the fused product, with an error of some 3e-7, is accurate enough."""
    return bool(problem.tol >= _HALVES and problem.kernel.draftable)
