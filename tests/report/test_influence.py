import numpy as np
import pytest

from gramless import KernelPCA
from gramless.report import column_influence

X = np.random.default_rng(0).normal(size=(3000, 4)) * [1.0, 2.0, 0.5, 1.0]


def test_shares_of_independent_columns_of_a_linear_map():
    weights = np.array([1.0, 1.0, 2.0, 0.0])
    expected = (weights * X.std(axis=0)) ** 2
    found = column_influence(lambda x: (x * weights)[:, :3], X, budget=12_000)
    np.testing.assert_allclose(found, expected / expected.sum(), atol=0.03)
    assert found[3] == 0


def test_effects_that_need_two_columns_count_for_both():
    found = column_influence(lambda x: x[:, :1] * x[:, 1:2], X, budget=12_000)
    assert found[0] == pytest.approx(1, abs=0.15)
    assert found[1] == pytest.approx(1, abs=0.15)


def test_many_columns_in_blocks_equal_one_at_a_time():
    rows = np.random.default_rng(1).normal(size=(400, 30))
    together = column_influence(np.sin, rows, budget=6000)
    apart = column_influence(lambda x: np.vstack([np.sin(row) for row in x]), rows, budget=6000)
    np.testing.assert_allclose(together, apart)
    assert together.shape == (30,)


def test_constant_scores_have_no_influence():
    np.testing.assert_array_equal(column_influence(lambda x: np.ones((len(x), 2)), X[:50]), 0)


def test_kernel_pca_finds_the_column_that_varies():
    rows = X[:300] * [5.0, 0.01, 0.01, 0.01]
    model = KernelPCA(2, kernel="rbf", gamma=0.05).fit(rows)
    found = column_influence(model.transform, rows, budget=2000)
    assert found[0] > 100 * found[1:].max()
