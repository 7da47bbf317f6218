"""A memory limit that is too small: the error says which one would do, the same whatever was asked for."""

import pickle
import re

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.errors import MemoryLimitError

ROWS = np.random.default_rng(0).random((3000, 20))


def refused(limit, **settings):
    with pytest.raises(MemoryLimitError) as caught:
        KernelPCA(3, kernel="rbf", gamma="median", memory_limit=limit, **settings).fit(ROWS)
    return caught.value


@pytest.mark.parametrize("settings", [{}, {"method": "dense"}, {"method": "landmarks"}], ids=str)
def test_the_least_memory_serves_and_does_not_depend_on_the_limit(settings):
    named = [re.search(r"'([\d.]+)(.B)', the minimum", str(refused(limit, **settings))) for limit in ("50kB", "90kB")]
    sizes = [float(found[1]) * {"kB": 1e3, "MB": 1e6}[found[2]] for found in named]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.08)
    KernelPCA(3, kernel="rbf", gamma="median", memory_limit=max(sizes), **settings).fit(ROWS)
    refused(0.9 * min(sizes), **settings)


def test_the_error_has_the_plan():
    error = refused("50kB")
    assert error.plan.chosen == ""
    assert "needs more than memory_limit (50 kB)" in str(error.plan)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.plan.candidates == error.plan.candidates
    assert "<strong>" not in error.plan._repr_html_()
