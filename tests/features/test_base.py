"""Boxes: where rows lie, where their middle is, and how far others lie outside."""

import numpy as np
import pytest

from gramless.features import Box, Monomials, Spectrum, maps
from gramless.features.compress import compress, exponents, tuples
from gramless.features.monomials_builder import middle
from gramless.kernels import Gaussian, Linear, Polynomial
from gramless.problem import Problem


@pytest.mark.parametrize("d", [1, 3, 16, 17, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_a_box_holds_its_rows_and_touches_them_on_every_side(d, dtype):
    x = (np.random.default_rng(0).standard_normal((20, d)) * 100).astype(dtype)
    box = Box.around(x)
    assert box.low.dtype == box.high.dtype == np.float64
    np.testing.assert_array_equal(box.low, x.min(axis=0))
    np.testing.assert_array_equal(box.high, x.max(axis=0))
    assert not box.outside(x).any()


def test_middle_sides_and_distances_of_a_box():
    box = Box(np.array([1.0, -3.0]), np.array([2.0, 5.0]))
    np.testing.assert_array_equal(box.center, [1.5, 1.0])
    np.testing.assert_array_equal(box.extent, [1.0, 8.0])
    rows = np.array([[1.0, 5.0], [0.5, 7.0], [2.25, -4.0]])
    np.testing.assert_array_equal(box.outside(rows), [[0.0, 0.0], [0.5, 2.0], [0.25, 1.0]])
    large = Box(np.array([1.6e308]), np.array([1.7e308]))
    assert large.low[0] < large.center[0] < large.high[0]


@pytest.mark.parametrize("size", [1e-300, 1e-3, 1.0, 7e5, 1e300])
def test_the_middle_for_monomials_is_round_and_near(size):
    for low, high in ((-0.9, 1.3), (5.0, 9.1), (-8.0, -7.99), (100.0, 101.5)):
        box = Box(np.array([low * size]), np.array([high * size]))
        center, unit = middle(box)
        half = (high - low) / 2 * size
        assert half / 1.5 <= unit[0] <= 1.5 * half
        assert np.frexp(unit[0])[0] == 0.5  # a power of two
        assert abs(center[0] - (low + high) / 2 * size) <= unit[0] / 8 * (1 + 1e-9)
        assert (4 * center[0] / unit[0]).is_integer()
    center, unit = middle(Box(np.array([-1.7e308, 3.0, -1.1]), np.array([1.7e308, 3.0, 0.9])))
    np.testing.assert_array_equal(center, [0.0, 3.0, 0.0])
    assert not np.signbit(center).any()
    assert np.isfinite(unit).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("center", np.zeros(3)),
        ("center", np.array([0.0, np.nan])),
        ("center", np.array([np.inf, 0.0])),
        ("unit", np.ones(1)),
        ("unit", np.array([1.0, 0.0])),
        ("unit", np.array([1.0, -2.0])),
        ("unit", np.array([np.inf, 1.0])),
        ("unit", np.array([np.nan, 1.0])),
    ],
)
def test_a_center_or_unit_that_is_none_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"{name}="):
        Monomials(Linear(), 2, **{name: value})


def test_monomials_have_the_same_axes_wherever_they_are_centred():
    plain, moved = Monomials(Polynomial(2), 2), Monomials(Polynomial(2), 2, np.ones(2), np.full(2, 0.5))
    assert plain.same_axes(moved)
    assert not plain.same_space(moved)
    assert plain.same_space(Monomials(Polynomial(2), 2, np.zeros(2), np.ones(2)))
    assert not plain.same_space(Monomials(Polynomial(2), 2, np.zeros(2), np.full(2, 0.5)))
    assert not plain.same_space(Monomials(Polynomial(2), 2, np.ones(2)))
    for other in (Monomials(Polynomial(3), 2), Monomials(Polynomial(2), 3)):
        assert not plain.same_axes(other)
        assert not plain.same_space(other)


def test_products_with_coefficients_are_made_in_chunks_that_meet():
    """2048 features: about a thousand rows at a time."""
    x = np.random.default_rng(0).standard_normal((2100, 2047))
    phi, axes = Monomials(Polynomial(1, 1.0), 2047), np.zeros((2048, 2))
    axes[0, 0], axes[5, 1] = 1.0, 2.0
    found = phi.dot(x, axes)
    np.testing.assert_allclose(found, np.column_stack([np.ones(2100), 2 * x[:, 4]]), rtol=1e-12)


def test_a_spectrum_is_rigorous_unless_it_says_otherwise():
    found = Spectrum(np.ones(1), np.ones((1, 1)), np.ones(2), np.ones(2), np.zeros(1))
    assert (found.kind, found.failure_probability) == ("rigorous", 0.0)


def test_no_variables_have_one_monomial_of_degree_zero_and_no_other():
    assert [tuples(0, degree).shape for degree in range(3)] == [(1, 0), (0, 1), (0, 2)]
    assert [compress(np.zeros((0, 4)), degree).shape for degree in range(3)] == [(1, 4), (0, 4), (0, 4)]
    assert exponents(0, 2).shape == (0, 0)


BUILDERS = [
    ("taylor", Gaussian(1.0)),
    ("composite", Gaussian(1.0) + Gaussian(2.0)),
    ("landmarks", Gaussian(1.0)),
    ("monomials", Polynomial(2)),
]


@pytest.mark.parametrize(("name", "kernel"), BUILDERS)
def test_builders_say_whether_they_need_a_box_and_take_tensors(name, kernel):
    x, builder = np.random.default_rng(0).uniform(size=(40, 2)), maps[name]
    nowhere = Problem(40, 2, kernel, 2, 1e-3, 10**9, peak=0.1)
    boxed = Problem(40, 2, kernel, 2, 1e-3, 10**9, peak=0.1, low=np.zeros(2), high=np.ones(2))
    assert builder.boxed == ("box" in builder.estimate(nowhere).refusal)
    assert builder.make(boxed, x, np.ones(40), np.random.default_rng(0)).tensors == builder.tensors is True


def test_no_multiple_of_a_kernel_has_features_that_are_nothing():
    x = np.random.default_rng(0).standard_normal((4, 2))
    phi = Monomials(0.0 * Polynomial(2), 2)
    assert not phi(x).any()
    moments = phi.moments(x, np.ones(4))
    assert moments.trace == 0
    assert not moments.solve(2, 0.0, np.random.default_rng(0)).upper.any()


@pytest.mark.parametrize(("name", "kernel"), BUILDERS)
def test_prices_grow_with_the_work_and_no_faster(name, kernel):
    """The planner only compares them; yet a price that is a million times off would choose for it."""

    def price(n, d=2, tol=1e-6, threads=1):
        box = {"low": np.zeros(d), "high": np.ones(d), "peak": 0.1}
        return maps[name].estimate(Problem(n, d, kernel, 2, tol, 10**10, threads=threads, **box))

    some, more, most = (price(n) for n in (10**5, 10**6, 10**7))
    assert 2 * some.seconds < more.seconds < 10.5 * some.seconds
    assert 5 * more.seconds < most.seconds < 10.5 * more.seconds
    assert 1e-2 < more.seconds < 1e3
    assert more.seconds / 4.5 < price(10**6, threads=4).seconds < more.seconds / 2
    assert price(10**6, d=4).seconds > more.seconds
    assert price(10**6, threads=4).bytes > more.bytes
    assert 2**16 < some.bytes <= more.bytes < 2**30
    assert price(10**6, d=4).bytes >= more.bytes
