"""A grid of frequencies: its weights by Poisson's formula, and bounds on what it leaves out that are attained."""

from dataclasses import replace

import numpy as np
import pytest

from gramless.features import Box
from gramless.features.fourier.grid import choose_axes, distance_values, make_grid
from gramless.kernels import Gaussian, Laplacian, Linear, Matern

KERNELS = [Gaussian(0.7), 3.0 * Gaussian(0.7), Matern(1.5, 0.7), Laplacian(0.7)]


def grid_of(kernel, sides, error):
    low = np.arange(len(sides)) - 2.0
    box = Box(low, low + np.array(sides))
    return make_grid(kernel, box, choose_axes(kernel, box.extent, error), error, goal=error)


def sum_of(grid, displacement):
    """What the grid makes of the kernel at displacements (n, d)."""
    phase = 2 * np.pi * (displacement / grid.axes.periods) @ grid.modes.T
    return np.cos(phase) @ grid.weights


def worst(grid, displacement):
    exact = distance_values(grid.kernel, np.linalg.norm(displacement, axis=1))
    return np.abs(exact - sum_of(grid, displacement)).max()


@pytest.mark.parametrize(
    ("kernel", "sides", "error"),
    [
        *((kernel, sides, 1e-6) for kernel in KERNELS[:2] for sides in [(1.0,), (1.0, 0.4), (0.5, 0.0, 0.2)]),
        (Matern(1.5, 0.7), (1.0,), 1e-4),
        (Matern(1.5, 0.7), (1.0, 0.4), 1e-2),
        (Matern(1.5, 0.7), (0.5, 0.0, 0.2), 0.3),
        (Laplacian(0.7), (1.0,), 1e-2),
        (Laplacian(0.7), (1.0, 0.4), 0.3),
    ],
)
def test_the_error_holds_wherever_two_points_may_be(kernel, sides, error):
    grid = grid_of(kernel, sides, error)
    assert grid.peak == kernel.bound(0.0)
    reach = np.array(sides) + grid.axes.reach
    displacement = np.random.default_rng(0).uniform(-1, 1, (300, len(sides))) * reach
    displacement[:2] = [0 * reach, reach]
    assert worst(grid, displacement) <= grid.error <= 1.01 * error
    assert distance_values(kernel, np.array([grid.axes.reach]))[0] <= grid.error
    inside = np.random.default_rng(1).uniform(-1, 1, (300, len(sides))) * sides
    assert worst(grid, inside) <= grid.tail + grid.aliasing
    assert grid.tail + grid.aliasing <= grid.error


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sides", [(1.0,), (1.0, 0.4)])
def test_the_tail_is_what_the_grid_lacks_of_the_diagonal(kernel, sides):
    """All frequencies make k(0) and its images: what a coarse grid lacks is their weight."""
    grid = grid_of(kernel, sides, 0.3 if kernel == Laplacian(0.7) else 0.01)
    lacking = grid.peak - sum_of(grid, np.zeros((1, len(sides))))[0]
    assert lacking > 1e-4
    assert lacking <= grid.tail <= lacking + 1.1 * grid.aliasing + 1e-13


def crowded(kernel, gap):
    """A grid of one axis, complete, whose box leaves no more than `gap` to its own images."""
    grid = grid_of(kernel, (1.0,), 1e-9)
    return replace(grid, box=Box(grid.box.low, grid.box.low + grid.axes.periods - gap))


@pytest.mark.parametrize("kernel", KERNELS[:2])
def test_images_are_met_at_the_ends_of_the_box(kernel):
    grid = crowded(kernel, 1.5)
    met = worst(grid, np.array([grid.box.extent]))
    assert 0.05 < met <= grid.aliasing + grid.tail
    assert grid.aliasing <= met * (1 + 1e-6)


@pytest.mark.parametrize("kernel", KERNELS[:2])
def test_a_new_point_may_meet_an_image_at_the_reach(kernel):
    grid = crowded(kernel, 3.0)
    near = replace(grid, axes=replace(grid.axes, reach=1.5))
    met = worst(near, np.array([near.box.extent + 1.5]))
    assert 0.05 < met <= near.error <= met * (1 + 1e-6)


def test_light_frequencies_go_in_pairs_and_together_weigh_less_than_allowed():
    kernel, box = Gaussian(0.3), Box(np.zeros(2), np.ones(2))
    axes = choose_axes(kernel, box.extent, 1e-4)
    grid, whole = make_grid(kernel, box, axes, 1e-4, goal=1e-4), make_grid(kernel, box, axes, 1e-300, goal=1e-4)
    assert len(whole.weights) == axes.n_modes == np.prod([2 * m + 1 for m in axes.counts])
    assert axes.shape == tuple(4 * m + 1 for m in axes.counts)
    assert 0 < whole.weights.sum() - grid.weights.sum() <= 1e-4 / 4
    assert len(grid.weights) < 0.8 * len(whole.weights)
    np.testing.assert_array_equal(grid.modes, -grid.modes[::-1])
    np.testing.assert_array_equal(grid.weights, grid.weights[::-1])
    assert tuple(np.abs(grid.modes).max(axis=0)) == grid.axes.counts


def test_of_any_error_the_heaviest_frequency_is_kept():
    kernel, box = Gaussian(0.3), Box(np.zeros(2), np.ones(2))
    grid = make_grid(kernel, box, choose_axes(kernel, box.extent, 1e-2), 1e3, goal=1e3)
    np.testing.assert_array_equal(grid.modes, [[0, 0]])
    assert grid.axes.counts == (1, 1)


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_units_of_length_do_not_matter(unit):
    for one, other in ((Gaussian(0.7), Gaussian(0.7 * unit)), (Matern(1.5, 0.7), Matern(1.5, 0.7 * unit))):
        here, there = (
            choose_axes(one, np.array([1.0, 0.4]), 1e-3),
            choose_axes(other, unit * np.array([1.0, 0.4]), 1e-3),
        )
        assert there.counts == here.counts
        np.testing.assert_allclose(there.periods, unit * here.periods, rtol=1e-12)
        assert here.reach == pytest.approx(there.reach / unit, rel=1e-12)


def test_frequencies_have_places_and_points_have_angles():
    grid = grid_of(Gaussian(0.5), (1.0, 0.4), 1e-3)
    shape = grid.axes.shape
    marked = np.zeros(shape)
    marked.reshape(-1)[grid.places(shape)] = grid.weights
    for mode, weight in zip(grid.modes, grid.weights, strict=True):
        assert marked[tuple(mode + np.array(shape) // 2)] == weight
    x = np.array([[-2.0, -1.0], [-1.5, -0.8], [-1.0, -0.6]])
    expected = 2 * np.pi * (x - [-1.5, -0.8]) / grid.axes.periods
    np.testing.assert_allclose(np.column_stack(grid.angles(x)), expected, atol=1e-15)


def test_grids_match_if_all_that_makes_features_is_the_same():
    grid = grid_of(Gaussian(0.5), (1.0,), 1e-3)
    assert grid.matches(grid_of(Gaussian(0.5), (1.0,), 1e-3))
    others = [
        replace(grid, kernel=Gaussian(0.6)),
        replace(grid, box=Box(grid.box.low - 1, grid.box.high)),
        replace(grid, box=Box(grid.box.low, grid.box.high + 1)),
        replace(grid, axes=replace(grid.axes, periods=2 * grid.axes.periods)),
        replace(grid, modes=grid.modes[1:-1], weights=grid.weights[1:-1]),
    ]
    assert not any(grid.matches(other) for other in others)


def test_a_kernel_without_a_transform_is_refused():
    with pytest.raises(ValueError, match="the Fourier transform of Linear"):
        choose_axes(Linear(), np.ones(1), 1e-3)
