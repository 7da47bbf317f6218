"""Kernel PCA as PCA of explicit features: moments in one pass, then an eigenproblem that does not depend on N."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramless.arrays import Array, evenly_spaced
from gramless.arrays.devices import free_card_memory, rows_on
from gramless.data import Block, Rows, Survey
from gramless.data.domain import refuse_outside
from gramless.features import Box, DenseMoments, FeatureMap, LandmarkMap, PairedMap, maps
from gramless.fitting.methods.base import Traits, methods
from gramless.fitting.methods.drawn import draw_rows
from gramless.fitting.methods.moments import Gathered, MomentState
from gramless.kernels import Precomputed
from gramless.machine import Machine
from gramless.problem import Estimate, Problem, Request
from gramless.spaces import RowSample
from gramless.spaces.signs import SIGN_ROWS

CHUNKS_ON_CARD = 8 * 8 * 2**25  # bytes: eight arrays of the size of a chunk of features
WAKING = 0.5  # seconds to initialize a GPU and compile for it
_MACHINE = Machine()
_FEWEST_PAIRS = 1000
_SAMPLE = 4096  # rows fetched from a cluster for maps other than landmarks: their box is known from all rows


@dataclass(frozen=True, eq=False)
class Gathering:
    """The function of a pass: computes the moments of a block, and selects the rows to store.

    Attributes
    ----------
    features : FeatureMap
    n : int or None
        Number of rows of all blocks: evenly spaced rows determine the signs; None: the first rows do.
    domain : Box or None
        Box in the units of the input; rows outside the box raise an error.
    size : int
        Number of rows of the sample for pre-images; 0 for no sample.
    seed : int
    device : str
        Device that sums a block.
    probes : bool
        Whether to pick rows for the signs; a stream takes signs from the coefficients of its components instead.
    leaks : bool
        Whether to store the residual of k(x, x) for each row.
    """

    features: FeatureMap
    n: int | None = None
    domain: Box | None = None
    size: int = 0
    seed: int = 0
    device: str = "cpu"
    probes: bool = True
    leaks: bool = False

    def __call__(self, block: Block) -> Gathered:
        if self.domain is not None:
            refuse_outside(self.domain, Box.around(block.original))
        sample = None
        if self.size:
            sample = RowSample.of(block.original, block.weights, self.size, seed=[self.seed, block.number])
        x, signs = rows_on(self.device, block.x, block.tensor), block.x[self._probes(block)]
        if self.leaks and isinstance(self.features, PairedMap):
            moments, leaks = self.features.moments_and_leaks(x, block.weights)
            return Gathered(moments, signs, sample, leaks)
        return Gathered(self.features.moments(x, block.weights), signs, sample)

    def _probes(self, block: Block) -> Array:
        """Numbers of the block's rows, of positive weight, that determine the signs."""
        m = block.x.shape[0]
        if not self.probes:
            return np.arange(0)
        if self.n is None:
            rows = np.arange(min(m, SIGN_ROWS))
        else:
            spaced = evenly_spaced(self.n, SIGN_ROWS)
            rows = spaced[(spaced >= block.first) & (spaced < block.first + m)] - block.first
        used = rows[block.weights[rows] > 0]
        return np.flatnonzero(block.weights > 0)[:1] if m == self.n and not len(used) else used


class ExplicitMethod(Traits):
    """Kernel PCA as PCA of explicit features; the model does not need the training rows.

    Parameters
    ----------
    name : str
        Name of a registered feature map.
    """

    forgets = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.streams = self.parts = not maps[name].leading

    def estimate(self, problem: Problem) -> Estimate:
        if isinstance(problem.kernel, Precomputed):
            return Estimate(refusal="a precomputed matrix has no features")
        if problem.solver not in ("auto", "dense"):
            return Estimate(refusal=f"eigen_solver={problem.solver!r} works on the Gram matrix")
        if problem.workers:
            return self._on_workers(problem)
        here = self._here(replace(problem, device="cpu"))
        able = maps[self.name].tensors and problem.kernel.tensors and not problem.sparse
        if problem.device == "cpu" or here.refusal or not able:
            return here
        there = self._on_card(problem)
        if problem.anywhere and (there.refusal or here.seconds <= there.seconds):
            return here
        return there

    def _here(self, problem: Problem) -> Estimate:
        builder = maps[self.name]
        if problem.streaming and builder.boxed and not problem.domain:
            return Estimate(refusal="a stream needs domain=(low, high) for it")
        if problem.streaming and self.name == "landmarks":
            return self._from_first_batch(problem, builder.estimate(problem))
        return builder.estimate(problem)

    def _on_card(self, problem: Problem) -> Estimate:
        """Cost with rows, a few chunks of features and their sums on the GPU, and the eigenproblem on the host."""
        estimate = self._here(replace(problem, threads=1))
        rows = 0 if problem.streaming else 8 * problem.n * problem.d
        needed, free = rows + CHUNKS_ON_CARD + estimate.bytes, free_card_memory(problem.device)
        if needed > free:
            return Estimate(refusal=f"needs {needed / 1e9:.3g} GB of the GPU's {free / 1e9:.3g} GB")
        return replace(estimate, seconds=WAKING + estimate.seconds, device=problem.device)

    def _on_workers(self, problem: Problem) -> Estimate:
        """Cost of one worker's share of the rows, and of the tree that adds the moments of all workers."""
        seen = problem if self.name == "landmarks" else replace(problem, sample=None)
        whole = self._here(replace(seen, device="cpu"))
        if whole.refusal:
            return whole
        share = self._here(replace(seen, device="cpu", n=-(-problem.n // problem.workers), threads=1))
        return replace(whole, seconds=share.seconds + reduction_seconds(problem, share.bytes / 4), bytes=share.bytes)

    def _from_first_batch(self, problem: Problem, estimate: Estimate) -> Estimate:
        """The estimate for landmarks from the first batch: later rows may differ, so that the error is larger."""
        if problem.support is not None:
            return Estimate(refusal="its points are those of the first batch: max_support= chooses among all rows")
        return estimate if problem.domain else replace(estimate, error=max(estimate.error, 1e-2))

    def begin(self, problem: Problem, rows: Rows, survey: Survey, request: Request) -> MomentState:
        features = self.make(problem, survey, request)
        if problem.workers or (problem.block and not problem.streaming):
            features = shared_pairs(features, problem.partitions if problem.workers else -(-problem.n // problem.block))
        return self.gather(problem, rows, features, request)

    def make(self, problem: Problem, survey: Survey, request: Request) -> FeatureMap:
        """The feature map for these rows."""
        x, weights = survey.sample()
        builder = maps[self.name]
        if survey.remote and self.name != "landmarks" and not isinstance(x, np.ndarray):
            chosen = evenly_spaced(x.shape[0], _SAMPLE)
            x, weights = x[chosen], weights[chosen]
        if problem.block and builder.boxed:  # n matters only for the memory, which one block at a time takes
            problem = replace(problem, n=min(problem.n, problem.block))
        return builder.make(problem, x, weights, request.rng)

    def gather(self, problem: Problem, rows: Rows, features: FeatureMap, request: Request) -> MomentState:
        """The moments of all rows, from one pass."""
        device = problem.device if features.tensors else "cpu"
        batch = problem.streaming and not problem.block
        here = device == "cpu" and not (batch or problem.block or problem.workers)
        work, begun = Gathering(features, rows.n, device=device, probes=not batch, leaks=here), None
        if (kept := request.keeping) is not None:
            seed = int(kept.rng().integers(2**31))
            work, begun = replace(work, domain=kept.domain, size=kept.size, seed=seed), kept.begun(features)
        gathered = rows.sum(work, "moments", begun)
        drawn = None
        moments = gathered.moments
        if gathered.leaks is not None and isinstance(features, PairedMap) and isinstance(moments, DenseMoments):
            block, rng = rows.whole(), np.random.default_rng(request.rng.integers(2**63))
            drawn = draw_rows(features, moments, gathered.leaks, block.x, block.weights, problem, rng)
        return MomentState(features, moments, device, gathered.signs, gathered.sample, drawn)


def shared_pairs(features: FeatureMap, blocks: int) -> FeatureMap:
    """The features; landmarks draw pairs of rows for a bound, and the pairs are divided among the blocks."""
    if not isinstance(features, LandmarkMap) or not features.pairs:
        return features
    return replace(features, pairs=max(_FEWEST_PAIRS, features.pairs // max(1, blocks)))


def reduction_seconds(problem: Problem, size: float) -> float:
    """Seconds of a tree that joins results of `size` bytes, one from each partition.

    Each worker first joins the results of its own partitions. Then log4(workers) levels follow; on each level a worker
    receives three results one after another.
    """
    levels = np.ceil(np.log2(max(problem.workers, 1)) / 2)
    tasks = 2 * problem.partitions * _MACHINE.task
    return float(tasks + levels * 3 * size / _MACHINE.network + size / _MACHINE.network)


for _name in maps:
    methods.register(_name)(ExplicitMethod(_name))
