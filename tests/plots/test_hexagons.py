import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.plots.hexagons import hexagons


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 300]), st.booleans())
def test_every_point_is_in_the_nearest_hexagon(seed, n, regular):
    points = np.random.default_rng(seed).normal(size=(n, 2)) * [1.0, 7.0]
    found = hexagons(points, 8, regular=regular)
    assert found.counts.sum() == n
    np.testing.assert_array_equal(np.bincount(found.cell), found.counts)
    units = np.ptp(found.outline, axis=0) * [1.0, np.sqrt(3) / 2]  # in which hexagons are regular
    offsets = (points[:, None] - found.centers) / units
    distances = np.linalg.norm(offsets, axis=2)
    np.testing.assert_allclose(distances[np.arange(n), found.cell], distances.min(axis=1), atol=1e-9)
    assert distances.min(axis=1).max() <= 1 / np.sqrt(3) + 1e-9


def test_regular_hexagons_have_equal_sides():
    points = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 100.0]
    outline = hexagons(points, regular=True).outline
    sides = np.linalg.norm(outline - np.roll(outline, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, sides[0])


@pytest.mark.parametrize("points", [np.zeros((3, 2)), np.column_stack([np.arange(3.0), np.zeros(3)])])
def test_points_on_a_line_or_in_one_place(points):
    assert hexagons(points).counts.sum() == 3
