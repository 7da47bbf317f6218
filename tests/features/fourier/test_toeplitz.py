"""Moments of Fourier features: sums over rows that add, and bounds that add with them."""

from dataclasses import replace

import numpy as np
import pytest

from gramless.arrays import unit_roundoff
from gramless.features import Box, fourier_map
from gramless.kernels import Gaussian, Matern

X = np.random.default_rng(0).random((9, 2)) * [1.0, 0.3]
W = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.0])
SMOOTH = fourier_map(3.0 * Gaussian(0.8), Box.around(X), 1e-6)
ROUGH = fourier_map(Matern(0.5, 0.5), Box.around(X[:, :1]), 0.2)


def solve(moments, k=2):
    return moments.solve(k, 1e-12, np.random.default_rng(0))


@pytest.mark.parametrize(("phi", "x"), [(SMOOTH, X), (ROUGH, X[:, :1])])
def test_moments_are_those_of_the_features(phi, x):
    moments, features = phi.moments(x, W), phi(x)
    mean = W @ features / W.sum()
    assert (moments.weight, moments.squares, moments.rows) == (W.sum(), W @ W, 9)
    np.testing.assert_allclose(moments.mean, mean, atol=2 * moments.slip / W.sum())
    assert moments.mean_norm2 == pytest.approx(moments.mean @ moments.mean, rel=1e-14)
    phase = np.column_stack(phi.grid.angles(x)) @ phi.grid.modes.T
    assert np.abs(moments.first_sums - W @ np.exp(-1j * phase)).max() <= moments.slip
    assert moments.slip <= (0.05 if phi is ROUGH else 1e-6) * W.sum()
    # frequencies left out make the diagonal k(0), and next to nothing elsewhere
    lacking = phi.grid.peak - phi.grid.weights.sum()
    exact = W @ (features**2).sum(axis=1) - W.sum() * (mean @ mean) + lacking * (W.sum() - W @ W / W.sum())
    assert moments.trace == pytest.approx(exact, rel=2e-3 if phi is ROUGH else 1e-6)


def bounded(slip, left_out, **changed):
    return replace(SMOOTH.moments(X, W), slip=slip, left_out=left_out, **changed)


def test_bounds_add_with_the_sums():
    a, b = bounded(0.1, 0.01), bounded(0.2, 0.03, weight=2 * W.sum(), squares=7.0, rows=4)
    both = a + b
    np.testing.assert_array_equal(both.sums, a.sums + b.sums)
    assert (both.weight, both.squares, both.rows) == (3 * W.sum(), W @ W + 7.0, 13)
    assert both.left_out == pytest.approx(0.04)
    assert both.slip == pytest.approx(0.3)
    exact = replace(a, slip=0.0) + replace(b, slip=0.0)
    assert exact.slip >= unit_roundoff() * 3 * W.sum()  # of the sum itself
    kinds = ("rigorous", "probabilistic")
    for one in kinds:
        for other in kinds:
            kind = (replace(a, kind=one) + replace(b, kind=other)).kind
            assert kind == ("rigorous" if one == other == "rigorous" else "probabilistic")


def test_rows_that_are_taken_out_leave_the_others_and_both_errors():
    whole, part = bounded(0.1, 1.0), replace(SMOOTH.moments(X[:4], W[:4]), slip=0.2, left_out=0.25)
    rest = whole - part
    np.testing.assert_allclose(rest.sums, SMOOTH.moments(X[4:], W[4:]).sums, atol=1e-5)
    assert rest.slip == pytest.approx(0.3)
    assert (rest.rows, rest.weight, rest.squares) == (5, W[4:].sum(), pytest.approx(W[4:] @ W[4:]))
    assert rest.left_out == pytest.approx(W[4:].sum() * SMOOTH.grid.tail)  # not what is left of a bound
    small = replace(whole, left_out=1e-9) - part
    assert small.left_out == 1e-9  # fewer rows have no larger norm
    none = whole - whole
    assert (none.weight, none.left_out, none.trace) == (0, 0, 0)
    assert (replace(whole, weight=whole.weight * (1 - 5e-16)) - whole).left_out == 0
    with pytest.raises(ValueError, match="leaves no rows"):
        replace(whole, weight=whole.weight * (1 - 1e-12)) - whole


def test_weights_times_a_factor():
    here = bounded(0.1, 0.01)
    there = here.scaled(4.0)
    np.testing.assert_array_equal(there.sums, 4 * here.sums)
    assert (there.weight, there.squares) == (4 * W.sum(), 16 * (W @ W))
    assert (there.slip, there.left_out) == (pytest.approx(0.4), pytest.approx(0.04))
    assert bounded(0.0, 0.0).scaled(4.0).slip >= 4 * unit_roundoff() * W.sum()


@pytest.mark.parametrize("left_out", [0.01, 0.05, 0.2])
def test_values_move_by_what_equal_weights_would_add_and_residuals_cover_all_that_may_be(left_out):
    """The part left out is T with 0 <= T <= left_out: the residual of a moved value holds for both ends."""
    moments = replace(ROUGH.moments(X[:, :1], W), left_out=left_out)
    alike = moments.grid.tail * (W @ W) / W.sum()
    assert 0.01 < alike < 0.1
    plain, found = solve(replace(moments, left_out=0.0)), solve(moments)
    moved = found.values - plain.values
    np.testing.assert_allclose(moved, min(alike, left_out), rtol=1e-9)
    np.testing.assert_allclose(found.residual - plain.residual, np.maximum(moved, left_out - moved), rtol=1e-9)
    np.testing.assert_allclose(found.upper - plain.upper, left_out, rtol=1e-9)
    np.testing.assert_array_equal(found.lower, plain.lower)
    assert solve(replace(moments, kind="probabilistic")).kind == "probabilistic"
    assert found.kind == "rigorous"


def test_values_that_rounding_made_negative_are_none():
    """One row has no variance: what is left is rounding, and the part left out."""
    moments = SMOOTH.moments(X[:1], np.ones(1))
    found = solve(moments, 3)
    assert (found.lower == 0).all()
    assert (found.values >= 0).all()
    assert (found.upper <= moments.left_out + 1e-4).all()
    assert moments.trace <= 1e-7


def test_errors_of_all_sums_that_work_together():
    """Sums that are off by as much as stated, all in one direction, still have their eigenvalues inside."""
    moments = SMOOTH.moments(X, W)
    off = 1e-3 * W.sum()
    for sign in (1.0, -1.0):
        wrong = replace(moments, sums=moments.sums + sign * off, slip=moments.slip + off)
        truth, found = solve(moments), solve(wrong)
        assert (found.lower[:2] <= truth.values).all()
        assert (truth.values <= found.upper[:2]).all()
        assert (np.abs(found.values - truth.values) <= found.residual).all()


def test_every_error_of_the_sums_widens_the_intervals_by_what_it_may_do():
    """Images of a box that nearly fills a period; frequencies left out, upwards alone; errors of the sums."""
    x = np.random.default_rng(0).random((20, 1))
    moments = fourier_map(Gaussian(0.5), Box.around(x), 1e-12).moments(x, np.ones(20))

    def solve(**changed):
        return replace(moments, **changed).solve(2, 1e-12, np.random.default_rng(0))

    plain = solve()
    grid = moments.grid
    crowded = replace(grid, box=Box(grid.box.low, grid.box.low + grid.axes.periods - 3 * 0.5))
    more = 20 * (crowded.aliasing - grid.aliasing)
    assert 0.1 < more < 1
    images = solve(grid=crowded)
    np.testing.assert_allclose(images.upper - plain.upper, more, rtol=1e-6)
    np.testing.assert_allclose(plain.lower[0] - images.lower[0], more, rtol=1e-6)
    np.testing.assert_allclose(images.residual - plain.residual, more, rtol=1e-6)
    left_out = solve(left_out=moments.left_out + 1e-3)
    np.testing.assert_allclose(left_out.upper - plain.upper, 1e-3, rtol=1e-6)
    np.testing.assert_array_equal(left_out.lower, plain.lower)
    off = solve(slip=moments.slip + 1e-5)
    assert (off.upper[:2] - plain.upper[:2] >= 3e-5 * (1 - 1e-6)).all()
    assert (plain.lower[:2] - off.lower[:2] >= 3e-5 * (1 - 1e-6)).all()


def test_different_boxes_do_not_mix():
    x = np.linspace(0, 1, 5)[:, None]
    one, two = (fourier_map(Gaussian(1.0), Box.around(x * side), 1e-6) for side in (1.0, 2.0))
    assert one.same_space(fourier_map(Gaussian(1.0), Box.around(x), 1e-6))
    assert not one.same_space(two)
    assert not one.same_space(fourier_map(Gaussian(2.0), Box.around(x), 1e-6))
    with pytest.raises(ValueError, match="domain"):
        one.moments(x, np.ones(5)) + two.moments(x, np.ones(5))
    with pytest.raises(ValueError, match=r"outside the box .* domain"):
        one.moments(2 * x, np.ones(5))
    with pytest.raises(ValueError, match="leaves no rows"):
        one.moments(x[:2], np.ones(2)) - one.moments(x, np.ones(5))


def test_no_weight_at_all():
    x = np.linspace(0, 1, 5)[:, None]
    phi = fourier_map(Gaussian(1.0), Box.around(x), 1e-6)
    for moments in (phi.moments(x, np.zeros(5)), phi.moments(x[:0], np.zeros(0))):
        assert (moments.weight, moments.trace, moments.mean_norm2) == (0, 0, 0)
        nothing = moments.solve(2, 1e-6, np.random.default_rng(0))
        assert not nothing.values.any()
        assert not nothing.upper.any()
        assert (nothing.values.shape, nothing.lower.shape, nothing.axes.shape) == ((2,), (3,), (phi.n_features, 2))
        assert np.array_equal((moments + phi.moments(x, np.ones(5))).sums, phi.moments(x, np.ones(5)).sums)
