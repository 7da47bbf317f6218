"""A fit that is interrupted, at any moment, leaves the estimator as it was."""

import copy
import sys
from pathlib import Path

import numpy as np
import pytest
from persistence.models import answers
from sklearn.base import clone

import gramless
from gramless import (
    BiasedDiscriminantAnalysis,
    KernelDiscriminantAnalysis,
    KernelICA,
    KernelKMeans,
    KernelPCA,
    SeriesDensity,
)
from gramless.kernels import Gaussian

ESTIMATORS = {
    "pca": KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
    "stream": KernelPCA(2, kernel=Gaussian(1.5), max_support=20),
    "kmeans": KernelKMeans(2),
    "discriminant": KernelDiscriminantAnalysis(n_coordinates=5),
    "biased": BiasedDiscriminantAnalysis(n_coordinates=5),
    "ica": KernelICA(random_state=0, n_restarts=0),
    "density": SeriesDensity(random_state=0),
}


PACKAGE = str(Path(gramless.__file__).parent)


class Interruption:
    """Raises at the n-th call of a function of gramless, as Ctrl-C would."""

    def __init__(self, moment):
        self.moment, self.calls = moment, 0

    def __call__(self, frame, event, argument):
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        last = name in ("ends", "_end_task", "_end_pass", "_become")  # callbacks are told of a fit that is done
        done = last or (event == "return" and name in ("fit", "partial_fit", "_fit"))
        if file.startswith(PACKAGE) and not done:
            self.calls += 1
            if self.calls == self.moment:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)


def fit(name, model, x, y):
    return model.partial_fit(x) if name == "stream" else model.fit(x, y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(name):
    rng = np.random.default_rng(0)
    x, other = rng.standard_normal((30, 3)), rng.standard_normal((40, 3)) * 2 + 1
    y, labels = np.arange(30) % 2, np.arange(40) % 2
    model = fit(name, clone(ESTIMATORS[name]), x, y)
    before, kept = answers(model), dict(vars(model))
    with Interruption(0) as whole:
        fit(name, copy.deepcopy(model), other, labels)
    moments = rng.integers(1, whole.calls, 25)
    interrupted = 0
    for moment in moments:
        try:
            with Interruption(moment):
                fit(name, model, other, labels)
        except KeyboardInterrupt:
            interrupted += 1
            assert vars(model).keys() == kept.keys(), moment
            assert all(vars(model)[key] is value for key, value in kept.items()), moment
        else:
            model = fit(name, clone(ESTIMATORS[name]), x, y)
            kept = dict(vars(model))
    assert interrupted >= 20
    for what, values in answers(model).items():
        np.testing.assert_array_equal(values, before[what])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_first_fit_that_fails_leaves_nothing(name):
    clean = clone(ESTIMATORS[name])
    with pytest.raises(ValueError, match=r"."):
        fit(name, clean, np.full((10, 2), np.nan), np.arange(10) % 2)
    assert vars(clean).keys() == set(clean.get_params())
