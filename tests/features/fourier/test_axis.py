import numpy as np
import pytest

from gramless.features.fourier.axis import TrigonometricAxis


def functions(count, size):
    t = 2 * np.pi * np.arange(size)[:, None] / size
    j = np.arange(1, count + 1)
    return np.hstack([np.sqrt(2) * np.sin(t * j[::-1]), np.ones((size, 1)), np.sqrt(2) * np.cos(t * j)])


@pytest.mark.parametrize("count", [1, 7, 79, 80, 150])  # up to 79 by matrices, from 80 on by FFT
@pytest.mark.parametrize("place", [-1, -2])
def test_transforms_equal_direct_sums(count, place):
    axis = TrigonometricAxis(count)
    direct = functions(count, axis.size)
    shape = (2, 3, 2 * count + 1) if place == -1 else (2, 2 * count + 1, 3)
    coefficients = np.random.default_rng(count).standard_normal(shape)
    values = axis.evaluate(coefficients, place)
    expected = np.moveaxis(np.moveaxis(coefficients, place, -1) @ direct.T, -1, place)
    bound = axis.rounding * np.sqrt(axis.size) * np.linalg.norm(coefficients)
    assert np.linalg.norm(values - expected) <= bound + 1e-13 * np.linalg.norm(expected)  # and that of the direct sums
    back = axis.gather(values, place)
    np.testing.assert_allclose(back, axis.size * coefficients, atol=1e-12 * axis.size)


def test_points_integrate_products_of_two_functions_with_a_third_of_twice_the_degree():
    axis = TrigonometricAxis(3)
    direct = functions(3, axis.size)
    t = 2 * np.pi * np.arange(axis.size) / axis.size
    for q in range(-6, 7):
        weighted = direct.T @ (np.exp(1j * q * t)[:, None] * direct) / axis.size
        fine = functions(3, 64)
        s = 2 * np.pi * np.arange(64) / 64
        np.testing.assert_allclose(weighted, fine.T @ (np.exp(1j * q * s)[:, None] * fine) / 64, atol=1e-13)
