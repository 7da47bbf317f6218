"""QR in feature space."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gramless.kernels import Gaussian, Linear
from gramless.spaces import kernel_qr


def test_with_the_linear_kernel_it_is_qr():
    rng = np.random.default_rng(0)
    points, coefficients = rng.standard_normal((7, 9)), rng.standard_normal((7, 4))
    qr = kernel_qr(Linear(), points, coefficients)
    q, r = np.linalg.qr(points.T @ coefficients)
    signs = np.sign(np.diag(r))
    np.testing.assert_allclose(points.T @ coefficients @ qr.inverse, q * signs, atol=1e-12)
    np.testing.assert_allclose(qr.triangle, signs[:, None] * r, atol=1e-12)
    np.testing.assert_allclose(qr.inverse, np.linalg.inv(qr.triangle), atol=1e-12)


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 10**6), st.floats(0.5, 20.0))
def test_orthonormal_and_complete_however_dependent_the_vectors(points, count, seed, sigma):
    rng = np.random.default_rng(seed)
    kernel, x = Gaussian(sigma), rng.standard_normal((points, 2))
    first = rng.standard_normal((points, count))
    coefficients = np.hstack([first, first @ rng.standard_normal((count, count)), np.zeros((points, 1))])
    qr, gram = kernel_qr(kernel, x, coefficients, drop=1e-4), kernel(x)
    q = coefficients @ qr.inverse
    np.testing.assert_allclose(q.T @ gram @ q, np.eye(len(qr.kept)), atol=1e-6)
    assert len(qr.kept) <= min(points, count)
    left = coefficients - q @ qr.triangle
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", left, gram @ left), 0))
    sizes = np.sqrt(np.einsum("ij,ij->j", coefficients, gram @ coefficients).clip(0))
    assert (lengths <= 3e-4 * sizes.max() + 1e-6).all()
