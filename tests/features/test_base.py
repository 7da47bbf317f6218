"""Boxes: where rows lie, where their middle is, and how far others lie outside."""

import numpy as np
import pytest

from gramless.features import Box, Monomials
from gramless.features.monomials_builder import middle
from gramless.kernels import Linear, Polynomial


@pytest.mark.parametrize("d", [1, 3, 16, 17, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_a_box_holds_its_rows_and_touches_them_on_every_side(d, dtype):
    x = (np.random.default_rng(0).standard_normal((20, d)) * 100).astype(dtype)
    box = Box.around(x)
    assert box.low.dtype == box.high.dtype == np.float64
    np.testing.assert_array_equal(box.low, x.min(axis=0))
    np.testing.assert_array_equal(box.high, x.max(axis=0))
    assert not box.outside(x).any()


def test_rows_that_know_their_box_are_not_asked_again():
    class Elsewhere:
        box = Box(np.zeros(2), np.ones(2))

    assert Box.around(Elsewhere()) is Elsewhere.box


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
