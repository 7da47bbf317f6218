"""The eigenspace of a batch of points, with all components."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramless.arrays import Array, one_blas_thread, unit_roundoff
from gramless.gram import CenteredGram, TiledGram
from gramless.kernels import Kernel
from gramless.spaces.bounds import Bounds
from gramless.spaces.eigenspace import Eigenspace
from gramless.spaces.signs import largest_positive
from gramless.spaces.span import PointSpan


def batch_space(kernel: Kernel, x: Any, weights: Array | None = None) -> Eigenspace:
    """Every component of a few rows, from their centered Gram matrix, with bounds on its rounding.

    Parameters
    ----------
    kernel : Kernel
        A Mercer kernel.
    x : ndarray or CSR of shape (n, d)
        Few enough that an (n, n) matrix is small.
    weights : ndarray of shape (n,), optional
        Positive; default: ones.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> space = batch_space(Linear(), np.array([[0.0], [1.0], [5.0]]))
    >>> space.scatter.round(6), space.weight, round(space.trace, 6)
    (array([14.]), 3.0, 14.0)
    """
    weights = np.ones(x.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
    gram = TiledGram(kernel, x, weights)
    centered = CenteredGram(gram)
    gram.statistics()  # raises on overflow, before LAPACK is called
    n, unit = len(weights), unit_roundoff()
    with one_blas_thread():
        values, vectors = np.linalg.eigh(centered.to_dense())
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = max(float(values[0]), 0.0)
    error = centered.error + 20 * n * unit * largest
    rank = int((values > 20 * n * unit * largest).sum())
    values, vectors = values[:rank], vectors[:, :rank]
    direction = gram.roots / np.linalg.norm(gram.roots)
    vectors = vectors - np.outer(direction, direction @ vectors)  # vectors of tiny eigenvalues mix with the mean
    factors = gram.roots[:, None] * vectors
    basis = factors * (largest_positive(vectors / gram.roots[:, None]) / np.sqrt(values))
    total, weight = float(gram.diagonal().sum()), centered.weight
    bounds = Bounds(
        discarded=error + 20 * n * unit * largest,
        gram=error,
        offset=(centered.error + n * unit * gram.statistics().norm) / float(np.sqrt(weight)),
        mean_slip=4 * unit * float(np.sqrt(kernel.diagonal(x).max())),
        mean_norm2=centered.error / weight,
        trace=centered.error + (n + 16) * unit * total,
        slip=8 * unit * float(np.sqrt(total)) * float(np.sqrt(max(rank, 1))),
    )
    return Eigenspace(
        span=PointSpan(kernel, x),
        mean=weights / weight,
        basis=basis,
        scatter=values,
        offset=centered.offset(basis),
        mean_norm2=centered.mean_norm2,
        weight=weight,
        trace=centered.trace,
        bounds=bounds,
    )
