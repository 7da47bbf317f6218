"""Streams of every kernel: equal to one fit, certified, bounded in memory, able to forget, to merge and to go back."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from extended import centered_gram
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless import KernelPCA, subspace_distance
from gramless.errors import UncertifiedWarning
from gramless.kernels import (
    Cosine,
    Epanechnikov,
    FromCallable,
    Gaussian,
    Laplacian,
    Linear,
    Manhattan,
    Matern,
    Polynomial,
    Tanh,
)

MERCER = [Gaussian(0.9), Matern(1.5, 1.0), Laplacian(1.0), Manhattan(2.0), Cosine(), Gaussian(1.0) + Polynomial(2)]


def rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def true_eigenvalues(kernel, x, weights):
    return np.linalg.eigvalsh(np.asarray(centered_gram(kernel(x), weights), dtype=np.float64))[::-1]


def assert_certified(model, kernel, x, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    x, weights = np.asarray(x, dtype=np.float64)[weights > 0], weights[weights > 0]
    k = len(model.eigenvalues_)
    truth = np.append(true_eigenvalues(kernel, x, weights), np.zeros(k))[:k]
    slack = 1e-13 * weights.sum() * float(np.abs(kernel.diagonal(x)).max())
    assert (model.certificate_.lower <= truth + slack).all()
    assert (truth <= model.certificate_.upper + slack).all()


@pytest.mark.parametrize("kernel", [*MERCER, Polynomial(3), Linear(), Tanh(0.05, 0.0), Epanechnikov(9.0)], ids=str)
@pytest.mark.filterwarnings("ignore::gramless.IndefiniteKernelWarning")
def test_every_kernel_streams(kernel):
    x, new = rows(260, 3), rows(30, 3, 1)
    whole = KernelPCA(4, kernel=kernel, method="dense").fit(x)
    model = KernelPCA(4, kernel=kernel)
    for first in (0, 3, 4, 150):
        model.partial_fit(x[first : {0: 3, 3: 4, 4: 150, 150: 260}[first]])
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=2e-4)
    np.testing.assert_allclose(model.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=2e-4)
    assert subspace_distance(model.truncate(2), whole.truncate(2)) < 1e-2
    np.testing.assert_allclose(np.abs(model.transform(new)[:, 0]), np.abs(whole.transform(new)[:, 0]), atol=1e-2)
    np.testing.assert_allclose(model.reconstruction_error(new), whole.reconstruction_error(new), atol=2e-2)
    assert_certified(model, kernel, x)
    assert not hasattr(model, "X_fit_")


@pytest.mark.parametrize("kernel", MERCER, ids=str)
def test_with_nothing_discarded_it_is_one_fit(kernel):
    x = rows(90, 2)
    model = KernelPCA(None, kernel=kernel)
    for part in np.split(x, [1, 2, 30, 31, 77]):
        model.partial_fit(part)
    whole = KernelPCA(None, kernel=kernel, method="dense").fit(x)
    k = min(len(model.eigenvalues_), len(whole.eigenvalues_))
    np.testing.assert_allclose(model.eigenvalues_[:k], whole.eigenvalues_[:k], atol=1e-10 * whole.eigenvalues_[0])
    assert subspace_distance(model.truncate(2), whole.truncate(2)) < 1e-6
    assert_certified(model, kernel, x)


@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(MERCER),
    sizes=st.lists(st.integers(1, 80), min_size=1, max_size=6),
    components=st.integers(1, 8),
    weighted=st.sampled_from(["ones", "counts", "spread"]),
    forget=st.sampled_from([None, 3.0, 40.0, 1000.0]),
    support=st.sampled_from([None, 10, 40]),
    single=st.booleans(),
)
def test_certificates_of_any_stream(seed, kernel, sizes, components, weighted, forget, support, single):
    rng, n = np.random.default_rng(seed), sum(sizes)
    x = rng.standard_normal((n, 2)) + np.linspace(0, rng.uniform(0, 6), n)[:, None]
    x = x.astype(np.float32) if single else x
    w = {"ones": np.ones(n), "counts": rng.integers(0, 3, n) * 1.0, "spread": 10 ** rng.uniform(-3, 2, n)}[weighted]
    w[np.cumsum([0, *sizes[:-1]])] = 1.0  # no batch without weight
    model = KernelPCA(components, kernel=kernel, forget=forget, max_support=support)
    for last, size in zip(np.cumsum(sizes), sizes, strict=True):
        part = slice(last - size, last)
        model.partial_fit(x[part], sample_weight=w[part])
        assert model.transform(x[:1]).shape == (1, components)
    if forget is not None:
        there = w > 0
        w = w * 2.0 ** (-(there.sum() - np.cumsum(there)) / forget)
    assert model.eigenvalues_.dtype == x.dtype
    assert_certified(model, kernel, x, w)
    np.testing.assert_allclose(model.explained_variance_ * w.sum(), model.eigenvalues_, rtol=1e-5)


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Polynomial(2), Tanh(0.05, 0.0)], ids=str)
@pytest.mark.filterwarnings("ignore::gramless.IndefiniteKernelWarning")
def test_forgetting_does_not_depend_on_the_batches(kernel):
    x = rows(200, 3)
    models = []
    for cuts in ([], [1, 2, 90], range(10, 200, 10)):
        model = KernelPCA(3, kernel=kernel, forget=25.0)
        for part in np.split(x, cuts):
            model.partial_fit(part)
        models.append(model)
    weights = 2.0 ** (-np.arange(199, -1, -1) / 25.0)
    exact = KernelPCA(3, kernel=kernel, method="dense").fit(x, sample_weight=weights)
    at_once = KernelPCA(3, kernel=kernel, method="dense", forget=25.0).fit(x)
    for model in (*models, at_once):
        np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
        np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-6)


def test_a_weight_of_zero_does_not_age_the_others():
    x, w = rows(60, 2), np.ones(60)
    w[[5, 20, 59]] = 0
    model = KernelPCA(3, kernel=Gaussian(1.0), forget=10.0).partial_fit(x[:30], sample_weight=w[:30])
    model.partial_fit(x[30:], sample_weight=w[30:])
    other = KernelPCA(3, kernel=Gaussian(1.0), forget=10.0).partial_fit(x[w > 0])
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-8)


def test_a_long_row_counts_however_small_its_weight():
    x, weights = rows(6, 2), np.ones(6)
    x[0], weights[0] = 1e55 * x[0], 1e-105
    model = KernelPCA(1, kernel=Linear()).partial_fit(x, sample_weight=weights)
    length = 1e-105 * (x[0] ** 2).sum()
    assert model.certificate_.lower[0] <= length * (1 + 1e-9)
    assert length * (1 - 1e-9) <= model.certificate_.upper[0]


@pytest.mark.parametrize("seed", [1, 5, 7, 11])
@pytest.mark.filterwarnings("ignore::gramless.UncertifiedWarning")
def test_shares_of_the_variance_are_shares_whatever_the_weights(seed):
    """One row outweighs the rest by far: what is left of the total when the mean is taken out is rounding."""
    rng = np.random.default_rng(seed)
    x, weights = rng.standard_normal((8, 1)), 10 ** rng.uniform(0, 70, 5)
    one, other = (KernelPCA(2, kernel=Laplacian(1.0)) for _ in range(2))
    model = one.partial_fit(x[:3]).merge(other.partial_fit(x[3:], sample_weight=weights))
    assert (model.explained_variance_ratio_ >= 0).all()
    assert model.explained_variance_ratio_.sum() <= 1 + 1e-12


def test_a_fit_without_any_component_goes_on():
    """All rows alike, and as many components as there are: none. Nothing is known of what lies outside them."""
    x = rows(9, 2)
    for model in (KernelPCA(kernel=Gaussian(1.0)), KernelPCA(3, kernel=Gaussian(1.0), remove_zero_eig=True)):
        model.fit(np.tile(x[:1], (5, 1)))
        assert len(model.certificate_) == 0
        assert_certified(model.partial_fit(x), Gaussian(1.0), np.concatenate([np.tile(x[:1], (5, 1)), x]))


def test_a_long_batch_leaves_nothing_of_what_was_before():
    x = rows(3000, 2)
    model = KernelPCA(2, kernel=Gaussian(1.0), forget=1.0).partial_fit(100 + x[:500]).partial_fit(x)
    other = KernelPCA(2, kernel=Gaussian(1.0), forget=1.0).partial_fit(x)
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-9)


def test_bounded_support_follows_drift():
    rng = np.random.default_rng(0)
    kernel = Gaussian(1.0)
    x = rng.standard_normal((1500, 2)) + np.outer(np.arange(1500) / 200, [1, 0])
    model = KernelPCA(3, kernel=kernel, max_support=60, forget=300.0)
    frozen = KernelPCA(3, kernel=kernel, method="landmarks", forget=300.0)  # points of the first batch for ever
    for part in np.array_split(x, 15):
        model.partial_fit(part)
        frozen.partial_fit(part)
    weights = 2.0 ** (-np.arange(1499, -1, -1) / 300.0)
    exact = KernelPCA(3, kernel=kernel, method="dense").fit(x, sample_weight=weights)
    assert subspace_distance(model, exact) < 0.1
    assert subspace_distance(model, exact) < 0.5 * subspace_distance(frozen, exact)
    assert_certified(model, kernel, x, weights)


def test_bounded_support_is_bounded():
    x = rows(1500, 4)
    model = KernelPCA(5, kernel=Gaussian(2.0), max_support=100)
    sizes = []
    for part in np.array_split(x, 15):
        model.partial_fit(part)
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes[5:]) < 1.1 * sizes[4]  # bytes of everything that is kept
    whole = KernelPCA(5, kernel=Gaussian(2.0), method="dense").fit(x)
    assert subspace_distance(model, whole) < 0.05
    assert_certified(model, Gaussian(2.0), x)
    with pytest.raises(ValueError, match="max_support=3 points cannot span n_components=5"):
        KernelPCA(5, kernel=Gaussian(2.0), max_support=3).partial_fit(x[:10])


@pytest.mark.parametrize("support", [None, 40])
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 179), max_size=4, unique=True))
def test_merged_models(support, seed, cuts):
    """Models fitted apart, by `fit` or in batches, merged as a tree: the certificate is of all rows."""
    x, kernel = rows(180, 2, seed), Matern(2.5, 1.5)
    models = []
    for i, part in enumerate(np.split(x, sorted(cuts))):
        model = KernelPCA(
            4, kernel=kernel, max_support=support, method="dense" if i % 2 and support is None else "auto"
        )
        at_once = i % 2 == 1 and len(part) >= 4 and support is None
        models.append(model.fit(part) if at_once else model.set_params(method="auto").partial_fit(part))
    while len(models) > 1:
        models[:2] = [models[0].merge(models[1])]
        models.reverse()
    assert_certified(models[0], kernel, x)
    if support is None:
        exact = true_eigenvalues(kernel, x, np.ones(180))[:4]
        np.testing.assert_allclose(models[0].eigenvalues_[:2], exact[:2], rtol=0.05)
        np.testing.assert_allclose(models[0].explained_variance_ * 180, models[0].eigenvalues_)


@pytest.mark.parametrize("method", ["dense", "tiled"])
def test_a_stream_goes_on_from_a_fit(method):
    """All components, tiny ones included, and weights of all sizes."""
    x, kernel = rows(400, 3), Gaussian(1.2)
    model = KernelPCA(4, kernel=kernel, method=method, tol=1e-8).fit(x[:300]).set_params(method="auto")
    model.partial_fit(x[300:])
    assert_certified(model, kernel, x)
    exact = true_eigenvalues(kernel, x, np.ones(400))[:4]
    np.testing.assert_allclose(model.eigenvalues_, exact, rtol=0.02)
    if method == "dense":
        kernel, weights = Gaussian(1.0) + Linear(), 10 ** np.random.default_rng(0).uniform(-3, 2, 160)
        model = KernelPCA(None, kernel=kernel, method=method).fit(x[:80], sample_weight=weights[:80])
        model.set_params(method="auto").partial_fit(x[80:160], sample_weight=weights[80:])
        assert_certified(model, kernel, x[:160], weights)


@pytest.mark.parametrize("n_components", [3, 0.5])
def test_a_fit_that_goes_on_keeps_its_certificate(n_components, tmp_path):
    """A fit keeps k directions and a stream many more: the fit is solved again for those, also from a file's blocks."""
    x, kernel = rows(700, 3), Gaussian(2.0)
    weights = np.ones(600)
    weights[::7] = 0
    np.save(tmp_path / "rest.npy", x[600:])
    model = KernelPCA(n_components, kernel=kernel, method="tiled").fit(x[:600], sample_weight=weights)
    signs = np.sign(model.transform(x[:1]))
    model.set_params(method="auto").partial_fit(tmp_path / "rest.npy")
    assert_certified(model, kernel, x, np.append(weights, np.ones(100)))
    assert model.certificate_.width.max() < 1e-4
    assert model.method_ == model.plan_.chosen == "merging"
    assert (np.sign(model.transform(x[:1])) == signs).all()
    both = model.merge(KernelPCA(n_components, kernel=kernel, method="tiled").fit(x[:300]))
    assert both.certificate_.width.max() < 1e-4


def test_a_fit_too_dear_to_solve_again_says_that_its_certificate_will_be_wide():
    x, kernel = rows(2100, 3), Gaussian(1.0)
    model = KernelPCA(3, kernel=kernel, method="tiled", memory_limit="30MB", n_jobs=1)
    model.fit(x[:2000]).set_params(method="auto")
    with pytest.warns(UncertifiedWarning, match="start with partial_fit instead of fit, or refit all rows"):
        model.partial_fit(x[2000:])
    assert model.certificate_.width.max() > 0.1
    assert_certified(model, kernel, x)


def test_what_cannot_be_merged_says_what_differs():
    x = rows(60, 2)
    model = KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(x)
    with pytest.raises(ValueError, match="kernels differ"):
        model.merge(KernelPCA(2, kernel=Gaussian(2.0)).partial_fit(x))
    with pytest.raises(ValueError, match="2 columns in this model and 3 in other"):
        model.merge(KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(rows(60, 3)))
    with pytest.raises(ValueError, match="dtypes differ: float64 and float32"):
        model.merge(KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(x.astype(np.float32)))
    with pytest.raises(ValueError, match="center_input"):
        model.merge(KernelPCA(2, kernel=Gaussian(1.0), center_input=True).fit(x))
    bounded = KernelPCA(2, kernel=Gaussian(1.0), max_support=20).partial_fit(x)
    for one, other in ((bounded, model), (model, bounded)):
        with pytest.raises(ValueError, match="max_support"):
            one.merge(other)
    with pytest.raises(ValueError, match="method='covariance'"):
        KernelPCA(2, method="covariance").fit(x).merge(KernelPCA(2, method="covariance").fit(x))


@pytest.mark.parametrize(
    ("kernel", "more"),
    [(Polynomial(2), {}), (Gaussian(1.0), {"domain": (-6, 6)}), (Gaussian(1.0), {"method": "landmarks"})],
    ids=["monomials", "fourier or taylor", "landmarks"],
)
def test_a_batch_can_be_taken_out_again(kernel, more):
    x = rows(300, 2)
    model = KernelPCA(3, kernel=kernel, **more).partial_fit(x[:100]).partial_fit(x[100:])
    model.partial_unfit(x[100:150]).partial_unfit(x[150:200])
    left = np.vstack([x[:100], x[200:]])
    assert_certified(model, kernel, left)
    np.testing.assert_allclose(model.eigenvalues_, true_eigenvalues(kernel, left, np.ones(200))[:3], rtol=1e-2)
    with pytest.raises(ValueError, match="cannot be removed from the 200 seen"):
        model.partial_unfit(rows(500, 2))


def test_what_cannot_be_taken_out_says_why():
    x = rows(100, 2)
    with pytest.raises(ValueError, match="merges eigenspaces"):
        KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(x).partial_unfit(x[:5])
    with pytest.raises(ValueError, match="forget=10"):
        KernelPCA(2, kernel=Polynomial(2), forget=10).partial_fit(x).partial_unfit(x[:5])
    with pytest.raises(ValueError, match="call partial_fit first"):
        KernelPCA(2, kernel=Polynomial(2)).partial_unfit(x[:5])
    with pytest.raises(ValueError, match="max_support"):
        KernelPCA(2, kernel=Gaussian(1.0), max_support=30).partial_fit(x).partial_unfit(x[:5])


def test_a_model_may_be_looked_at_or_not():
    """Asking for the model between batches changes nothing."""
    x = rows(400, 3)
    for settings_ in ({}, {"max_support": 50}, {"forget": 30.0}):
        looked, other = (KernelPCA(3, kernel=Gaussian(1.5), **settings_) for _ in range(2))
        for part in np.array_split(x, 23):
            assert looked.partial_fit(part).transform(part).shape[1] == 3
            other.partial_fit(part)
        np.testing.assert_array_equal(looked.eigenvalues_, other.eigenvalues_)
        np.testing.assert_array_equal(np.abs(looked.transform(x)), np.abs(other.transform(x)))


def test_signs_stay_when_the_support_is_chosen_or_changes():
    rng = np.random.default_rng(0)
    model = KernelPCA(2, kernel=Gaussian(5.0), max_support=150)
    probe, before = rng.standard_normal((50, 2)) * [4, 1], None
    for step in range(12):
        batch = rng.standard_normal((70, 2)) * [4, 1] + [0, step / 3]
        now = model.partial_fit(batch).transform(probe)
        if before is not None:
            assert (np.einsum("ij,ij->j", before, now) > 0).all()
        before = now


def test_shares_of_the_variance():
    x = rows(300, 3)
    model = KernelPCA(0.8, kernel=Gaussian(1.5))
    for part in np.array_split(x, 6):
        model.partial_fit(part)
    whole = KernelPCA(0.8, kernel=Gaussian(1.5), method="dense").fit(x)
    assert abs(len(model.eigenvalues_) - len(whole.eigenvalues_)) <= 1
    assert model.explained_variance_ratio_.sum() >= 0.8
    assert_certified(model, Gaussian(1.5), x)


def test_sparse_rows_and_callables():
    x = rows(120, 4)
    x[np.abs(x) < 0.7] = 0
    model = KernelPCA(3, kernel=Gaussian(1.0)).partial_fit(scipy.sparse.csr_array(x[:70])).partial_fit(x[70:])
    assert_certified(model, Gaussian(1.0), x)
    function = FromCallable(lambda a, b: float(np.exp(-np.abs(a - b).sum())), mercer=True)
    for kernel in (function, function.function):  # known to be positive semidefinite, and not known
        model = KernelPCA(2, kernel=kernel).partial_fit(x[:20]).partial_fit(x[20:40])
        np.testing.assert_allclose(model.eigenvalues_, true_eigenvalues(function, x[:40], np.ones(40))[:2], rtol=1e-6)
        assert model.method_ == ("merging" if kernel is function else "refitting")


def test_the_plan_of_a_stream():
    x = rows(200, 2)
    assert KernelPCA(2, kernel=Polynomial(2)).partial_fit(x).method_ == "monomials"
    assert KernelPCA(2, kernel=Gaussian(1.0), domain=(-9, 9)).partial_fit(x).method_ in ("fourier", "taylor")
    model = KernelPCA(2, kernel=Gaussian(1.0)).partial_fit(x)
    assert model.method_ == "merging"
    assert "merging" in str(model.plan_)
    with pytest.raises(ValueError, match="use partial_fit"):
        KernelPCA(2, kernel=Gaussian(1.0), method="merging").fit(x)
    assert KernelPCA(2, kernel=Gaussian(1.0), eigen_solver="lobpcg").partial_fit(x).method_ == "refitting"
    asked_for = KernelPCA(2, kernel=Gaussian(1.0), tol=1e-9).partial_fit(x[:50]).partial_fit(x[50:])
    assert asked_for.method_ == "refitting"
    assert asked_for.certificate_.width.max() < 1e-8


def test_a_checkpoint_goes_on_in_another_process(tmp_path):
    x = rows(300, 3)
    straight = KernelPCA(3, kernel=Gaussian(1.5), max_support=60, forget=120.0)
    for part in np.array_split(x, 11):
        straight.partial_fit(part)
        if not (tmp_path / "stream").exists():
            (tmp_path / "stream").write_bytes(pickle.dumps(straight))
    np.save(tmp_path / "rest.npy", np.vstack(np.array_split(x, 11)[1:]))
    np.save(tmp_path / "x.npy", x)
    sizes = [len(part) for part in np.array_split(x, 11)[1:]]
    script = (
        "import pickle, sys, pathlib, numpy as np\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "model = pickle.loads((folder / 'stream').read_bytes())\n"
        f"for part in np.split(np.load(folder / 'rest.npy'), np.cumsum({sizes})[:-1]): model.partial_fit(part)\n"
        "np.save(folder / 'scores.npy', model.transform(np.load(folder / 'x.npy')))\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), straight.transform(x))


def test_pickled_streams_go_on_bit_for_bit():
    x = rows(500, 3)
    for settings_ in ({}, {"max_support": 50, "forget": 90.0}, {"kernel": Polynomial(2)}):
        straight = KernelPCA(3, **{"kernel": Gaussian(1.5), **settings_})
        resumed = KernelPCA(3, **{"kernel": Gaussian(1.5), **settings_})
        for part in np.array_split(x, 19):
            straight.partial_fit(part)
            resumed = pickle.loads(pickle.dumps(resumed.partial_fit(part)))
        np.testing.assert_array_equal(straight.transform(x), resumed.transform(x))
        np.testing.assert_array_equal(straight.certificate_.upper, resumed.certificate_.upper)


def test_a_linear_fit_goes_on_with_its_rows():
    first, more = rows(60, 4), rows(20, 4, seed=1) + 3
    whole = KernelPCA(3, kernel="linear").fit(np.vstack([first, more]))
    model = KernelPCA(3, kernel="linear").fit(first)
    assert model.method_ == "covariance"
    model.partial_fit(more)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    with pytest.raises(ValueError, match="cannot be continued"):
        KernelPCA(3, kernel="linear", keep_data=False).fit(first).partial_fit(more)
