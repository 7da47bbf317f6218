"""Parts whose errors are as large as they state: what is made of them states enough, and hardly more."""

from itertools import product

import numpy as np
import pytest
from inexact import Rounded

from gramless.features import CompositeMap, FeatureRows, LandmarkMap, RowwiseMap, ScaledMap, TaylorMap
from gramless.kernels import Gaussian, Scaled

SMALL = 1e-5  # of the errors: their squares are left to the percents that bounds add
BEYOND = 1e-4  # what a row has that no landmark sees


#: landmarks, and the part of a row that they see
SEEN = {
    "one": (np.eye(1), np.ones(1)),
    "four": (np.eye(4), np.full(4, 0.5)),
}
CASES = [("one", SMALL, 0.0), ("one", 0.0, SMALL), ("one", SMALL, SMALL), ("four", SMALL, 0.0)]


def landmarks(name, kernel, far=1.0):
    """The map, and a row with something that the landmarks do not see."""
    points, seen = SEEN[name]
    points = np.column_stack([points, np.zeros(len(points))])
    return LandmarkMap.at(kernel, points), far * np.append(seen, np.sqrt(BEYOND))[None]


def truth(phi, x, values):
    """What combinations of the landmarks leave out of rows, exactly, and the rest of k(x, x) - |phi(x)|^2."""
    weights = np.linalg.solve(phi.triangle.lower.T, values.T).T
    left = x - weights @ phi.points
    left_out = np.einsum("ij,ij->i", left, left)
    return left_out, np.einsum("ij,ij->i", x, x) - np.einsum("ij,ij->i", values, values) - left_out


@pytest.mark.parametrize("lean", [1, -1])
@pytest.mark.parametrize(("name", "absolute", "relative"), CASES)
def test_errors_of_a_kernel_are_all_counted_by_landmarks(name, absolute, relative, lean):
    phi, x = landmarks(name, Rounded(absolute, relative, lean))
    rows = phi.rows(x)
    left_out, rest = truth(phi, x, rows.values)
    assert lean * rest[0] < 0
    assert abs(rest[0]) <= rows.rounding[0] <= 1.03 * abs(rest[0])
    assert rows.leak[0] - rows.leak_error[0] <= left_out[0] <= rows.leak[0]
    narrow = rows.leak[0] - left_out[0] if lean > 0 else left_out[0] - (rows.leak[0] - rows.leak_error[0])
    assert narrow <= 0.03 * rows.rounding[0]


@pytest.mark.parametrize("lean", [1, -1])
@pytest.mark.parametrize("far", [0.1, 10.0])
def test_rows_far_from_landmarks_have_the_errors_of_their_own_size(lean, far):
    phi, x = landmarks("four", Rounded(SMALL, 0.0, lean), far)
    rows = phi.rows(x)
    left_out, rest = truth(phi, x, rows.values)
    assert abs(rest[0]) <= rows.rounding[0]
    assert rows.leak[0] - rows.leak_error[0] <= left_out[0] <= rows.leak[0]


@pytest.mark.parametrize("lean", [1, -1])
@pytest.mark.parametrize(("name", "absolute", "relative"), CASES)
def test_norms_of_what_is_left_out_count_the_errors_too(name, absolute, relative, lean):
    """Of rows that are all alike: the norm is the trace."""
    phi, x = landmarks(name, Rounded(absolute, relative, lean))
    weights = np.array([1.0, 2.0, 0.5, 4.0])
    moments, leaks = phi.measured_moments(np.repeat(x, 4, axis=0), weights)
    left_out, _ = truth(phi, x, phi(x))
    assert 7.5 * left_out[0] <= moments.likely <= moments.leak * (1.12 if lean > 0 else 3)
    assert (left_out[0] <= leaks).all()
    drawn = LandmarkMap(phi.kernel, phi.points, phi.shift, phi.triangle, pairs=30_000)
    assert 7.5 * left_out[0] <= drawn.moments(np.repeat(x, 4, axis=0), weights).likely


class Plain(RowwiseMap):
    """One feature of one row, with what is stated of it."""

    tensors = False

    def __init__(self, value, leak=0.0, leak_error=0.0, error=0.0, rounding=0.0, kernel=None):
        self.n_features = 1
        self.stated = FeatureRows(np.array([[value]]), *(np.array([v]) for v in (leak, leak_error, error, rounding)))
        self.kernel = kernel

    def rows(self, x):
        return self.stated

    def same_space(self, other):
        return self is other

    def extremes(self):
        """(feature, what is left out, what else) of all kernels that the statement allows."""
        s = self.stated
        for error, short, rest in product((-1, 1), (0, 1), (-1, 1)):
            yield (
                s.values[0, 0] + error * s.error[0],
                s.leak[0] - short * s.leak_error[0],
                rest * s.rounding[0],
            )


LEFT = {
    "leak": {"leak": 0.5},
    "no leak": {},
    "leak known up to": {"leak": 0.5, "leak_error": SMALL},
    "error": {"leak": 0.5, "error": SMALL},
    "rounding": {"leak": 0.5, "rounding": SMALL},
}
RIGHT = {
    "leak": {"leak": 0.25},
    "no leak": {},
    "leak known up to": {"leak": 0.25, "leak_error": SMALL},
    "error": {"leak": 0.25, "error": SMALL},
    "rounding": {"leak": 0.25, "rounding": SMALL},
}
X = np.zeros((1, 1))


def parts_of(left, right):
    """Of a product: (feature, what is left out, what else), whatever the two kernels are."""
    for (f, r, e), (g, s, h) in product(left.extremes(), right.extremes()):
        yield f * g, r * (g**2 + s) + f**2 * s, e * (g**2 + s + h) + (f**2 + r) * h


@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.parametrize("left", LEFT)
def test_errors_of_a_product_are_attained(left, right):
    a, b = Plain(2.0, **LEFT[left], kernel=Gaussian(1.0)), Plain(-3.0, **RIGHT[right], kernel=Gaussian(2.0))
    rows = CompositeMap(a.kernel * b.kernel, a, b).rows(X)
    assert rows.values[0, 0] == -6
    features, left_out, rest = (np.array(each) for each in zip(*parts_of(a, b), strict=True))
    error, short = abs(features - rows.values[0, 0]).max(), rows.leak[0] - left_out.min()
    tiny, blur = 1e-10, a.stated.error[0] + b.stated.error[0] + b.stated.rounding[0]
    assert error <= rows.error[0] + 1e-15 <= 1.001 * error + tiny
    assert left_out.max() <= rows.leak[0] * (1 + 1e-15) <= left_out.max() + b.stated.rounding[0] + tiny
    assert short <= rows.leak_error[0] + 1e-15 <= 2.2 * short + 20 * blur + tiny
    assert abs(rest).max() <= rows.rounding[0] * (1 + 1e-15) <= 1.001 * abs(rest).max() + tiny


@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.parametrize("left", LEFT)
def test_errors_of_a_sum_are_attained(left, right):
    a, b = Plain(2.0, **LEFT[left], kernel=Gaussian(1.0)), Plain(-3.0, **RIGHT[right], kernel=Gaussian(2.0))
    rows = CompositeMap(a.kernel + b.kernel, a, b).rows(X)
    np.testing.assert_array_equal(rows.values, [[2.0, -3.0]])
    assert rows.leak[0] == a.stated.leak[0] + b.stated.leak[0]
    assert rows.leak_error[0] == a.stated.leak_error[0] + b.stated.leak_error[0]
    assert rows.error[0] == pytest.approx(np.hypot(a.stated.error[0], b.stated.error[0]))
    assert rows.rounding[0] == a.stated.rounding[0] + b.stated.rounding[0]


@pytest.mark.parametrize("factor", [2.0**-20, 0.0, 9.0])
def test_errors_of_a_multiple_are_those_of_the_kernel(factor):
    inner = Plain(2.0, leak=0.5, leak_error=0.25, error=0.125, rounding=0.0625, kernel=Gaussian(1.0))
    rows = ScaledMap(Scaled(inner.kernel, factor), inner).rows(X)
    assert rows.values[0, 0] == 2 * np.sqrt(factor)
    for field, value in (("leak", 0.5), ("leak_error", 0.25), ("rounding", 0.0625)):
        assert factor * value <= getattr(rows, field)[0] <= factor * value * (1 + 1e-13)
    assert np.sqrt(factor) * 0.125 <= rows.error[0] <= np.sqrt(factor) * 0.125 * (1 + 1e-13)


def test_features_rounded_by_a_multiple_or_a_product_are_still_within_their_error():
    third = Plain(1 / 3, kernel=Gaussian(1.0))
    scaled = ScaledMap(Scaled(third.kernel, 0.1), third).rows(X)
    wide = np.longdouble(1 / 3) * np.sqrt(np.longdouble(0.1))
    assert abs(scaled.values[0, 0] - wide) <= scaled.error[0] <= 1e-15
    both = CompositeMap(third.kernel * third.kernel, third, third).rows(X)
    assert abs(both.values[0, 0] - np.longdouble(1 / 3) ** 2) <= both.error[0] <= 1e-15


def test_maps_share_a_space_only_if_all_of_them_is_the_same():
    a, b, c = (TaylorMap(Gaussian(s), np.zeros(2), 4) for s in (1.0, 2.0, 3.0))
    more = TaylorMap(a.kernel, a.center, 5)
    made = CompositeMap(a.kernel + b.kernel, a, b)
    assert made.same_space(CompositeMap(a.kernel + b.kernel, a, b))
    for other in (
        CompositeMap(a.kernel * b.kernel, a, b),
        CompositeMap(a.kernel + b.kernel, more, b),
        CompositeMap(b.kernel + a.kernel, b, a),
        CompositeMap(a.kernel + c.kernel, a, c),
        CompositeMap(a.kernel + b.kernel, a, TaylorMap(b.kernel, b.center, 5)),
        a,
    ):
        assert not made.same_space(other)
    twice = ScaledMap(2.0 * a.kernel, a)
    assert twice.same_space(ScaledMap(2.0 * a.kernel, TaylorMap(a.kernel, a.center, 4)))
    for other in (ScaledMap(3.0 * a.kernel, a), ScaledMap(2.0 * a.kernel, more), a, made):
        assert not twice.same_space(other)
    for other in (TaylorMap(b.kernel, a.center, 4), TaylorMap(a.kernel, a.center + 1, 4), more, made):
        assert not a.same_space(other)


def test_landmarks_share_a_space_only_with_the_same_points_of_the_same_kernel():
    points = np.random.default_rng(0).standard_normal((5, 2))
    phi = LandmarkMap.at(Gaussian(1.0), points)
    assert phi.same_space(LandmarkMap.at(Gaussian(1.0), points.copy()))
    assert not phi.same_space(LandmarkMap.at(Gaussian(2.0), points))
    assert not phi.same_space(LandmarkMap.at(Gaussian(1.0), points[:4]))
    assert not phi.same_space(LandmarkMap.at(Gaussian(1.0), points + 1e-9))
    assert not phi.same_space(TaylorMap(Gaussian(1.0), points[0], 3))
