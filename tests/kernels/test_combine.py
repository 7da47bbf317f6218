"""Laws of sums, products and multiples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.kernels import (
    Epanechnikov,
    FromCallable,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Product,
    Scaled,
    Sum,
    Tanh,
)

unknown = FromCallable(lambda x, y: float(x @ y))


@given(n=st.integers(1, 8), m=st.integers(1, 8), d=st.integers(1, 5), offset=st.sampled_from([0.0, 1e3]))
def test_values(n, m, d, offset):
    rng = np.random.default_rng(n + 10 * m + 100 * d)
    x, y = rng.standard_normal((n, d)) + offset, rng.standard_normal((m, d)) + offset
    a, b = Gaussian(1.5), Tanh(0.1, -0.5)
    np.testing.assert_allclose((a + b)(x, y), a(x, y) + b(x, y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose((a * b)(x, y), a(x, y) * b(x, y), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal((2.0 * a)(x, y), 2 * a(x, y))
    np.testing.assert_array_equal((a * 2)(x, y), 2 * a(x, y))
    np.testing.assert_allclose((a * (a + b))(x), (a * a + a * b)(x), rtol=1e-12, atol=1e-12)


def test_operators_build_values():
    a, b = Gaussian(1.0), Linear()
    assert a + b == Sum(a, b)
    assert a * b == Product(a, b)
    assert 2.0 * a == a * 2.0 == Scaled(a, 2.0)
    assert np.float64(2.0) * a == Scaled(a, 2.0)
    assert len({a + b, Sum(a, b), a * b}) == 2
    with pytest.raises(TypeError):
        a + 1.0
    with pytest.raises(TypeError):
        a * "2"


@pytest.mark.parametrize(
    ("kernel", "mercer"),
    [
        (Gaussian() + Linear(), True),
        (Gaussian() * Linear(), True),
        (Gaussian() + Tanh(), None),  # the Gaussian may outweigh it
        (Tanh() * Tanh(), None),
        (Gaussian() + unknown, None),
        (Gaussian() * unknown, None),
        (2.0 * Gaussian(), True),
        (2.0 * Tanh(), False),
        (2.0 * unknown, None),
        (0.0 * Tanh(), True),
        (0.0 * unknown, True),
        (-1.0 * Gaussian(), False),
        (-1.0 * (-1.0 * Gaussian()), None),
        (-1.0 * unknown, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_mercer(kernel, mercer):
    assert kernel.mercer is mercer


def test_flags():
    assert (Gaussian() + Linear()).shift_invariant  # the Gaussian profits
    assert not (Polynomial() + Linear()).shift_invariant
    assert (2.0 * Gaussian()).shift_invariant
    assert (Gaussian() * Epanechnikov()).nonnegative
    assert not (Gaussian() + Linear()).nonnegative
    assert (3.0 * Gaussian()).nonnegative
    assert not (-3.0 * Gaussian()).nonnegative
    assert (Gaussian() + Linear()).draftable
    assert not (Gaussian() + Laplacian()).draftable
    assert not (2.0 * Laplacian()).draftable


def test_only_the_invariant_part_is_shifted():
    x = np.array([[1.0], [2.0]])
    both = Gaussian() + Linear()
    shift = np.array([1.5])
    prepared = both.prepare(x, shift)
    np.testing.assert_allclose(both.evaluate(prepared, prepared), Gaussian()(x) + x @ x.T)
    assert both.radius(prepared) == pytest.approx(2.0)


def test_bounds_multiply_and_add():
    assert (Gaussian() + Linear()).bound(2.0) == 5.0
    assert (Linear() * Linear()).bound(2.0) == 16.0
    assert (-3.0 * Linear()).bound(2.0) == 12.0
    assert (0.0 * unknown).bound(2.0) == 0.0


def test_a_product_of_unknown_size_states_no_error_it_cannot_keep():
    assert (unknown * unknown).rounding(1.0, 2, 2.0**-53).relative < 1e-15
    assert (unknown * Linear()).rounding(1.0, 2, 2.0**-53).absolute == np.inf
    assert (unknown + unknown).rounding(1.0, 2, 2.0**-53).absolute == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sum(Linear(), 3), "right=3 must be a kernel"),
        (lambda: Product("x", Linear()), "left='x' must be a kernel"),
        (lambda: Scaled(Linear(), float("nan")), "factor=nan must be a finite number"),
        (lambda: Scaled(2.0), "kernel=2.0 must be a kernel"),
    ],
)
def test_messages(make, message):
    with pytest.raises(ValueError, match=message):
        make()
