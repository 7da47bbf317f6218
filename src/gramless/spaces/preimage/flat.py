"""Pre-images of the linear and the cosine kernel, whose components have coordinates in the input space."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.span import InputSpan

_AXES = 1024  # axes projected together


def flat_points(space: Eigenspace, scores: Array, d: int) -> Array:
    """The points (m, d) that `scores` (m, k) describe, for the linear kernel; of rows of norm 1, for the cosine.

    Inner products of the axes of input space with mean and components are coordinates of these.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> from gramless.spaces import PointSpan
    >>> x = np.array([[1.0, 1.0], [3.0, 3.0]])
    >>> direction = np.array([[-1.0], [1.0]]) / np.sqrt(8)
    >>> space = Eigenspace(PointSpan(Linear(), x), np.full(2, 0.5), direction, np.ones(1), np.zeros(1), 8.0, 2.0, 4.0)
    >>> flat_points(space, np.array([[np.sqrt(2)]]), 2).round(6)
    array([[3., 3.]])
    """
    both = np.column_stack([space.mean, space.basis])
    axes = scipy.sparse.eye_array(d, format="csr")
    coordinates = np.vstack([space.span.dot(axes[first : first + _AXES], both) for first in range(0, d, _AXES)])
    coordinates -= space.span.dot(scipy.sparse.csr_array((1, d)), both)
    middle = coordinates[:, 0] + (space.span.origin if isinstance(space.span, InputSpan) else 0.0)
    return np.asarray(middle + scores @ coordinates[:, 1:].T)


def along_rays(rays: Array, start: Array) -> Array:
    """The points (m, d) of rays from 0 through `rays` (m, d) that are nearest to `start` (m, d).

    The cosine kernel does not see the norm of a row: every point of a ray has the same image.
    """
    norms2 = np.einsum("md,md->m", rays, rays)
    share = np.einsum("md,md->m", rays, start) / np.where(norms2 > 0, norms2, 1.0)
    return np.asarray(np.maximum(share, 0.0)[:, None] * rays)
