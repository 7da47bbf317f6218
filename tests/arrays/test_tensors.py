"""Products of tall tensors equal those of arrays."""

import numpy as np
import pytest
from scipy import special

from gramless.arrays import (
    beside,
    inner,
    inner_rounding,
    like,
    lower_gamma,
    normal_columns,
    orthonormalize,
    row_inner,
    times,
    to_numpy,
    triangular_solve,
)
from gramless.arrays.gpu_rates import coarse

torch = pytest.importorskip("torch", reason="torch is not installed")


def block(n, b, seed=0):
    return np.random.default_rng(seed).standard_normal((n, b))


@pytest.mark.parametrize("n", [1, 255, 256, 8192, 8193, 20000])
def test_inner_products_are_within_the_bound(n):
    a, b = block(n, 3), block(n, 2, 1)
    exact = np.array([[np.dot(x.astype(np.longdouble), y.astype(np.longdouble)) for y in b.T] for x in a.T])
    slack = 1.1 * inner_rounding(n) * np.outer(np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0))
    assert (np.abs(inner(torch.as_tensor(a), torch.as_tensor(b)) - exact) <= slack).all()
    assert (np.abs(inner(a, b) - exact) <= slack).all()


def test_times_and_beside_keep_to_their_kind():
    a, small = block(50, 4), block(4, 2, 1)
    product = times(torch.as_tensor(a), small)
    assert isinstance(product, torch.Tensor)
    np.testing.assert_allclose(product.numpy(), times(a, small), rtol=1e-13)
    np.testing.assert_array_equal(to_numpy(beside(torch.as_tensor(a), a)), np.hstack([a, a]))
    assert isinstance(like(a, np.ones(1)), np.ndarray)


@pytest.mark.parametrize("spread", [0, 6, 13])
def test_orthonormal_columns_of_ill_conditioned_blocks(spread):
    a = block(3000, 8) @ np.diag(10.0 ** -np.linspace(0, spread, 8)) @ block(8, 8, 1)
    against = np.linalg.qr(block(3000, 3, 2))[0]
    a -= against @ (against.T @ a)
    basis, coefficients = orthonormalize(torch.as_tensor(a), torch.as_tensor(against), drop=0.0)
    basis = basis.numpy()
    assert np.abs(basis.T @ basis - np.eye(basis.shape[1])).max() < 1e-13
    assert np.abs(against.T @ basis).max() < 1e-13
    np.testing.assert_allclose(basis @ coefficients, a, atol=1e-13 * np.abs(a).max())


def test_dependent_and_zero_columns_are_left_out():
    a = block(500, 3)
    basis, coefficients = orthonormalize(torch.as_tensor(np.hstack([a, a[:, :1] + a[:, 1:2], np.zeros((500, 1))])))
    assert basis.shape == (500, 3)
    assert coefficients.shape == (3, 5)
    assert np.abs(basis.numpy().T @ basis.numpy() - np.eye(3)).max() < 1e-13
    assert orthonormalize(torch.zeros((10, 2), dtype=torch.float64))[0].shape == (10, 0)


def test_wide_inner_products_are_within_the_bound():
    """So wide that the chunks are added one after the other."""
    n, width = 9000, 1500
    a = block(n, width)
    exact = np.array([a[:, j].astype(np.longdouble) @ a[:, :2].astype(np.longdouble) for j in range(3)])
    slack = 1.1 * inner_rounding(n) * np.outer(np.linalg.norm(a[:, :3], axis=0), np.linalg.norm(a[:, :2], axis=0))
    product = inner(torch.as_tensor(a), torch.as_tensor(a))
    assert (np.abs(product[:3, :2] - exact) <= slack).all()
    np.testing.assert_allclose(
        row_inner(torch.as_tensor(a[:50].T), torch.as_tensor(a[:50].T)), a[:50].T @ a[:50], atol=1e-11
    )


def test_incomplete_gamma_and_triangles_as_in_scipy():
    x = np.geomspace(1e-6, 1000, 300)
    for a in (1.0, 2.0, 8.0, 60.0, 200.0):
        exact = special.gammainc(a, x)
        seen = exact > 1e-290
        np.testing.assert_allclose(lower_gamma(a, torch.as_tensor(x)).numpy()[seen], exact[seen], rtol=4e-9)
    lower, right = np.tril(block(20, 20)) + 9 * np.eye(20), block(20, 7, 1)
    np.testing.assert_allclose(triangular_solve(lower, torch.as_tensor(right)).numpy(), triangular_solve(lower, right))


def test_normal_columns_are_the_same_for_the_same_seed_and_normal():
    rows = torch.zeros((4000, 1), dtype=torch.float64)
    first, second = (normal_columns(np.random.default_rng(3), 5, rows) for _ in range(2))
    assert torch.equal(first, second)
    assert first.shape == (4000, 5)
    np.testing.assert_allclose(first.T @ first / 4000, np.eye(5), atol=0.1)


def test_rates_are_rounded_to_half_powers_of_two():
    rates = np.geomspace(1e9, 1e15, 50)
    steps = np.log2([coarse(rate) for rate in rates]) * 2
    np.testing.assert_allclose(steps, np.round(steps))
    assert (np.abs(np.log2(rates) * 2 - steps) <= 0.5 + 1e-9).all()
