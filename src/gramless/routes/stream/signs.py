"""Signs of components that do not change from one batch to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.spaces import Eigenspace, FeatureSpan
from gramless.spaces.batch import largest_positive


def agreeing_signs(space: Eigenspace, before: Eigenspace | None, probes: Any) -> Array:
    """Signs (k,) that turn the components of `space` towards those `before`; new ones by their largest coefficient.

    `probes` (m, d) are rows on which both are compared where they do not have the same features.
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
    """Whether coefficients of both mean the same."""
    if not isinstance(a.span, FeatureSpan) or not isinstance(b.span, FeatureSpan):
        return False
    return a.span.features is b.span.features or a.span.features.same_axes(b.span.features)
