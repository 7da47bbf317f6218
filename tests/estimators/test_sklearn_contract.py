"""scikit-learn's own tests of KernelPCA, run with our class in the place of theirs, and its estimator checks."""

import pytest
import sklearn
import sklearn.decomposition.tests.test_kernel_pca as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

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


def expected_failures(estimator):
    """Checks that an old scikit-learn runs where it should not."""
    if estimator.fit_inverse_transform and parse_version(sklearn.__version__) < parse_version("1.7"):
        return {"check_sample_weight_equivalence_on_sparse_data": "sparse rows have no inverse, and our tags say so"}
    return {}


@parametrize_with_checks(
    [
        gramless.KernelPCA(),
        gramless.KernelPCA(n_components=2, kernel="rbf", gamma=0.5),
        gramless.KernelPCA(n_components=0.9, kernel="poly"),
        gramless.KernelPCA(n_components=2, kernel=kernels.Matern(1.5, 2.0), fit_inverse_transform=True),
        gramless.KernelPCA(n_components=2, kernel="rbf", method="tiled"),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_checks(estimator, check):
    check(estimator)
