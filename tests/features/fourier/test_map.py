"""Fourier features of rows: near the box, far from it, in many chunks, and by a transform that is not what it was."""

import sys

import finufft
import numpy as np
import pytest

from gramless.features import Box, fourier_map, maps
from gramless.features.fourier.map import chunk_rows
from gramless.kernels import Gaussian, Matern

X = np.random.default_rng(0).random((30, 2))
BOX = Box(np.zeros(2), np.ones(2))


class Off:
    """finufft, but all sums are off by the same part of the sum of the strengths."""

    def __init__(self, part):
        self.part = part

    def __getattr__(self, name):
        transform = getattr(finufft, name)
        if not name.endswith("d1"):
            return transform
        return lambda *given, **settings: transform(*given, **settings) + self.part * np.sum(given[-2].real)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("part", [1e-8, -9e-4])
def test_sums_that_are_off_are_measured_and_counted(monkeypatch, d, part):
    x, weights = np.random.default_rng(0).random((30, d)), np.arange(30.0)
    phi = fourier_map(Gaussian(2.0), Box.around(x), 1e-9)
    exact = phi.moments(x, weights)
    assert exact.slip <= 1e-9 * weights.sum()
    monkeypatch.setitem(sys.modules, "finufft", Off(part))
    found = phi.moments(x, weights)
    assert np.abs(found.sums - exact.sums).max() == pytest.approx(abs(part) * weights.sum(), rel=1e-3)
    assert found.slip == pytest.approx(10 * abs(part) * weights.sum(), rel=1e-3)


@pytest.mark.parametrize("part", [1.1e-3, np.nan])
def test_sums_that_are_wrong_are_refused(monkeypatch, part):
    phi = fourier_map(Gaussian(0.7), BOX, 1e-12)
    monkeypatch.setitem(sys.modules, "finufft", Off(part))
    with pytest.raises(ArithmeticError, match=r"the error of finufft is .* reinstall"):
        phi.moments(X, np.ones(30))


def test_sums_that_are_as_good_as_promised_are_taken_at_their_word(monkeypatch):
    phi = fourier_map(Gaussian(0.7), BOX, 1e-6)
    exact = phi.moments(X, np.ones(30))
    monkeypatch.setitem(sys.modules, "finufft", Off(1e-9))
    assert phi.moments(X, np.ones(30)).slip == exact.slip > 1e-9 * 30


def test_sums_are_those_of_real_weights():
    sums = fourier_map(Gaussian(0.3), BOX, 1e-9).moments(X, np.ones(30)).sums
    np.testing.assert_array_equal(sums, np.flip(sums).conj())


def test_what_is_left_out_is_looked_at_where_the_goal_was_missed():
    smooth = fourier_map(Gaussian(0.3), BOX, 1e-6)
    moments = smooth.moments(X, np.ones(30))
    assert moments.left_out == pytest.approx(30 * smooth.grid.tail)
    assert moments.kind == "rigorous"
    short = fourier_map(Matern(0.5, 0.5), Box(np.zeros(1), np.ones(1)), 1e-9)
    assert 1e-9 < short.grid.goal * 100 < short.grid.tail
    many = np.linspace(0, 1, 500)[:, None]
    sampled = short.moments(many, np.ones(500))
    assert sampled.left_out < 0.5 * 500 * short.grid.tail
    assert sampled.kind == "probabilistic"


def test_rows_without_weight_may_lie_anywhere_and_the_first_other_one_is_named():
    phi = fourier_map(Gaussian(0.3), BOX, 1e-6)
    x = np.vstack([X, [[1.25, 0.5], [0.5, -3.5]]])
    weights = np.append(np.ones(30), [0.0, 0.0])
    np.testing.assert_allclose(phi.moments(x, weights).sums, phi.moments(X, np.ones(30)).sums, atol=1e-5)
    with pytest.raises(ValueError, match=r"row \[ 0.5 -3.5\] lies outside the box"):
        phi.moments(x, np.append(np.ones(30), [0.0, 1.0]))
    phi.moments(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))  # the edges belong to the box


def test_rows_that_are_far_away_or_nowhere_have_no_features():
    phi = fourier_map(Gaussian(0.3), BOX, 1e-9)
    reach = phi.grid.axes.reach
    x = np.array([[0.5, 0.5], [1 + reach, 0.5], [1 + 1.001 * reach, 0.5], [np.nan, 0.5], [0.5, np.inf], [0.2, 0.1]])
    coefficients = np.random.default_rng(1).standard_normal((phi.n_features, 3))
    features = phi(x)
    assert features[[0, 1, 5]].any(axis=1).all()
    assert not features[[2, 3, 4]].any()
    np.testing.assert_allclose(phi.dot(x, coefficients), features @ coefficients, atol=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_rows_are_projected_in_chunks(k):
    phi = fourier_map(Gaussian(1.0), Box(np.zeros(1), np.ones(1)), 1e-9)
    x = np.linspace(0, 1, 132_000)[:, None]
    coefficients = np.random.default_rng(1).standard_normal((phi.n_features, k))
    np.testing.assert_allclose(phi.dot(x, coefficients), phi(x) @ coefficients, atol=1e-8)


@pytest.mark.parametrize("shape", [(9,), (81, 81), (129, 129, 129)])
@pytest.mark.parametrize("n", [1, 2, 7, 99_999, 100_001, 999_999, 10_000_001, 10**9])
def test_chunks_are_of_one_size_and_none_is_longer_than_it_may_be(n, shape):
    rows = chunk_rows(n, shape)
    chunks = -(-n // rows)
    assert rows * chunks - n < chunks
    assert rows <= max(1_000_000, np.prod([2.0 * size for size in shape]))
    assert chunks == 1 if n <= 100_000 else chunks > 1 or shape[-1] == 129
    assert chunks <= max(4, n / 500_000)


def test_no_rows_make_no_chunk():
    assert chunk_rows(0, (9,)) == 1


def test_maps_of_other_kinds_are_another_space():
    phi = fourier_map(Gaussian(0.3), BOX, 1e-3)
    assert phi.same_space(fourier_map(Gaussian(0.3), BOX, 1e-3))
    assert not phi.same_space(maps)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_dot_is_the_product_with_the_features(k):
    rng = np.random.default_rng(0)
    x = rng.random((50, 2)).astype(np.float32)
    phi = fourier_map(Gaussian(0.3), Box.around(x), 1e-11)
    coefficients = rng.standard_normal((phi.n_features, k))
    assert np.abs(phi.dot(x, coefficients) - phi(x) @ coefficients).max() <= 1e-10 * np.linalg.norm(coefficients)
