"""The signs of components, which an eigenproblem leaves open: one rule for fits, one for streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.span import FeatureSpan

SIGN_ROWS = 10_000  #: maximum number of rows that determine the signs of components


def largest_positive(columns: Array) -> Array:
    """Signs (k,) that make the entry of largest modulus of each of `columns` (n, k) positive."""
    peak = np.argmax(np.abs(columns), axis=0)
    return np.where(columns[peak, np.arange(columns.shape[1])] < 0, -1.0, 1.0)


def row_signs(scores: Array, weights: Array | None = None) -> Array:
    """Signs (k,) that make the score of largest modulus among the rows positive: the rule of every fit.

    `scores` (n, k) are components, or eigenvectors of the weighted Gram matrix where their `weights` (n,) are given.
    Without weights this is scikit-learn's rule (its ``svd_flip`` knows no weights, and takes the first of two ends of
    equal modulus where rounding decides); with them a row counts as often as it is repeated.
    """
    if weights is not None and not (weights == 1).all():
        used = weights > 0
        scores = scores[used] / np.sqrt(weights[used])[:, None]
    signs = np.sign(scores.max(axis=0) + scores.min(axis=0))
    for column in np.flatnonzero(signs == 0):  # both ends alike: the first of them counts
        signs[column] = np.sign(scores[np.argmax(np.abs(scores[:, column])), column])
    return np.where(signs == 0, 1.0, signs)


def agreeing_signs(space: Eigenspace, before: Eigenspace | None, probes: Any) -> Array:
    """Signs (k,) that turn the components of `space` towards those `before`: the rule of streams.

    Components that are new are turned by their largest coefficient. `probes` (m, d) are rows on which both are compared
    where they do not have the same features.
    """
    signs = largest_positive(space.basis)
    if before is None:
        return signs
    k = min(len(space.scatter), len(before.scatter))
    if _same_axes(space, before):
        agreement = np.einsum("ij,ij->j", space.basis[:, :k], before.basis[:, :k])
    else:
        now, then = space.project(probes)[:, :k], before.project(probes)[:, :k]
        sizes = np.linalg.norm(now, axis=0) * np.linalg.norm(then, axis=0)
        agreement = np.einsum("ij,ij->j", now, then) / np.where(sizes > 0, sizes, 1.0)
    signs[:k] = np.where(np.abs(agreement) > 0.1, np.sign(agreement), signs[:k])
    return signs


def _same_axes(a: Eigenspace, b: Eigenspace) -> bool:
    """Whether coefficients of both belong to the same features."""
    if not isinstance(a.span, FeatureSpan) or not isinstance(b.span, FeatureSpan):
        return False
    return a.span.features is b.span.features or a.span.features.same_axes(b.span.features)
