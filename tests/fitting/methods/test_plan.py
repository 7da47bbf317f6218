import warnings
from dataclasses import replace

import numpy as np
import pytest

from gramless import LongFitWarning
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
    with pytest.raises(ValueError, match=r"tol=1.0e-18 cannot be reached here; method=.* promises"):
        make_plan(replace(SMALL, tol=1e-18, strict=True))


def test_memory_grows_with_rows_not_with_their_square():
    small, large = (make_plan(replace(SMALL, n=n), "tiled").candidates["tiled"].bytes for n in (10**5, 10**6))
    assert large < 12 * small


def test_estimates_do_not_depend_on_the_moment():
    first, second = make_plan(SMALL), make_plan(SMALL)
    assert {n: e.seconds for n, e in first.candidates.items()} == {n: e.seconds for n, e in second.candidates.items()}
    assert np.isfinite(first.candidates[first.chosen].seconds)
