"""Projections in float32: only where the fit is not more accurate, and within what is stated."""

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.fitting.fitted import FLOAT32_ERROR
from gramless.gram import rectangular_product
from gramless.kernels import Gaussian, Polynomial


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return 1.5 * rng.standard_normal((10, 20))[rng.integers(0, 10, 3000)] + rng.standard_normal((3000, 20))


@pytest.fixture(scope="module")
def rough(rows):
    return KernelPCA(4, kernel="rbf", gamma="median", tol=1e-4, method="tiled", random_state=0).fit(rows[:2500])


def test_a_rough_fit_projects_in_float32_within_what_is_stated(rough, rows):
    fit, new = rough._fit, rows[2500:]
    assert fit.projection().float32
    found, exact = rough.transform(new), fit.finished.space.project(new)
    assert not np.array_equal(found, exact)
    assert (np.abs(found - exact) <= 3 * FLOAT32_ERROR * np.sqrt(rough.explained_variance_)).all()


def test_an_accurate_fit_does_not(rows):
    model = KernelPCA(2, kernel="rbf", gamma=0.02, method="tiled", random_state=0).fit(rows[:2100])
    assert np.array_equal(model.transform(rows[:50]), model._fit.finished.space.project(rows[:50]))


def test_few_points_do_not(rows):
    model = KernelPCA(2, kernel="rbf", gamma=0.02, tol=1e-3, method="tiled", random_state=0).fit(rows[:500])
    assert not model._fit.projection().float32


def test_rows_far_away_are_computed_in_float64(rough, rows):
    far = np.vstack([rows[:5], 100 * rows[5:6]])
    assert np.array_equal(rough.transform(far), rough._fit.finished.space.project(far))


def test_rounding_that_is_too_large_is_noticed(rows):
    """Near the origin of a steep polynomial, float32 leaves too little of the small components."""
    model = KernelPCA(12, kernel=Polynomial(degree=5, c=1.0), tol=1e-6, method="tiled", random_state=0)
    space = model.fit(1 + 1e-2 * rows[:2100])._fit.finished.space
    assert space.float32_error() > FLOAT32_ERROR
    assert not model._fit.projection().float32


@pytest.mark.parametrize("rows_at_once", [1, 700, 3000])
def test_products_do_not_depend_on_how_many_rows_come_together(rows, rows_at_once):
    v = np.random.default_rng(1).standard_normal((3000, 3))
    whole = rectangular_product(Gaussian(3.0), rows, rows, v)
    parts = [
        rectangular_product(Gaussian(3.0), rows[i : i + rows_at_once], rows, v)
        for i in range(0, min(3000, 10 * rows_at_once), rows_at_once)
    ]
    joined = np.concatenate(parts)
    assert np.abs(joined - whole[: len(joined)]).max() <= 1e-12 * np.abs(whole).max()
    single = rectangular_product(Gaussian(3.0), rows, rows, v, np.float32)
    assert 0 < np.abs(single - whole).max() <= 1e-4 * np.abs(whole).max()
