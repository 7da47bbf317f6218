"""Ridge regression of the data on its components, with the kernel on the components (as scikit-learn does)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gramless.arrays import Array, inner
from gramless.features import LandmarkMap, choose_pivots
from gramless.gram import GramOperator, TiledGram, rectangular_product
from gramless.kernels import Kernel, Linear
from gramless.warning import warn

_ROWS = 8192
_MOST_LANDMARKS = 1000
_ROUNDED = 1e-5  # rounding error of the regression without a ridge, relative to the rows, that is small enough
_NEGLIGIBLE = 0.1  # trace(K - Phi Phi^T) of landmark features, relative to alpha, that is small enough
_MOST_ITERATED = 5000  # rows for conjugate gradients, which compute all tiles again in each step


@dataclass(frozen=True, eq=False)
class RidgePreimage:
    """Kernel ridge regression from components `scores` to inputs (Bakir, Weston & Schoelkopf 2004).

    Attributes
    ----------
    kernel : Kernel
    scores : ndarray of shape (s, k)
        Components of the rows that have coefficients: all n rows, or landmarks.
    coefficients : ndarray of shape (s, d)
        (K + alpha D^-1)^-1 X, K the Gram matrix of the scores and D the weights; for landmarks, the same with
        Phi Phi^T in place of K.
    left_out : float
        Estimate of trace(K - Phi Phi^T) for landmark features Phi, relative to `alpha`: the regression becomes exact
        as this goes to 0. 0 where all rows have coefficients.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> scores = np.array([[-1.0], [0.0], [1.0]])
    >>> back = RidgePreimage.fit(Linear(), scores, 2 * scores, np.ones(3), 0.0, 10**6)
    >>> back(np.array([[0.5]])).round(6)
    array([[1.]])
    """

    kernel: Kernel
    scores: Array
    coefficients: Array
    left_out: float = 0.0

    @classmethod
    def fit(
        cls,
        kernel: Kernel,
        scores: Array,
        x: Array,
        weights: Array,
        alpha: float,
        memory_limit: int,
        rng: np.random.Generator | None = None,
    ) -> RidgePreimage:
        """Solve the regression within `memory_limit`.

        It is solved by Cholesky if K fits, else on features of at most 1000 landmarks among the scores, in one pass
        over the rows. Conjugate gradients on tiles of K replace the landmarks if the kernel is not known to be a Mercer
        kernel, or if the landmarks are not accurate enough and there are at most 5000 rows.
        """
        used = weights > 0
        rows, targets = scores[used], np.asarray(x[used], dtype=np.float64)
        fits = 2 * 8 * len(rows) ** 2 + 16 * targets.size <= memory_limit
        if not fits and kernel.mercer:
            seed = np.random.default_rng(0) if rng is None else rng
            few = cls._on_landmarks(kernel, rows, targets, weights[used], alpha, memory_limit, seed)
            if few.left_out <= _NEGLIGIBLE or len(rows) > _MOST_ITERATED:
                return few
        ridge, gram = alpha / weights[used], TiledGram(kernel, rows)
        rank = rows.shape[1] if isinstance(kernel, Linear) else 0
        solution = _solve_dense(gram, ridge, targets, rank) if fits else _solve_iteratively(gram, ridge, targets)
        coefficients = np.zeros((len(scores), targets.shape[1]))
        coefficients[used] = solution
        return cls(kernel, scores, coefficients)

    @classmethod
    def _on_landmarks(
        cls,
        kernel: Kernel,
        scores: Array,
        targets: Array,
        weights: Array,
        alpha: float,
        memory_limit: int,
        rng: np.random.Generator,
    ) -> RidgePreimage:
        """Ridge on landmark features phi of the scores: (sum w phi phi^T + alpha I)^-1 sum w phi x^T, in one pass."""
        affordable = int(np.sqrt(memory_limit / 8 / 80))  # pivots come from a sample of 20 times as many rows
        most = max(1, min(len(scores), _MOST_LANDMARKS, max(16, affordable)))
        goal = 1e-3 * alpha / float(weights.sum())  # so that trace(K - Phi Phi^T) is small beside alpha
        pivots = choose_pivots(kernel, scores, weights, most, goal, rng)
        chosen = pivots.indices if len(pivots.indices) else np.zeros(1, dtype=np.int64)
        features = LandmarkMap.at(kernel, scores[chosen])
        axes = np.eye(features.n_features)
        gram, cross = np.zeros_like(axes), np.zeros((len(axes), targets.shape[1]))
        for first in range(0, len(scores), _ROWS):
            part = slice(first, first + _ROWS)
            phi = features.dot(scores[part], axes)
            weighted = weights[part, None] * phi
            gram += inner(weighted, phi)
            cross += inner(weighted, targets[part])
        solution = _solve_symmetric(gram, np.full(len(gram), alpha), cross)
        coefficients = features.triangle.solve_transposed(solution.T).T
        leak = max(pivots.leak, 0.0) * float(weights.sum())
        return cls(kernel, features.points, coefficients, leak / alpha if alpha > 0 else np.inf)

    def __call__(self, scores: Array) -> Array:
        """Inputs (m, d) for `scores` (m, k)."""
        return rectangular_product(self.kernel, scores, self.scores, self.coefficients)


def _solve_dense(gram: GramOperator, ridge: Array, targets: Array, rank: int) -> Array:
    return _solve_symmetric(gram.to_dense(), ridge, targets, rank)


def _solve_symmetric(matrix: Array, ridge: Array, targets: Array, rank: int = 0) -> Array:
    """(matrix + diag(ridge))^-1 targets; `matrix` is overwritten.

    By Cholesky where rounding errors are small beside the result. Elsewhere (an indefinite matrix, or a ridge that is
    lost in rounding beside it) by the pseudoinverse, without the directions whose eigenvalues are rounding errors.
    Raises where that loses more than rounding errors, which a matrix of rank at most `rank` excludes.
    """
    matrix[np.diag_indices_from(matrix)] += ridge
    least, eps = _ROUNDED * float(np.linalg.norm(targets)), np.finfo(float).eps
    with suppress(np.linalg.LinAlgError):
        solution = np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), targets))
        if eps * np.linalg.norm(matrix) * np.linalg.norm(solution) <= least:
            return solution
        if not ridge.any() and np.linalg.norm(matrix @ solution - targets) <= least:
            return solution
    values, vectors = scipy.linalg.eigh(matrix)
    sizes = np.abs(values)
    rounding = eps * float(sizes.max(initial=0.0))
    kept = sizes > len(values) * rounding
    solution = vectors[:, kept] @ ((vectors[:, kept].T @ targets) / values[kept, None])
    lost = float(ridge.max(initial=0.0)) < rounding and kept.sum() > rank
    if lost and (ridge.any() or rounding * np.linalg.norm(solution) > least):
        raise np.linalg.LinAlgError(
            f"alpha={ridge.max():.2g} is lost in rounding: the kernel matrix of the components is singular to working "
            "precision, so that the inverse transform is not determined; pass a larger alpha (not 0) or "
            "scale_input=True, or fit without the inverse transform and find pre-images by method='auto'"
        )
    return np.asarray(solution)


def _solve_iteratively(gram: GramOperator, ridge: Array, targets: Array, tol: float = 1e-10) -> Array:
    """Conjugate gradients on all columns at once, one pass over the tiles per step, scaled by the diagonal."""
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
        warn(
            f"the inverse transform was solved only to a relative residual of {worst:.1e}; increase alpha or "
            "memory_limit",
            UserWarning,
        )
    solution *= scale
    return solution
