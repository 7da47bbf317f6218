"""Merging: any tree of merges is the model of all points, and what is discarded stays within the bounds."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from extended import WIDE, centered_gram, eigenvalues, squared_distances
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial
from gramless.spaces import batch_space, count_kept, kernel_qr, merge, reduce, subspace_distance

KERNELS = [Gaussian(0.7), Gaussian(5.0), Matern(1.5, 1.0), Laplacian(2.0), Polynomial(2, 1.0), Linear()]
SHAPES = {  # clouds that make merging hard, besides plain ones
    "plain": lambda x, rng: x,
    "repeated": lambda x, rng: x[rng.integers(0, max(1, len(x) // 4), len(x))],
    "tight clusters": lambda x, rng: 1e-4 * x + rng.integers(0, 3, (len(x), 1)),
    "far from the origin": lambda x, rng: x + 50,
    "sorted": lambda x, rng: np.sort(x, axis=0),
}


@st.composite
def trees(draw):
    """A kernel, rows, weights, and an order in which parts of the rows are merged: any binary tree."""
    n, rng = draw(st.integers(2, 60)), np.random.default_rng(draw(st.integers(0, 10**6)))
    x = SHAPES[draw(st.sampled_from(list(SHAPES)))](rng.standard_normal((n, draw(st.integers(1, 4)))), rng)
    weights = draw(st.sampled_from(["ones", "counts", "spread"]))
    w = {"ones": np.ones(n), "counts": rng.integers(1, 4, n) * 1.0, "spread": 10 ** rng.uniform(-4, 2, n)}[weights]
    cuts = draw(st.sets(st.integers(1, n - 1), max_size=n - 1))
    parts = np.split(np.arange(n), sorted(cuts))
    order = [draw(st.integers(0, left - 2)) for left in range(len(parts), 1, -1)]
    return draw(st.sampled_from(KERNELS)), x, w, parts, order


def combined(kernel, x, w, parts, order, most=None):
    spaces = [batch_space(kernel, x[part], w[part]) for part in parts]
    if most is not None:
        spaces = [space.truncate(most) for space in spaces]
    for i in order:
        spaces[i : i + 2] = [merge(spaces[i], spaces[i + 1], most)]
    return spaces[0]


def rounding(kernel, x, w):
    """What the reference itself may be off by."""
    return 1e-13 * w.sum() * float(np.abs(kernel.diagonal(x)).max())


@given(trees())
def test_any_tree_equals_the_batch(case):
    kernel, x, w, parts, order = case
    space, whole = combined(kernel, x, w, parts, order), batch_space(kernel, x, w)
    k = min(len(space.scatter), len(whole.scatter))
    largest, slack = whole.scatter.max(initial=0), rounding(kernel, x, w)
    assert np.abs(space.scatter[:k] - whole.scatter[:k]).max(initial=0) <= 1e-10 * largest + slack
    assert space.scatter[k:].max(initial=0) <= 1e-10 * largest + slack
    assert whole.scatter[k:].max(initial=0) <= 1e-10 * largest + slack
    np.testing.assert_allclose(space.mean, w / w.sum(), rtol=1e-13)
    np.testing.assert_allclose(space.weight, w.sum(), rtol=1e-14)
    assert abs(space.trace - whole.trace) <= 1e-10 * largest + slack
    for j in range(1, k):  # leading subspaces that are separated from the rest
        apart = whole.scatter[j - 1] - whole.scatter[j]
        if apart > max(1e-3 * largest, 1e7 * slack):
            assert subspace_distance(space.truncate(j), whole.truncate(j)) < 1e-6
            new = x[:5]
            scores, exact = space.truncate(j).project(new), whole.truncate(j).project(new)
            np.testing.assert_allclose(scores @ scores.T, exact @ exact.T, atol=1e-6 * float(kernel.diagonal(x).max()))


@given(trees(), st.integers(1, 8))
def test_bounds_hold_whatever_was_discarded(case, most):
    kernel, x, w, parts, order = case
    space = combined(kernel, x, w, parts, order, most)
    lower, upper, _ = space.bounds.intervals(space.scatter, space.trace)
    gram = kernel(x)
    truth = np.linalg.eigvalsh(np.asarray(centered_gram(gram, w), dtype=np.float64))[::-1]
    slack = rounding(kernel, x, w)
    k = len(space.scatter)
    assert k <= most
    assert (lower <= truth[:k] + slack).all()
    assert (truth[:k] <= upper[:k] + slack).all()
    assert (truth[k:] <= upper[k] + slack).all()


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([1e-2, 0.3, 10.0]), st.sampled_from([None, 3]), st.sampled_from([0, 30]))
def test_bounds_hold_to_the_last_digit(seed, spread, most, offset):
    """Against eigenvalues in extended precision: rounding is bounded, not only truncation."""
    rng = np.random.default_rng(seed)
    x = spread * rng.standard_normal((14, 2)) + offset
    space = combined(Gaussian(1.0), x, np.ones(14), np.split(np.arange(14), [1, 5, 6]), [0, 0, 0], most)
    truth = eigenvalues(centered_gram(np.exp(-squared_distances(x.astype(WIDE), x.astype(WIDE)) / 2), np.ones(14)))
    lower, upper, _ = space.bounds.intervals(space.scatter, space.trace)
    k = len(space.scatter)
    assert (lower <= truth[:k]).all()
    assert (truth[:k] <= upper[:k]).all()
    assert truth[k:].max() <= upper[k]


def test_the_bounds_are_narrow_enough_to_be_of_use():
    x = np.random.default_rng(0).random((400, 3))
    space = combined(Gaussian(0.8), x, np.ones(400), np.split(np.arange(400), range(40, 400, 40)), [0] * 9, 25)
    lower, upper, _ = space.bounds.intervals(space.scatter, space.trace)
    assert ((upper[:5] - lower[:5]) / space.scatter[:5]).max() < 1e-3
    exact = combined(Gaussian(0.8), x, np.ones(400), np.split(np.arange(400), range(40, 400, 40)), [0] * 9)
    lower, upper, _ = exact.bounds.intervals(exact.scatter, exact.trace)
    assert ((upper[:5] - lower[:5]) / exact.scatter[:5]).max() < 1e-8


def test_equation_1_of_the_paper():
    """Sharma, Chaudhury & Srivastava, algorithm 3, step by step: [U, nu], equations 36-39 and 1."""
    rng = np.random.default_rng(0)
    kernel, x, y = Gaussian(1.0), rng.standard_normal((20, 2)), rng.standard_normal((12, 2)) + 1
    a, b = batch_space(kernel, x).truncate(5), batch_space(kernel, y).truncate(4)
    n, m = len(x), len(y)
    points, gram = np.vstack([x, y]), kernel(np.vstack([x, y]))
    u, v = np.vstack([a.basis, np.zeros((m, 5))]), np.vstack([np.zeros((n, 4)), b.basis])
    apart = np.concatenate([np.full(n, 1 / n), np.full(m, -1 / m)])
    residues = np.column_stack([v, apart])
    residues = residues - u @ (u.T @ gram @ residues)
    nu = residues @ kernel_qr(kernel, points, residues).inverse
    basis = np.hstack([u, nu])
    np.testing.assert_allclose(basis.T @ gram @ basis, np.eye(basis.shape[1]), atol=1e-10)
    left, right, middle = basis.T @ gram @ u, basis.T @ gram @ v, basis.T @ gram @ apart
    total = n + m
    equation = n / total * left @ np.diag(a.scatter / n) @ left.T + m / total * right @ np.diag(b.scatter / m) @ right.T
    equation += n * m / total**2 * np.outer(middle, middle)
    merged = merge(a, b)
    np.testing.assert_allclose(
        merged.scatter / total, np.linalg.eigvalsh(equation)[::-1][: len(merged.scatter)], atol=1e-12
    )


def test_plus_is_merge_with_nothing_discarded():
    x = np.random.default_rng(1).standard_normal((30, 2))
    a, b = batch_space(Matern(1.5, 1.0), x[:11]), batch_space(Matern(1.5, 1.0), x[11:])
    np.testing.assert_array_equal((a + b).scatter, merge(a, b).scatter)


def test_components_keep_their_signs():
    x = np.random.default_rng(2).standard_normal((60, 3)) * [3, 2, 1]
    space = batch_space(Gaussian(3.0), x[:30])
    before = space.project(x[:10])[:, :3]
    after = merge(space, batch_space(Gaussian(3.0), x[30:40])).project(x[:10])[:, :3]
    assert (np.einsum("ij,ij->j", before, after) > 0).all()


@pytest.mark.parametrize("unit", [1.0, 2.0**-80, 2.0**80])
def test_components_keep_their_signs_beside_a_heavy_cloud(unit):
    """Whichever signs they had, and in whatever unit the weights are."""
    x = np.random.default_rng(2).standard_normal((60, 3)) * [3, 2, 1]
    light, heavy = batch_space(Gaussian(3.0), x).scaled(unit), batch_space(Gaussian(3.0), x).scaled(1e6 * unit)
    for signs in (1.0, -1.0):
        turned = replace(light, basis=signs * light.basis, offset=signs * light.offset)
        after = merge(turned, heavy)
        before = turned.project(x[:10])[:, :3]
        assert (np.einsum("ij,ij->j", before, after.project(x[:10])[:, :3]) > 0).all()


def test_how_many_components_are_kept():
    values = np.array([4.0, 3.0, 2.0, 1.0, 0.0])
    assert count_kept(values, 10.0, None) == 4
    assert count_kept(values, 10.0, None, floor=1.0) == 3
    assert count_kept(values, 10.0, 9) == 4
    assert count_kept(values, 10.0, 2) == 2
    assert [count_kept(values, 10.0, 1, share) for share in (0.1, 0.6, 0.7, 0.75, 0.9, 1.0)] == [1, 2, 2, 3, 3, 4]
    assert count_kept(values, 10.0, 3, 0.1) == 3
    assert count_kept(values, 10.0, 1, 1.0, floor=2.5) == 2


def test_scaling_the_weights_scales_the_space():
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((20, 2)), rng.random(20) + 0.1
    kernel = Gaussian(1.0)
    a, b = batch_space(kernel, x[:12], w[:12]), batch_space(kernel, x[12:], w[12:])
    faded = merge(a.scaled(0.25), b, 4)
    exact = batch_space(kernel, x, np.concatenate([0.25 * w[:12], w[12:]]))
    np.testing.assert_allclose(faded.weight, exact.weight)
    lower, upper, _ = faded.bounds.intervals(faded.scatter, faded.trace)
    assert (lower <= exact.scatter[:4] + 1e-12).all()
    assert (exact.scatter[:4] <= upper[:4] + 1e-12).all()


def test_sparse_points():
    x = np.random.default_rng(4).standard_normal((24, 6))
    x[np.abs(x) < 1] = 0
    mixed = merge(batch_space(Linear(), scipy.sparse.csr_array(x[:10])), batch_space(Linear(), x[10:]))
    np.testing.assert_allclose(mixed.scatter, batch_space(Linear(), x).scatter, rtol=1e-9)


def test_what_differs_is_said():
    x = np.random.default_rng(5).standard_normal((10, 2))
    with pytest.raises(ValueError, match="kernels differ"):
        merge(batch_space(Gaussian(1.0), x), batch_space(Gaussian(2.0), x))
    with pytest.raises(ValueError, match="2 columns in one and 1"):
        merge(batch_space(Gaussian(1.0), x), batch_space(Gaussian(1.0), x[:, :1]))


@given(trees(), st.integers(1, 30), st.integers(2, 9))
def test_bounds_hold_on_fewer_points(case, points, most):
    """Reduced at random places of the tree, the bounds still hold."""
    kernel, x, w, parts, order = case
    spaces = [batch_space(kernel, x[part], w[part]).truncate(most) for part in parts]
    for turn, i in enumerate(order):
        left = reduce(spaces[i], points) if turn % 3 == 1 else spaces[i]
        spaces[i : i + 2] = [merge(left, spaces[i + 1], most)]
    space = reduce(spaces[0], points)
    assert space.span.points.shape[0] <= max(points, 0)
    lower, upper, _ = space.bounds.intervals(space.scatter, space.trace)
    truth = np.linalg.eigvalsh(np.asarray(centered_gram(kernel(x), w), dtype=np.float64))[::-1]
    slack, k = rounding(kernel, x, w), len(space.scatter)
    assert (lower <= truth[:k] + slack).all()
    assert (truth[:k] <= upper[:k] + slack).all()
    assert (truth[k:] <= upper[k] + slack).all()
