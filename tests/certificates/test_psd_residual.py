"""The pair bound holds, whatever the spectrum, and is never above the trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.certificates import bernstein_upper, pair_bound


@given(n=st.integers(1, 60), rank=st.integers(1, 60), decay=st.floats(0, 3), seed=st.integers(0, 999))
def test_holds_for_any_spectrum(n, rank, decay, seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((n, rank)) * np.arange(1, rank + 1) ** -decay * rng.uniform(0, 1, (n, 1))
    matrix = factor @ factor.T
    bound = pair_bound(matrix.diagonal(), lambda i, j: np.abs(matrix[i, j]), 500, rng)
    assert np.linalg.norm(matrix, 2) <= bound * (1 + 1e-12)
    assert bound <= np.trace(matrix) * (1 + 1e-8)


def test_fails_no_more_often_than_stated():
    rng = np.random.default_rng(0)
    matrix = np.diag(np.append(1.0, np.full(40, 0.02)))
    norm = np.sqrt((matrix**2).sum())  # of Frobenius: what is really bounded
    missed = [pair_bound(matrix.diagonal(), lambda i, j: matrix[i, j], 300, rng, 0.05) < norm for _ in range(400)]
    assert np.mean(missed) <= 0.05


def test_zero_and_bad_arguments():
    rng = np.random.default_rng(0)
    assert pair_bound(np.zeros(3), lambda i, j: 0.0 * i, 10, rng) == 0
    with pytest.raises(ValueError, match="pairs=1"):
        pair_bound(np.ones(3), lambda i, j: 0.0 * i, 1, rng)
    assert bernstein_upper(np.ones(10), 1e-10) == 1
