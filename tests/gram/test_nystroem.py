"""The Nyström approximation never exceeds the Gram matrix, however ill-conditioned the landmarks are."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from gramless.gram import CenteredGram, Nystroem, TiledGram
from gramless.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial

KERNELS = [Gaussian(1.5), Gaussian(0.05), Gaussian(1e4), Laplacian(2.0), Matern(1.5, 1.0), Polynomial(3, 1.0), Linear()]


def exact(kernel, x, weights):
    return CenteredGram(TiledGram(kernel, x, weights)).to_dense()


def rows(seed, n, kind):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3))
    if kind == "repeated":
        x = x[rng.integers(0, max(1, n // 6), n)]
    elif kind == "clustered":
        x = 1e-6 * x + 3 * rng.standard_normal((4, 3))[rng.integers(0, 4, n)]
    elif kind == "far":
        x[0] *= 1e6
    return x


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@given(
    st.integers(0, 2**31),
    st.integers(20, 90),
    st.sampled_from(["plain", "repeated", "clustered", "far"]),
    st.booleans(),
)
def test_floors_are_lower_bounds(kernel, seed, n, kind, weighted):
    x, rng = rows(seed, n, kind), np.random.default_rng(seed)
    weights = rng.choice([0.0, 1e-3, 1.0, 50.0], n) if weighted else np.ones(n)
    weights[:2] = 1.0
    near = Nystroem(kernel, x, weights, x[rng.integers(0, n, n // 2)])
    matrix = exact(kernel, x, weights)
    truth = np.linalg.eigvalsh(matrix)[::-1][: len(near.floors)]
    rounding = (
        4 * n * np.finfo(float).eps * (np.abs(matrix).sum(axis=1).max() + np.abs(kernel(x)).max() * weights.sum())
    )
    assert (near.floors <= truth + rounding).all()
    assert (near.floors >= 0).all()
    assert (np.diff(near.floors) <= 0).all()


def test_floors_are_near_where_landmarks_are_many():
    x = rows(0, 200, "plain")
    near = Nystroem(Gaussian(2.0), x, np.ones(200), x[:100])
    truth = np.linalg.eigvalsh(exact(Gaussian(2.0), x, None))[::-1]
    np.testing.assert_allclose(near.floors[:8], truth[:8], rtol=5e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_vectors_and_inverse_belong_to_one_operator(weighted, sparse):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((150, 4)) * (rng.random((150, 4)) < 0.7)
    weights = rng.random(150) + 0.1 if weighted else np.ones(150)
    given_rows = scipy.sparse.csr_array(x) if sparse else x
    near = Nystroem(Gaussian(2.0), given_rows, weights, given_rows[:60])
    good = int((near.values > 1e-4 * near.values[0]).sum())
    vectors = near.vectors(good)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(good), atol=1e-3)  # kernel values are in float32
    np.testing.assert_allclose(np.sqrt(weights) @ vectors, 0, atol=1e-12)
    every = near.vectors(len(near.values))
    matrix = every * near.values @ every.T
    residuals = rng.standard_normal((150, 3))
    residuals -= np.outer(np.sqrt(weights), np.sqrt(weights) @ residuals) / weights.sum()
    shifts = near.values[0] * np.array([1.1, 1.3, 2.0])
    found = near.solve(residuals, shifts)
    back = np.stack([matrix @ f - s * f for f, s in zip(found.T, shifts, strict=True)], axis=1)
    np.testing.assert_allclose(back, residuals, atol=2e-3 * np.abs(residuals).max())


def test_a_shift_at_an_eigenvalue_is_no_division_by_zero():
    x = rows(0, 80, "plain")
    near = Nystroem(Gaussian(2.0), x, np.ones(80), x[:40])
    assert np.isfinite(near.solve(near.vectors(2), near.values[:2])).all()
