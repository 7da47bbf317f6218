"""Every model that is an expansion on points can be compressed, within the stated bound on rows it has not seen."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from conformance.test_kernels import ALL, D

from gramless import (
    BiasedDiscriminantAnalysis,
    CompressionError,
    IndefiniteKernelWarning,
    KernelDiscriminantAnalysis,
    KernelKMeans,
    KernelPCA,
    SeriesDensity,
    UncertifiedWarning,
    load,
)
from gramless.kernels import Gaussian, Laplacian, Matern

N = 400


def rows(n=N, seed=0, d=D):
    return np.abs(np.random.default_rng(seed).standard_normal((n, d)))  # nonnegative, for the function of two rows


def bounds(model, kernel, x):
    """What the compression states for each output of kernel PCA at rows, and a little for rounding to the output."""
    stated = model.compression_.bounds_at(np.asarray(kernel.diagonal(x)))[:, : model.n_components_]
    return stated + 1e-12 * np.abs(model.transform(x)).max()


@pytest.mark.parametrize("kernel", ALL)
def test_every_kernel(kernel):
    x, new = rows(100), 2 * rows(200, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        warnings.simplefilter("ignore", UncertifiedWarning)
        model = KernelPCA(2, kernel=kernel, method="dense").fit(x)
    if not kernel.mercer:
        with pytest.raises(ValueError, match="Mercer kernel"):
            model.compressed(n_points=20)
        return
    small = model.compressed(n_points=20)
    assert 1 <= small.compression_.points <= 20
    assert (np.abs(small.transform(new) - model.transform(new)) <= bounds(small, kernel, new)).all()
    np.testing.assert_array_equal(small.certificate_.upper, model.certificate_.upper)
    np.testing.assert_array_equal(small.eigenvalues_, model.eigenvalues_)


@pytest.mark.parametrize("method", ["dense", "tiled", "landmarks", "stream", "bounded"])
def test_every_method_on_points(method):
    kernel, x, new = Gaussian(2.0), rows(), rows(300, 1)
    if method in ("stream", "bounded"):
        model = KernelPCA(3, kernel=kernel, max_support=150 if method == "bounded" else None)
        model.partial_fit(x[:200]).partial_fit(x[200:])
    else:
        model = KernelPCA(3, kernel=kernel, method=method).fit(x)
    small = model.compressed(1e-2)
    change = np.abs(small.transform(new) - model.transform(new))
    assert small.compression_.points < 100
    assert (change <= bounds(small, kernel, new)).all()
    assert (np.sqrt(np.mean(change**2, axis=0)) <= 2e-2 * model.transform(new).std(axis=0)).all()


@pytest.mark.parametrize("settings", [{"kernel": "linear"}, {"kernel": "poly", "degree": 2, "method": "monomials"}])
def test_explicit_features_are_returned_as_they_are(settings):
    model = KernelPCA(2, **settings).fit(rows())
    small = model.compressed()
    np.testing.assert_array_equal(small.transform(rows()), model.transform(rows()))
    assert "nothing to compress" in small.compression_.note
    assert small.compression_.rows == 0
    with pytest.raises(ValueError, match=r"nothing to compress.*method='landmarks'"):
        model.compressed(n_points=1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_precision_and_scaling(dtype, scaled, weighted):
    rng = np.random.default_rng(2)
    x, new = (rows() * [1, 10, 0.1, 1]).astype(dtype), (rows(200, 1) * [1, 10, 0.1, 1]).astype(dtype)
    weights = rng.integers(0, 4, N).astype(float) if weighted else None
    model = KernelPCA(3, kernel=Gaussian(3.0), scale_input=scaled, method="dense").fit(x, sample_weight=weights)
    small = model.compressed(1e-2)
    apart = np.abs(small.transform(new).astype(float) - model.transform(new))
    rounded = 4 * np.finfo(dtype).eps * np.abs(model.transform(new)).max()
    assert small.transform(new).dtype == dtype
    assert (apart <= small.compression_.bounds_at(np.ones(200))[:, :3] + rounded).all()
    assert small.compression_.change.max() <= 1e-2


def test_sparse_rows():
    x = scipy.sparse.csr_array(np.where(rows() > 0.8, rows(), 0.0))
    model = KernelPCA(2, kernel=Gaussian(3.0), method="tiled").fit(x)
    small = model.compressed(1e-2)
    assert scipy.sparse.issparse(small._fit.finished.space.span.points)
    assert (np.abs(small.transform(x) - model.transform(x)) <= small.compression_.norms[:2] + 1e-12).all()


def family():
    x, classes = rows(), np.arange(N) % 3
    x = x + classes[:, None]
    kernel = Gaussian(3.0)
    return {
        "kmeans": KernelKMeans(3, kernel=kernel, method="tiled", random_state=0).fit(x),
        "kmeans-scaled": KernelKMeans(3, kernel=kernel, method="tiled", scale_input=True, random_state=0).fit(x),
        "discriminant": KernelDiscriminantAnalysis(kernel=kernel, n_coordinates=10, method="tiled").fit(x, classes),
        "biased": BiasedDiscriminantAnalysis(2, kernel=kernel, n_coordinates=10, method="tiled").fit(x, classes == 1),
    }


@pytest.mark.parametrize("name", ["kmeans", "kmeans-scaled", "discriminant", "biased"])
def test_every_estimator(name, tmp_path):
    model, new = family()[name], rows(300, 1) + 1
    small = model.compressed(1e-2)
    assert small.compression_.points < N / 2
    assert small.compression_.change.max() <= 1e-2
    power = 2 if name.startswith("kmeans") else 1  # squared distances change by twice the change of the outputs
    change = np.abs(small.transform(new) ** power - model.transform(new) ** power)
    assert (change <= power * small.compression_.norms + 1e-12).all()
    assert (small.predict(new) == model.predict(new)).mean() > 0.97
    small.save(tmp_path / "small.gramless")
    model.save(tmp_path / "model.gramless")
    again = load(tmp_path / "small.gramless")
    np.testing.assert_array_equal(again.transform(new), small.transform(new))
    np.testing.assert_array_equal(again.compression_.curve_change, small.compression_.curve_change)
    assert str(again.compression_) == str(small.compression_)
    assert not hasattr(model, "compression_")


@pytest.mark.parametrize("kernel", [Gaussian(0.8), Laplacian(1.0), Matern(2.5, 1.0)], ids=str)
def test_a_density(kernel, tmp_path):
    x, new = rows(800, d=2), rows(300, 1, d=2)
    model = SeriesDensity(kernel=kernel, random_state=0).fit(x)
    small = model.compressed(1e-2)
    factor = np.exp(model._series.shape.log_integral) * model._series.mass[0]
    change = np.abs(np.exp(small.score_samples(new)) - np.exp(model.score_samples(new)))
    assert (change <= small.compression_.norms[0] / factor + 1e-12).all()
    assert small.compression_.points < 400
    assert small.sample(20, random_state=0).shape == (20, 2)
    small.save(tmp_path / "small.gramless")
    again = load(tmp_path / "small.gramless")
    np.testing.assert_array_equal(again.score_samples(new), small.score_samples(new))


def test_no_number_of_points_serves_a_narrow_kernel():
    model = KernelPCA(3, kernel=Gaussian(0.05), method="dense").fit(rows())
    with pytest.raises(CompressionError, match="no number of points up to"):
        model.compressed(1e-3)
