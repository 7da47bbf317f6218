import numpy as np
import pytest

from gramless.kernels import (
    Cosine,
    Epanechnikov,
    FromCallable,
    Gaussian,
    Laplacian,
    Linear,
    Manhattan,
    Matern,
    Polynomial,
    QuadraticForm,
    Tanh,
)
from gramless.kernels.gradients import weighted_gradients

KERNELS = [
    Gaussian(1.3),
    Matern(1.5, 2.0),
    Laplacian(1.1),
    Epanechnikov(9.0),
    Manhattan(2.0),
    Linear(),
    Polynomial(3, 0.5, 0.2),
    Tanh(0.3, 0.1),
    Cosine(),
    QuadraticForm([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 3.0]]),
    2.5 * Gaussian(1.3),
    Gaussian(1.3) + Polynomial(2),
    Gaussian(1.3) * Polynomial(2) * 0.5,
    FromCallable(lambda x, y: float(np.cos(x - y).sum())),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_gradients_are_those_of_the_weighted_sum(kernel):
    random = np.random.default_rng(0)
    z, x, weights = random.standard_normal((4, 3)), random.standard_normal((7, 3)), random.standard_normal((4, 7))
    found, h = weighted_gradients(kernel, z, x, weights), 1e-6
    for j in range(3):
        move = h * np.eye(3)[j]
        expected = ((kernel(z + move, x) - kernel(z - move, x)) * weights).sum(axis=1) / (2 * h)
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-5, atol=1e-6)


def test_a_kernel_of_the_dot_product_has_its_slope_at_the_origin():
    found = weighted_gradients(Polynomial(3, 2.0), np.zeros((1, 2)), np.array([[1.0, -3.0]]), np.ones((1, 1)))
    np.testing.assert_allclose(found, [[12.0, -36.0]], rtol=1e-6)
