"""Fitted models in other processes, forked and spawned, and in threads."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from persistence.models import fitted
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramless import KernelPCA
from gramless.kernels import Gaussian


def project(model, x):
    return model.transform(x)


def fit(settings, x):
    return KernelPCA(**settings).fit(x)


SETTINGS = {
    "tiled": {"n_components": 3, "kernel": "rbf", "method": "tiled"},
    "fourier": {"n_components": 3, "kernel": Gaussian(2.0), "method": "fourier"},
    "monomials": {"n_components": 3, "kernel": "poly", "method": "monomials"},
}


@pytest.mark.parametrize("start", sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods())))
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_children_fit_and_project_as_their_parent_does(start):
    x = np.random.default_rng(0).standard_normal((700, 2))
    models = {name: KernelPCA(**settings, n_jobs=2).fit(x) for name, settings in SETTINGS.items()}
    scores = {name: model.transform(x) for name, model in models.items()}  # the parent has threads by now
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(start)) as pool:
        for name, model in models.items():
            np.testing.assert_array_equal(pool.submit(project, model, x).result(timeout=600), scores[name])
            again = pool.submit(fit, {**SETTINGS[name], "n_jobs": 2}, x).result(timeout=600)
            np.testing.assert_array_equal(again.transform(x), scores[name])


def test_one_model_in_many_threads():
    x = np.random.default_rng(0).standard_normal((300, 2))
    model = KernelPCA(**SETTINGS["fourier"]).fit(x)
    with ThreadPoolExecutor(8) as pool:
        for scores in pool.map(lambda _: model.transform(x), range(16)):
            np.testing.assert_array_equal(scores, model.transform(x))


@pytest.mark.slow
def test_a_grid_search_over_processes():
    x = np.random.default_rng(0).standard_normal((60, 3))
    pipeline = make_pipeline(StandardScaler(), KernelPCA(2, kernel="rbf"))
    search = GridSearchCV(pipeline, {"kernelpca__gamma": [0.1, 1.0]}, cv=2, n_jobs=2).fit(x)
    assert search.best_estimator_.transform(x).shape == (60, 2)


def test_a_pickled_stream_goes_on_with_the_same_bits():
    x = np.random.default_rng(0).standard_normal((40, 3))
    for name in ("stream-merging", "stream-bounded", "stream-moments"):
        stream = fitted(name)
        other = pickle.loads(pickle.dumps(stream)).partial_fit(x)
        np.testing.assert_array_equal(other.transform(x), stream.partial_fit(x).transform(x))
