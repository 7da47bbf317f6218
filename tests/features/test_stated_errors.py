"""Parts whose errors are as large as they state: what is made of them states enough, and hardly more."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse
from inexact import Rounded

from gramless.features import CompositeMap, FeatureRows, LandmarkMap, RowwiseMap, ScaledMap, TaylorMap
from gramless.kernels import Gaussian, Laplacian, Linear, Scaled

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
    rows = phi.rows(x)
    for field in ("leak", "leak_error", "rounding"):
        assert getattr(moments, field) == pytest.approx(7.5 * getattr(rows, field)[0], rel=1e-6)
    drawn = LandmarkMap(phi.kernel, phi.points, phi.shift, phi.triangle, pairs=30_000)
    assert 7.5 * left_out[0] <= drawn.moments(np.repeat(x, 4, axis=0), weights).likely


def test_norms_of_many_rows_are_those_of_all_their_blocks():
    """Three blocks of rows that are all alike, with weights that are not: the norm is the trace."""
    phi, x = landmarks("four", Rounded(SMALL, 0.0, 1))
    weights = np.random.default_rng(0).uniform(0.5, 2, 2500)
    moments, leaks = phi.measured_moments(np.repeat(x, 2500, axis=0), weights)
    left_out, _ = truth(phi, x, phi(x))
    assert weights.sum() * left_out[0] <= moments.likely <= 1.02 * moments.leak
    assert (left_out[0] <= leaks).all()
    assert weights.sum() * left_out[0] <= moments.leak <= 1.03 * weights.sum() * left_out[0]


class Plain(RowwiseMap):
    """One feature of one row, with what is stated of it."""

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
    large, small = Plain(2.0**20 / 3, kernel=Gaussian(1.0)), Plain(2.0**-20 / 3, kernel=Gaussian(2.0))
    for part, factor in product((large, small), (0.1, 0.3, 0.7)):
        value = np.longdouble(part.stated.values[0, 0])
        scaled = ScaledMap(Scaled(part.kernel, factor), part).rows(X)
        assert abs(scaled.values[0, 0] - value * np.sqrt(np.longdouble(factor))) <= scaled.error[0] <= 1e-15 * value
    for a, b in product((large, small), repeat=2):
        exact = np.longdouble(a.stated.values[0, 0]) * np.longdouble(b.stated.values[0, 0])
        both = CompositeMap(a.kernel * b.kernel, a, b).rows(X)
        assert 0 < abs(both.values[0, 0] - exact) <= both.error[0] <= 1e-15 * exact


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


def test_a_map_takes_tensors_only_if_all_its_parts_say_so():
    able, unable = TaylorMap(Gaussian(1.0), np.zeros(1), 4), Plain(2.0, kernel=Gaussian(2.0))
    assert CompositeMap(able.kernel + able.kernel, able, able).tensors
    for a, b in ((able, unable), (unable, able), (unable, unable)):
        assert not CompositeMap(a.kernel + b.kernel, a, b).tensors
    assert ScaledMap(2.0 * able.kernel, able).tensors
    assert not ScaledMap(2.0 * unable.kernel, unable).tensors


def test_moments_of_another_space_are_not_adopted():
    phi = TaylorMap(Gaussian(1.0), np.zeros(1), 4)
    moments = phi.moments(np.ones((3, 1)), np.ones(3))
    assert phi.adopted(moments, TaylorMap(Gaussian(1.0), np.zeros(1), 4)) is moments
    with pytest.raises(ValueError, match="domain="):
        phi.adopted(moments, TaylorMap(Gaussian(1.0), np.ones(1), 4))


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_landmarks_have_no_unit(unit):
    x = np.random.default_rng(0).standard_normal((30, 4)) * [1.0, 0.5, 0.1, 0.01]
    plain, other = LandmarkMap.at(Linear(), x[:3]), LandmarkMap.at(Linear(), unit * x[:3])
    np.testing.assert_array_equal(other.points, unit * plain.points)
    rows, scaled = plain.rows(x), other.rows(unit * x)
    np.testing.assert_allclose(scaled.values, unit * rows.values, rtol=1e-12)
    for field in ("leak", "leak_error", "rounding"):
        np.testing.assert_allclose(getattr(scaled, field), unit**2 * getattr(rows, field), rtol=1e-6)
    weights = np.linspace(0.5, 2, 30)
    found, expected = other.measured_moments(unit * x, weights)[0], plain.measured_moments(x, weights)[0]
    for field in ("trace", "leak", "likely", "rounding"):
        assert getattr(found, field) == pytest.approx(unit**2 * getattr(expected, field), rel=1e-6)


def test_pairs_are_drawn_whatever_the_weight_is_unless_it_is_none():
    x = np.random.default_rng(0).standard_normal((40, 2))
    phi = LandmarkMap.at(Laplacian(1.0), x[:5], pairs=500)
    for total in (40.0, 1.0, 1e-9):
        moments = phi.moments(x, np.full(40, total / 40))
        assert 0 < moments.likely <= moments.leak * 1.001
        assert moments.failure_probability > 0
    nothing = phi.moments(x, np.zeros(40))
    assert (nothing.leak, nothing.likely, nothing.failure_probability) == (0.0, None, 0.0)
    assert LandmarkMap.at(Laplacian(1.0), x[:5]).moments(x, np.ones(40)).likely is None


def test_sparse_landmarks_are_compared_by_their_values():
    points = scipy.sparse.random_array((6, 9), density=0.5, random_state=np.random.default_rng(0), format="csr")
    phi = LandmarkMap.at(Gaussian(1.0), points)
    dense = LandmarkMap.at(Gaussian(1.0), points.toarray())
    other = points.copy()
    other.data[0] += 1e-9
    assert phi.same_space(LandmarkMap.at(Gaussian(1.0), points.copy()))
    assert phi.same_space(dense)
    assert dense.same_space(phi)
    for unlike in (LandmarkMap.at(Gaussian(1.0), other), LandmarkMap.at(Gaussian(1.0), points[:5])):
        assert not phi.same_space(unlike)
        assert not dense.same_space(unlike)
    assert not phi.tensors
    assert dense.tensors


def test_landmarks_share_a_space_only_with_the_same_points_of_the_same_kernel():
    points = np.random.default_rng(0).standard_normal((5, 2))
    phi = LandmarkMap.at(Gaussian(1.0), points)
    assert phi.same_space(LandmarkMap.at(Gaussian(1.0), points.copy()))
    assert not phi.same_space(LandmarkMap.at(Gaussian(2.0), points))
    assert not phi.same_space(LandmarkMap.at(Gaussian(1.0), points[:4]))
    assert not phi.same_space(LandmarkMap.at(Gaussian(1.0), points + 1e-9))
    assert not phi.same_space(TaylorMap(Gaussian(1.0), points[0], 3))
