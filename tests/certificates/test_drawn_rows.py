"""Rows drawn at random prove what a residual does to given vectors, and what that means for eigenvalues."""

import numpy as np
import pytest

from gramless.certificates import Inside, drawn_norm, rows_to_draw


def residual(rng, n, rank):
    """A positive semidefinite matrix with a few heavy rows."""
    factor = rng.standard_normal((n, rank)) / np.sqrt(rank)
    factor[rng.choice(n, 3, replace=False)] *= 20
    return factor @ factor.T


@pytest.mark.parametrize("rank", [2, 40])
def test_the_bound_holds_as_often_as_it_says(rank):
    rng = np.random.default_rng(rank)
    e = residual(rng, 80, rank)
    v = np.linalg.qr(rng.standard_normal((80, 3)))[0]
    chances, tau = e.diagonal() / np.trace(e), float(np.trace(e))
    action = e @ v
    truth, failure, wrong, trials = np.linalg.norm(action, axis=0), 0.05, 0, 1000
    block = np.linalg.norm(action, 2)
    for _ in range(trials):
        rows = rng.choice(80, 200, p=chances)
        parts = action[rows] / np.sqrt(200 * chances[rows])[:, None]
        each = [drawn_norm(float(z), tau, 200, failure) for z in (parts**2).sum(axis=0)]
        together = drawn_norm(float(np.linalg.norm(parts, 2)) ** 2, tau, 200, failure)
        wrong += (truth > each).any() or block > together
    assert wrong <= 4 * failure * trials  # four events


def test_without_any_residual_the_bound_is_the_trace_over_the_rows():
    assert drawn_norm(0.0, 7.0, 1000, 1e-10) == pytest.approx(7 * 23 / 1000, rel=2e-2)
    assert drawn_norm(0.0, 0.0, 1000, 1e-10) == 0
    assert drawn_norm(1e6, 7.0, 1000, 1e-10) == 7  # never more than the trace


@pytest.mark.parametrize("part", [0.0, 0.1, 0.3, 0.6])
def test_as_many_rows_are_drawn_as_prove_the_norm(part):
    n = int(rows_to_draw(1.0, 1e-3, 20, part * 1e-3))
    failure = 1e-10 / 21
    reached = drawn_norm((part * 1e-3) ** 2, 1.0, n, failure)
    assert 0.9e-3 < reached < 1.01e-3
    assert rows_to_draw(0.0, 1e-3, 20) == 0


@pytest.mark.parametrize("seed", range(20))
def test_upper_bounds_hold_the_eigenvalues_of_the_sum(seed):
    rng = np.random.default_rng(seed)
    n, b = 30, 6
    q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.sort(10.0 ** rng.uniform(-2, 1, n))[::-1]
    a = (q * values) @ q.T
    small = rng.standard_normal((n, 5))
    e = 10.0 ** rng.uniform(-6, 0) * small @ small.T
    action = e @ q[:, :b]
    inside = Inside(np.linalg.norm(action, axis=0), float(np.linalg.norm(action, 2)), 0.0)
    bounds = inside.upper_bounds(values[:b], float(values[b] + np.linalg.norm(e, 2)))
    truth = np.linalg.eigvalsh(a + e)[::-1][:b]
    assert (bounds >= truth * (1 - 1e-12)).all()
    if inside.block < 1e-3 * (values[b - 1] - values[b]):
        assert (bounds - values[:b] <= 20 * inside.block).all()  # and not far above


def test_vectors_that_the_residual_does_not_touch_keep_their_eigenvalues():
    inside = Inside(np.zeros(2), 0.0, 0.0)
    np.testing.assert_array_equal(inside.upper_bounds(np.array([3.0, 2.0]), 1.0), [3.0, 2.0])
