"""Discriminants against the generalised eigenproblems they solve, written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import sklearn.covariance
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless.data import Block, MemoryRows
from gramless.discriminants import (
    ClassScatter,
    Projection,
    find_biased,
    find_fisher,
    gather_classes,
    ledoit_wolf,
    shrink,
    training_coordinates,
)
from gramless.fitting import Fit, fit
from gramless.fitting.question import FixedKernel, Question
from gramless.kernels import Gaussian, Kernel, Linear, Polynomial


@dataclass(frozen=True, eq=False)
class Labelled:
    """Coordinates (n, r) with labels and weights; every class has some weight."""

    z: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    classes: int

    def gathered(self) -> ClassScatter:
        return gather_classes(lambda part: self.z[part], self.labels, self.weights, self.classes)

    @property
    def priors(self) -> np.ndarray:
        return np.bincount(self.labels, weights=self.weights) / self.weights.sum()


@st.composite
def labelled(draw: Any, classes: int | None = None) -> Labelled:
    r, c = draw(st.integers(1, 6)), draw(st.integers(2, 4)) if classes is None else classes
    n = draw(st.integers(8 * c, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    labels = np.concatenate([np.repeat(np.arange(c), 8), rng.integers(0, c, n - 8 * c)])
    weights = rng.integers(0, 3, n).astype(float) if draw(st.booleans()) else np.ones(n)
    weights[: 8 * c] += 0.5  # in every class more rows than coordinates
    z = rng.standard_normal((n, r)) * np.linspace(1, 2, r) + 2 * rng.standard_normal((c, r))[labels]
    turn = rng.permutation(n)
    return Labelled(z[turn], labels[turn], weights[turn], c)


# ------------------------------------------------------------------------------------------------------------- scatters


@given(given=labelled())
def test_scatters_by_loops(given: Labelled) -> None:
    found = given.gathered()
    r, fourth = given.z.shape[1], 0.0
    for j in range(given.classes):
        weight, total, scatter = 0.0, np.zeros(r), np.zeros((r, r))
        mine = [i for i in range(len(given.z)) if given.labels[i] == j]
        for i in mine:
            weight += given.weights[i]
            total += given.weights[i] * given.z[i]
        for i in mine:
            apart = given.z[i] - total / weight
            scatter += given.weights[i] * np.outer(apart, apart)
            fourth += given.weights[i] * float(apart @ apart) ** 2
        assert found.weights[j] == pytest.approx(weight)
        np.testing.assert_allclose(found.means[j], total / weight, atol=1e-12)
        np.testing.assert_allclose(found.scatters[j], scatter, atol=1e-10)
    assert found.fourth == pytest.approx(fourth)
    np.testing.assert_allclose(found.within, sum(found.scatters) / given.weights.sum(), atol=1e-12)


@given(given=labelled())
def test_a_weight_is_a_repeated_row(given: Labelled) -> None:
    counts = np.floor(given.weights).astype(int)
    counts[np.unique(given.labels, return_index=True)[1]] += 1  # no class without rows
    ours = Labelled(given.z, given.labels, counts.astype(float), given.classes).gathered()
    many = Labelled(
        np.repeat(given.z, counts, axis=0), np.repeat(given.labels, counts), np.ones(counts.sum()), given.classes
    ).gathered()
    np.testing.assert_allclose(ours.weights, many.weights)
    np.testing.assert_allclose(ours.means, many.means, atol=1e-12)
    np.testing.assert_allclose(ours.scatters, many.scatters, atol=1e-10)
    assert ours.fourth == pytest.approx(many.fourth)


def test_rows_come_in_chunks() -> None:
    """More rows than are looked at together, in the order of their classes: some chunks lack a class."""
    rng = np.random.default_rng(0)
    given = Labelled(rng.standard_normal((40_000, 2)), np.repeat(np.arange(4), 10_000), rng.random(40_000), 4)
    found = given.gathered()
    for j in range(4):
        mine = given.labels == j
        mean = np.average(given.z[mine], axis=0, weights=given.weights[mine])
        apart = given.z[mine] - mean
        np.testing.assert_allclose(found.means[j], mean, atol=1e-12)
        np.testing.assert_allclose(found.scatters[j], apart.T @ (given.weights[mine, None] * apart), rtol=1e-9)
    assert found.weights.sum() == pytest.approx(given.weights.sum())


# ------------------------------------------------------------------------------------------------------------ shrinkage


@given(n=st.integers(2, 40), r=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_shrinkage_is_that_of_scikit_learn(n: int, r: int, seed: int) -> None:
    z = np.random.default_rng(seed).standard_normal((n, r)) * np.linspace(1, 3, r)
    z -= z.mean(axis=0)
    covariance = z.T @ z / n
    amount = ledoit_wolf(covariance, float(((z**2).sum(axis=1) ** 2).sum()), float(n))
    assert 0 <= amount <= 1
    if r > 1:  # a single variance is its own target, at any distance 0
        theirs, expected = sklearn.covariance.ledoit_wolf(z, assume_centered=True)
        assert amount == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(shrink(covariance, amount), theirs, atol=1e-9)


@given(r=st.integers(1, 6), amount=st.floats(0, 1), seed=st.integers(0, 99))
def test_shrinking_keeps_the_trace(r: int, amount: float, seed: int) -> None:
    root = np.random.default_rng(seed).standard_normal((r, r))
    covariance = root @ root.T
    before = covariance.copy()
    shrunk = shrink(covariance, amount)
    assert np.trace(shrunk) == pytest.approx(np.trace(covariance))
    np.testing.assert_allclose(shrunk, (1 - amount) * before + amount * np.trace(before) / r * np.eye(r), atol=1e-12)
    np.testing.assert_array_equal(covariance, before)


# --------------------------------------------------------------------------------------------------------------- Fisher


def between(found: ClassScatter, priors: np.ndarray) -> np.ndarray:
    apart = found.means - priors @ found.means
    return apart.T @ (priors[:, None] * apart)


@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3, "auto"])
@given(given=labelled(), even=st.booleans())
def test_fisher_solves_the_generalised_eigenproblem(shrinkage: float | str | None, given: Labelled, even: bool) -> None:
    found = given.gathered()
    priors = np.full(given.classes, 1 / given.classes) if even else given.priors
    rule = find_fisher(found, priors, shrinkage)
    if shrinkage == "auto":
        assert rule.shrinkage == ledoit_wolf(found.within, found.fourth, float(found.weights.sum()))
    else:
        assert rule.shrinkage == (shrinkage or 0.0)
    within = shrink(found.within, rule.shrinkage)
    ratios = scipy.linalg.eigh(between(found, priors), within, eigvals_only=True)[::-1]
    q = min(given.classes - 1, given.z.shape[1])
    a = rule.directions
    assert a.shape == (given.z.shape[1], q)
    np.testing.assert_allclose(rule.ratios, ratios[:q], atol=1e-8 * ratios[0])
    np.testing.assert_allclose(a.T @ within @ a, np.eye(q), atol=1e-8)
    np.testing.assert_allclose(a.T @ between(found, priors) @ a, np.diag(ratios[:q]), atol=1e-7 * ratios[0])
    np.testing.assert_allclose(rule.origin, priors @ found.means, atol=1e-12)
    np.testing.assert_allclose(rule.centers, (found.means - rule.origin) @ a, atol=1e-9)


@given(given=labelled())
def test_fisher_scores_are_those_of_normal_densities(given: Labelled) -> None:
    """With one covariance for all classes: log prior plus log density, up to what all classes share."""
    found, priors = given.gathered(), given.priors
    rule = find_fisher(found, priors, None)
    z = (given.z - rule.origin) @ rule.directions
    scores = rule.scores(z, priors)
    inverse = np.linalg.inv(found.within)
    for j in range(given.classes):
        apart = given.z - found.means[j]
        log_density = np.log(priors[j]) - 0.5 * np.einsum("ij,jk,ik->i", apart, inverse, apart)
        if j == 0:
            shared = log_density - scores[:, 0]
        np.testing.assert_allclose(log_density - scores[:, j], shared, atol=1e-6 * (1 + np.abs(shared).max()))


def test_directions_without_variance_within_the_classes_are_left_out() -> None:
    rng = np.random.default_rng(0)
    z = np.column_stack([rng.standard_normal((40, 2)), np.zeros(40)])
    given = Labelled(z, np.repeat([0, 1], 20), np.ones(40), 2)
    rule = find_fisher(given.gathered(), np.full(2, 0.5), None)
    flat = find_fisher(Labelled(z[:, :2], given.labels, given.weights, 2).gathered(), np.full(2, 0.5), None)
    np.testing.assert_array_equal(rule.directions[2], 0.0)
    np.testing.assert_allclose(rule.ratios, flat.ratios)


# --------------------------------------------------------------------------------------------------------------- biased


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("shrinkage", [0.1, 1.0, "auto"])
@given(given=labelled(classes=2), q=st.sampled_from([None, 1, 2, 9]))
def test_biased_solves_the_generalised_eigenproblem(
    shrinkage: float | str, positive: int, given: Labelled, q: int | None
) -> None:
    found = given.gathered()
    rule = find_biased(found, positive, shrinkage, q)
    ours, others = given.labels == positive, given.labels != positive
    center = np.average(given.z[ours], axis=0, weights=given.weights[ours])
    apart, w = given.z - center, given.weights
    gathered, pushed = ((w[mine, None] * apart[mine]).T @ apart[mine] / w[mine].sum() for mine in (ours, others))
    amount = shrinkage
    if shrinkage == "auto":
        amount = max(ledoit_wolf(found.within, found.fourth, float(found.weights.sum())), 1e-3)
    assert rule.shrinkage == pytest.approx(amount)
    r = len(center)
    size = (np.trace(gathered) + np.trace(pushed)) / 2 / r
    dense = (1 - rule.shrinkage) * gathered + rule.shrinkage * size * np.eye(r)
    ratios = scipy.linalg.eigh(pushed, dense, eigvals_only=True)[::-1]
    count = len(rule.ratios)
    assert count == (max(1, int((ratios > 1).sum())) if q is None else min(q, r))
    a = rule.directions
    assert a.shape == (r, count)
    np.testing.assert_allclose(rule.ratios, ratios[:count], atol=1e-9 * ratios[0])
    np.testing.assert_allclose(a.T @ dense @ a, np.diag(rule.ratios), atol=1e-7 * ratios[0])
    np.testing.assert_allclose(a.T @ pushed @ a, np.diag(rule.ratios**2), atol=1e-7 * ratios[0] ** 2)
    np.testing.assert_allclose(rule.origin, center, atol=1e-12)


# ----------------------------------------------------------------------------------------------------------- projection


def fitted(kernel: Kernel, x: np.ndarray, weights: np.ndarray, method: str) -> Fit:
    rows = MemoryRows(Block(x, weights))
    return fit(Question(FixedKernel(kernel), 4, method=method, memory_limit=2**28, seed=0), rows)


WAYS = [
    (Gaussian(1.0), "dense"),
    (Gaussian(1.0), "landmarks"),
    (Polynomial(2, 1.0), "monomials"),
    (Linear(), "covariance"),
]


@pytest.mark.parametrize(("kernel", "method"), WAYS, ids=str)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), q=st.integers(1, 4))
def test_a_projection_is_the_components_turned(kernel: Kernel, method: str, seed: int, q: int) -> None:
    rng = np.random.default_rng(seed)
    x, new = rng.standard_normal((30, 4)), rng.standard_normal((7, 4))
    found = fitted(kernel, x, rng.integers(0, 3, 30) + 0.5, method)
    directions, origin = rng.standard_normal((4, q)), rng.standard_normal(4)
    along = Projection.along(found.finished.space, directions, origin)
    np.testing.assert_allclose(along(new), (found.project(new) - origin) @ directions, atol=1e-9)
    assert along.coefficients.shape[1] == q


@pytest.mark.parametrize(("kernel", "method"), WAYS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_training_rows_have_the_coordinates_of_new_rows(kernel: Kernel, method: str, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.standard_normal((50, 4)), rng.integers(0, 3, 50).astype(float) if weighted else np.ones(50)
    found = fitted(kernel, x, weights, method)
    coordinates = training_coordinates(found, Block(x, weights))
    for part in (slice(0, 0), slice(0, 7), slice(7, 50), slice(None)):
        np.testing.assert_allclose(coordinates(part), found.project(x[part]), atol=1e-9)
