"""scikit-learn's own tests of KernelPCA, run with our class in the place of theirs, and its estimator checks."""

import pytest
import sklearn.decomposition.tests.test_kernel_pca as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

import gramless
from gramless import kernels


@pytest.fixture(autouse=True)
def _our_class(monkeypatch):
    monkeypatch.setattr(theirs, "KernelPCA", gramless.KernelPCA)


@pytest.fixture(params=[0, 42])
def global_random_seed(request):
    return request.param


globals().update({name: test for name, test in vars(theirs).items() if name.startswith("test_")})


def test_their_tests_are_all_here():
    ours = {name for name in globals() if name.startswith("test_")}
    assert {name for name in vars(theirs) if name.startswith("test_")} <= ours
    assert len(ours) > 20


@parametrize_with_checks(
    [
        gramless.KernelPCA(),
        gramless.KernelPCA(n_components=2, kernel="rbf", gamma="median"),
        gramless.KernelPCA(n_components=0.9, kernel="poly"),
        gramless.KernelPCA(n_components=2, kernel=kernels.Matern(1.5, 2.0), fit_inverse_transform=True),
        gramless.KernelPCA(n_components=2, kernel="rbf", method="tiled"),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)
