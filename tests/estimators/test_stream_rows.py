"""Streams that keep their rows: kernels that are not positive semidefinite, and few rows beside `max_support`."""

import warnings

import numpy as np
import pytest

from gramless import IndefiniteKernelWarning, KernelPCA
from gramless.kernels import Gaussian, Tanh

ROWS = np.random.default_rng(0).standard_normal((90, 3))
KERNEL = Tanh(0.1, 0.5)


@pytest.fixture(autouse=True)
def indefinite_is_known():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        yield


def assert_same(model, rows):
    whole = KernelPCA(3, kernel=KERNEL).fit(rows)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.transform(ROWS[:7])), np.abs(whole.transform(ROWS[:7])), rtol=1e-6)


def test_an_indefinite_stream_is_the_fit_of_its_rows():
    model = KernelPCA(3, kernel=KERNEL).partial_fit(ROWS[:40])
    assert model.method_ == "refitting"
    assert_same(model, ROWS[:40])
    assert_same(model.partial_fit(ROWS[40:]), ROWS)


def test_it_goes_on_from_a_fit():
    assert_same(KernelPCA(3, kernel=KERNEL).fit(ROWS[:40]).partial_fit(ROWS[40:]), ROWS)


def test_two_of_them_merge():
    first, second = (KernelPCA(3, kernel=KERNEL).partial_fit(rows) for rows in (ROWS[:40], ROWS[40:]))
    assert_same(first.merge(second), ROWS)
    assert_same(KernelPCA(3, kernel=KERNEL).fit(ROWS[:40]).merge(second), ROWS)


def test_it_may_begin_with_a_single_row():
    model = KernelPCA(1, kernel=KERNEL).partial_fit(ROWS[:1])
    assert abs(model.eigenvalues_).max() <= 1e-12
    np.testing.assert_allclose(model.transform(ROWS[:1]), 0, atol=1e-7)
    model.partial_fit(ROWS[1:])
    np.testing.assert_allclose(model.eigenvalues_, KernelPCA(1, kernel=KERNEL).fit(ROWS).eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("parts", [[40], [20, 20]])
def test_bounded_streams_of_few_rows_merge(parts):
    """Each has fewer rows than it may keep, and both together have more."""
    settings = {"kernel": Gaussian(3.0), "max_support": 60, "random_state": 0}
    first, second = KernelPCA(3, **settings), KernelPCA(3, **settings).partial_fit(ROWS[40:])
    for rows in np.split(ROWS[:40], np.cumsum(parts)[:-1]):
        first.partial_fit(rows)
    merged, exact = first.merge(second), KernelPCA(3, kernel=Gaussian(3.0), method="dense").fit(ROWS)
    certificate = merged.certificate_
    assert (certificate.lower <= exact.eigenvalues_ * (1 + 1e-12)).all()
    assert (exact.eigenvalues_ <= certificate.upper * (1 + 1e-12)).all()
    np.testing.assert_allclose(merged.eigenvalues_, exact.eigenvalues_, rtol=1e-3)


def test_a_fit_of_more_rows_than_a_stream_may_keep_goes_on_with_fewer():
    model = KernelPCA(3, kernel=Gaussian(3.0), max_support=40, method="auto", random_state=0).fit(ROWS[:80])
    model.partial_fit(ROWS[80:])
    exact = KernelPCA(3, kernel=Gaussian(3.0), method="dense").fit(ROWS)
    assert (model.certificate_.lower <= exact.eigenvalues_ * (1 + 1e-12)).all()
    assert (exact.eigenvalues_ <= model.certificate_.upper * (1 + 1e-12)).all()
