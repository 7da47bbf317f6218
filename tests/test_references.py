"""The reference algorithms of the benchmarks do what their papers say."""

import doctest

import numpy as np
import pytest

from benchmarks.references import (
    em_pairs,
    expectation_maximization,
    quantized_pairs,
    row_sampled_pairs,
    sampling,
    sparsified_pairs,
)
from benchmarks.references.rank_one import RankOneKernelPCA
from gramless import kernels


@pytest.fixture(scope="module")
def gram():
    """A centred Gram matrix with a few large eigenvalues."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (600, 1)) + 0.2 * rng.standard_normal((600, 3))
    k = kernels.Gaussian(1.0)(x)
    return k - k.mean(axis=0) - k.mean(axis=1)[:, None] + k.mean()


@pytest.fixture(scope="module")
def truth(gram):
    values, vectors = np.linalg.eigh(gram)
    return values[::-1][:2], vectors[:, ::-1][:, :2]


def sine(a, b):
    return np.linalg.norm(a - b @ (b.T @ a), 2)


@pytest.mark.parametrize("module", [expectation_maximization, sampling])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_em_converges_and_its_error_never_rises(gram, truth):
    values, vectors, errors = em_pairs(gram, 2, steps=60, rng=np.random.default_rng(1))
    np.testing.assert_allclose(values, truth[0], rtol=1e-8)
    assert sine(truth[1], vectors) < 1e-6
    assert (np.diff(errors) <= 1e-9 * errors[0]).all()
    assert errors[-1] == pytest.approx(np.trace(gram) - truth[0].sum(), rel=1e-8)


@pytest.mark.parametrize("keep", [0.2, 0.5, 1.0])
def test_sparsified_errs_by_what_random_matrices_do(gram, truth, keep):
    values, vectors = sparsified_pairs(gram, 2, keep=keep, rng=np.random.default_rng(2))
    bound = 2 * np.abs(gram).max() * np.sqrt(len(gram) * (1 - keep) / keep)
    assert np.abs(values - truth[0]).max() <= bound + 1e-9
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-10)
    assert sine(truth[1], vectors) < (0.3 if keep < 1 else 1e-6)


def test_quantized_errs_by_what_random_matrices_do(gram, truth):
    values, vectors = quantized_pairs(gram, 2, rng=np.random.default_rng(3))
    assert np.abs(values - truth[0]).max() <= 2 * np.abs(gram).max() * np.sqrt(len(gram))
    assert sine(truth[1], vectors) < 0.4


def test_a_sample_of_all_rows_is_exact_and_a_part_is_near(gram, truth):
    values, vectors = row_sampled_pairs(gram, 2, rows=600, rng=np.random.default_rng(4))
    np.testing.assert_allclose(values, truth[0], rtol=1e-9)
    assert sine(truth[1], vectors) < 1e-8
    values, vectors = row_sampled_pairs(gram, 2, rows=150, rng=np.random.default_rng(4))
    np.testing.assert_allclose(values, truth[0], rtol=0.3)
    assert sine(truth[1], vectors) < 0.2


def test_wrong_settings_are_named(gram):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="keep=0"):
        sparsified_pairs(gram, 2, keep=0, rng=rng)
    with pytest.raises(ValueError, match="rows=1"):
        row_sampled_pairs(gram, 2, rows=1, rng=rng)


def test_rank_one_updates_keep_all_eigenpairs():
    x = np.random.default_rng(0).standard_normal((40, 3))
    model = RankOneKernelPCA(kernels.Gaussian(1.5))
    for row in x:
        model.add(row)
    centring = np.eye(40) - 1 / 40
    exact = centring @ kernels.Gaussian(1.5)(x) @ centring
    np.testing.assert_allclose(model.values, np.linalg.eigvalsh(exact), atol=1e-9)
    np.testing.assert_allclose(exact @ model.vectors, model.vectors * model.values, atol=1e-8)
