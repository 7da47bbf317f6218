"""`compressed` as users call it: parameters, what stays, what is gone, and files."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from gramless import CompressionError, KernelKMeans, KernelPCA, load
from gramless.kernels import Gaussian


def rows(n=600, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


@pytest.fixture(scope="module")
def model():
    return KernelPCA(4, kernel=Gaussian(2.0), method="dense", fit_inverse_transform=True, alpha=1e-3).fit(rows())


def test_the_original_is_unchanged(model):
    before = model.transform(rows(50, 1))
    small = model.compressed()
    assert small.compression_.tol == 1e-3
    assert not hasattr(model, "compression_")
    assert model.X_fit_.shape == (600, 3)
    np.testing.assert_array_equal(model.transform(rows(50, 1)), before)
    assert not hasattr(clone(small), "compression_")
    assert not hasattr(clone(small).fit(rows()), "compression_")


def test_the_same_seed_gives_the_same_model(model):
    first, second = model.compressed(1e-2), model.compressed(1e-2)
    np.testing.assert_array_equal(first.transform(rows(50, 1)), second.transform(rows(50, 1)))


def test_limits_together(model):
    few = model.compressed(n_points=15)
    assert few.compression_.points == 15
    assert model.compressed(0.5, n_points=200).compression_.points < 20
    with pytest.raises(CompressionError, match="up to 15 of the 600"):
        model.compressed(1e-6, n_points=15)
    assert model.compressed(n_points=600).compression_.points == 600
    assert "unchanged" in model.compressed(n_points=600).compression_.note


@pytest.mark.parametrize("size", ["30kB", "60kB", 10**5])
@pytest.mark.parametrize("inverse", [True, False])
def test_a_file_is_at_most_as_large_as_asked(size, inverse, tmp_path):
    model = KernelPCA(4, kernel=Gaussian(1.0), method="dense", fit_inverse_transform=inverse).fit(rows(3000))
    small = model.compressed(memory=size)
    small.save(tmp_path / "small.gramless")
    limit = size if isinstance(size, int) else 1000 * int(size[:-2])
    assert (tmp_path / "small.gramless").stat().st_size <= limit
    assert small.compression_.points > (limit - 30_000) / (1000 if inverse else 100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tol": 0}, "tol=0 is invalid; pass a number above 0"),
        ({"tol": "1e-3"}, "tol='1e-3' is invalid"),
        ({"n_points": 0}, "n_points=0 is invalid; pass an integer, at least 1"),
        ({"n_points": 2.5}, "n_points=2.5 is invalid"),
        ({"memory": "many"}, "memory='many' is invalid"),
        ({"memory": "1kB"}, "memory='1kB' is too small .* pass at least"),
        ({"X": np.ones((3, 2))}, "2 features"),
    ],
)
def test_invalid_arguments_are_named(model, settings, message):
    with pytest.raises(ValueError, match=message):
        model.compressed(**settings)


def test_rows_to_measure_on_are_in_the_units_of_the_input():
    x = rows() * [1e3, 1.0, 1e-3]
    model = KernelPCA(2, kernel=Gaussian(2.0), scale_input=True, method="dense").fit(x)
    new = rows(200, 1) * [1e3, 1.0, 1e-3]
    small = model.compressed(1e-2, X=new)
    change = small.transform(new) - model.transform(new)
    measured = np.sqrt(np.mean(change**2, axis=0)) / small.compression_.scales[:2]
    np.testing.assert_allclose(small.compression_.change[:2], measured, rtol=1e-6)
    assert (small.compression_.rows, small.compression_.source) == (200, "rows given as X")


def test_the_inverse_transform_is_learned_again(model):
    small, new = model.compressed(1e-3), rows(50, 1)
    found = small.inverse_transform(small.transform(new))
    assert found.shape == (50, 3)
    error = np.mean((model.inverse_transform(model.transform(new)) - new) ** 2)
    assert np.mean((found - new) ** 2) < 3 * error + 0.05
    assert len(small.X_transformed_fit_) == small.compression_.points
    np.testing.assert_allclose(small.denoise(new), model.denoise(new), atol=0.1)


def test_the_reconstruction_error_changes_no_more_than_the_scores(model):
    small, new = model.compressed(1e-3), rows(200, 1)
    total = model._fit.finished.space.trace / model._fit.finished.space.weight
    change = small.reconstruction_error(new) - model.reconstruction_error(new)
    assert np.sqrt(np.mean(change**2)) < 1e-2 * total


def test_what_needs_the_rows_says_that_they_are_gone(model):
    small = KernelPCA(3, kernel=Gaussian(2.0)).partial_fit(rows()).compressed(1e-2)
    with pytest.raises(ValueError, match="a compressed model cannot be continued"):
        small.partial_fit(rows())
    with pytest.raises(ValueError, match="compressed: its rows are gone"):
        small.merge(small)
    with pytest.raises(AttributeError, match="compressed model"):
        _ = small.eigenvectors_
    with pytest.raises(AttributeError, match="compressed model"):
        _ = small.X_fit_
    with pytest.raises(AttributeError, match="compressed\\(\\) returns one that is"):
        _ = model.compression_


def test_a_compressed_model_can_be_compressed_truncated_saved_and_pickled(model, tmp_path):
    small, new = model.compressed(1e-4), rows(50, 1)
    smaller = small.compressed(1e-1)
    assert smaller.compression_.points_before == small.compression_.points > smaller.compression_.points
    leading = small.truncate(2)
    assert leading.compression_.names.tolist() == ["1", "2", "mean"]
    np.testing.assert_allclose(leading.transform(new), small.transform(new)[:, :2])
    small.save(tmp_path / "small.gramless")
    for again in (load(tmp_path / "small.gramless"), pickle.loads(pickle.dumps(small))):
        np.testing.assert_array_equal(again.transform(new), small.transform(new))
        scores = small.transform(new)
        np.testing.assert_array_equal(again.inverse_transform(scores), small.inverse_transform(scores))
        assert str(again.compression_) == str(small.compression_)


def test_prototypes_of_compressed_clusters():
    model = KernelKMeans(3, kernel=Gaussian(1.0), method="tiled", random_state=0).fit(rows())
    small = model.compressed(1e-2)
    np.testing.assert_array_equal(small.prototypes("nearest"), model.prototypes("nearest"))
    assert not hasattr(small, "labels_")
    with pytest.raises(ValueError, match="method='nearest'"):
        small.prototypes()


def test_a_notebook_shows_the_compression(model):
    assert "points reduced to" in model.compressed()._repr_html_()
