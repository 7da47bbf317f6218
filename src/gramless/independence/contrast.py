"""The contrasts of kernel ICA: kernel canonical correlation and kernel generalized variance, with their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gramless.arrays import Array, inner, leading_eigenpairs
from gramless.features import LandmarkMap, choose_pivots
from gramless.kernels import Kernel

_ROWS = 8192
_STEP = 1e-5  # of the finite difference for the kernel's derivative; columns have variance 1
_MOST = 100
_BINS = 1000


def landmarks_for(kernel: Kernel, z: Array, weights: Array, leak: float, rng: np.random.Generator) -> LandmarkMap:
    """Landmarks on the real line for any column of z W^T: one low-rank factor of Gram matrices for all rotations W.

    With fixed landmarks the contrast is a smooth function of the rotation; with a new factorization for every rotation
    it would not be. The landmarks are chosen by pivoted Cholesky among the midpoints of 1000 bins, weighted by the rows
    in each bin over a few rotations: the order of the rows does not matter, and a weight of 2 equals a row given twice.

    Parameters
    ----------
    kernel : Kernel
        A Mercer kernel of real numbers.
    z : ndarray of shape (n, m)
        Whitened columns.
    weights : ndarray of shape (n,)
    leak : float
        Mean of k(x, x) - |phi(x)|^2 that is allowed.
    rng : numpy.random.Generator
    """
    if not kernel.mercer:
        raise ValueError(f"independence is measured by a Mercer kernel, and {kernel} is not known to be one")
    radius = float(np.sqrt(np.einsum("ij,ij->i", z, z).max(initial=0.0))) * (1 + 1e-9) or 1.0
    turns = [np.eye(z.shape[1]), *(np.linalg.qr(rng.standard_normal((z.shape[1],) * 2))[0] for _ in range(3))]
    counts, edges = np.zeros(_BINS), np.linspace(-radius, radius, _BINS + 1)
    for turn in turns:
        for direction in turn:
            counts += np.histogram(z @ direction, edges, weights=weights)[0]
    middles = ((edges[1:] + edges[:-1]) / 2)[:, None]
    pivots = choose_pivots(kernel, middles, counts, _MOST, leak, rng)
    return LandmarkMap.at(kernel, middles[pivots.indices if len(pivots.indices) else slice(1)])


@dataclass(frozen=True, eq=False)
class Contrast:
    r"""Dependence of columns y_1 .. y_m, 0 for independent ones (Bach & Jordan 2002, sections 3 and 4).

    With F_i the centred features of column i, A_i = F_i^T F_i, c = W kappa / 2, B_i = (A_i + c)^-1, the matrix R with
    identities on its diagonal and B_i F_i^T F_j B_j A_j beside it is similar to the R_kappa of the paper. The kernel
    generalised variance is -log(det R) / 2; the kernel canonical correlation -log(least eigenvalue of R) / 2.

    Parameters
    ----------
    features : LandmarkMap
        Features of one column of numbers.
    regularization : float
        kappa.
    kind : {"kgv", "kcc"}

    Examples
    --------
    >>> from gramless.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(-1.7, 1.7, (500, 2))
    >>> turned = y @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    >>> contrast = Contrast(landmarks_for(Gaussian(1.0), y, np.ones(500), 1e-4, rng), 2e-2)
    >>> contrast.value(y, np.ones(500)) < contrast.value(turned, np.ones(500))
    True
    """

    features: LandmarkMap
    regularization: float
    kind: Literal["kgv", "kcc"] = "kgv"

    def value(self, y: Array, weights: Array) -> float:
        """The contrast of columns `y` (n, m), rows weighted by `weights` (n,)."""
        return self._small(self._moments(y, np.eye(y.shape[1]), weights)[0], float(weights.sum()), False)[0]

    def value_and_gradient(self, z: Array, turn: Array, weights: Array) -> tuple[float, Array]:
        """The contrast of z W^T for `turn` W (m, m), and its derivative with respect to W (m, m)."""
        scatter, mean = self._moments(z, turn, weights)
        value, pull = self._small(scatter, float(weights.sum()), True)
        gradient = np.zeros_like(turn)
        m, s = len(turn), self.features.n_features
        for first in range(0, len(z), _ROWS):
            part = slice(first, first + _ROWS)
            y = z[part] @ turn.T
            force = (self._phi(y) - mean) @ pull
            slope = (self._phi(y + _STEP) - self._phi(y - _STEP)) / (2 * _STEP)
            along = np.einsum("nms,nms->nm", force.reshape(-1, m, s), slope.reshape(-1, m, s))
            gradient += inner(along * weights[part, None], z[part])
        return value, gradient

    def _phi(self, y: Array) -> Array:
        """Features of every column side by side: (n, m s)."""
        flat = np.ascontiguousarray(y).reshape(-1, 1)
        return self.features.dot(flat, np.eye(self.features.n_features)).reshape(len(y), -1)

    def _moments(self, z: Array, turn: Array, weights: Array) -> tuple[Array, Array]:
        """Centered scatter (m s, m s) of the features of all columns, and their mean (m s,)."""
        total, width = float(weights.sum()), len(turn) * self.features.n_features
        mean, scatter = np.zeros(width), np.zeros((width, width))
        for first in range(0, len(z), _ROWS):
            part = slice(first, first + _ROWS)
            phi = self._phi(z[part] @ turn.T)
            mean += weights[part] @ phi / total
            scatter += inner(weights[part, None] * phi, phi)
        return scatter - total * np.outer(mean, mean), mean

    def _small(self, scatter: Array, weight: float, with_pull: bool) -> tuple[float, Array]:
        """The contrast from the scatter, and the symmetric Q with gradient F Q with respect to the features F."""
        s, width = self.features.n_features, len(scatter)
        blocks = [slice(first, first + s) for first in range(0, width, s)]
        ridge = weight * self.regularization / 2
        inverse = np.zeros((width, width))
        for b in blocks:
            inverse[b, b] = np.linalg.inv(scatter[b, b] + ridge * np.eye(s))
        shrink = np.zeros((width, width))  # A_i B_i
        for b in blocks:
            shrink[b, b] = np.eye(s) - ridge * inverse[b, b]
        cross = scatter.copy()
        for b in blocks:
            cross[b, b] = 0.0
        value, back = self._objective(inverse @ cross @ inverse, [scatter[b, b] for b in blocks])
        if not with_pull:
            return value, np.empty((0, 0))
        for b in blocks:
            back[b, b] = 0.0  # the identities on the diagonal are constant
        # d log det R = sum_ij tr(back_ji dR_ij) with dR_ij = dB_i C_ij P_j + B_i dC_ij P_j + B_i C_ij dP_j
        beside = shrink @ back @ inverse
        pull = beside + beside.T
        own = ridge * inverse @ back @ inverse @ cross @ inverse - inverse @ cross @ shrink @ back @ inverse
        for b in blocks:
            pull[b, b] = own[b, b] + own[b, b].T
        return value, -pull / 2

    def _objective(self, mix: Array, own: list[Array]) -> tuple[float, Array]:
        """-log(det R) / 2 or -log(least eigenvalue) / 2 of R = I + mix A, and M with derivative -tr(M dR) / 2.

        `mix` (m s, m s) is symmetric, `own` are the diagonal blocks of A.
        """
        s, blocks = len(own[0]), range(len(own))
        parts = [slice(i * s, (i + 1) * s) for i in blocks]
        if self.kind == "kgv":
            ratio = np.hstack([mix[:, parts[i]] @ own[i] for i in blocks])
            ratio[np.diag_indices(len(ratio))] += 1.0
            sign, logarithm = np.linalg.slogdet(ratio)
            return (float(-logarithm / 2), np.linalg.inv(ratio)) if sign > 0 else (np.inf, np.zeros_like(mix))
        root = np.zeros_like(mix)
        for i in blocks:
            values, vectors = np.linalg.eigh(own[i])
            root[parts[i], parts[i]] = (vectors * np.sqrt(values.clip(0))) @ vectors.T
        values, vectors = leading_eigenpairs(-(root @ mix @ root), 1)
        least = -float(values[0])
        if least <= -1 or least == 0:
            return (np.inf if least else 0.0), np.zeros_like(mix)
        left = root @ vectors[:, 0]  # left eigenvector of mix A, up to scale; the right one follows
        right = mix @ left / least
        return float(-np.log1p(least) / 2), np.outer(right, left) / (left @ right) / (1 + least)
