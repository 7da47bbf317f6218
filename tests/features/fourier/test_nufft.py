"""Sums of exponentials by finufft are direct sums within what is promised, and what it is off by is measured."""

import sys

import numpy as np
import pytest

from gramless.features import Box, fourier_map
from gramless.features.fourier.nufft import asked, frequency_sums, measured_error, point_values, promised
from gramless.kernels import Gaussian

SHAPES = [(9,), (5, 7), (3, 5, 7)]


def exponentials(angles, shape, sign):
    """exp(sign i q.t) for all frequencies of a centred grid and all points: (*shape, n)."""
    lines = np.meshgrid(*(np.arange(-(size // 2), size // 2 + 1) for size in shape), indexing="ij")
    return np.exp(sign * 1j * sum(line[..., None] * angle for line, angle in zip(lines, angles, strict=True)))


def points(shape, n=40):
    rng = np.random.default_rng(len(shape))
    return rng, [rng.uniform(-np.pi, np.pi, n) for _ in shape]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [1e-2, 1e-6, 1e-14])
def test_transforms_are_direct_sums(shape, eps):
    rng, angles = points(shape)
    strengths = rng.random(40)
    sums = frequency_sums(angles, strengths, shape, eps)
    exact = exponentials(angles, shape, -1) @ strengths
    assert np.abs(sums - exact).max() <= promised(eps, shape) * strengths.sum()
    coefficients = rng.standard_normal((2, *shape)) + 1j * rng.standard_normal((2, *shape))
    values = point_values(angles, coefficients, eps)
    exact = coefficients.reshape(2, -1) @ exponentials(angles, shape, 1).reshape(-1, 40)
    assert np.abs(values - exact).max() <= promised(eps, shape) * np.abs(coefficients).reshape(2, -1).sum(axis=1).max()


@pytest.mark.parametrize("shape", SHAPES)
def test_no_points(shape):
    nowhere = [np.zeros(0)] * len(shape)
    np.testing.assert_array_equal(frequency_sums(nowhere, np.zeros(0), shape, 1e-6), np.zeros(shape))
    assert point_values(nowhere, np.zeros((3, *shape), dtype=complex), 1e-6).shape == (3, 0)


@pytest.mark.parametrize("wanted", [1e-3, 1e-8, 1e-12])
def test_what_is_asked_for_keeps_half_of_what_is_wanted(wanted):
    assert promised(asked(wanted), (1,)) == pytest.approx(wanted / 2, rel=1e-2)


def test_no_more_is_asked_for_than_finufft_can_do():
    assert asked(0.0) == 1e-14
    assert asked(1e9) == 1e-2
    assert promised(0.0, (1001, 501)) == pytest.approx(1502 * 7e-16)  # rounding grows with the frequencies of an axis


@pytest.mark.parametrize("shape", SHAPES)
def test_an_error_at_the_edge_is_measured(shape):
    rng, angles = points(shape)
    strengths = rng.random(40)
    exact = exponentials(angles, shape, -1) @ strengths
    assert measured_error(angles, strengths, exact) < 1e-15
    corner = tuple((0, -1)[axis % 2 == 0] for axis in range(len(shape)))
    for off in (0.3, -0.3j):
        wrong = exact.copy()
        wrong[corner] += off * strengths.sum()
        assert measured_error(angles, strengths, wrong) == pytest.approx(0.3, rel=1e-12)
    assert measured_error(angles, strengths, exact + 0.2 * strengths.sum()) == pytest.approx(0.2, rel=1e-12)
    assert measured_error(angles, np.zeros(40), np.zeros(shape)) == 0


def test_without_finufft_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "finufft", None)
    x = np.zeros((2, 1))
    with pytest.raises(ImportError, match="pip install finufft"):
        fourier_map(Gaussian(1.0), Box.around(x), 1e-6).moments(x, np.ones(2))
