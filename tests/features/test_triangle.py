"""Solves with a triangle: as exact as stated, of well and of badly conditioned ones, in one block and in several."""

import numpy as np
import pytest
import scipy.linalg

from gramless.features.triangle import Triangle

WIDE = np.longdouble


def kahan(s, angle):
    """Triangles whose inverses are as large as can be; s steps."""
    sine, cosine = np.sin(angle), np.cos(angle)
    upper = np.eye(s) - cosine * np.triu(np.ones((s, s)), 1)
    return (sine ** np.arange(s)[:, None] * upper).T


TRIANGLES = {
    "one": np.array([[3.0]]),
    "well conditioned": np.linalg.cholesky(np.eye(40) + 0.01),
    "several blocks": np.linalg.cholesky(np.eye(150) + 0.1),
    "graded": np.tril(np.ones((90, 90))) * 2.0 ** -np.arange(90)[:, None],
    "kahan": kahan(60, 1.2),
    "badly conditioned kahan": kahan(60, 0.9),
    "kahan in blocks": kahan(130, 1.3),
}


@pytest.mark.parametrize("name", TRIANGLES)
def test_residuals_are_within_their_bound(name):
    lower = TRIANGLES[name]
    triangle, s = Triangle(lower), len(lower)
    rng = np.random.default_rng(0)
    solutions = np.vstack([np.eye(s), rng.standard_normal((20, s)), np.ones((1, s))])
    for matrix, solve in ((lower, triangle.solve), (lower.T, triangle.solve_transposed)):
        right = solutions @ matrix.T
        found = solve(right.copy())
        off = found.astype(WIDE) @ matrix.astype(WIDE).T - right.astype(WIDE)
        bound = triangle.residual(np.linalg.norm(found, axis=1), np.linalg.norm(right, axis=1))
        assert (np.sqrt((off**2).sum(axis=1)) <= bound).all()
        if "kahan" not in name:
            size = np.linalg.norm(lower) * np.linalg.norm(found, axis=1) + np.linalg.norm(right, axis=1)
            assert (bound <= 1e-13 * s * size).all()


@pytest.mark.parametrize("name", ["well conditioned", "several blocks", "graded"])
def test_solutions_are_those_of_substitution(name):
    lower, rng = TRIANGLES[name], np.random.default_rng(0)
    right = rng.standard_normal((7, len(lower)))
    triangle = Triangle(lower)
    expected = scipy.linalg.solve_triangular(lower, right.T, lower=True).T
    np.testing.assert_allclose(triangle.solve(right.copy()), expected, rtol=1e-9, atol=1e-12 * abs(expected).max())
    expected = scipy.linalg.solve_triangular(lower, right.T, lower=True, trans=1).T
    kept = right.copy()
    np.testing.assert_allclose(triangle.solve_transposed(right), expected, rtol=1e-9, atol=1e-12 * abs(expected).max())
    np.testing.assert_array_equal(right, kept)


def test_a_triangle_that_its_inverse_does_not_invert_proves_nothing():
    triangle = Triangle(kahan(60, 0.2))  # its condition number is beyond 1e17
    assert triangle.residual(np.ones(1), np.ones(1))[0] == np.inf
