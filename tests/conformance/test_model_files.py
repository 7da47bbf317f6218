"""Every estimator, kernel and method: a file gives the same bits back, and a pickle does too."""

import io
import pickle

import joblib
import numpy as np
import pytest
from persistence.models import answers
from sklearn.base import clone

from gramless import IndefiniteKernelWarning, UncertifiedWarning, load
from gramless.estimators.saving import estimators
from gramless.features import maps
from gramless.fitting.methods import methods
from gramless.kernels import (
    Cosine,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    QuadraticForm,
    Tanh,
    kernels,
)
from gramless.kernels.manhattan import Manhattan

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=IndefiniteKernelWarning),
    pytest.mark.filterwarnings("ignore", category=UncertifiedWarning),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(2, 1.0, 0.5),
    "gaussian": Gaussian(2.5),
    "tanh": Tanh(0.05, 0.0),
    "epanechnikov": Epanechnikov(30.0),
    "laplacian": Laplacian(3.0),
    "manhattan": Manhattan(3.0),
    "matern": Matern(1.5, 2.0),
    "cosine": Cosine(),
    "quadratic_form": QuadraticForm(np.diag([1.0, 2.0, 3.0])),
    "sum": Polynomial(1) + Gaussian(30.0),
    "product": Polynomial(1) * Gaussian(30.0),
    "scaled": 2.0 * Gaussian(2.5),
}
#: Estimators that take a method: with each, or with each map; the others work in one way.
METHODS = {"KernelPCA": ["auto", *methods], "KernelKMeans": ["auto", "gram", *maps]}


def cases():
    for name in estimators:
        takes = METHODS.get(name, ["auto"])
        for kernel in KERNELS:
            for method in takes:
                yield name, kernel, method


def fitted(name, kernel, method):
    """The estimator, fitted to a few rows; or why this combination is refused."""
    cls = estimators[name]
    settings = {"kernel": KERNELS[kernel], "method": method, "random_state": 0}
    settings = {key: value for key, value in settings.items() if key in cls().get_params()}
    quick = {"n_clusters": 2, "n_components": 2, "n_restarts": 0, "max_iter": 10}
    quick = {key: value for key, value in quick.items() if key in cls().get_params()}
    if "Discriminant" in name:
        quick = {"n_coordinates": 5}
    x = np.random.default_rng(3).standard_normal((30, 3))
    try:
        return cls(**{**quick, **settings}).fit(x, np.arange(30) % 2)
    except ValueError as refusal:
        return str(refusal)


@pytest.mark.parametrize("name", list(estimators))
def test_a_file_and_a_pickle_give_the_same_bits(name, tmp_path):
    refused, tried = [], 0
    for _, kernel, method in (case for case in cases() if case[0] == name):
        model = fitted(name, kernel, method)
        if isinstance(model, str):
            refused.append(model)
            continue
        tried += 1
        model.save(tmp_path / "model")
        joblib.dump(model, joblibbed := io.BytesIO())
        joblibbed.seek(0)
        others = [load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), joblib.load(joblibbed)]
        expected = answers(model)
        for other in others:
            assert set(vars(other)) == set(vars(model)), (kernel, method)
            found = answers(other)
            for what, values in expected.items():
                np.testing.assert_array_equal(found[what], values, err_msg=f"{kernel} {method} {what}")
            assert clone(other).get_params().keys() == model.get_params().keys()
    assert tried >= (1 if name == "KernelICA" else 3), refused
    assert tried + len(refused) == len([case for case in cases() if case[0] == name])


def test_every_kernel_is_among_them():
    assert set(KERNELS) == set(kernels) - {"callable", "precomputed"}
