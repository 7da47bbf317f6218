"""What the frequencies left out add to a kernel matrix: the norm of few rows, and a sampled bound for many."""

import sys

import finufft
import numpy as np
import pytest

from gramless.features import Box, fourier_map
from gramless.features.fourier.leftover import left_out_bound
from gramless.features.fourier.nufft import promised
from gramless.kernels import Laplacian, Matern


def case(kernel, d, n, error=0.2):
    rng = np.random.default_rng(d)
    x = rng.random((n, d)) * [1.0, 0.5, 0.1][:d]
    phi = fourier_map(kernel, Box.around(x), error)
    return phi, x, rng


def left_out(phi, x, weights):
    """D^1/2 (K - K_grid) D^1/2."""
    roots, features = np.sqrt(weights), phi(x)
    return roots[:, None] * (phi.kernel(x) - features @ features.T) * roots


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kernel", [Laplacian(0.5), 2.0 * Matern(1.5, 0.5)])
def test_of_few_rows_it_is_the_norm(kernel, d):
    phi, x, rng = case(kernel, d, 30)
    x[10:20] = x[0] + 1e-3 * rng.random((10, d))  # close together, they lose most
    x = np.clip(x, phi.grid.box.low, phi.grid.box.high)
    weights = rng.integers(0, 4, 30).astype(float)
    found, kind = left_out_bound(phi.grid, x, weights, 1e-12, 0)
    exact = np.linalg.norm(left_out(phi, x, weights), 2)
    assert exact <= found <= exact * (1 + 1e-6) + weights.sum() * phi.grid.aliasing
    assert phi.grid.aliasing * weights.sum() < 0.1 * exact
    assert kind == "rigorous"
    coarse, _ = left_out_bound(phi.grid, x, weights, 1e-3, 0)
    assert exact <= coarse <= exact + 6e-3 * weights.sum() * phi.grid.peak


def test_it_is_never_more_than_all_rows_in_one_place_would_lose():
    phi, x, _ = case(Laplacian(0.5), 1, 20)
    weights = np.full(20, 0.5)
    together = np.repeat(x[:1], 20, axis=0)
    assert left_out_bound(phi.grid, together, weights, 1e-2, 0)[0] == pytest.approx(10 * phi.grid.tail, rel=1e-12)


class Off:
    """finufft, but values at points are too large by the same amount."""

    def __init__(self, amount):
        self.amount = amount

    def __getattr__(self, name):
        return lambda *given, **settings: getattr(finufft, name)(*given, **settings) + self.amount


@pytest.mark.parametrize("n", [100, 500])
def test_errors_of_the_sums_as_large_as_promised_hide_nothing(monkeypatch, n):
    """Rows so close together that all of their kernel matrix is off alike."""
    phi, x, _ = case(3.0 * Laplacian(0.5), 1, n)
    x = x[:1] + 1e-9 * x
    weights = np.full(n, 0.25)
    eps = 0.1 * phi.grid.tail / phi.grid.peak
    amount = promised(eps, (2 * phi.grid.axes.counts[0] + 1,)) * phi.grid.peak
    assert 0.2 * phi.grid.tail < amount < 0.9 * phi.grid.tail
    monkeypatch.setitem(sys.modules, "finufft", Off(amount))
    exact = np.linalg.norm(left_out(phi, x, weights), 2)
    assert exact <= left_out_bound(phi.grid, x, weights, eps, 0)[0] * (1 + 1e-9)


@pytest.mark.parametrize("last", [None, 0.0, 200.0])
def test_of_many_rows_it_is_the_frobenius_norm_from_pairs(last):
    """Pairs are drawn in proportion to the weights: never from a heap that has none, and often a heavy row twice."""
    phi, x, rng = case(Laplacian(0.3), 1, 900)
    x[:400] = x[0]
    weights = np.ones(900)
    if last is not None:
        weights = 10 ** rng.uniform(-2, 0, 900)
        weights[:400] = 0.0
        weights[-1] = last
    found, kind = left_out_bound(phi.grid, x, weights, 1e-5, 0)
    matrix = left_out(phi, x, weights)
    assert kind == "probabilistic"
    assert np.linalg.norm(matrix) <= found <= 1.15 * np.linalg.norm(matrix) + 0.02 * phi.grid.tail * weights.sum()


def test_400_rows_are_few():
    phi, x, _ = case(Laplacian(0.3), 1, 420)
    weights = np.ones(420)
    weights[400:] = 0
    assert left_out_bound(phi.grid, x, weights, 1e-6, 0)[1] == "rigorous"
    weights[400] = 1
    assert left_out_bound(phi.grid, x, weights, 1e-6, 0)[1] == "probabilistic"
