"""Hostile rows for the rest of the family: right, or an error that says why."""

import re
import warnings

import numpy as np
import pytest
from adversaries import INPUTS, KERNELS
from formulas import gram

from gramless import (
    BiasedDiscriminantAnalysis,
    KernelDiscriminantAnalysis,
    KernelICA,
    KernelKMeans,
    SeriesDensity,
    kernels,
)

SAYS_WHY = re.compile(
    r"rescale|scale (it|the data)|significant negative eigenvalues|nothing to separate|too large for dtype|"
    r"astype\('float64'\)"
)
TRIED = ["gaussian", "polynomial", "linear", "tanh"]


def rows(name, dtype, n=16):
    x = INPUTS[name](n, 3)
    with np.errstate(over="ignore", under="ignore"):
        return x.astype(dtype) if dtype == "float32" else x


def or_refused(job):
    """What `job` returns, without a warning of NumPy's, or None where it raises an error that says why."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RuntimeWarning)
        try:
            found = job()
        except ValueError as error:
            if not SAYS_WHY.search(str(error)):
                raise
            return None
    assert [str(warning.message) for warning in seen] == []
    return found


def wide_inertia(kernel, x, labels):
    """Sum of squared distances of the rows to the mean of their cluster in feature space, from wide kernel values."""
    values = gram(kernel, x)
    inside = (
        values[np.ix_(mine, mine)].sum() / len(mine)
        for mine in map(np.flatnonzero, labels == np.c_[[0, 1]])
        if len(mine)
    )
    return float(np.trace(values) - sum(inside)), float(np.trace(np.abs(values)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", INPUTS)
def test_kmeans(name, dtype):
    x = rows(name, dtype)
    for kernel in map(KERNELS.__getitem__, TRIED):
        model = or_refused(lambda kernel=kernel: KernelKMeans(2, kernel=kernel, n_init=1, random_state=0).fit(x))
        if model is None:
            continue
        assert set(model.labels_) <= {0, 1}
        if not kernel.mercer:  # distances may be negative there
            continue
        inertia, size = wide_inertia(kernel, x, model.labels_)
        reach = float(np.abs(x - x.mean(axis=0, dtype=float)).max())
        slack = 1e-9 * size + 1e-15 * size * min(reach, 1e15) ** 2  # of distances by products
        assert model.inertia_ == pytest.approx(inertia, rel=1e-5, abs=slack)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("kind", [KernelDiscriminantAnalysis, BiasedDiscriminantAnalysis])
def test_discriminants(kind, name, dtype):
    x = rows(name, dtype)
    y = np.arange(len(x)) % 2
    for kernel in map(KERNELS.__getitem__, TRIED):
        model = or_refused(lambda kernel=kernel: kind(kernel=kernel).fit(x, y))
        if model is not None:
            assert np.isfinite(model.transform(x)).all()
            assert set(model.predict(x)) <= {0, 1}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", INPUTS)
def test_independent_components(name, dtype):
    """Sources, mixed again, are the rows: in the directions in which they vary."""
    x = rows(name, dtype)
    model = or_refused(lambda: KernelICA(random_state=0).fit(x))
    if model is not None:
        again = model.inverse_transform(model.transform(x))
        spread = float(np.abs(x - x.mean(axis=0, dtype=float)).max())
        grain = 1e-4 if dtype == "float32" else 3e-6  # less than 1e-12 of the variance is 0, as in scikit-learn
        offset = float(np.abs(np.asarray(x, dtype=float)).max()) * (1e-6 if dtype == "float32" else 1e-14)
        np.testing.assert_allclose(np.asarray(again, float), np.asarray(x, float), atol=grain * spread + offset)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("truncation", ["held_out", "rule"])
def test_density(name, dtype, truncation):
    x = rows(name, dtype)
    for kernel in (None, kernels.Gaussian(1.5)):
        job = lambda kernel=kernel: SeriesDensity(kernel=kernel, truncation=truncation, random_state=0).fit(x)  # noqa: E731
        model = or_refused(job)
        if model is not None:
            assert not np.isnan(model.score_samples(x)).any()


def test_a_density_with_one_row_very_far_away_is_refused_not_wrong():
    """Rounding of distances to the far row drowned the others: their density was 0 without a word."""
    x = np.random.default_rng(0).standard_normal((40, 2))
    x[0] = 1e9
    for truncation in ("held_out", "rule"):
        with pytest.raises(ValueError, match=r"extend 1\.4e\+09 from their mean.*outliers"):
            SeriesDensity(kernel=kernels.Gaussian(1.0), truncation=truncation).fit(x)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_weights_out_of_range_are_refused(weight):
    x = np.random.default_rng(0).standard_normal((20, 2))
    y, weights = np.arange(20) % 2, np.full(20, weight)
    for model in (KernelKMeans(2), KernelICA(n_restarts=0), SeriesDensity()):
        with pytest.raises(ValueError, match=r"sample_weight sums to .*; divide it by its largest entry"):
            model.fit(x, sample_weight=weights)
    for model in (KernelDiscriminantAnalysis(), BiasedDiscriminantAnalysis()):
        with pytest.raises(ValueError, match=r"sample_weight sums to .*; divide it by its largest entry"):
            model.fit(x, y, sample_weight=weights)
