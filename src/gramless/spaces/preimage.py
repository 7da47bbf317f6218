"""From components back to the input: ridge regression of the data on its components."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gramless.arrays import Array
from gramless.gram import GramOperator, TiledGram, rectangular_product
from gramless.kernels import Kernel


@dataclass(frozen=True, eq=False)
class RidgePreimage:
    """Kernel ridge regression from components `scores` to inputs (Bakir, Weston & Schoelkopf 2004).

    Attributes
    ----------
    kernel : Kernel
    scores : ndarray of shape (n, k)
    coefficients : ndarray of shape (n, d)
        (K + alpha D^-1)^-1 X, K the Gram matrix of the scores and D the weights.
    """

    kernel: Kernel
    scores: Array
    coefficients: Array

    @classmethod
    def fit(
        cls, kernel: Kernel, scores: Array, x: Array, weights: Array, alpha: float, memory_limit: int
    ) -> RidgePreimage:
        """Solve once: by Cholesky if K fits `memory_limit`, else by conjugate gradients on tiles of it."""
        used = weights > 0
        rows, targets = scores[used], np.asarray(x[used], dtype=np.float64)
        ridge = alpha / weights[used]
        gram = TiledGram(kernel, rows)
        fits = 2 * 8 * len(rows) ** 2 + 16 * targets.size <= memory_limit
        solution = _solve_dense(gram, ridge, targets) if fits else _solve_iteratively(gram, ridge, targets)
        coefficients = np.zeros((len(scores), targets.shape[1]))
        coefficients[used] = solution
        return cls(kernel, scores, coefficients)

    def __call__(self, scores: Array) -> Array:
        """Inputs (m, d) for `scores` (m, k)."""
        return rectangular_product(self.kernel, scores, self.scores, self.coefficients)


def _solve_dense(gram: GramOperator, ridge: Array, targets: Array) -> Array:
    matrix = gram.to_dense()
    matrix[np.diag_indices_from(matrix)] += ridge
    try:
        return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), targets))
    except np.linalg.LinAlgError:  # an indefinite kernel, or alpha too small for a singular one
        return np.asarray(scipy.linalg.lstsq(matrix, targets)[0])


def _solve_iteratively(gram: GramOperator, ridge: Array, targets: Array, tol: float = 1e-10) -> Array:
    """Conjugate gradients on all columns at once, one sweep over the tiles a step, scaled by the diagonal."""
    scale = 1 / np.sqrt(np.maximum(gram.diagonal() + ridge, np.finfo(float).tiny))[:, None]
    solution = np.zeros_like(targets)
    residual = scale * targets
    direction = residual.copy()
    size = np.einsum("ij,ij->j", residual, residual)
    goal = tol**2 * np.maximum(size, np.finfo(float).tiny)
    for _ in range(500):
        image = scale * (gram @ (scale * direction) + ridge[:, None] * (scale * direction))
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        solution += step * direction
        residual -= step * image
        old, size = size, np.einsum("ij,ij->j", residual, residual)
        if (size <= goal).all():
            break
        direction = residual + np.divide(size, old, out=np.zeros_like(size), where=old > 0) * direction
    else:
        worst = float(np.sqrt((size / np.maximum(goal, np.finfo(float).tiny)).max()) * tol)
        warnings.warn(
            f"the inverse transform was solved only to a relative residual of {worst:.1e}; raise alpha or memory_limit",
            UserWarning,
            stacklevel=2,
        )
    solution *= scale
    return solution
