"""The scatter, applied axis by axis or written down, is that of the features."""

import numpy as np
import pytest

from gramless.features import Box, fourier_map
from gramless.features.fourier.scatter import ToeplitzScatter
from gramless.kernels import Gaussian, Matern


def case(kernel, sides, error, n=12, weights=None):
    rng = np.random.default_rng(0)
    x = rng.random((n, len(sides))) * sides
    weights = rng.random(n) if weights is None else weights
    phi = fourier_map(kernel, Box(np.zeros(len(sides)), np.array(sides)), error)
    shape = phi.grid.axes.shape
    lines = np.meshgrid(*(np.arange(-(size // 2), size // 2 + 1) for size in shape), indexing="ij")
    angles = phi.grid.angles(x)
    sums = sum(
        weight * np.exp(-1j * sum(line * angle[i] for line, angle in zip(lines, angles, strict=True)))
        for i, weight in enumerate(weights)
    )
    features = phi(x)
    moved = (features - weights @ features / weights.sum()) * np.sqrt(weights)[:, None]
    return ToeplitzScatter(phi.grid, sums, float(weights.sum())), moved


CASES = {
    "line": (Gaussian(0.2), (1.0,), 1e-6),
    "long line": (Matern(0.5, 0.05), (1.0,), 3e-2),  # by FFT
    "plane": (Gaussian(0.4), (1.0, 0.3), 1e-4),
    "space": (Gaussian(0.8), (0.5, 1.0, 0.2), 1e-2),
}


@pytest.mark.parametrize("name", CASES)
def test_the_matrix_and_its_sums_are_those_of_the_features(name):
    scatter, moved = case(*CASES[name])
    exact = moved.T @ moved
    assert scatter.shape == exact.shape
    np.testing.assert_allclose(scatter.to_dense(), exact, atol=1e-13 * np.trace(exact))
    assert scatter.trace == pytest.approx(np.trace(exact), rel=1e-12)
    squares = float(np.sum(exact**2))
    assert squares * (1 - 1e-13) <= scatter.frobenius2 <= squares * (1 + 1e-11)


@pytest.mark.parametrize("name", CASES)
def test_products_are_those_with_the_matrix_in_another_orthonormal_basis(name):
    scatter, moved = case(*CASES[name])
    block = np.random.default_rng(1).standard_normal((scatter.shape[0], 3))
    turned = scatter.to_hartley(block)
    np.testing.assert_allclose(turned.T @ turned, block.T @ block, atol=1e-12 * len(block))
    product = scatter.to_hartley(scatter @ block)
    np.testing.assert_allclose(product, moved.T @ (moved @ turned), atol=1e-12 * np.sum(moved**2))
    np.testing.assert_allclose(scatter @ block[:, 0], (scatter @ block)[:, 0], atol=1e-13 * np.sum(moved**2))
    off = np.linalg.norm(product - moved.T @ (moved @ turned), axis=0)
    assert (off <= 2 * scatter.error * np.linalg.norm(block, axis=0)).all()
    assert scatter.error <= 1e-9 * scatter.weight * scatter.grid.peak


def test_a_large_grid_is_worked_on_in_slabs():
    scatter, moved = case(Gaussian(0.02), (1.0, 0.9), 1e-4, n=5)
    b = np.random.default_rng(1).standard_normal(scatter.shape[0])
    turned = scatter.to_hartley(b[:, None])[:, 0]
    np.testing.assert_allclose(
        scatter.to_hartley((scatter @ b)[:, None])[:, 0], moved.T @ (moved @ turned), atol=1e-12 * np.sum(moved**2)
    )


def test_one_point_has_no_scatter():
    scatter, _ = case(*CASES["plane"], n=1, weights=np.array([2.0]))
    assert abs(scatter.trace) < 1e-14
    assert 0 <= scatter.frobenius2 < 1e-13
    assert np.abs(scatter.to_dense()).max() < 1e-14
