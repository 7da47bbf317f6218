"""What new users try first: other libraries' names, streams of single rows, parameters changed on the way."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from gramless import KernelDiscriminantAnalysis, KernelKMeans, KernelPCA, UncertifiedWarning, load
from gramless.kernels import Matern

X = np.random.default_rng(0).random((120, 3))


@pytest.mark.parametrize("estimator", [KernelPCA, KernelKMeans, KernelDiscriminantAnalysis])
@pytest.mark.parametrize("method", ["nystroem", "nystrom", "rff"])
def test_methods_of_other_libraries(estimator, method):
    with pytest.raises(ValueError, match="'landmarks' is the Nyström method; random Fourier features are not offered"):
        estimator(method=method).fit(X, np.arange(120) % 2)


@pytest.mark.parametrize("device", ["gpu", "GPU", "mps", "cudo"])
def test_devices_of_other_libraries(device):
    with pytest.raises(ValueError, match="is unknown; pass 'cuda' for a GPU"):
        KernelPCA(2, device=device).fit(X)


def test_the_number_of_components():
    assert KernelPCA(2).fit(X).n_components_ == 2
    assert KernelPCA(0.5).fit(X).n_components_ == 2
    assert KernelPCA().fit(X).n_components_ == 3
    assert not hasattr(KernelPCA(2), "n_components_")


@pytest.mark.parametrize("gamma", ["median", "scale", "preimage", "gap"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_stream_does_not_settle_on_a_bandwidth_of_few_rows(kernel, gamma):
    for first, found in ((X[:1], "1 row;"), (X[:29], "29 rows;"), (np.ones((40, 3)), "40 rows, all of them equal;")):
        stream = KernelPCA(2, kernel=kernel, gamma=gamma)
        with pytest.raises(ValueError, match=f"this batch has {found} begin with at least 30 different rows"):
            stream.partial_fit(first)
        assert not hasattr(stream, "eigenvalues_")
    stream = KernelPCA(2, kernel=kernel, gamma=gamma).partial_fit(X[:30])
    assert stream.gamma_ == KernelPCA(2, kernel=kernel, gamma=gamma).fit(X[:30]).gamma_
    assert stream.partial_fit(X[30:31]).plan_.problem.n >= 30


@pytest.mark.parametrize("given", [{"gamma": 1.0}, {"gamma": None}, {"kernel": "linear", "gamma": "median"}])
def test_a_stream_may_begin_with_one_row(given):
    stream = KernelPCA(2, **{"kernel": "rbf", **given})
    for row in X[:5]:
        stream.partial_fit(row[None])
    assert stream.eigenvalues_.shape == (2,)


@pytest.mark.parametrize(
    "change", [{"gamma": 3.0}, {"gamma": "scale"}, {"kernel": "poly"}, {"coef0": 2}, {"domain": (X.min(0), X.max(0))}]
)
@pytest.mark.parametrize("how", ["set_params", "attribute", "file"])
def test_parameters_of_a_running_stream(change, how, tmp_path):
    stream = KernelPCA(2, kernel="rbf", gamma=1.0).partial_fit(X[:50])
    before = stream.transform(X)
    ((name, value),) = change.items()
    if how == "attribute":
        setattr(stream, name, value)
    else:
        stream.set_params(**change, n_jobs=1)
    if how == "file":
        stream.save(tmp_path / "stream")
        stream = load(tmp_path / "stream")
    for call in (stream.partial_fit, stream.partial_unfit):
        with pytest.raises(ValueError, match=f"{name}=.* was set after .*takes effect with the next fit"):
            call(X[:5])
    for one, two in ((stream, clone(stream).fit(X)), (clone(stream).fit(X), stream)):
        with pytest.raises(ValueError, match=f"{name}=.* was set after"):
            one.merge(two)
    np.testing.assert_array_equal(stream.transform(X), before)
    assert clone(stream).partial_fit(X[:50]).n_components_ == 2
    back = KernelPCA(2, kernel="rbf", gamma=1.0).get_params()
    stream.set_params(**{name: back[name]}).partial_fit(X[50:])
    stream.set_params(**change).fit(X).partial_fit(X[:5])


def test_eigenvalues_that_are_known_roughly_are_told():
    rows = np.random.default_rng(1).random((5000, 10))
    with pytest.warns(UncertifiedWarning, match=r"of 5 eigenvalues \(components 1 to 5\) are known only to within"):
        wide = KernelPCA(5, kernel="rbf", gamma=20.0, method="tiled").fit(rows)
    assert wide.certificate_.width.max() > 0.05
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(5, kernel="rbf", gamma=20.0, method="tiled", tol=1e-2).fit(rows)  # roughly is what was asked for
        narrow = KernelPCA(5, kernel="rbf", gamma=0.5).fit(rows)
    assert narrow.certificate_.width.max() < 0.05


def test_rows_that_were_never_seen_cannot_be_removed():
    stream = KernelPCA(2, kernel="poly", degree=2, gamma=0.1).partial_fit(X[:60])
    with pytest.raises(ValueError, match="not among those seen"):
        stream.partial_unfit(30 * X[60:100])
    assert stream.partial_unfit(X[30:60]).eigenvalues_[0] > 0


@pytest.mark.parametrize("gamma", ["median", "scale"])
def test_a_bandwidth_by_name_is_not_ignored_beside_a_kernel_object(gamma):
    with pytest.raises(ValueError, match=f"gramless.select_bandwidth.*'{gamma}'"):
        KernelPCA(2, kernel=Matern(), gamma=gamma).fit(X)


@pytest.mark.parametrize("degree", [2, 3])
def test_an_inverse_transform_that_is_lost_in_rounding_is_an_error(degree):
    rows = X * [1.0, 30.0, 1000.0] + [10.0, 100.0, 700.0]
    with pytest.raises(np.linalg.LinAlgError, match="scale_input=True, or fit without the inverse transform"):
        KernelPCA(2, kernel="poly", degree=degree, fit_inverse_transform=True).fit(rows)
    scaled = KernelPCA(2, kernel="poly", degree=degree, fit_inverse_transform=True, scale_input=True).fit(rows)
    found = scaled.inverse_transform(scaled.transform(rows))
    assert np.abs(found - rows).std() < rows.std()
