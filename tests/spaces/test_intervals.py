"""Intervals from `Bounds` hold of every cloud that the bounds allow, and each of them is attained by one.

A cloud is made the way `Bounds` describes it: factors F, what truncation took (E), what a reduction left out (a leak),
and a slip.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.spaces import Bounds

AXES = 6
E0, E1, E2 = np.eye(AXES)[:3]


@dataclass
class Truth:
    """Vectors G with S = G G^T, and the stored components as unit vectors (AXES, r)."""

    vectors: np.ndarray
    components: np.ndarray

    @property
    def scatter(self):
        return self.vectors @ self.vectors.T

    @property
    def eigenvalues(self):
        return np.linalg.eigvalsh(self.scatter)[::-1]

    @property
    def trace(self):
        return float(np.sum(self.vectors**2))

    def residuals(self, values):
        return np.linalg.norm(self.scatter @ self.components - self.components * values, axis=0)


def cloud(factors, missing=(), leak=None, slip=0.0):
    """S of factors (columns), vectors that truncation took, vectors added to the factors, and a slip of all of them."""
    factors = np.column_stack(factors)
    whole = np.column_stack([factors if leak is None else factors + leak, *missing])
    return Truth(whole * (1 + slip / np.linalg.norm(whole)), factors / np.linalg.norm(factors, axis=0))


def test_nothing_lost_nothing_allowed():
    values = np.array([0.5, 0.25, 0.0])
    lower, upper, residual = Bounds().intervals(values, 0.75)
    np.testing.assert_allclose(lower, values, rtol=1e-15)
    np.testing.assert_allclose(upper, [0.5, 0.25, 0.0, 0.0], rtol=1e-15)
    np.testing.assert_array_equal(residual, [0.0, 0.0, np.inf])  # a component of no length has no direction


HALF = np.sqrt(0.5) * E0
LEAK = np.outer(0.3 * E1, [1.0])


@pytest.mark.parametrize(
    ("bounds", "truth", "which", "side"),
    [
        (Bounds(gram=0.01), cloud([np.sqrt(0.51) * E0, 0.5 * E1]), 0, "upper"),
        (Bounds(gram=0.01), cloud([np.sqrt(0.49) * E0, 0.5 * E1]), 0, "lower"),
        (Bounds(discarded=0.1), cloud([HALF, 0.5 * E1], [np.sqrt(0.1) * E0]), 0, "upper"),
        (Bounds(discarded=0.1), cloud([HALF, 0.5 * E1], [np.sqrt(0.1) * E2]), 2, "upper"),
        (Bounds(leak=0.09), cloud([HALF], leak=LEAK), 0, "upper"),
        (Bounds(slip=0.05), cloud([HALF], slip=0.05), 0, "upper"),
        (Bounds(slip=0.05), cloud([HALF], slip=-0.05), 0, "lower"),
    ],
)
def test_every_loss_moves_an_eigenvalue_as_far_as_its_interval_ends(bounds, truth, which, side):
    values = np.array([0.5, 0.25])[: truth.components.shape[1]]
    lower, upper, _ = bounds.intervals(values, truth.trace)
    assert (upper if side == "upper" else lower)[which] == pytest.approx(truth.eigenvalues[which], rel=1e-12)


SHORT = 0.1 * E1
RESIDUALS = {
    "missing": (
        Bounds(discarded=0.1, inside=np.diag([0.5 * 0.1 * 0.36, 0.0])),
        cloud([HALF, SHORT], [np.sqrt(0.1) * (0.6 * E0 + 0.8 * E2)]),
        0,
    ),
    "missing, nothing known inside": (Bounds(discarded=0.1), cloud([HALF, SHORT], [np.sqrt(0.1) * E0]), 0),
    "length": (Bounds(gram=1e-4), cloud([np.sqrt(0.5 + 1e-4) * E0, SHORT]), 0),
    "direction": (
        Bounds(gram=1e-4),  # what F F^T does to the shorter one points along the longer
        cloud([HALF, 1e-4 / np.sqrt(0.5) * E0 + np.sqrt(0.01 - 2e-8) * E1]),
        1,
    ),
    "slip": (Bounds(slip=1e-4), cloud([HALF], slip=1e-4), 0),
}


@pytest.mark.parametrize("name", RESIDUALS)
def test_residuals_are_bounded_and_not_by_much_more_than_they_can_be(name):
    """The factor of 1.5 is for a component whose length is off by as much as the error of F^T F allows."""
    bounds, truth, which = RESIDUALS[name]
    values = np.array([0.5, 0.01])[: truth.components.shape[1]]
    residual = bounds.intervals(values, truth.trace)[2][which]
    true = truth.residuals(values)[which]
    assert true <= residual <= 1.5 * true * (1 + 1e-3)


def test_what_the_total_leaves_bounds_what_is_missing():
    """All that may hide it at once: factors shorter than their values say, a slip inwards, too small a total."""
    values, gram, slip, error = np.array([0.5, 0.25]), 0.01, 0.05, 0.002
    truth = cloud([np.sqrt(0.49) * E0, np.sqrt(0.24) * E1], [0.2 * E2], slip=-slip)
    bounds = Bounds(discarded=5.0, gram=gram, slip=slip, trace=error)
    assert bounds.limited(values, truth.trace - error) == pytest.approx(0.04, rel=1e-12)
    assert replace(bounds, discarded=0.03).limited(values, truth.trace) == 0.03
    assert Bounds(discarded=1.0).limited(values, 0.7) == 0.0
    assert Bounds(discarded=1.0, trace=0.1).limited(np.zeros(0), -0.2) == 0.0


def test_truncation_adds_what_it_takes_as_far_as_that_can_go():
    """The longest of those discarded along what was missing, and not orthogonal to one that stays."""
    values, gram, lost = np.array([0.5, 0.25, 0.09]), 0.01, 0.1
    longer = Bounds(discarded=lost, gram=gram).truncated(values, 2)
    assert longer.discarded == pytest.approx(
        np.linalg.norm(lost * np.outer(E2, E2) + (0.09 + gram) * np.outer(E2, E2), 2)
    )
    factors = np.column_stack([HALF, 0.5 * E1, gram / np.sqrt(0.5) * E0 + np.sqrt(0.09 - 2 * gram**2) * E2])
    skew = Bounds(gram=gram, inside=np.zeros((3, 3))).truncated(values, 2)
    taken = np.outer(factors[:, 2], factors[:, 2])
    np.testing.assert_allclose((factors[:, :2].T @ taken @ factors[:, :2])[0, 0], skew.inside[0, 0], rtol=1e-12)
    assert Bounds(discarded=lost).truncated(values, 3).discarded == lost


def test_what_is_missing_inside_is_bounded_by_its_norm():
    values, gram, lost = np.array([0.5, 0.25]), 0.01, 0.1
    factors = np.column_stack([np.sqrt(0.51) * E0, np.sqrt(0.26) * E1])
    bounds = Bounds(discarded=lost, gram=gram)
    np.testing.assert_allclose(bounds.inside_of(values), factors.T @ (lost * np.eye(AXES)) @ factors, rtol=1e-12)


@pytest.mark.parametrize("tilt", [1e-2, 1e-3])
@pytest.mark.parametrize("kept", [1, 3])
def test_what_is_missing_mixes_into_components_in_second_order(tilt, kept):
    """Vectors nearly orthogonal to components, one of which has hardly any length: values move by the tilt squared."""
    values = np.array([400.0, 300.0, 150.0, 1e-6])[[*range(kept), 3]]
    axes = np.eye(AXES + 2)
    factors = np.sqrt(values) * axes[:, : kept + 1]
    lost = np.sqrt([50.0, 40.0, 30.0])[:kept] * (axes[:, 4 : 4 + kept] + tilt * axes[:, :kept]) / np.sqrt(1 + tilt**2)
    truth = cloud(list(factors.T), list(lost.T))
    bounds = Bounds(discarded=50.0, gram=1e-9, inside=factors.T @ lost @ lost.T @ factors)
    _, upper, _ = bounds.intervals(values, truth.trace, 9)
    moved = truth.eigenvalues[:kept] - values[:kept]
    assert (moved > 30 * tilt**2).all()
    assert (truth.eigenvalues[:kept] <= upper[:kept]).all()
    assert (upper[:kept] - values[:kept] <= 2 * moved * (1 + 2 * tilt)).all()
    assert truth.eigenvalues[0] <= bounds.intervals(values, truth.trace, 1)[1][0] <= upper[0]


@given(
    seed=st.integers(0, 10_000),
    sizes=st.tuples(*[st.sampled_from([0.0, 1e-3, 0.03])] * 4),
    known=st.booleans(),
    small=st.sampled_from([1.0, 0.05, 1e-7]),
)
def test_intervals_hold_of_clouds_at_random(seed, sizes, known, small):
    rng = np.random.default_rng(seed)
    gram, slip, leak, lost = sizes
    values = np.array([1.0, rng.uniform(0.2, 1) * small])
    error = rng.standard_normal((2, 2))
    error = gram * (error + error.T) / np.linalg.norm(error + error.T, 2)
    roots = np.linalg.eigh(np.diag(values) + error)
    if roots[0].min() < 0:  # no such factors
        return
    factors = np.linalg.qr(rng.standard_normal((AXES, AXES)))[0][:, :2] @ (roots[1] * np.sqrt(roots[0])).T
    away = rng.standard_normal((AXES, 2))
    away -= factors @ np.linalg.lstsq(factors, away, rcond=None)[0]
    missing = rng.standard_normal((AXES, 3))
    missing *= np.sqrt(lost) / np.linalg.norm(missing, 2)
    truth = cloud(
        list(factors.T), list(missing.T), np.sqrt(leak) * away / np.linalg.norm(away), slip * rng.choice([-1, 1])
    )
    inside = factors.T @ missing @ missing.T @ factors if known else None
    stated = Bounds(discarded=lost, leak=leak, slip=slip, gram=gram, inside=inside)
    lower, upper, residual = stated.intervals(values, truth.trace)
    assert (lower <= truth.eigenvalues[:2] + 1e-13).all()
    assert (truth.eigenvalues[:2] <= upper[:2] + 1e-13).all()
    assert truth.eigenvalues[2] <= upper[2] + 1e-13
    assert (truth.residuals(values) <= residual + 1e-13).all()


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
@pytest.mark.parametrize("leak", [0.0, 0.01])
def test_units_of_intervals_do_not_matter(unit, leak):
    values = np.array([0.5, 0.25, 0.03, 0.0])
    inside = np.full((4, 4), 1e-4) + np.diag([3e-4, 2e-4, 1e-4, 0.0])
    bounds = Bounds(discarded=0.02, leak=leak, slip=0.01, gram=1e-6, trace=1e-3, inside=inside)
    here = bounds.intervals(values, 0.8)
    there = bounds.scaled(unit).intervals(unit * values, unit * 0.8)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(other, unit * one, rtol=1e-9)


def test_factors_longer_than_their_values_beside_what_is_missing_elsewhere():
    """Bounds by inertia allow for the error of F^T F too."""
    values, gram = np.array([0.5, 0.25]), 1e-3
    truth = cloud([np.sqrt(0.5 + gram) * E0, np.sqrt(0.25 + gram) * E1], [np.sqrt(0.1) * E2])
    bounds = Bounds(discarded=0.1, gram=gram, inside=np.zeros((2, 2)))
    _, upper, _ = bounds.intervals(values, truth.trace)
    assert (truth.eigenvalues[:2] <= upper[:2]).all()
    assert (upper[:2] <= values + 15 * gram).all()
