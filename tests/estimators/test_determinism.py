"""Same seed and number of threads, same bits, by every method; other numbers of threads, within the certificate."""

import numpy as np
import pytest
from adversaries import KERNELS, METHODS, STREAMS, Refused, fit

from gramless import kernels as k

BY_METHOD = {
    "composite": 0.5 * k.Gaussian(2.0) + k.Polynomial(2, 1.0),
    "monomials": KERNELS["polynomial"],
    "covariance": KERNELS["linear"],
    "svd": KERNELS["linear"],
    "products": KERNELS["linear"],
    "normalized": k.Cosine(),
    "refitting": k.Tanh(0.02, 0.0),
}


def fitted(method, threads):
    """1100 rows: more than two tiles, so that threads have something to divide."""
    x = np.random.default_rng(3).uniform(-1, 1, (1100, 2))
    x[:, 1] *= 0.5
    tol = 0 if method in STREAMS or method == "sampled" else 1e-6
    return fit(BY_METHOD.get(method, k.Gaussian(1.0)), x, method, k=5, n_jobs=threads, tol=tol)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threads", [1, 2])
def test_same_seed_and_threads_same_bits(method, threads):
    first, second = fitted(method, threads), fitted(method, threads)
    for name in ("eigenvalues_", "scores"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for name in ("lower", "upper", "angle"):
        np.testing.assert_array_equal(getattr(first.certificate_, name), getattr(second.certificate_, name))


@pytest.mark.parametrize("method", METHODS)
def test_other_numbers_of_threads_agree_within_the_certificate(method):
    one, several = fitted(method, 1), fitted(method, 3)
    mine, theirs = one.certificate_, several.certificate_
    assert (mine.lower <= theirs.upper).all()
    assert (theirs.lower <= mine.upper).all()
    width = np.maximum(mine.upper - mine.lower, theirs.upper - theirs.lower)
    assert (np.abs(one.eigenvalues_ - several.eigenvalues_) <= width).all()


def test_every_method_is_tried():
    tried = set()
    for method in METHODS:
        try:
            tried.add(fitted(method, 1).method_)
        except Refused as reason:
            pytest.fail(f"{method}: {reason}")
    assert tried == set(METHODS)
