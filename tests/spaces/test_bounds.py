"""What is known of an eigenspace must hold of clouds that are as far from it as `Bounds` allows, and is attained there.

With the linear kernel a cloud is its mean and its scatter matrix, and all that `Bounds` speaks of can be measured.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.kernels import Linear
from gramless.kernels.base import Rounding
from gramless.spaces import Bounds, Eigenspace, PointSpan, merge

AXES = 9


@dataclass(frozen=True, eq=False)
class Coarse(Linear):
    """The linear kernel, but every value between two clouds is off by `error`, with the signs of `left` and `right`."""

    error: float
    left: np.ndarray
    right: np.ndarray

    def evaluate(self, x, y):
        return super().evaluate(x, y) + self.error * np.outer(np.sign(self.right), np.sign(self.left))

    def rounding(self, radius, d, unit):
        return Rounding(self.error, 0.0)


@dataclass
class Cloud:
    """An eigenspace, what is missing of its scatter (E), and the mean and the scatter that it stands for."""

    space: Eigenspace
    missing: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    @property
    def stored_mean(self):
        return self.space.span.points.T @ self.space.mean

    @property
    def factors(self):
        return self.space.span.points.T @ self.space.basis * np.sqrt(self.space.scatter)


def cloud(rng, rank, weight, missing=None, inside=False, **errors):
    """A cloud as far from what is stored of it as `errors` (fields of `Bounds`) say, always to the same side."""
    stated = Bounds(**errors)
    points = rng.standard_normal((AXES + 2, AXES)) / 8  # so that the moduli of coefficients are large
    values = np.sort(rng.uniform(1, 4, rank))[::-1]
    basis = np.linalg.qr(rng.standard_normal((AXES, rank)))[0]
    basis[:, 0] *= np.sqrt(1 + stated.gram / values[0])
    factors, mean = basis * np.sqrt(values), rng.standard_normal(AXES)
    missing = np.zeros((AXES, AXES)) if missing is None else missing
    whole = np.hstack([factors, np.linalg.cholesky(missing + 1e-300 * np.eye(AXES))])
    whole *= 1 + stated.slip / np.linalg.norm(whole)
    push = stated.mean_slip * mean / np.linalg.norm(mean)
    tilt = stated.offset * (offsets := rng.standard_normal(rank)) / np.linalg.norm(offsets)
    scatter = whole @ whole.T
    known = errors | {"discarded": float(np.linalg.norm(missing, 2)) * (1 + 1e-12)}
    space = Eigenspace(
        span=PointSpan(Linear(), points),
        mean=np.linalg.pinv(points).T @ mean,
        basis=np.linalg.pinv(points).T @ basis,
        scatter=values,
        offset=basis.T @ mean + tilt / np.sqrt(values),
        mean_norm2=float(mean @ mean) + stated.mean_norm2,
        weight=weight,
        trace=float(np.trace(scatter)) + stated.trace,
        bounds=Bounds(**known, inside=factors.T @ missing @ factors if inside else None),
    )
    return Cloud(space, missing, mean + push, scatter)


def both(a, b, most=None):
    """Two clouds merged, and the truth of them together."""
    merged = merge(a.space, b.space, most)
    n, m = a.space.weight, b.space.weight
    apart, between = a.mean - b.mean, a.stored_mean - b.stored_mean
    truth = a.scatter + b.scatter + n * m / (n + m) * np.outer(apart, apart)
    whole = a.missing + b.missing + a.factors @ a.factors.T + b.factors @ b.factors.T
    whole += n * m / (n + m) * np.outer(between, between)
    factors = merged.span.points.T @ merged.basis * np.sqrt(merged.scatter)
    return Cloud(merged, whole - factors @ factors.T, (n * a.mean + m * b.mean) / (n + m), truth)


def measured(found):
    """The errors of what is stored of a cloud, under the names that they have in `Bounds`."""
    space, factors, mean = found.space, found.factors, found.stored_mean
    return {
        "discarded": np.linalg.norm(found.missing, 2),
        "gram": np.linalg.norm(factors.T @ factors - np.diag(space.scatter), 2),
        "offset": np.linalg.norm(factors.T @ mean - np.sqrt(space.scatter) * space.offset),
        "mean_slip": np.linalg.norm(mean - found.mean),
        "mean_norm2": abs(space.mean_norm2 - mean @ mean),
        "trace": abs(space.trace - np.trace(found.scatter)),
    }


@pytest.mark.parametrize(
    ("errors", "field"),
    [
        ({"gram": 0.02}, "gram"),
        ({"offset": 0.02}, "gram"),
        ({"mean_norm2": 0.02}, "gram"),
        ({"offset": 0.02}, "offset"),
        ({"mean_slip": 0.02}, "mean_slip"),
        ({"mean_norm2": 0.02}, "mean_norm2"),
        ({"trace": 0.02}, "trace"),
        ({"mean_norm2": 0.02}, "trace"),
    ],
)
@pytest.mark.parametrize("weights", [(1.0, 1.0), (3.0, 0.5)])
def test_merging_carries_each_error_as_far_as_it_can_go(errors, field, weights):
    rng = np.random.default_rng(0)
    a, b = (cloud(rng, rank, weight, **errors) for rank, weight in zip((3, 4), weights, strict=True))
    if field == "mean_slip":  # both means are pushed the same way
        b.mean = b.stored_mean + a.mean - a.stored_mean
    found = both(a, b)
    assert len(found.space.scatter) == 3 + 4 + 1
    assert measured(found)[field] == pytest.approx(getattr(found.space.bounds, field), rel=1e-9)
    assert measured(found)[field] > 1e-3


def coarse(a, b, error, left, right, sign=1.0):
    """Both spaces with a kernel that is off by `error` along columns `left` and `right` of (components, mean)."""
    columns = [np.column_stack([one.space.basis, one.space.mean])[:, i] for one, i in ((a, left), (b, right))]
    kernel = Coarse(error, sign * columns[0], columns[1])
    for one in (a, b):
        one.space = replace(one.space, span=PointSpan(kernel, one.space.span.points))
    return a, b


@pytest.mark.parametrize(
    ("left", "right", "light", "field"),
    [(0, 0, 1e-14, "gram"), (-1, -1, 1.0, "mean_norm2"), (-1, -1, 1.0, "trace")],
)
def test_merging_carries_the_errors_of_kernel_values_as_far_as_they_can_go(left, right, light, field):
    rng = np.random.default_rng(1)
    found = both(*coarse(cloud(rng, 1, 1.0), cloud(rng, 1, light), 1e-3, left, right))
    assert measured(found)[field] == pytest.approx(getattr(found.space.bounds, field), rel=1e-6)
    assert measured(found)[field] > 1e-4


def faint(found, factor):
    """The same mean and weight, and a scatter that is smaller by a factor."""
    found.space = replace(found.space, scatter=factor * found.space.scatter, trace=factor * found.space.trace)
    found.scatter = factor * found.scatter
    return found


@pytest.mark.parametrize("field", ["gram", "offset"])
@pytest.mark.parametrize("turned", [False, True])
def test_merging_carries_the_errors_of_kernel_values_with_a_mean_as_far_as_they_can_go(field, turned):
    """Of a cloud that has a component, with one that is hardly more than its mean; in one of two directions."""
    found = []
    for sign in (1.0, -1.0):
        rng = np.random.default_rng(1)
        one, other = cloud(rng, 1, 1e-10, offset=0.02), faint(cloud(rng, 1, 1e-10), 1e-30)
        found.append(
            both(*(coarse(other, one, 1e-3, -1, 0, sign) if turned else coarse(one, other, 1e-3, 0, -1, sign)))
        )
    worst = max(measured(one)[field] for one in found)
    assert worst == pytest.approx(getattr(found[0].space.bounds, field), rel=1e-3)
    assert worst > 1e-8


def test_a_component_that_is_discarded_need_not_be_orthogonal_to_one_that_stays():
    rng = np.random.default_rng(1)
    found = both(*coarse(cloud(rng, 1, 1.0), faint(cloud(rng, 1, 1e-14), 1e-4), 1e-3, 0, 0), 1)
    inside = found.factors.T @ found.missing @ found.factors
    assert inside[0, 0] > 1e-10
    np.testing.assert_allclose(found.space.bounds.inside, inside, rtol=0.03)


def line(direction, value, missing=None):
    """A cloud about the origin with one component, and a vector that truncation took."""
    unit = direction / np.linalg.norm(direction)
    lost = np.zeros(AXES) if missing is None else missing
    bounds = Bounds(discarded=float(lost @ lost), inside=np.array([[value * (unit @ lost) ** 2]]))
    origin, whole = np.zeros(AXES), value * np.outer(unit, unit) + np.outer(lost, lost)
    span = PointSpan(Linear(), np.eye(AXES))
    space = Eigenspace(
        span, origin, unit[:, None], np.array([value]), np.zeros(1), 0.0, 1.0, float(np.trace(whole)), bounds
    )
    return Cloud(space, np.outer(lost, lost), origin, whole)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
@pytest.mark.parametrize("tilt", [0.02, 0.15])
def test_what_is_missing_mixes_into_components_that_turn_as_far_as_it_can(unit, tilt):
    """A component turns towards what was missing, nearly at right angles to it: both parts of the mixture add up."""
    u, v = np.eye(AXES)[:2]
    a, b = line(u, unit, 0.1 * np.sqrt(unit) * (0.01 * u + v)), line(u + tilt * v, unit)
    for first, second in ((a, b), (b, a)):
        found = both(first, second, 1)
        inside = found.factors.T @ found.missing @ found.factors
        assert inside <= found.space.bounds.inside <= 1.03 * inside


def test_of_a_cloud_of_which_nothing_is_known_nothing_is_known():
    rng = np.random.default_rng(0)
    a, b = cloud(rng, 3, 1.0).space, cloud(rng, 4, 2.0).space
    for first, second in ((replace(a, bounds=None), b), (a, replace(b, bounds=None))):
        merged = merge(first, second)
        assert merged.bounds is None
        np.testing.assert_array_equal(merged.scatter, merge(a, b).scatter)


@given(
    seed=st.integers(0, 10_000),
    weights=st.sampled_from([(1.0, 1.0), (3.0, 0.5)]),
    columns=st.tuples(st.sampled_from([0, -1]), st.sampled_from([0, -1])),
    offset=st.sampled_from([0.0, 1e-3]),
)
def test_bounds_hold_of_coarse_kernel_values(seed, weights, columns, offset):
    """The means have coefficients whose moduli do not add to 1, as after a reduction of the points."""
    rng = np.random.default_rng(seed)
    a, b = (cloud(rng, 1, weight, offset=offset) for weight in weights)
    found = both(*coarse(a, b, 1e-3, *columns))
    errors, stated = measured(found), found.space.bounds
    for field in ("gram", "offset", "mean_norm2", "trace"):
        assert errors[field] <= getattr(stated, field) * (1 + 1e-9) + 1e-12


@given(
    seed=st.integers(0, 10_000),
    weights=st.sampled_from([(1.0, 1.0), (5.0, 0.25), (1e-3, 2.0)]),
    sizes=st.lists(st.sampled_from([0.0, 1e-6, 0.02]), min_size=6, max_size=6),
    most=st.sampled_from([None, 4, 2]),
)
def test_bounds_hold_of_clouds_as_far_away_as_stated(seed, weights, sizes, most):
    rng = np.random.default_rng(seed)
    names = ("gram", "offset", "mean_slip", "mean_norm2", "trace", "slip")
    clouds = []
    for rank, weight in zip((3, 2), weights, strict=True):
        errors = {name: size * rng.choice([0.3, 1.0]) for name, size in zip(names, sizes, strict=True)}
        rest = 0.1 * rng.standard_normal((AXES, AXES))
        clouds.append(cloud(rng, rank, weight, rest @ rest.T, inside=bool(rng.integers(2)), **errors))
    found = both(*clouds, most)
    bounds, errors = found.space.bounds, measured(found)
    for field in ("gram", "offset", "mean_slip", "mean_norm2"):
        assert errors[field] <= getattr(bounds, field) * (1 + 1e-9) + 1e-12
    lower, upper, _ = bounds.intervals(found.space.scatter, found.space.trace)
    truth, k = np.linalg.eigvalsh(found.scatter)[::-1], len(found.space.scatter)
    assert (lower <= truth[:k] + 1e-12).all()
    assert (truth[:k] <= upper[:k] + 1e-12).all()
    assert (truth[k:] <= upper[k] + 1e-12).all()
    assert errors["discarded"] <= bounds.discarded + 1e-12
    left = bounds.inside - found.factors.T @ found.missing @ found.factors
    assert np.linalg.eigvalsh(left)[0] >= -1e-11


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("leaking", [False, True])
def test_slips_add_as_squares_and_are_attained_on_a_line(side, leaking):
    """Clouds on one axis, all roots of whose scatter are off by the same part t: so is that of both together."""
    t, point, weights, values, means = 0.01, np.ones((1, 1)), (3.0, 0.5), (4.0, 1.0), (2.0, -1.0)
    spaces = []
    for weight, value, mean in zip(weights, values, means, strict=True):
        slip = t * np.sqrt(value)
        known = {"slip": 0.25 * slip, "leak": (0.75 * slip) ** 2} if leaking else {"slip": slip}
        bounds = Bounds(**known, mean_slip=t * abs(mean))
        place, basis = np.array([mean]), np.ones((1, 1))
        scatter = np.array([value])
        spaces.append(
            Eigenspace(PointSpan(Linear(), point), place, basis, scatter, place, mean**2, weight, value, bounds)
        )
    merged = merge(*spaces)
    truth = (1 + side * t) ** 2 * (5 + 1.5 / 3.5 * 9)
    lower, upper, _ = merged.bounds.intervals(merged.scatter, merged.trace)
    assert (upper[0] if side > 0 else lower[0]) == pytest.approx(truth, rel=1e-9)


def test_nothing_is_discarded_where_all_is_kept():
    rng = np.random.default_rng(2)
    found = both(cloud(rng, 3, 1.0), cloud(rng, 4, 2.0))
    assert found.space.bounds.discarded <= 1e-12
    assert both(cloud(rng, 3, 1.0), cloud(rng, 4, 2.0), 6).space.bounds.discarded > 1e-3


@pytest.mark.parametrize("unit", [2.0**-120, 2.0**120])
def test_units_do_not_matter(unit):
    """All weights times a power of two: no number is rounded otherwise, and nothing is lost below some size."""
    rng = np.random.default_rng(3)
    missing = np.diag(np.linspace(0, 0.1, AXES))
    a, b = (cloud(rng, rank, 1.0, missing, gram=1e-3, offset=1e-3, slip=1e-3, trace=1e-3).space for rank in (3, 4))
    for most in (None, 3):
        here, there = merge(a, b, most), merge(a.scaled(unit), b.scaled(unit), most)
        np.testing.assert_allclose(there.scatter, unit * here.scatter, rtol=1e-12)
        expected = here.bounds.scaled(unit)
        for field in ("discarded", "slip", "gram", "offset", "mean_slip", "mean_norm2", "trace", "inside"):
            np.testing.assert_allclose(getattr(there.bounds, field), getattr(expected, field), rtol=1e-9)
