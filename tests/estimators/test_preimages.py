import warnings

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import gramless
from gramless import KernelPCA
from gramless.errors import PreimageWarning
from gramless.kernels import Gaussian, Polynomial
from gramless.kernels.names import KERNEL_NAMES

WAYS = ("ridge", "fixed_point", "distances")


def ring(n=300, noise=0.05, seed=0):
    random = np.random.default_rng(seed)
    angle = random.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + noise * random.standard_normal((n, 2))


def off_the_ring(x):
    return np.abs(np.linalg.norm(x, axis=1) - 1).mean()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["tiled", "dense", "landmarks", "fourier", "taylor"])
def test_noise_off_a_ring_is_removed_on_every_route(way, method):
    x, noisy = ring(), ring(100, noise=0.2, seed=1)
    model = KernelPCA(
        8, kernel=Gaussian(0.6), fit_inverse_transform=True, alpha=0.1, method=method, random_state=0
    ).fit(x)
    assert off_the_ring(model.denoise(noisy, method=way)) < 0.6 * off_the_ring(noisy)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["landmarks", "fourier"])
def test_a_stream_has_an_inverse_transform(way, method):
    x = ring(600)
    settings = {"kernel": Gaussian(0.6), "fit_inverse_transform": True, "alpha": 1e-2, "method": method}
    settings |= {"domain": (-2, 2), "random_state": 0}
    stream = KernelPCA(8, **settings)
    for batch in np.array_split(x, 4):
        stream.partial_fit(batch)
    assert not hasattr(stream, "X_fit_")
    whole = KernelPCA(8, **settings).fit(x)
    scores = stream.transform(x)
    back = stream.inverse_transform(scores, method=way)
    slack = 0.1 if way == "distances" else 2e-3  # the neighbours are others
    np.testing.assert_allclose(back, whole.inverse_transform(whole.transform(x), method=way), atol=slack)
    assert np.linalg.norm(back - x, axis=1).mean() < 0.1


def test_merged_models_and_truncated_ones_have_an_inverse_transform():
    x = ring(400)
    settings = {"kernel": Polynomial(3), "fit_inverse_transform": True, "alpha": 1e-2, "keep_data": False}
    left, right = (KernelPCA(6, **settings).fit(part) for part in (x[:150], x[150:]))
    both, whole = left.merge(right), KernelPCA(6, **settings).fit(x)
    np.testing.assert_allclose(
        both.inverse_transform(both.transform(x)), whole.inverse_transform(whole.transform(x)), atol=1e-5
    )
    few = whole.truncate(3)
    small = KernelPCA(3, **settings).fit(x)
    np.testing.assert_allclose(
        few.inverse_transform(few.transform(x)), small.inverse_transform(small.transform(x)), atol=1e-5
    )
    plain = KernelPCA(6, kernel=Polynomial(3), keep_data=False).fit(x)
    with pytest.raises(NotFittedError, match="fit both with fit_inverse_transform=True"):
        both.merge(plain).inverse_transform(both.transform(x))


def test_above_the_memory_limit_landmarks_stand_for_all_rows():
    x = ring(3000)
    settings = {"n_components": 4, "kernel": "rbf", "gamma": 1.0, "fit_inverse_transform": True, "alpha": 0.1}
    theirs = sklearn.decomposition.KernelPCA(**settings, eigen_solver="arpack", random_state=0).fit(x)
    ours = KernelPCA(**settings, memory_limit="40MB").fit(x)
    assert len(ours.dual_coef_) < 1001
    np.testing.assert_allclose(
        ours.inverse_transform(ours.transform(x)), theirs.inverse_transform(theirs.transform(x)), atol=2e-3
    )


def test_integer_weights_are_repeated_rows():
    x, weights = ring(60), np.random.default_rng(1).integers(0, 4, 60)
    settings = {"kernel": Gaussian(0.7), "fit_inverse_transform": True, "alpha": 1e-2}
    weighted = KernelPCA(5, **settings).fit(x, sample_weight=weights)
    repeated = KernelPCA(5, **settings).fit(np.repeat(x, weights, axis=0))
    for way in ("ridge", "fixed_point"):
        np.testing.assert_allclose(weighted.denoise(x, method=way), repeated.denoise(x, method=way), atol=1e-5)


def test_rows_whose_fixed_point_does_not_settle_fall_back_and_say_so():
    model = KernelPCA(4, kernel=Gaussian(3.0)).fit(ring(80))
    far = 100 * np.random.default_rng(0).standard_normal((50, 4))  # no input has an image near these
    scores = np.vstack([model.transform(ring(3, seed=5)), far])
    with pytest.warns(PreimageWarning, match=r"did not converge for \d+ of 53 rows"):
        found = model.inverse_transform(scores, method="fixed_point")
    assert np.isfinite(found).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(found[:3], model.inverse_transform(scores[:3], method="fixed_point"), atol=1e-12)


def test_the_error_of_a_preimage_is_the_distance_in_feature_space():
    x = ring(40)
    kernel = Gaussian(0.8)
    model = KernelPCA(3, kernel=kernel).fit(x)
    scores = model.transform(x[:5])
    back = model.inverse_transform(scores, method="fixed_point")
    space = model._fit.model.space
    coefficients = space.mean + scores @ space.basis.T  # on the rows: checked against the kernel itself
    gram, cross = kernel(x), kernel(back, x)
    naive = np.einsum("ij,jk,ik->i", coefficients, gram, coefficients) + 1 - 2 * (coefficients * cross).sum(axis=1)
    np.testing.assert_allclose(model.preimage_error(scores, back), naive, atol=1e-10)
    assert (model.preimage_error(scores, back) <= model.preimage_error(scores, x[:5]) + 1e-12).all()


def test_center_input_comes_back_to_the_input():
    x = ring(100) + np.array([5.0, -3.0])
    model = KernelPCA(6, kernel=Gaussian(0.7), center_input=True).fit(x)
    assert np.abs(model.denoise(x, method="fixed_point") - x).mean() < 0.1
    assert np.abs(model.denoise(x, method="distances") - x).mean() < 0.1


def test_reconstruction_errors_can_choose_a_kernel():
    x = ring(200)
    model = KernelPCA(4, kernel="rbf", gamma=1.0, fit_inverse_transform=True, alpha=1e-3).fit(x)
    errors = model.reconstruction_error(x, space="input", method="ridge")
    np.testing.assert_allclose(errors, ((x - model.inverse_transform(model.transform(x))) ** 2).sum(axis=1))
    assert model.score(x) == pytest.approx(-errors.mean())
    weights = np.arange(200.0)
    assert model.score(x, sample_weight=weights) == pytest.approx(-np.average(errors, weights=weights))
    plain = KernelPCA(4, kernel="rbf", gamma=1.0).fit(x)
    assert plain.score(x) == pytest.approx(-plain.reconstruction_error(x).mean())
    search = GridSearchCV(
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True, alpha=1e-3), {"gamma": [1e-3, 1.0, 1e3]}, cv=3
    ).fit(x)
    assert search.best_params_["gamma"] != 1e3


def test_single_precision_stays_single():
    x = ring(100).astype(np.float32)
    model = KernelPCA(5, kernel="rbf", gamma=1.0, fit_inverse_transform=True, alpha=1e-2).fit(x)
    double = KernelPCA(5, kernel="rbf", gamma=1.0, fit_inverse_transform=True, alpha=1e-2).fit(x.astype(float))
    for way in WAYS:
        assert model.denoise(x, method=way).dtype == np.float32
        np.testing.assert_allclose(model.denoise(x, method=way), double.denoise(x.astype(float), method=way), atol=1e-2)


def test_what_cannot_be_inverted_says_why():
    x = ring(50)
    model = KernelPCA(3, kernel=Gaussian(0.7)).fit(x)
    with pytest.raises(
        NotFittedError, match="fit_inverse_transform=True and fit again, or find pre-images by method='auto'"
    ):
        model.denoise(x, method="ridge")
    with pytest.raises(ValueError, match="method='nearest' is invalid"):
        model.denoise(x, method="nearest")
    with pytest.raises(ValueError, match="space='both' is invalid"):
        model.reconstruction_error(x, space="both")
    with pytest.raises(ValueError, match="expects 3 columns"):
        model.inverse_transform(np.zeros((2, 4)), method="fixed_point")
    with pytest.raises(ValueError, match="radial kernels, not Polynomial"):
        KernelPCA(3, kernel=Polynomial(2)).fit(x).denoise(x, method="fixed_point")
    with pytest.raises(ValueError, match="no points for a pre-image search"):
        KernelPCA(3, kernel=Gaussian(0.7), method="fourier", keep_data=False).fit(x).denoise(x, method="fixed_point")
    gram = Gaussian(0.7)(x)
    with pytest.raises(ValueError, match="no input space for pre-images"):
        KernelPCA(3, kernel="precomputed").fit(gram).inverse_transform(np.zeros((2, 3)), method="distances")


def kinds(kernel, x, folder):
    """The same model by every way to make one, those that the kernel allows."""
    settings = {"kernel": kernel, "gamma": 1.0, "random_state": 0}
    model = KernelPCA(3, **settings).fit(x)
    yield "array", model
    model.save(folder / "model.gramless")
    yield "file of the model", gramless.load(folder / "model.gramless")
    np.save(folder / "rows.npy", x)
    yield "file of rows", KernelPCA(3, **settings).fit(folder / "rows.npy")
    yield "float32", KernelPCA(3, **settings).fit(x.astype(np.float32))
    yield "scaled", KernelPCA(3, **settings, scale_input=True).fit(x)
    stream = KernelPCA(3, **settings)
    for batch in np.array_split(x, 3):
        stream.partial_fit(batch)
    yield "stream", stream
    if kernel in ("sigmoid", "tanh"):
        return  # an indefinite kernel keeps its rows
    way = {"method": "monomials"} if kernel == "linear" else {}  # covariances alone do not add
    left, right = (KernelPCA(3, **settings, **way).fit(part) for part in (x[:80], x[80:]))
    yield "merged", left.merge(right)
    settings["keep_data"] = False
    yield "rows forgotten", KernelPCA(3, **settings).fit(x)
    yield "landmarks", KernelPCA(3, **settings, method="landmarks").fit(x)
    if kernel in ("rbf", "gaussian"):
        for method in ("taylor", "fourier"):
            yield method, KernelPCA(3, **settings, method=method).fit(x)


@pytest.mark.filterwarnings("ignore::gramless.errors.IndefiniteKernelWarning")
@pytest.mark.parametrize("kernel", [name for name in KERNEL_NAMES if name != "precomputed"])
def test_auto_serves_every_kernel_and_every_kind_of_model(kernel, tmp_path):
    x, new = ring(160), ring(12, noise=0.1, seed=3)
    first = None
    for kind, model in kinds(kernel, x, tmp_path):
        rows = new.astype(np.float32) if kind == "float32" else new
        found = model.denoise(rows)
        assert found.shape == new.shape, kind
        assert found.dtype == rows.dtype, kind
        assert np.isfinite(found).all(), kind
        if kind == "scaled":
            continue  # another model
        first = found if first is None else first
        np.testing.assert_allclose(found, first, atol=2e-2, err_msg=kind)
        np.testing.assert_array_equal(model.denoise(rows, method="auto"), found)


def test_auto_of_the_linear_kernel_is_pca():
    x = np.random.default_rng(0).standard_normal((80, 6)) @ np.diag([3.0, 2.0, 1.0, 1.0, 0.5, 0.1]) + 7.0
    pca = PCA(2).fit(x)
    expected = pca.inverse_transform(pca.transform(x))
    for settings in ({}, {"method": "tiled"}, {"method": "monomials"}, {"center_input": True}, {"keep_data": False}):
        model = KernelPCA(2, kernel="linear", **settings).fit(x)
        np.testing.assert_allclose(model.denoise(x), expected, atol=1e-8)
        np.testing.assert_allclose(model.inverse_transform(model.transform(x), method="auto"), expected, atol=1e-8)


def test_auto_of_a_polynomial_returns_from_components_without_rows():
    x = ring(100)
    whole = KernelPCA(5, kernel="poly", gamma=1.0).fit(x)
    bare = KernelPCA(5, kernel="poly", gamma=1.0, keep_data=False).fit(x)
    back = whole.inverse_transform(whole.transform(x), method="auto")
    np.testing.assert_allclose(bare.inverse_transform(bare.transform(x), method="auto"), back, atol=1e-4)
    assert (whole.preimage_error(whole.transform(x), back) <= whole.preimage_error(whole.transform(x), x) + 1e-9).all()


def test_the_default_is_not_worse_than_linear_pca_on_digits():
    """Noise of standard deviation 0.3 on pixels from 0 to 1; both at their best number of components."""
    random = np.random.default_rng(0)
    x = load_digits().data[random.permutation(1797)] / 16
    train, test = x[:600], x[1000:1100]
    noisy = test + 0.3 * random.standard_normal(test.shape)
    models = {k: PCA(k).fit(train) for k in (4, 8, 12, 16, 24, 32)}
    linear = min(squared_error(pca.inverse_transform(pca.transform(noisy)), test) for pca in models.values())
    for settings in ({"kernel": "rbf", "gamma": "median"}, {"kernel": "rbf"}, {"kernel": "poly"}):
        kernel = KernelPCA(64, **settings, method="dense").fit(train)
        best = min(squared_error(kernel.truncate(k).denoise(noisy), test) for k in (16, 32, 64))
        assert best < linear, settings


def test_without_a_ridge_scikit_learns_answer_or_an_error():
    x = np.random.default_rng(0).standard_normal((40, 3))
    settings = {"kernel": "rbf", "gamma": 5.0, "alpha": 0, "fit_inverse_transform": True}
    ours = KernelPCA(39, **settings).fit(x)
    theirs = sklearn.decomposition.KernelPCA(39, **settings).fit(x)
    expected = theirs.inverse_transform(theirs.transform(x))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(x)), expected, atol=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="pass a larger alpha \\(not 0\\)"):
        KernelPCA(3, **settings).fit(x)


def squared_error(x, true):
    return ((x - true) ** 2).sum(axis=1).mean()


@pytest.mark.parametrize(("s", "least"), [(0.1, 5.0), (0.2, 3.0)])
def test_the_toy_of_mika_and_others(s, least):
    """Linear over kernel error; the paper has 10 to 60 for s = 0.1 and 1 to 6 for s = 0.2, with 1 to 9 components."""
    random = np.random.default_rng(0)
    centers = random.uniform(-1, 1, (11, 10))
    train = np.repeat(centers, 100, axis=0) + s * random.standard_normal((1100, 10))
    true = np.repeat(centers, 33, axis=0)
    test = true + s * random.standard_normal(true.shape)
    model = KernelPCA(9, kernel=Gaussian.from_width(2 * s**2)).fit(train)
    for k in (1, 5, 9):
        pca = PCA(k).fit(train)
        linear = squared_error(pca.inverse_transform(pca.transform(test)), true)
        assert linear / squared_error(model.truncate(k).denoise(test), true) > least


@pytest.mark.slow
def test_digits_are_cleaned_better_than_by_linear_pca(data_folder):
    """USPS, Gaussian noise of deviation 0.5, each method at its best: Mika et al. have 1.6 times."""
    usps, random = np.load(data_folder / "usps.npz"), np.random.default_rng(0)
    train, test = (
        usps[f"X_{part}"][
            np.concatenate([random.permutation(np.flatnonzero(usps[f"y_{part}"] == c))[:n] for c in range(10)])
        ].astype(float)
        for part, n in (("train", 300), ("test", 50))
    )
    noisy = test + 0.5 * random.standard_normal(test.shape)
    models = {k: PCA(k).fit(train) for k in (32, 48, 56, 60, 64, 68, 72, 80, 96)}
    linear = min(squared_error(pca.inverse_transform(pca.transform(noisy)), test) for pca in models.values())
    kernel = KernelPCA(2200, kernel=Gaussian.from_width(0.6875 * 256)).fit(train)
    assert linear / squared_error(kernel.denoise(noisy), test) > 1.5
