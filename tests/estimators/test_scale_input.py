"""scale_input=True is the model of rows scaled beforehand, in the units they came in."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.preprocessing import StandardScaler

import gramless
from gramless import KernelKMeans, KernelPCA
from gramless.kernels import Gaussian, Polynomial


@pytest.fixture(scope="module")
def rows():
    """Columns in units that are far apart, one of them constant."""
    rng = np.random.default_rng(0)
    clumps = rng.normal(size=(120, 3)) + 4 * (np.arange(120)[:, None] % 3)
    return np.column_stack([clumps * [1e-3, 1.0, 1e5] + [0, 7, 1e6], np.full(120, 0.1)])


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "rbf", "gamma": "median"},
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": Gaussian(1.5), "method": "landmarks"},
        {"kernel": Polynomial(2)},
        {"kernel": "linear", "method": "svd"},
    ],
    ids=str,
)
def test_it_is_the_model_of_scaled_rows(rows, settings, tmp_path):
    scaler = StandardScaler().fit(rows)
    plain = KernelPCA(3, random_state=0, **settings).fit(scaler.transform(rows))
    model = KernelPCA(3, random_state=0, scale_input=True, **settings).fit(rows)
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    expected = plain.transform(scaler.transform(rows[:9]))
    np.testing.assert_allclose(model.transform(rows[:9]), expected, atol=1e-8 * abs(expected).max())
    model.save(tmp_path / "model.gramless")
    again = gramless.load(tmp_path / "model.gramless")
    np.testing.assert_array_equal(again.transform(rows[:9]), model.transform(rows[:9]))


@pytest.mark.parametrize("kernel", [{"kernel": "rbf", "gamma": "scale"}, {"kernel": Polynomial(2)}], ids=str)
@pytest.mark.parametrize("checkpoint", [False, True])
def test_files_give_the_same_model(rows, kernel, checkpoint, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    at = tmp_path / "progress" if checkpoint else None
    filed = KernelPCA(3, scale_input=True, checkpoint=at, random_state=0, **kernel).fit(tmp_path / "rows.npy")
    model = KernelPCA(3, scale_input=True, random_state=0, **kernel).fit(rows)
    np.testing.assert_allclose(filed.eigenvalues_, model.eigenvalues_, rtol=1e-9)
    expected = model.transform(rows)
    np.testing.assert_allclose(filed.transform(tmp_path / "rows.npy"), expected, atol=1e-8 * abs(expected).max())


def test_pre_images_are_in_the_units_of_the_input(rows):
    model = KernelPCA(3, kernel=Gaussian(2.0), scale_input=True, fit_inverse_transform=True).fit(rows)
    scale = rows.std(axis=0) + (rows.std(axis=0) < 1e-12)
    for method in ("ridge", "fixed_point", "distances"):
        apart = (model.denoise(rows, method=method) - rows) / scale
        assert np.sqrt((apart**2).mean()) < 1.0, method


def test_weights_decide_mean_and_deviation(rows):
    twice = KernelPCA(2, kernel="rbf", gamma=0.3, scale_input=True).fit(np.vstack([rows, rows[:40]]))
    weights = np.where(np.arange(120) < 40, 2.0, 1.0)
    weighted = KernelPCA(2, kernel="rbf", gamma=0.3, scale_input=True).fit(rows, sample_weight=weights)
    np.testing.assert_allclose(weighted.eigenvalues_, twice.eigenvalues_, rtol=1e-9)


def test_later_batches_keep_the_scale_of_the_fit(rows):
    scaler = StandardScaler().fit(rows[:80])
    scaled = scaler.transform(rows)
    model = KernelPCA(3, kernel=Gaussian(1.5), scale_input=True).fit(rows[:80]).partial_fit(rows[80:])
    plain = KernelPCA(3, kernel=Gaussian(1.5)).fit(scaled[:80]).partial_fit(scaled[80:])
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(abs(model.transform(rows)), abs(plain.transform(scaled)), atol=1e-6)


@pytest.mark.parametrize("moved", [{"scale_input": True}, {"center_input": True}])
@pytest.mark.parametrize("file", [False, True])
def test_domain_is_in_the_units_of_the_rows(moved, file, tmp_path):
    x = np.random.default_rng(0).random((300, 2)) * [100.0, 1e-3] + [1000.0, 0.0]
    given = x
    if file:
        given = tmp_path / "rows.npy"
        np.save(given, x)
    settings = dict(n_components=3, kernel=Gaussian(1.0 if "scale_input" in moved else 40.0), **moved)
    boxed = KernelPCA(**settings, domain=([1000, 0], [1100, 1e-3]), method="fourier", tol=1e-8).fit(given)
    free = KernelPCA(**settings, method="dense").fit(x)
    np.testing.assert_allclose(boxed.eigenvalues_, free.eigenvalues_, rtol=1e-7)
    with pytest.raises(
        ValueError, match=r"column 0 has values from 1\d+\.?\d* to 1\d+\.?\d*, outside domain=\(1000, 1050\)"
    ):
        KernelPCA(**settings, domain=([1000, 0], [1050, 1e-3]), method="fourier").fit(given)


def test_later_batches_must_lie_in_the_domain():
    x = np.random.default_rng(0).random((300, 2)) * 100
    model = KernelPCA(3, kernel=Gaussian(1.0), scale_input=True, domain=(0, 100), method="fourier").fit(x[:200])
    model.partial_fit(x[200:])
    assert model.explained_variance_ratio_.sum() <= 1
    with pytest.raises(ValueError, match=r"column 0 has values from .* to 120, outside domain=\(0, 100\)"):
        model.partial_fit([[120.0, 50.0]])


@pytest.mark.parametrize("scale_input", [True, False])
def test_a_fit_that_left_no_stream_goes_on_from_its_rows(rows, scale_input):
    """A linear kernel has no moments then; units are still taken from the first rows."""
    rows = rows if scale_input else rows / rows.std(axis=0)
    model = KernelPCA(2, scale_input=scale_input, fit_inverse_transform=True, alpha=1e-8, random_state=0).fit(rows[:80])
    assert model.method_ in ("svd", "covariance")
    model.partial_fit(rows[80:])
    mean, scale = (rows[:80].mean(0), rows[:80].std(0)) if scale_input else (0.0, 1.0)
    expected = KernelPCA(2).fit((rows - mean) / scale)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
    ours, theirs = model.transform(rows), expected.transform((rows - mean) / scale)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-8, atol=1e-8 * np.abs(theirs).max())
    assert model.inverse_transform(ours).shape == rows.shape
    assert len(model.X_transformed_fit_) == len(rows)  # the way back has learned from all of them


def test_what_it_does_not_do_it_says(rows):
    with pytest.raises(AttributeError, match="partial_fit"):
        KernelPCA(3, scale_input=True).partial_fit(rows)
    with pytest.raises(ValueError, match="scale_input=True would make a sparse X dense"):
        KernelPCA(3, scale_input=True).fit(scipy.sparse.csr_array(rows))
    with pytest.raises(ValueError, match="scale_input=True takes two passes"):
        KernelPCA(3, scale_input=True).fit(iter([rows]))
    model = KernelPCA(3, kernel="rbf", gamma=1.0, scale_input=True).fit(rows)
    with pytest.raises(ValueError, match="scale_input=True: each model"):
        model.merge(model)


def test_clusters_of_scaled_rows(rows, tmp_path):
    scaler = StandardScaler().fit(rows)
    plain = KernelKMeans(3, random_state=0).fit(scaler.transform(rows))
    model = KernelKMeans(3, random_state=0, scale_input=True).fit(rows)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(rows), plain.labels_)
    np.testing.assert_allclose(model.transform(rows), plain.transform(scaler.transform(rows)), atol=1e-7)
    np.testing.assert_allclose(model.fit_transform(rows), model.transform(rows), atol=1e-7)
    assert model.score(rows) == pytest.approx(-model.inertia_)
    np.testing.assert_array_equal(model.prototypes("nearest"), rows[model.prototype_indices_])
    back = scaler.inverse_transform(plain.prototypes())
    np.testing.assert_allclose(model.prototypes(), back, rtol=1e-4, atol=1e-5)
    model.save(tmp_path / "model.gramless")
    np.testing.assert_array_equal(gramless.load(tmp_path / "model.gramless").predict(rows), plain.labels_)
