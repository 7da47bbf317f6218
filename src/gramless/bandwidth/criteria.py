"""Criteria for how well a kernel suits rows: the error of pre-images, and the gap between eigenvalues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from gramless.arrays import Array, parse_memory
from gramless.data import Block, MemoryRows
from gramless.fitting import fit
from gramless.fitting.question import FixedKernel, Question
from gramless.kernels import Kernel
from gramless.spaces import Eigenspace, RidgePreimage

_RIDGES = (1e-6, 1e-4, 1e-2, 1.0)
_TOL = 1e-6


class Criterion(Protocol):
    """A score for a kernel on given rows; scores are compared between kernels on the same rows.

    Attributes
    ----------
    smaller_is_better : bool
    """

    smaller_is_better: ClassVar[bool]

    def __call__(self, kernel: Kernel, x: Any, weights: Array) -> float:
        """The score of `kernel` on rows `x` (n, d) with positive `weights` (n,)."""


@dataclass(frozen=True)
class EigenvalueGap:
    """(l_k - l_{k+1}) / (W max k(x, x)) of the centered Gram matrix.

    The distance between the k leading components of a sample of n rows and of its population is bounded by a multiple
    of max k(x, x) / (sqrt(n) (l_k - l_{k+1}) / W) (Zwald & Blanchard 2005).

    Attributes
    ----------
    k : int
    """

    k: int
    smaller_is_better: ClassVar[bool] = False

    def __call__(self, kernel: Kernel, x: Any, weights: Array) -> float:
        largest = float(np.abs(kernel.diagonal(x)).max())
        if not largest > 0:
            return 0.0
        values = np.zeros(self.k + 1)
        found = _components(kernel, x, weights, min(self.k + 1, x.shape[0])).scatter[: self.k + 1]
        values[: len(found)] = found
        return float((values[-2] - values[-1]) / (weights.sum() * largest))


@dataclass(frozen=True)
class PreimageError:
    """Mean squared distance between held-out rows and the pre-images of their `k` leading components.

    Attributes
    ----------
    k : int
    ridges : tuple of float
        Ridge parameters to try; the minimum error is the score.
    """

    k: int
    ridges: tuple[float, ...] = _RIDGES
    folds: ClassVar[int] = 3
    smaller_is_better: ClassVar[bool] = True

    def __call__(self, kernel: Kernel, x: Any, weights: Array) -> float:
        part = np.random.default_rng(0).permutation(np.arange(len(weights)) % self.folds)
        errors = np.zeros(len(self.ridges))
        for fold in range(self.folds):
            held, kept = part == fold, part != fold
            errors += self._held_out(kernel, x[kept], weights[kept], x[held], weights[held])
        return float(errors.min() / weights.sum())

    def _held_out(self, kernel: Kernel, x: Any, weights: Array, new: Any, new_weights: Array) -> Array:
        """Weighted sum of squared errors of the held-out rows `new`, for each ridge parameter."""
        space = _components(kernel, x, weights, min(self.k, x.shape[0]))
        scores, wanted = space.project(x), space.project(new)
        errors = np.empty(len(self.ridges))
        for j, ridge in enumerate(self.ridges):
            apart = RidgePreimage.fit(kernel, scores, x, weights, ridge, parse_memory(None))(wanted) - new
            errors[j] = float(new_weights @ np.einsum("ij,ij->i", apart, apart, dtype=np.float64))
        return errors


def _components(kernel: Kernel, x: Any, weights: Array, k: int) -> Eigenspace:
    question = Question(FixedKernel(kernel, warns=False), k, tol=_TOL, seed=0, fewest=1)
    return fit(question, MemoryRows(Block(x, weights))).finished.space
