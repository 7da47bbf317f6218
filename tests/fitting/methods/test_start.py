"""Where block Krylov begins: leading vectors of a low-rank stand-in, near enough to the truth to save passes."""

import numpy as np
import pytest
import scipy.sparse.linalg

from gramless.datasets import resampled_digits
from gramless.fitting.methods.start import inverse_root, landmark_start
from gramless.gram import CenteredGram, TiledGram
from gramless.kernels import FromCallable, Gaussian, Tanh
from gramless.problem import Problem

N, WIDTH = 4_200, 24
ROWS = resampled_digits(N, rng=0)
WEIGHTS = np.where(np.arange(N) % 3, 1.0, 4.0)


def pose(kernel, n=N):
    return Problem(n, 64, kernel, 5, 1e-6, 10**9, threads=2, weight=float(n), peak=0.1)


def out_of(space, vectors):
    """How much of the unit `vectors` lies outside the span of `space`, each."""
    basis = np.linalg.qr(space)[0]
    return np.linalg.norm(vectors - basis @ (basis.T @ vectors), axis=0)


@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["equal", "weighted"])
def test_the_start_holds_the_leading_vectors(weights):
    kernel = Gaussian(30.0)
    centered = CenteredGram(TiledGram(kernel, ROWS, weights))
    found = scipy.sparse.linalg.eigsh(centered.to_dense(), 5)[1]
    start = landmark_start(pose(kernel), ROWS, weights, WIDTH, np.random.default_rng(0))
    assert start.shape == (N, WIDTH)
    assert out_of(start, found).max() < 0.03
    assert out_of(centered @ np.eye(N)[:, :WIDTH], found).max() > 0.2  # as many columns of the matrix
    np.testing.assert_allclose(np.sqrt(weights) @ start, 0, atol=1e-9 * np.linalg.norm(start))


def test_rows_without_weight_are_no_landmarks():
    weights = (np.arange(N) < 1_000).astype(float)
    start = landmark_start(pose(Gaussian(30.0)), ROWS, weights, WIDTH, np.random.default_rng(0))
    assert not start[1_000:].any()
    weights[300:] = 0  # fewer than there are to be landmarks: others have to join them
    few = landmark_start(pose(Gaussian(30.0)), ROWS, weights, WIDTH, np.random.default_rng(0))
    assert np.isfinite(few).all()


def test_an_indefinite_kernel_has_a_start_too():
    kernel = Tanh(1e-3, -1.0)
    start = landmark_start(pose(kernel), ROWS, np.ones(N), WIDTH, np.random.default_rng(0))
    matrix = CenteredGram(TiledGram(kernel, ROWS)).to_dense()
    vectors = scipy.sparse.linalg.eigsh(matrix, 3, which="LA")[1]
    assert out_of(start, vectors).max() < 0.2


def test_no_start_where_it_would_not_pay():
    rng = np.random.default_rng(0)
    assert landmark_start(pose(Gaussian(30.0), 4_095), ROWS[:4_095], np.ones(4_095), WIDTH, rng) is None
    assert landmark_start(pose(FromCallable(np.dot)), ROWS, np.ones(N), WIDTH, rng) is None


def test_the_inverse_root_whitens():
    x = np.random.default_rng(0).standard_normal((30, 4))
    for matrix in (x @ x.T + np.eye(30), x[:4] @ x[:4].T):
        root = inverse_root(matrix)
        np.testing.assert_allclose(root.T @ matrix @ root, np.eye(len(matrix)), atol=1e-4)
    values = np.diag([2.0, 1.0, -0.5, 1e-12])  # not definite: moduli, and nothing of what is rounding
    root = inverse_root(values)
    assert root.shape == (4, 3)
    np.testing.assert_allclose(np.sort(np.diag(root.T @ values @ root)), [-1, 1, 1], atol=1e-12)
