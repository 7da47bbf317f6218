import warnings
from dataclasses import replace

import numpy as np
import pytest

from gramless import KernelPCA, LongFitWarning
from gramless.errors import MemoryLimitError
from gramless.fitting.methods import make_plan
from gramless.kernels import Gaussian
from gramless.problem import Problem

SMALL = Problem(n=2_000, d=64, kernel=Gaussian(8.0), k=5, tol=1e-6, memory_limit=10**10, peak=0.05)


def test_a_fit_of_hours_is_announced_with_what_would_be_faster():
    with pytest.warns(LongFitWarning, match="minutes by method 'tiled'; method='landmarks' takes about"):
        make_plan(replace(SMALL, n=3_000_000)).warn_if_long()


def test_a_short_fit_is_not_announced():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_plan(SMALL).warn_if_long()


def test_the_chosen_one_is_the_cheapest_that_reaches_the_tolerance():
    plan = make_plan(SMALL)
    able = {n: e for n, e in plan.candidates.items() if not e.refusal and e.error <= SMALL.tol}
    assert plan.chosen == min(able, key=lambda name: able[name].seconds)


def test_a_tolerance_out_of_reach_says_what_can_be_had():
    with pytest.raises(ValueError, match=r"tol=1.0e-18 is not achievable; method=.* achieves"):
        make_plan(replace(SMALL, tol=1e-18, strict=True))


def test_memory_grows_with_rows_not_with_their_square():
    small, large = (make_plan(replace(SMALL, n=n), "tiled").candidates["tiled"].bytes for n in (10**5, 10**6))
    assert large < 12 * small


def test_estimates_do_not_depend_on_the_moment():
    first, second = make_plan(SMALL), make_plan(SMALL)
    assert {n: e.seconds for n, e in first.candidates.items()} == {n: e.seconds for n, e in second.candidates.items()}
    assert np.isfinite(first.candidates[first.chosen].seconds)


def test_small_problems_are_solved_without_asking_every_method():
    x = np.random.default_rng(0).standard_normal((300, 4))
    kpca = KernelPCA(3, kernel="rbf").fit(x)
    assert set(kpca.plan_.candidates) == {"dense", "covariance", "normalized"}
    assert kpca.plan_.chosen == "dense"
    assert "too small to compare more methods" in str(kpca.plan_)
    assert KernelPCA(3, kernel="linear").fit(x).plan_.chosen == "covariance"
    assert KernelPCA(3, kernel="cosine").fit(np.tile(x, (5, 1))).plan_.chosen == "normalized"


@pytest.mark.parametrize(
    "settings", [{"method": "dense"}, {"eigen_solver": "lanczos"}, {"keep_data": False}, {"device": "torch"}], ids=str
)
def test_a_wish_of_the_user_is_planned_for(settings):
    if "device" in settings:
        pytest.importorskip("torch")
    x = np.random.default_rng(0).standard_normal((300, 2))
    assert len(KernelPCA(3, kernel="rbf", **settings).fit(x).plan_.candidates) > 10


def test_few_rows_within_little_memory_or_time():
    x = np.random.default_rng(0).standard_normal((600, 4))
    with pytest.raises(MemoryLimitError):
        KernelPCA(3, kernel="rbf", memory_limit=10_000).fit(x)
    assert KernelPCA(3, kernel="rbf", time_limit=1.0).fit(x).plan_.chosen == "dense"
    with pytest.raises(ValueError, match="is not achievable"):
        KernelPCA(3, kernel="rbf", tol=1e-16).fit(x)
