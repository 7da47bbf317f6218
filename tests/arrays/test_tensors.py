"""Products of tall tensors equal those of arrays."""

import numpy as np
import pytest

from gramless.arrays import beside, inner, inner_rounding, like, orthonormalize, times, to_numpy

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
