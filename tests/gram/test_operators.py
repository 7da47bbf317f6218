"""Gram operators equal the dense matrix, within the error they state."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

from gramless import kernels
from gramless.arrays import use_threads
from gramless.gram import CenteredGram, DenseGram, TiledGram, rectangular_product
from gramless.gram.tiled.schedule import rounds

KERNELS = [kernels.Gaussian(2.0), kernels.Polynomial(2), kernels.Laplacian(1.0), kernels.Cosine() + kernels.Linear()]


def rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@given(blocks=st.integers(1, 40))
def test_rounds_hold_every_tile_once_and_no_row_twice(blocks):
    every = [tile for tiles in rounds(blocks) for tile in tiles]
    assert sorted(every) == [(i, j) for i in range(blocks) for j in range(i, blocks)]
    for tiles in list(rounds(blocks))[1:]:
        touched = [row for tile in tiles for row in tile]
        assert len(touched) == len(set(touched))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n", [1, 5, 512, 513, 1300])
@pytest.mark.parametrize("sparse", [False, True])
def test_tiled_product(kernel, n, sparse):
    x, v = rows(n, 3), rows(n, 4, 1)
    operator = TiledGram(kernel, scipy.sparse.csr_array(x) if sparse else x)
    assert isinstance(operator, LinearOperator)
    gram = kernel(x)
    assert np.linalg.norm(operator @ v - gram @ v) <= 2 * operator.error * np.linalg.norm(v)
    np.testing.assert_allclose(operator.matvec(v[:, 0]), gram @ v[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(operator.to_dense(), gram, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(operator.diagonal(), gram.diagonal(), rtol=1e-10)


@settings(max_examples=30)
@given(n=st.integers(1, 700), d=st.integers(1, 5), seed=st.integers(0, 99), weighted=st.booleans())
def test_centered_product_and_its_norms(n, d, seed, weighted):
    rng = np.random.default_rng(seed)
    x, weights = rng.standard_normal((n, d)), rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    weights[0] = 1
    kernel = kernels.Gaussian(1.0)
    operator = CenteredGram(TiledGram(kernel, x, weights))
    unit = np.sqrt(weights / weights.sum())
    projector = np.eye(n) - np.outer(unit, unit)
    dense = projector @ (np.sqrt(weights)[:, None] * kernel(x) * np.sqrt(weights)) @ projector
    v = rng.standard_normal((n, 3))
    slack = 2 * operator.error * np.linalg.norm(v) + 1e-12
    assert np.linalg.norm(operator @ v - dense @ v) <= slack
    np.testing.assert_allclose(operator.to_dense(), dense, atol=1e-11)
    assert operator.trace == pytest.approx(np.trace(dense), abs=1e-9)
    assert operator.diagonal() == pytest.approx(dense.diagonal(), abs=1e-11)
    frobenius2 = (dense**2).sum()
    assert frobenius2 <= operator.frobenius2 * (1 + 1e-12)
    assert operator.frobenius2 <= frobenius2 + 1e-9 * (1 + (kernel(x) ** 2).sum() * weights.max() ** 2)
    assert np.linalg.norm(dense, 2) <= operator.statistics().norm * (1 + 1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kept_tiles_and_threads_do_not_change_a_bit(kernel):
    x, v = rows(1500, 3), rows(1500, 5, 1)
    with use_threads(1):
        plain = TiledGram(kernel, x) @ v
    for keep, threads in [(0, 2), (2**23, 1), (2**30, 3)]:
        operator = TiledGram(kernel, x, keep_bytes=keep)
        with use_threads(threads):
            np.testing.assert_array_equal(operator @ v, plain)
            np.testing.assert_array_equal(operator @ v, plain)


def test_draft_is_float32_close():
    x, v = rows(1200, 8) + 1000.0, rows(1200, 3, 1)
    operator = TiledGram(kernels.Gaussian(3.0), x, draft=True)
    exact = operator @ v
    assert 1e-9 < np.linalg.norm(operator.draft @ v - exact) / np.linalg.norm(exact) < 1e-5


def test_a_given_matrix_is_read_in_tiles():
    gram = kernels.Gaussian(1.0)(rows(900, 2))
    operator = TiledGram(kernels.Precomputed(), gram.astype(np.float32))
    v = rows(900, 2, 1)
    np.testing.assert_allclose(operator @ v, gram.astype(np.float32).astype(float) @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sparse_x", [False, True])
@pytest.mark.parametrize("sparse_y", [False, True])
def test_rectangular_product(sparse_x, sparse_y):
    x, y, v = rows(1100, 3), rows(700, 3, 1), rows(700, 2, 2)
    kernel = kernels.Gaussian(1.0)
    wrap = scipy.sparse.csr_array
    got = rectangular_product(kernel, wrap(x) if sparse_x else x, wrap(y) if sparse_y else y, v)
    np.testing.assert_allclose(got, kernel(x, y) @ v, rtol=1e-10, atol=1e-11)


def test_dense_gram_states_its_error():
    gram = kernels.Gaussian(1.0)(rows(50, 2))
    operator = DenseGram(gram, error=1e-3)
    assert operator.error >= 1e-3
    assert operator.frobenius2 >= (gram**2).sum()


def test_overflow_is_named():
    with pytest.raises(ValueError, match=r"overflows.*rescale"):
        TiledGram(kernels.Polynomial(5), np.full((3, 2), 1e80)).statistics()
