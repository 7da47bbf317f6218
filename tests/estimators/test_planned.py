import numpy as np
import pytest

from gramless import KernelPCA, open_source

X = np.random.default_rng(0).random((400, 3))


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf", "gamma": "median"},
        {"kernel": "poly", "degree": 2},
        {"kernel": "linear", "center_input": True},
        {"kernel": "rbf", "method": "tiled"},
        {"kernel": "rbf", "n_components": 0.9},
    ],
)
def test_the_plan_is_that_of_the_fit(parameters):
    model = KernelPCA(**{"n_components": 4, "memory_limit": "100MB", **parameters})
    plan = model.plan(X)
    fitted = model.fit(X).plan_
    assert (plan.chosen, plan.forced, plan.rule) == (fitted.chosen, fitted.forced, fitted.rule)
    assert fitted.candidates.items() <= plan.candidates.items()


def test_the_plan_for_a_file_is_that_of_its_fit(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    model = KernelPCA(4, kernel="rbf", gamma="median", memory_limit="100MB")
    source = open_source(tmp_path / "rows.npy")
    assert model.plan(source).candidates == model.fit(source).plan_.candidates
    assert model.plan(tmp_path / "rows.npy").chosen == model.plan_.chosen


def test_nothing_is_fitted_and_nothing_changes():
    model = KernelPCA(4, kernel="rbf")
    before = dict(vars(model))
    model.plan(X)
    assert vars(model) == before


def test_what_a_fit_would_refuse_is_refused():
    with pytest.raises(ValueError, match="n_components=401 is more than the 400 samples"):
        KernelPCA(401).plan(X)
    with pytest.raises(ValueError, match="is not applicable"):
        KernelPCA(2, kernel="poly", method="fourier").plan(X)
