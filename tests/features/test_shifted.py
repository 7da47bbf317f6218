"""Sums of monomials whose errors are as large as stated: the intervals hold the truth, and hardly more."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from gramless.features import Monomials
from gramless.features.hankel import HankelSums
from gramless.features.shifted import ShiftedMoments
from gramless.kernels import Linear, Polynomial

RNG = np.random.default_rng(0)


@dataclass(frozen=True, eq=False)
class Stated:
    """Features that are given multiples of (u_1 .. u_d); each entry of the matrix may be off by its relative error."""

    matrix: np.ndarray
    matrix_error: float = 0.0
    step: np.ndarray | None = None

    @property
    def hankel(self):
        return HankelSums(self.matrix.shape[1], 1)

    def same_space(self, other):
        return self is other

    def transfer(self, other):
        return other.step


def stated(turn, gram, slip, matrix_error=0.0):
    """Moments of features ``turn @ u``, where `gram` holds the sums of products of (1, u)."""
    turn, gram = np.array(turn, dtype=float), np.array(gram, dtype=float)
    shift = Stated(np.column_stack([np.zeros(len(turn)), turn]), matrix_error)
    return ShiftedMoments(shift, gram[0, 0], shift.hankel.collect(gram), np.array(slip, dtype=float), 5)


def scatter_of(gram):
    return gram[1:, 1:] - np.outer(gram[0, 1:], gram[0, 1:]) / gram[0, 0]


def about_zero(scatter, weight=1.0):
    gram = np.zeros((len(scatter) + 1, len(scatter) + 1))
    gram[0, 0], gram[1:, 1:] = weight, scatter
    return gram


def extremes(turn, gram, slip, matrix_error):
    """True scatters of the features where every error is as large as it may be, in all combinations of signs."""
    turn, gram, roots = np.array(turn, dtype=float), np.array(gram, dtype=float), np.sqrt(slip)
    for signs in product([1, -1], repeat=len(roots)):
        for way in (1, -1):
            signed = np.array(signs) * roots
            truth = scatter_of(gram + way * np.outer(signed, signed))
            for factor in (1 + matrix_error, 1 - matrix_error):
                yield factor * turn @ truth @ turn.T * factor


def eigenvalues(matrix):
    return np.linalg.eigvalsh(matrix)[::-1]


def residuals(truth, found):
    """Norms of K v - l v of the Gram eigenvectors v that belong to the axes found."""
    off = truth @ found.axes - found.axes * found.values
    norms, sizes = (np.einsum("ij,ik,kj->j", one, truth, one) for one in (off, found.axes))
    return np.sqrt(np.maximum(norms, 0) / np.where(sizes > 0, sizes, 1.0))


#: features, sums, slips, error of the matrix, how much wider than the truth the intervals may be (upper, lower)
CASES = {
    "the sums of one variable": ([[3.0]], [[4.0, 2.0], [2.0, 9.0]], [1e-6, 2e-6], 0.0, [1.001]),
    "a mean below zero": ([[3.0]], [[4.0, -6.0], [-6.0, 12.0]], [4e-6, 1e-6], 0.0, [1.001]),
    "the matrix of one variable": ([[3.0]], [[4.0, 2.0], [2.0, 9.0]], [0.0, 0.0], 1e-5, [1.001]),
    "both": ([[0.1]], [[4.0, 2.0], [2.0, 9.0]], [1e-6, 2e-6], 1e-6, [1.001]),
    "two alike": (np.eye(2), about_zero([[1.0, 0.9], [0.9, 1.0]]), [0.0, 1e-6, 1e-6], 0.0, [1.002, 1.002]),
    "two of which one is small": (
        np.diag([1.0, 1e-3]), about_zero([[1.0, 0.9], [0.9, 1.0]]), [0.0, 1e-6, 1e-6], 0.0, [2.1, 1.1],
    ),
    "two in other units": (
        np.diag([1e3, 1e-3]), about_zero([[1e-6, 0.9e-3], [0.9e-3, 1.0]]), [0.0, 1e-12, 1e-6], 0.0, [2.1, 1.1],
    ),
    "a direction that is hardly known": (
        [[0.5005, 0.4995], [0.4995, 0.5005]],
        about_zero([[1.0, 1 - 1e-9], [1 - 1e-9, 1.0]]),
        [0.0, 1e-6, 1e-6],
        0.0,
        [1.01, 1.01],
    ),
    "one that never varies": (np.eye(2), about_zero([[1.0, 0.0], [0.0, 0.0]]), [0.0, 1e-6, 0.0], 0.0, [1.002, 1.0]),
    "nothing but error": ([[3.0]], [[4.0, 2.0], [2.0, 1.0]], [0.0, 1e-6], 0.0, [1.002]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_whatever_the_errors_and_are_attained(name):
    turn, gram, slip, matrix_error, room = CASES[name]
    found = stated(turn, gram, slip, matrix_error).solve(len(turn), 0.0, RNG)
    most = least = found.values
    for truth in extremes(turn, gram, slip, matrix_error):
        values = eigenvalues(truth)
        if values[-1] < 0:  # no sums have that scatter
            continue
        second = 1 + 1.01 * slip[0] / gram[0][0]  # error of the weight times all others
        assert (found.values - values <= second * (found.values - found.lower[:-1]) + 1e-14 * values[0]).all()
        assert (values - found.values <= second * (found.upper[:-1] - found.values) + 1e-14 * values[0]).all()
        assert (residuals(truth, found) <= second * found.residual + 1e-14 * values[0]).all()
        most, least = np.maximum(most, values), np.minimum(least, values)
    wide = np.array(room)
    assert (found.upper[:-1] - found.values <= wide * (most - found.values) + 1e-13 * most[0]).all()
    assert (found.values - found.lower[:-1] <= wide * (found.values - least) + 1e-13 * most[0]).all()
    plain = eigenvalues(np.array(turn) @ scatter_of(np.array(gram)) @ np.array(turn).T)
    np.testing.assert_allclose(found.values, plain, rtol=1e-9, atol=1e-15 * plain[0])


@pytest.mark.parametrize("name", CASES)
def test_intervals_have_no_unit(name):
    turn, gram, slip, matrix_error, _ = CASES[name]
    plain = stated(turn, gram, slip, matrix_error).solve(1, 0.0, RNG)
    for unit, weight in [(2.0**40, 1.0), (2.0**-40, 1.0), (1.0, 2.0**20), (1.0, 2.0**-20)]:
        other = stated(unit * np.array(turn), weight * np.array(gram), weight * np.array(slip), matrix_error)
        assert_scaled(other.solve(1, 0.0, RNG), plain, unit**2 * weight)


def assert_scaled(found, plain, factor):
    """The same bits, times a power of two."""
    for field in ("values", "lower", "upper", "residual"):
        np.testing.assert_array_equal(getattr(found, field), factor * getattr(plain, field))


@pytest.mark.parametrize("name", ["the sums of one variable", "the matrix of one variable"])
def test_the_residual_is_attained(name):
    turn, gram, slip, matrix_error, _ = CASES[name]
    found = stated(turn, gram, slip, matrix_error).solve(1, 0.0, RNG)
    attained = max(residuals(truth, found)[0] for truth in extremes(turn, gram, slip, matrix_error))
    assert found.residual[0] <= 1.001 * attained


@pytest.mark.parametrize(("slip", "matrix_error"), [(1e-6, 0.0), (0.0, 1e-5)])
def test_many_variables_have_the_same_bounds(slip, matrix_error):
    """1201 variables that vary together, and one feature, their mean."""
    width = 1201
    gram, turn = about_zero(np.ones((width, width))), np.full((1, width), 1 / width)
    found = stated(turn, gram, [0.0] + [slip] * width, matrix_error).solve(1, 0.0, RNG)
    truth = (1 + slip) * (1 + matrix_error) ** 2
    assert found.values[0] == pytest.approx(1, rel=1e-12)
    assert truth - 1 <= found.upper[0] - 1 <= 1.001 * (truth - 1)
    assert 1 - 1.001 * (truth - 1) <= found.lower[0] <= (1 - slip) * (1 - matrix_error) ** 2
    assert truth - 1 <= found.residual[0] <= 1.001 * (truth - 1)
    assert (found.lower[1], found.upper[1]) == (0.0, 0.0)
    other = stated(2.0**-40 * turn, gram, [0.0] + [slip] * width, matrix_error)
    assert_scaled(other.solve(1, 0.0, RNG), found, 2.0**-80)


def test_errors_of_sums_add_scale_and_move():
    gram, slip = np.array([[4.0, 2.0], [2.0, 9.0]]), np.array([1e-4, 4e-4])
    moments = stated([[3.0]], gram, slip)
    other = ShiftedMoments(moments.shift, 2.0, moments.sums / 2, 2 * slip, 3)
    for made, weight, rows in ((moments + other, 6.0, 8), (moments - other, 2.0, 2)):
        np.testing.assert_allclose(made.slip, 3 * slip, rtol=1e-9)
        assert (made.slip >= 3 * slip).all()
        assert (made.weight, made.rows) == (weight, rows)
        np.testing.assert_allclose(made.sums, weight / 4 * moments.sums)
    scaled = moments.scaled(2.0**-40)
    np.testing.assert_array_equal(scaled.sums, 2.0**-40 * moments.sums)
    assert scaled.weight == 2.0**-38
    np.testing.assert_allclose(scaled.slip, 2.0**-40 * slip, rtol=1e-9)
    step = np.array([[1.0, 0.0], [-3.0, 2.0]])  # u' = 2 u - 3
    there = Stated(np.array([[0.0, 3.0]]), step=step)
    moved = moments.moved(there)
    np.testing.assert_allclose(there.hankel.matrix(moved.sums), step @ gram @ step.T)
    attained = (np.abs(step) @ np.sqrt(slip)) ** 2
    assert (attained <= moved.slip).all()
    assert (moved.slip <= 2.1 * attained).all()


def test_a_shift_matrix_that_is_off_is_counted_in_what_it_moves():
    gram = np.array([[1.0, 0.5], [0.5, 1.0]])
    moments = stated([[1.0]], gram, [0.0, 0.0], matrix_error=1e-6)
    step = np.array([[1.0, 0.0], [30.0, 20.0]])
    moved = moments.moved(Stated(np.array([[0.0, 1.0]]), step=step))
    off = (1 + 1e-6) ** 2 * (step @ gram @ step.T)[1, 1] - (step @ gram @ step.T)[1, 1]
    assert off <= moved.slip[1] <= 3 * off


def test_rounding_of_sums_and_multiples_of_sums_is_counted():
    shift = Stated(np.array([[0.0, 1.0]]))
    large = 2.0**53 - 1

    def exact(square):
        return ShiftedMoments(shift, 1.0, shift.hankel.collect(np.diag([1.0, square])), np.zeros(2), 1)

    added = exact(large) + exact(large - 1)  # 2^54 - 3, which has a bit too many
    assert added.slip[1] >= abs(int(added.sums[shift.hankel.squares][1]) - (2**54 - 3)) == 1
    for square in np.random.default_rng(0).uniform(1e6, 1e7, 50):
        scaled = exact(square).scaled(1 / 3)
        off = Fraction(scaled.sums[shift.hankel.squares][1]) - Fraction(square) * Fraction(1 / 3)
        assert abs(off) <= scaled.slip[1] <= 1e-15 * square


def test_weights_that_are_taken_out_must_have_been_there():
    moments = stated([[1.0]], [[2.0, 0.0], [0.0, 1.0]], [0.0, 0.0])
    for part in (0.5, 0.125, 1e-9):
        little = moments.scaled(part)
        with pytest.raises(ValueError, match="leaves no rows"):
            little - little
    assert (moments - moments.scaled(0.875)).weight == 0.25
    nothing = moments.scaled(0.0)
    empty = nothing - nothing
    assert (empty.weight, empty.trace) == (0.0, 0.0)
    assert not empty.mean.any()
    assert not empty.solve(1, 0.0, RNG).upper.any()
    assert (moments - nothing).trace == moments.trace == 1.0


def test_axes_have_nothing_along_features_that_do_not_vary():
    turn = np.array([[0.3, 0.7], [0.0, 0.0], [0.9, 0.0]])
    found = stated(turn, about_zero([[1.0, 0.2], [0.2, 3.0]]), [0.0, 0.0, 0.0]).solve(4, 0.0, RNG)
    assert not found.axes[1].any()
    np.testing.assert_allclose(found.axes[:, :2].T @ found.axes[:, :2], np.eye(2), atol=1e-14)
    assert found.axes.shape == (3, 4)
    assert not found.values[2:].any()


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2, c=0.0)])
def test_features_too_small_to_be_squared_are_refused_and_others_lose_no_digit(kernel):
    x = np.random.default_rng(1).standard_normal((9, 2))
    degree = 1 if isinstance(kernel, Linear) else 2

    def solved(unit, rows=x):
        return Monomials(kernel, 2, np.zeros(2), np.full(2, unit)).moments(unit * rows, np.ones(9)).solve(2, 0.0, RNG)

    unit = 2.0 ** (-440 // degree)
    np.testing.assert_allclose(solved(unit).values, unit ** (2 * degree) * solved(1.0).values, rtol=1e-12)
    with pytest.raises(ValueError, match="underflow"):
        solved(2.0 ** (-480 // degree))
    for value in (1.0, 0.1, 0.3, 0.7, 1 / 3):  # what rounding alone has scattered is no loss
        assert (solved(2.0 ** (-480 // degree), np.full((9, 2), value)).values < 1e-300).all()


def test_features_too_large_to_be_squared_are_refused():
    x = np.random.default_rng(1).standard_normal((9, 2))
    unit = 2.0**480
    fine = Monomials(Linear(), 2, np.zeros(2), np.full(2, unit)).moments(unit * x, np.ones(9)).solve(2, 0.0, RNG)
    plain = Monomials(Linear(), 2).moments(x, np.ones(9)).solve(2, 0.0, RNG)
    np.testing.assert_allclose(fine.values, unit**2 * plain.values, rtol=1e-12)
    unit = 2.0**505
    with pytest.raises(ValueError, match="scatter of the features overflows"):
        Monomials(Linear(), 2, np.zeros(2), np.full(2, unit)).moments(unit * x, np.ones(9)).solve(2, 0.0, RNG)


@pytest.mark.parametrize("n", [1, 1023, 1025, 16_385, 33_000])
def test_sums_over_chunks_and_groups_of_chunks_are_those_of_all_rows(n):
    rng = np.random.default_rng(n)
    x, weights = rng.uniform(-1, 1, (n, 2)), rng.uniform(0, 2, n)
    phi = Monomials(Polynomial(2, 1.0), 2)
    moments = phi.moments(x, weights)
    u = np.column_stack([np.ones(n), x]).astype(np.longdouble)
    wide = [u[:, i] * u[:, j] for j in range(3) for i in range(j + 1)]
    found = phi.hankel.matrix(moments.sums)
    exact = np.array([[(weights * a * b).sum() for b in wide] for a in wide])
    allowed = np.sqrt(np.outer(moments.slip, moments.slip))
    assert (np.abs(found - exact) <= allowed).all()
    assert (moments.slip <= 1e-12 * np.diag(exact) + 1e-290).all()
    assert (moments.rows, moments.weight) == (n, pytest.approx(weights.sum()))


def test_wide_tables_have_smaller_chunks_and_the_same_sums():
    x = np.random.default_rng(0).uniform(-1, 1, (700, 10))
    phi = Monomials(Polynomial(2, 1.0), 10)
    both = phi.moments(x[:300], np.ones(300)) + phi.moments(x[300:], np.ones(400))
    np.testing.assert_allclose(phi.moments(x, np.ones(700)).sums, both.sums, rtol=1e-12, atol=1e-11)
