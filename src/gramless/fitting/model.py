"""The model: an eigenspace with its certificate; and the number of components for a fraction of the variance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from gramless.arrays import Array
from gramless.certificates import Certificate
from gramless.eigen import Outcome
from gramless.features import Moments
from gramless.spaces import Eigenspace


@dataclass(frozen=True, eq=False)
class Model:
    """An eigenspace, its certificate, and how the solution went.

    Attributes
    ----------
    space : Eigenspace
    vectors : ndarray of shape (n, k) or None
        Orthonormal eigenvectors of the weighted, centered Gram matrix; None where the method did not need them.
    certificate : Certificate
    outcome : Outcome
    passes : int
        Sweeps over the Gram matrix; 0 where none was needed.
    moments : Moments or None
        Moments of explicit features: all that such a model stores of the rows.
    residuals : ndarray of shape (k,) or None
        Norms of the residuals of the eigenvectors, where there are any.
    """

    space: Eigenspace
    vectors: Array | None
    certificate: Certificate
    outcome: Outcome
    passes: int
    moments: Moments | None = None
    residuals: Array | None = None

    def with_vectors(self, scores: Array, weights: Array) -> Model:
        """The model with its eigenvectors, computed from the components `scores` (n, k) of the training rows."""
        values = self.space.scatter
        scale = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
        return replace(self, vectors=less_mean(scores * np.sqrt(weights)[:, None] * scale, weights))

    def scores(self, weights: Array) -> Array | None:
        """Components (n, k) of the training rows, 0 for rows of weight 0; None without eigenvectors."""
        if self.vectors is None:
            return None
        roots = np.sqrt(weights)
        scale = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        return np.asarray(self.vectors * np.sqrt(self.space.scatter) * scale[:, None])

    def flipped(self, signs: Array) -> Model:
        """The model with its components multiplied by `signs` (k,)."""
        space = replace(self.space, basis=self.space.basis * signs, offset=self.space.offset * signs)
        return replace(self, space=space, vectors=None if self.vectors is None else self.vectors * signs)

    def truncated(self, k: int) -> Model:
        """The leading `k` components."""
        vectors = None if self.vectors is None else self.vectors[:, :k]
        residuals = None if self.residuals is None else self.residuals[:k]
        space = self.space.truncate(k)
        return replace(self, space=space, vectors=vectors, certificate=self.certificate[:k], residuals=residuals)


def less_mean(vectors: Array, weights: Array) -> Array:
    """Eigenvectors (n, k) of the centered Gram matrix, made from scores, without the error that a rounded mean adds.

    For rows far from the origin this error is much larger than the rounding of the components. Exact eigenvectors are
    orthogonal to the square roots of the weights.
    """
    roots = np.sqrt(weights)
    return np.asarray(vectors - np.outer(roots, roots @ vectors / weights.sum()))


Found = TypeVar("Found")


def components_for_share(values: Array, goal: float) -> int:
    """Number of leading eigenvalues whose sum reaches `goal`; all of `values` (descending) where the sum does not.

    Examples
    --------
    >>> components_for_share(np.array([5.0, 3.0, 2.0]), 7.5), components_for_share(np.array([5.0, 3.0]), 9.0)
    (2, 2)
    """
    return min(len(values), int(np.searchsorted(np.cumsum(values), goal)) + 1)


def solve_for_share(
    solve: Callable[[int, Found | None], Found], enough: Callable[[Found, int], bool], k: int, most: int
) -> Found:
    """``solve(k, previous solution)`` with `k` doubled each time, until ``enough(solution, k)`` or `k` is `most`."""
    found = solve(k, None)
    while k < most and not enough(found, k):
        k = min(most, 2 * k)
        found = solve(k, found)
    return found
