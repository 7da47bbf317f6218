"""Kernel k-means against Lloyd's iteration written down for a Gram matrix, however the points are represented."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gramless.clustering import (
    Cloud,
    Clustering,
    FeatureCloud,
    GramCloud,
    KeptPoints,
    MappedPoints,
    Settings,
    center_preimage,
    draw,
    fill_empty,
    find_clusters,
    make_points,
    nearest_members,
)
from gramless.clustering.parted_cloud import PartedCloud, moments_of
from gramless.clustering.parted_gram_cloud import PartedGramCloud
from gramless.clustering.points import choose_coordinates
from gramless.data import Block, ClusterRows, LocalParts
from gramless.features import FeatureMap, LandmarkMap, Monomials, TaylorMap
from gramless.kernels import Gaussian, Kernel, Laplacian, Polynomial, Precomputed

ROOM = 2**24
ACCURACY = 1e-14  # part of the variance that coordinates may leave out
KERNELS = [Gaussian(0.8), Polynomial(2, 1.0), Laplacian(1.0)]


# ----------------------------------------------------------------------------------------------------- the obvious way


@dataclass(frozen=True, eq=False)
class Reference:
    """What Lloyd's iteration comes to.

    Attributes
    ----------
    labels : ndarray of shape (n,)
    distances2 : ndarray of shape (n,)
    inertias : list of float
        After each move of the centres.
    margin : float
        By how much, at the least, the nearest centre was nearer than another, or one point dearer than the next where
        an empty cluster was to be filled.
    """

    labels: np.ndarray
    distances2: np.ndarray
    inertias: list[float]
    margin: float


def center_distances2(gram: np.ndarray, weights: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Squared distances (n, k) of the points from the weighted means of the clusters, as double sums."""
    out = np.empty((len(gram), k))
    for j in range(k):
        mine = np.where(labels == j, weights, 0.0)
        share = mine / mine.sum()
        out[:, j] = np.diag(gram) - 2 * gram @ share + share @ gram @ share
    return out


def filled(labels: np.ndarray, distances2: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """Every cluster without weight gets the dearest point that is not alone in its own."""
    labels = labels.copy()
    dearest = sorted(range(len(labels)), key=lambda i: -weights[i] * distances2[i])
    for cluster in [j for j in range(k) if not weights[labels == j].any()]:
        for point in dearest:
            if weights[point] > 0 and (weights[labels == labels[point]] > 0).sum() > 1:
                labels[point] = cluster
                dearest.remove(point)
                break
    return labels


def lloyd(gram: np.ndarray, weights: np.ndarray, labels: np.ndarray, k: int, steps: int = 300) -> Reference:
    labels = filled(labels, np.ones(len(labels)), weights, k)
    inertias, margin = [], np.inf
    while True:
        distances2 = center_distances2(gram, weights, labels, k)
        nearest = distances2.argmin(axis=1)
        own = distances2.min(axis=1)
        inertias.append(float(weights @ own))
        if k > 1:
            ranked = np.sort(distances2, axis=1)
            margin = min(margin, float((ranked[:, 1] - ranked[:, 0]).min()))
        moved = filled(nearest, own, weights, k)
        if (moved != nearest).any():
            margin = min(margin, float(np.diff(np.sort((weights * own)[weights > 0])).min(initial=np.inf)))
        if len(inertias) > steps or (moved == labels)[weights > 0].all():
            return Reference(nearest, own, inertias, margin)
        labels = moved


# ------------------------------------------------------------------------------------------------------------- clouds


@dataclass(frozen=True, eq=False)
class Points:
    """Rows, weights and labels to begin with."""

    x: np.ndarray
    weights: np.ndarray
    labels: np.ndarray
    k: int


@st.composite
def points(draw: Any) -> Points:
    n, d, k = draw(st.integers(6, 40)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    weights = rng.integers(0, 3, n).astype(float) if draw(st.booleans()) else np.ones(n)
    weights[rng.permutation(n)[:k]] = 1.0  # no fewer points than clusters
    return Points(rng.standard_normal((n, d)), weights, rng.integers(0, k, n), k)


def features_of(kernel: Kernel, x: np.ndarray) -> FeatureMap:
    """Features that are exact on the rows, up to rounding."""
    if isinstance(kernel, Polynomial):
        return Monomials(kernel, x.shape[1])
    if isinstance(kernel, Gaussian) and x.shape[1] == 1:
        return TaylorMap(kernel, x.mean(axis=0), terms=80)
    return LandmarkMap.at(kernel, x)


def in_parts(given: Points) -> ClusterRows:
    """Three partitions, one of them empty."""
    cut = len(given.x) // 3
    pieces = zip(np.split(given.x, [cut, cut]), np.split(given.weights, [cut, cut]), strict=True)
    return ClusterRows(LocalParts([Block(x, weights, number, -1) for number, (x, weights) in enumerate(pieces)]))


def kept(kernel: Kernel, given: Points) -> Cloud:
    features = features_of(kernel, given.x)
    made = make_points(features, given.x, given.weights, ACCURACY, ROOM, np.random.default_rng(0))
    return FeatureCloud(made, given.x, given.weights)


def mapped(kernel: Kernel, given: Points) -> Cloud:
    features = features_of(kernel, given.x)
    made = make_points(features, given.x, given.weights, ACCURACY, 0, np.random.default_rng(0))
    assert isinstance(made, MappedPoints)
    return FeatureCloud(made, given.x, given.weights)


def parted(kernel: Kernel, given: Points, room: int) -> Cloud:
    features, rows = features_of(kernel, given.x), in_parts(given)
    coordinates = choose_coordinates(
        features, rows.n, lambda: rows.parts.reduce(moments_of, features), ACCURACY, room, np.random.default_rng(0)
    )
    return PartedCloud(features, coordinates, rows)


#: Every way to represent the points.
CLOUDS: dict[str, Callable[[Kernel, Points], Cloud]] = {
    "gram": lambda kernel, given: GramCloud(kernel, given.x, given.weights),
    "gram, kept": lambda kernel, given: GramCloud(kernel, given.x, given.weights, keep_bytes=ROOM),
    "given matrix": lambda kernel, given: GramCloud(Precomputed(), kernel(given.x), given.weights),
    "gram in parts": lambda kernel, given: PartedGramCloud(kernel, in_parts(given)),
    "kept coordinates": kept,
    "features": mapped,
    "coordinates in parts": lambda kernel, given: parted(kernel, given, ROOM),
    "features in parts": lambda kernel, given: parted(kernel, given, 0),
}
EVERY_CLOUD = pytest.mark.parametrize("cloud", CLOUDS)
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def found(cloud: Cloud, given: Points, labels: np.ndarray, max_iter: int = 300) -> Clustering:
    return find_clusters(cloud, Settings(given.k, labels, 1, max_iter, 0.0), np.random.default_rng(0))


def assert_same_partition(ours: Clustering, theirs: Reference, gram: np.ndarray) -> None:
    np.testing.assert_array_equal(ours.labels, theirs.labels)
    np.testing.assert_allclose(ours.distances2, theirs.distances2, atol=1e-9 * np.diag(gram).max())
    assert ours.inertia == pytest.approx(theirs.inertias[-1], rel=1e-9, abs=1e-9 * np.trace(gram))


# --------------------------------------------------------------------------------------------------------------- laws


@EVERY_CLOUD
@EVERY_KERNEL
@settings(max_examples=10)
@given(given=points(), steps=st.sampled_from([1, 2, 300]))
def test_from_the_same_labels_to_the_same_partition(kernel: Kernel, cloud: str, given: Points, steps: int) -> None:
    gram = kernel(given.x)
    expected = lloyd(gram, given.weights, given.labels, given.k, steps)
    assume(expected.margin > 1e-7)  # rounding decides nothing
    ours = found(CLOUDS[cloud](kernel, given), given, given.labels, steps)
    assert_same_partition(ours, expected, gram)
    assert ours.n_iter <= steps


@EVERY_CLOUD
@settings(max_examples=10)
@given(given=points())
def test_inertia_never_grows(cloud: str, given: Points) -> None:
    kernel = KERNELS[0]
    inertias = [found(CLOUDS[cloud](kernel, given), given, given.labels, steps).inertia for steps in range(1, 7)]
    assert (np.diff(inertias) <= 1e-10 * given.weights.sum()).all()
    assert np.isfinite(inertias).all()


@EVERY_CLOUD
@settings(max_examples=10)
@given(given=points())
def test_where_it_has_converged_it_stays(cloud: str, given: Points) -> None:
    made = CLOUDS[cloud](KERNELS[0], given)
    first = found(made, given, given.labels)
    assert first.converged
    again = found(made, given, first.labels)
    np.testing.assert_array_equal(again.labels, first.labels)
    assert again.n_iter == 1
    assert again.inertia == pytest.approx(first.inertia, abs=1e-10 * given.weights.sum())


@EVERY_CLOUD
@EVERY_KERNEL
@settings(max_examples=8)
@given(given=points())
def test_a_cloud_knows_the_distances_of_its_points(kernel: Kernel, cloud: str, given: Points) -> None:
    """Norms and products may be about any origin: distances, from points that have a weight, are about none."""
    made, gram, n = CLOUDS[cloud](kernel, given), kernel(given.x), len(given.x)
    near = 1e-9 * np.diag(gram).max()
    np.testing.assert_array_equal(made.weights, given.weights)
    some = np.random.default_rng(0).permutation(np.flatnonzero(given.weights))[:4]
    distances2 = made.norms2()[:, None] + made.norms2()[some] - 2 * made.columns(some)
    np.testing.assert_allclose(distances2, (np.diag(gram)[:, None] + np.diag(gram) - 2 * gram)[:, some], atol=near)
    share = given.weights / given.weights.sum()
    assert made.variance() == pytest.approx(share @ np.diag(gram) - share @ gram @ share, abs=near)
    assert sorted(made.order(np.random.default_rng(0))) == list(range(n))
    few = made.subset(some)
    np.testing.assert_array_equal(few.weights, given.weights[some])
    inside = few.norms2()[:, None] + few.norms2() - 2 * few.columns(np.arange(len(some)))
    np.testing.assert_allclose(inside, distances2[some], atol=near)


@EVERY_CLOUD
@EVERY_KERNEL
@settings(max_examples=8)
@given(given=points(), seed=st.integers(0, 99))
def test_centres_are_the_means_of_their_clusters(kernel: Kernel, cloud: str, given: Points, seed: int) -> None:
    """Before and after a move, in the cloud and in the model that is left of it."""
    gram, k, weights = kernel(given.x), given.k, given.weights
    near = 1e-8 * np.diag(gram).max()
    before = filled(given.labels, np.ones(len(gram)), weights, k)
    after = filled(np.random.default_rng(seed).integers(0, k, len(gram)), np.ones(len(gram)), weights, k)
    made = CLOUDS[cloud](kernel, given)
    centers = made.centers(before, k)
    moved = centers.move(after)
    shares = [np.array([np.where(labels == j, weights, 0) for j in range(k)]) for labels in (before, after)]
    old, new = (share / share.sum(axis=1, keepdims=True) for share in shares)
    assert moved == pytest.approx(np.trace((new - old) @ gram @ (new - old).T), abs=k * near)
    expected = center_distances2(gram, weights, after, k)
    np.testing.assert_array_equal(centers.labels, after)
    np.testing.assert_allclose(centers.distances2(after), expected[np.arange(len(gram)), after], atol=near)
    nearest = centers.assign()
    np.testing.assert_allclose(expected[np.arange(len(gram)), nearest], expected.min(axis=1), atol=near)
    if cloud != "given matrix":
        model = made.model(centers)
        np.testing.assert_allclose(model.distances2(given.x), expected, atol=near)
        np.testing.assert_allclose(model.squared_norms, np.einsum("ij,jk,ik->i", new, gram, new), atol=near)
        chosen = model.nearest(given.x)
        np.testing.assert_allclose(expected[np.arange(len(gram)), chosen], expected.min(axis=1), atol=near)
    rows = np.arange(len(gram))
    reached = made.nearest(rows, new.T)
    np.testing.assert_allclose(expected[rows, reached], expected.min(axis=1), atol=near)


@EVERY_KERNEL
@settings(max_examples=10)
@given(given=points(), seed=st.integers(0, 99))
def test_clouds_of_one_kernel_agree(kernel: Kernel, given: Points, seed: int) -> None:
    """From one random generator: the same seeds of clusters, the same labels to begin with, the same partition."""
    gram, start = kernel(given.x), Settings(given.k, "random", 1, 300, 0.0)
    seeds = draw(GramCloud(kernel, given.x, given.weights), given.k, np.random.default_rng(seed), spread=False)
    distances2 = np.diag(gram)[:, None] + np.diag(gram)[seeds] - 2 * gram[:, seeds]
    expected = lloyd(gram, given.weights, distances2.argmin(axis=1), given.k)
    assume(expected.margin > 1e-7)
    for name, make in CLOUDS.items():
        if name != "given matrix":  # whose rows have no values to be put in order by
            cloud = make(kernel, given)
            np.testing.assert_array_equal(draw(cloud, given.k, np.random.default_rng(seed), spread=False), seeds)
            assert_same_partition(find_clusters(cloud, start, np.random.default_rng(seed)), expected, gram)


@settings(max_examples=10)
@given(given=points(), seed=st.integers(0, 99))
def test_of_several_starts_the_best_is_kept(given: Points, seed: int) -> None:
    cloud = GramCloud(KERNELS[0], given.x, given.weights)
    rng = np.random.default_rng(seed)
    alone = [find_clusters(cloud, Settings(given.k, "random", 1, 300, 0.0), rng).inertia for _ in range(4)]
    best = find_clusters(cloud, Settings(given.k, "random", 4, 300, 0.0), np.random.default_rng(seed))
    assert best.inertia == pytest.approx(min(alone), abs=1e-12 * given.weights.sum())


# -------------------------------------------------------------------------------------------------------------- seeds


@EVERY_CLOUD
@pytest.mark.parametrize("spread", [True, False])
@settings(max_examples=10)
@given(given=points(), seed=st.integers(0, 10**6), copies=st.integers(1, 3))
def test_seeds_are_distinct_points_of_some_weight(
    cloud: str, spread: bool, given: Points, seed: int, copies: int
) -> None:
    """As long as there are distinct points; then any rows, none of them twice."""
    x = np.tile(given.x[: -(-len(given.x) // copies)], (copies, 1))[: len(given.x)]
    same = Points(x, given.weights, given.labels, given.k)
    seeds = draw(CLOUDS[cloud](Gaussian(0.8), same), given.k, np.random.default_rng(seed), spread=spread)
    assert len(set(seeds.tolist())) == len(seeds) == given.k
    assert (given.weights[seeds] > 0).all()
    values = {tuple(row) for row in x[given.weights > 0]}
    assert len({tuple(row) for row in x[seeds]}) == min(given.k, len(values))


@settings(max_examples=25)
@given(given=points(), seed=st.integers(0, 10**6))
def test_seeds_drawn_by_weight_depend_on_the_values_of_the_rows_alone(given: Points, seed: int) -> None:
    """Neither on their order, nor on whether a row of weight 2 is there twice."""
    kernel, weights = Gaussian(0.8), given.weights.astype(int)

    def chosen(x: np.ndarray, w: np.ndarray) -> list[tuple[float, ...]]:
        cloud = GramCloud(kernel, x, w.astype(float))
        return [tuple(x[i]) for i in draw(cloud, given.k, np.random.default_rng(seed), spread=False)]

    turn = np.random.default_rng(seed + 1).permutation(len(weights))
    expected = chosen(given.x, weights)
    assert chosen(given.x[turn], weights[turn]) == expected
    repeated = np.repeat(given.x, weights, axis=0)
    assert chosen(repeated, np.ones(len(repeated))) == expected


# ---------------------------------------------------------------------------------------------------------- small parts


@given(given=points(), seed=st.integers(0, 10**6))
def test_empty_clusters_are_filled_with_the_dearest_points(given: Points, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, distances2 = rng.integers(0, rng.integers(1, given.k + 1), len(given.x)), rng.random(len(given.x))
    before = labels.copy()
    full = fill_empty(labels, distances2, given.weights, given.k)
    np.testing.assert_array_equal(full, filled(labels, distances2, given.weights, given.k))
    assert (np.bincount(full, weights=given.weights, minlength=given.k) > 0).all()
    np.testing.assert_array_equal(labels, before)
    empty = (np.bincount(labels[given.weights > 0], minlength=given.k) == 0).sum()
    assert (full != labels).sum() == empty


@given(given=points(), seed=st.integers(0, 10**6))
def test_nearest_members_by_looking_at_each(given: Points, seed: int) -> None:
    distances2 = np.random.default_rng(seed).random(len(given.x))
    expected = []
    for j in range(given.k + 1):  # one cluster has no rows
        mine = [i for i in range(len(given.x)) if given.labels[i] == j and given.weights[i] > 0]
        expected.append(min(mine, key=lambda i: distances2[i], default=-1))
    members = nearest_members(given.labels, distances2, given.weights, given.k + 1)
    assert members.tolist() == expected


@EVERY_KERNEL
@settings(max_examples=10)
@given(given=points())
def test_a_preimage_of_a_centre_is_no_farther_than_its_nearest_row(kernel: Kernel, given: Points) -> None:
    used = given.weights > 0
    x, share = given.x[used], given.weights[used] / given.weights[used].sum()
    distances2 = kernel.diagonal(x) - 2 * kernel(x) @ share
    nearest = x[[distances2.argmin()]]
    z = center_preimage(kernel, x, given.weights[used], nearest)[None]
    assert kernel.diagonal(z)[0] - 2 * (kernel(z, x) @ share)[0] <= distances2.min() + 1e-12


def test_coordinates_are_stored_where_there_is_room() -> None:
    x = np.random.default_rng(0).standard_normal((50, 2))
    features = Monomials(Polynomial(2, 1.0), 2)
    roomy, tight = (make_points(features, x, np.ones(50), 1e-12, room, np.random.default_rng(0)) for room in (ROOM, 0))
    assert isinstance(roomy, KeptPoints)
    assert isinstance(tight, MappedPoints)
