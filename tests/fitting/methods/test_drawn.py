"""Landmarks that know how good they are: residuals and intervals from drawn rows hold, and are as narrow as asked."""

from functools import cache

import numpy as np
import pytest

from gramless import KernelPCA
from gramless.fitting.methods import explicit
from gramless.gram import CenteredGram, TiledGram
from gramless.kernels import Gaussian, Matern

N = 10_500  # just enough for a curve


def mixture(n=N, d=8):
    rng = np.random.default_rng(0)
    return 1.5 * rng.standard_normal((8, d))[rng.integers(0, 8, n)] + rng.standard_normal((n, d))


INPUTS = {
    "plain": mixture(),
    "outliers": mixture() * np.where(np.arange(N) % 1000 == 0, 30.0, 1.0)[:, None],
    "repeated": mixture()[np.arange(N) % 500],
    "clusters": mixture(6)[np.arange(N) % 6] + 1e-3 * mixture(),
}


@cache
def exact_fit(name):
    weights = np.where(np.arange(N) % 7 == 0, 3.0, 1.0) if name == "plain" else np.ones(N)
    kpca = KernelPCA(5, kernel=Gaussian(8.0), method="tiled", tol=1e-6, random_state=0)
    return kpca.fit(INPUTS[name], sample_weight=weights), weights


def true_residual(model, kernel, x, weights):
    roots = np.sqrt(weights)
    centered = CenteredGram(TiledGram(kernel, x, None if (weights == 1).all() else weights))
    vectors = model.transform(x) * roots[:, None]
    vectors /= np.linalg.norm(vectors, axis=0)
    return np.linalg.norm(centered @ vectors - vectors * model.eigenvalues_, axis=0)


@pytest.mark.parametrize("method", ["landmarks", "sampled"])
@pytest.mark.parametrize("name", INPUTS)
def test_the_tolerance_is_kept_and_the_intervals_hold(name, method):
    x, kernel = INPUTS[name], Gaussian(8.0)
    exact, weights = exact_fit(name)
    model = KernelPCA(5, kernel=kernel, method=method, tol=1e-3, random_state=0).fit(x, sample_weight=weights)
    assert (true_residual(model, kernel, x, weights) <= 1e-3 * exact.eigenvalues_[0]).all()
    found = model.certificate_
    assert (found.lower <= exact.certificate_.upper).all()
    assert (exact.certificate_.lower <= found.upper).all()


def test_drawn_rows_prove_far_more_than_pairs(monkeypatch):
    x = mixture()
    settings = {"kernel": Gaussian(8.0), "method": "landmarks", "tol": 1e-3, "random_state": 0}
    with_rows = KernelPCA(5, **settings).fit(x).certificate_
    monkeypatch.setattr(explicit, "draw_rows", lambda *args: None)
    without = KernelPCA(5, **settings).fit(x).certificate_
    assert (with_rows.upper - with_rows.lower < 0.5 * (without.upper - without.lower)).all()


@pytest.mark.parametrize("kernel", [Matern(1.5, 20.0), Gaussian(20.0) + Gaussian(40.0)], ids=str)
def test_other_kernels(kernel):
    x = mixture()
    model = KernelPCA(4, kernel=kernel, method="sampled", random_state=0).fit(x)
    truth = KernelPCA(4, kernel=kernel, method="tiled", tol=1e-6, random_state=0).fit(x).certificate_
    assert (model.certificate_.lower <= truth.upper).all()
    assert (truth.lower <= model.certificate_.upper).all()


def test_more_rows_leave_the_bounds_that_hold_for_them():
    """What was drawn from the rows of a fit says nothing about later ones."""
    x = mixture()
    model = KernelPCA(3, kernel=Gaussian(8.0), method="landmarks", tol=1e-3, random_state=0).fit(x[:10_000])
    narrow = model.certificate_
    model.partial_fit(x[10_000:])
    wide = model.certificate_
    truth = KernelPCA(3, kernel=Gaussian(8.0), method="tiled", tol=1e-6, random_state=0).fit(x).certificate_
    assert (wide.lower <= truth.upper).all()
    assert (truth.lower <= wide.upper).all()
    assert (wide.upper - wide.lower > narrow.upper - narrow.lower).all()


def test_a_missed_tolerance_leads_on_to_the_next_method_with_what_was_computed(monkeypatch):
    from gramless.fitting.methods import exact

    x, given = mixture(20_000), []
    solve = exact.eigsh

    def seen(*args, **settings):
        given.append(settings["start"])
        return solve(*args, **settings)

    monkeypatch.setattr(explicit, "draw_rows", lambda *args: None)  # nothing is proved but by pairs
    monkeypatch.setattr(exact, "eigsh", seen)
    model = KernelPCA(3, kernel=Gaussian(8.0), tol=1e-3, random_state=0)
    assert model.plan(x).chosen in ("landmarks", "sampled")
    model.fit(x)
    assert model.method_ == "tiled"
    assert "missed the tolerance" in str(model.plan_)
    assert given[0].shape == (len(x), 3)
    assert (model.certificate_.upper - model.certificate_.lower <= 2e-3 * model.eigenvalues_[0]).all()
