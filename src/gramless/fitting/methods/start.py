"""Start vectors of block Krylov: the leading eigenvectors of a Nyström approximation of the Gram matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from gramless.arrays import Array, leading_eigenpairs, one_blas_thread, run_in_threads, to_numpy
from gramless.gram import TiledGram, rectangular_product
from gramless.kernels import FromCallable, Precomputed
from gramless.problem import Problem

STARTED, _ON_CARD = 512, 1024  # landmarks of a start
ROWS = 1024
GROUPS = 8


def landmark_start(
    problem: Problem,
    x: Any,
    weights: Array,
    width: int,
    rng: np.random.Generator,
    sums: Callable[[Any], tuple[Array, Array]] | None = None,
    product: Callable[[Any, Array], Array] | None = None,
) -> Array | None:
    """Leading eigenvectors (n, width) of the Nyström approximation C W^-1 C^T; None where it does not pay off.

    C has the kernel values of all rows with the landmarks, W those of the landmarks with each other. The vectors are
    the principal components of all rows in the features W^-1/2 C^T. Their error is what the landmarks leave out, which
    is less than the sampling error of the landmarks' own components. For rows on a cluster, ``sums(landmarks)``
    replaces :func:`landmark_sums`, and ``product(landmarks, v)`` computes C v.
    """
    n, size = problem.n, max(STARTED, 2 * width)
    if isinstance(problem.kernel, (Precomputed, FromCallable)) or 8 * size > n:
        return None
    landmarks = x[draw_landmarks(weights, size, rng)]
    with one_blas_thread():
        gram = TiledGram(problem.kernel, landmarks).to_dense()
        summed = landmark_sums(problem.kernel, x, landmarks, weights) if sums is None else sums(landmarks)
        whitening, leading = landmark_components(gram, *summed, float(weights.sum()), width)
    turned = whitening @ leading
    start = rectangular_product(problem.kernel, x, landmarks, turned) if product is None else product(landmarks, turned)
    start -= weights @ start / weights.sum()
    start *= np.sqrt(weights)[:, None]
    return start


def card_start(problem: Problem, x: Any, weights: Array, width: int, rng: np.random.Generator) -> Any | None:
    """:func:`landmark_start` as a tensor (n, width), for rows `x` on a GPU; None where there are few rows."""
    import torch

    from gramless.gram.cuda.rectangular import landmark_sums, tensor_product

    n, size = problem.n, max(_ON_CARD, 2 * width)
    if 4 * size > n:
        return None
    landmarks = x[torch.as_tensor(draw_landmarks(weights, size, rng), device=x.device)]
    gram = to_numpy(tensor_product(problem.kernel, landmarks, landmarks, np.eye(size), x.device))
    weight = torch.as_tensor(weights, device=x.device)
    scatter, sums = (to_numpy(part) for part in landmark_sums(problem.kernel, x, landmarks, weight))
    whitening, leading = landmark_components((gram + gram.T) / 2, scatter, sums, float(weights.sum()), width)
    start = tensor_product(problem.kernel, x, landmarks, whitening @ leading, x.device)
    start -= (weight[:, None] * start).sum(0) / weight.sum()
    return start * weight.sqrt()[:, None]


def draw_landmarks(weights: Array, size: int, rng: np.random.Generator) -> Array:
    """Row numbers (size,), ascending; drawn by weight where at least `size` rows have a positive weight."""
    likely = weights / weights.sum() if (weights > 0).sum() >= size else None
    return np.sort(rng.choice(len(weights), size, replace=False, p=likely))


def landmark_components(gram: Array, scatter: Array, sums: Array, weight: float, width: int) -> tuple[Array, Array]:
    """W^-1/2 (p, q) of the landmarks' `gram` W, and the leading components (q, width) in the features W^-1/2 C^T.

    `scatter` (p, p) and `sums` (p,) are C^T D C and C^T D 1, `weight` the trace of D.
    """
    whitening = inverse_root(gram)
    small = whitening.T @ (scatter - np.outer(sums, sums) / weight) @ whitening
    return whitening, leading_eigenpairs((small + small.T) / 2, min(width, len(small)))[1]


def landmark_sums(kernel: Any, x: Any, landmarks: Any, weights: Array) -> tuple[Array, Array]:
    """C^T D C and C^T D 1, by blocks of rows in fixed groups, so that the sums do not depend on the threads."""
    n, size = x.shape[0], landmarks.shape[0]
    groups = np.zeros((min(GROUPS, -(-n // ROWS)), size, size + 1))

    def add(group: int) -> None:
        for first in range(group * ROWS, n, len(groups) * ROWS):
            part = slice(first, min(n, first + ROWS))
            block = kernel(x[part], landmarks)
            weighted = block * weights[part, None]
            groups[group, :, :size] += block.T @ weighted
            groups[group, :, size] += weighted.sum(axis=0)

    run_in_threads(add, [list(range(len(groups)))])
    total = groups.sum(axis=0)
    return total[:, :size], total[:, size]


def inverse_root(gram: Array) -> Array:
    """R such that R^T W R is near the identity: by Cholesky, or by eigenvectors where W is not positive definite."""
    lifted = gram + 1e-7 * np.trace(gram) * np.eye(len(gram))
    try:
        factor = np.linalg.cholesky(lifted)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(gram)
        moduli = np.abs(values)
        kept = moduli > 1e-7 * moduli.max(initial=0.0)
        return np.asarray(vectors[:, kept] / np.sqrt(moduli[kept]))
    return np.asarray(scipy.linalg.solve_triangular(factor, np.eye(len(gram)), lower=True).T)
