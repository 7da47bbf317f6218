"""Expectation maximisation for kernel PCA (Rosipal & Girolami, An EM approach to nonlinear component analysis)."""

from __future__ import annotations

import numpy as np

from gramless.arrays import Array


def em_pairs(gram: Array, k: int, *, steps: int, rng: np.random.Generator) -> tuple[Array, Array, list[float]]:
    """Leading eigenpairs of a centred Gram matrix by EM for probabilistic PCA, in the limit of no noise.

    The axes are C = Phi^T G, combinations of the images of the points, so that only K = Phi Phi^T is needed:

    - E: the coordinates of the points given the axes, Y = (G^T K G)^-1 G^T K, (k, n);
    - M: the axes given the coordinates, G = Y^T (Y Y^T)^-1, (n, k).

    Each step costs one product with K and k x k systems; the span converges to the leading eigenvectors as fast as
    (l_{k+1} / l_k)^step, like subspace iteration, which it is in disguise.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Centred.
    k : int
    steps : int
    rng : numpy.random.Generator

    Returns
    -------
    values : ndarray of shape (k,)
        Descending.
    vectors : ndarray of shape (n, k)
        Orthonormal.
    errors : list of float
        Reconstruction error trace(K) - trace(Y^T G^T K G Y) after each E step: it never rises.

    Examples
    --------
    >>> gram = np.diag([4.0, 2.0, 0.1, 0.0])
    >>> values, vectors, errors = em_pairs(gram, 2, steps=20, rng=np.random.default_rng(0))
    >>> values.round(6)
    array([4., 2.])
    """
    axes = rng.standard_normal((len(gram), k))
    errors = []
    for _ in range(steps):
        product = gram @ axes
        inside = axes.T @ product
        coordinates = np.linalg.solve(inside, product.T)
        errors.append(float(np.trace(gram) - np.sum(coordinates * product.T)))
        axes = np.linalg.solve(coordinates @ coordinates.T, coordinates).T
    basis = np.linalg.qr(axes)[0]
    values, rotation = np.linalg.eigh(basis.T @ gram @ basis)
    return values[::-1], basis @ rotation[:, ::-1], errors
