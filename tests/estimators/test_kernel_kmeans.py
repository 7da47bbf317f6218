"""Kernel k-means against a naive one on a Gram matrix that is written down."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramless import IndefiniteKernelWarning, KernelKMeans, MemoryLimitError, kernels
from gramless.kernels import Epanechnikov, Gaussian, Laplacian, Linear, Manhattan, Matern, Polynomial, Tanh

KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(degree=3, c=1.0),
    "gaussian": Gaussian(1.5),
    "laplacian": Laplacian(2.0),
    "manhattan": Manhattan(0.3),
    "matern": Matern(1.5, 2.0),
    "cosine": kernels.Cosine(),
    "sum": 0.5 * Gaussian(1.0) + Polynomial(degree=2, c=1.0),
    "product": Gaussian(2.0) * Polynomial(degree=1, c=1.0),
}


def naive_distances2(gram, weights, labels, k):
    """Squared distances (n, k) from the cluster means, sum by sum."""
    out = np.empty((len(gram), k))
    for j in range(k):
        share = np.where(labels == j, weights, 0.0)
        share = share / share.sum()
        out[:, j] = gram.diagonal() - 2 * gram @ share + share @ gram @ share
    return out


def start_from_rows(gram, k):
    """Labels by the nearest of k rows: from random labels all means are much the same, and clusters run empty."""
    seeds = np.arange(k)
    return (gram.diagonal()[seeds] - 2 * gram[:, seeds]).argmin(axis=1)


def naive_kmeans(gram, weights, labels, k, steps=200):
    """Lloyd's iteration to the end."""
    for _ in range(steps):
        distances = naive_distances2(gram, weights, labels, k)
        new = distances.argmin(axis=1)
        if (new == labels).all():
            break
        labels = new
    return labels, float(weights @ naive_distances2(gram, weights, labels, k).min(axis=1))


def blobs(n, d, rng, centers=4):
    middle = 4 * rng.standard_normal((centers, d))
    return middle[np.arange(n) % centers] + rng.standard_normal((n, d))


def rings(n, rng):
    radius, angle = np.where(np.arange(n) % 2, 1.0, 0.3), rng.uniform(0, 2 * np.pi, n)
    x = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return x + 0.05 * rng.standard_normal((n, 2)), np.arange(n) % 2


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("method", ["tiled", "auto"])
def test_equals_the_naive_iteration_from_the_same_labels(name, method, rng):
    x, weights = blobs(700, 3, rng), rng.integers(1, 4, 700).astype(float)
    start = start_from_rows(KERNELS[name](x), 5)
    labels, inertia = naive_kmeans(KERNELS[name](x), weights, start, 5)
    model = KernelKMeans(5, init=start, kernel=KERNELS[name], method=method, tol=0).fit(x, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.inertia_ == pytest.approx(inertia, rel=1e-9)
    distances2 = naive_distances2(KERNELS[name](x), weights, labels, 5)
    np.testing.assert_allclose(model.transform(x) ** 2, distances2, atol=1e-9 * distances2.max())


@pytest.mark.parametrize(
    ("method", "kernel"),
    [
        ("fourier", Gaussian(2.0)),
        ("taylor", Gaussian(6.0)),
        ("landmarks", Gaussian(3.0)),
        ("monomials", Polynomial(degree=2, c=1.0)),
        ("composite", 0.5 * Gaussian(3.0) + Polynomial(degree=1, c=1.0)),
    ],
)
@pytest.mark.parametrize("memory_limit", [None, "12MB"])
def test_explicit_features_give_the_exact_partition(method, kernel, memory_limit, rng):
    x, weights = blobs(900, 2, rng), rng.random(900)
    start = start_from_rows(kernel(x), 6)
    labels, inertia = naive_kmeans(kernel(x), weights, start, 6)
    model = KernelKMeans(6, init=start, kernel=kernel, method=method, tol=0, accuracy=1e-9, memory_limit=memory_limit)
    try:
        model.fit(x, sample_weight=weights)
    except MemoryLimitError:
        assert memory_limit == "12MB", "without a limit nothing is too large"
        assert method in ("landmarks", "composite", "monomials")
        return
    assert model.method_ == method
    assert (model.labels_ == labels).mean() > 0.999  # ties may fall either way
    assert model.inertia_ == pytest.approx(inertia, rel=1e-6)


@pytest.mark.parametrize("kernel", [Epanechnikov(6.0), Tanh(0.01, -0.5)])
def test_indefinite_kernels_warn_and_give_a_fixed_point(kernel, rng):
    x = blobs(300, 2, rng)
    with pytest.warns(IndefiniteKernelWarning, match="positive semidefinite"):
        model = KernelKMeans(3, kernel=kernel, random_state=0, tol=0).fit(x)
    distances2 = naive_distances2(kernel(x), np.ones(300), model.labels_, 3)
    np.testing.assert_array_equal(model.labels_, distances2.argmin(axis=1))


def test_the_linear_kernel_is_scikit_learns_kmeans(rng):
    x = blobs(500, 4, rng)
    start = start_from_rows(x @ x.copy().T, 4)
    means = np.array([x[start == j].mean(axis=0) for j in range(4)])
    theirs = KMeans(4, init=means, n_init=1, tol=0).fit(x)
    ours = KernelKMeans(4, init=start, kernel="linear", tol=0).fit(x)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    np.testing.assert_allclose(ours.transform(x), theirs.transform(x), atol=1e-9)
    assert ours.score(x) == pytest.approx(theirs.score(x))
    np.testing.assert_allclose(ours.prototypes(), theirs.cluster_centers_, atol=1e-4)


@pytest.mark.parametrize("method", ["tiled", "fourier"])
def test_rings_are_found(method, rng):
    x, ring = rings(600, rng)
    model = KernelKMeans(2, kernel=Gaussian(0.4), method=method, n_init=10, random_state=0).fit(x)
    assert adjusted_rand_score(ring, model.labels_) == 1
    new, ring = rings(300, np.random.default_rng(1))
    assert adjusted_rand_score(ring, model.predict(new)) > 0.98


def test_many_rows_start_from_a_sample_and_end_at_a_fixed_point():
    x, ring = rings(80_000, np.random.default_rng(0))
    model = KernelKMeans(2, kernel=Gaussian(0.4), n_init=5, random_state=0).fit(x)
    assert model.method_ == "fourier"
    assert adjusted_rand_score(ring, model.labels_) == 1
    few = np.arange(0, 80_000, 97)
    gram = Gaussian(0.4)(x[few], x)
    for j in range(2):
        share = (model.labels_ == j) / (model.labels_ == j).sum()
        other = (model.labels_ != j) / (model.labels_ != j).sum()
        mine = few[model.labels_[few] == j]
        nearer = gram @ share - gram @ other
        assert (nearer[model.labels_[few] == j] > nearer[model.labels_[few] != j].max()).all()
        assert len(mine)


@pytest.mark.parametrize("method", ["tiled", "monomials"])
def test_weights_are_repeated_rows_in_any_order(method, rng):
    x, weights = blobs(200, 2, rng), rng.integers(0, 4, 200)
    repeated = np.repeat(x, weights, axis=0)
    turn = rng.permutation(len(repeated))
    settings = dict(n_clusters=4, kernel="poly", degree=2, method=method, random_state=3)
    weighted = KernelKMeans(**settings).fit(x, sample_weight=weights)
    plain = KernelKMeans(**settings).fit(repeated[turn])
    assert weighted.inertia_ == pytest.approx(plain.inertia_)
    np.testing.assert_array_equal(weighted.predict(x), plain.predict(x))


def test_sparse_and_float32_and_precomputed_agree_with_dense(rng):
    x = blobs(300, 5, rng)
    x[np.abs(x) < 1] = 0
    settings = dict(n_clusters=4, kernel="rbf", gamma=0.05, random_state=0)
    dense = KernelKMeans(**settings).fit(x)
    csr = KernelKMeans(**settings).fit(scipy.sparse.csr_array(x))
    np.testing.assert_array_equal(csr.labels_, dense.labels_)
    np.testing.assert_allclose(csr.transform(scipy.sparse.csr_array(x)), dense.transform(x), atol=1e-9)
    assert scipy.sparse.issparse(csr.prototypes("nearest"))
    single = KernelKMeans(**settings).fit(x.astype(np.float32))
    np.testing.assert_array_equal(single.labels_, dense.labels_)
    assert single.transform(x.astype(np.float32)).dtype == np.float32
    gram = Gaussian.from_gamma(0.05)(x)
    given = KernelKMeans(4, kernel="precomputed", init=dense.labels_).fit(gram)
    np.testing.assert_array_equal(given.labels_, dense.labels_)
    np.testing.assert_array_equal(given.predict(gram[:7]), dense.labels_[:7])
    np.testing.assert_allclose(given.fit_transform(gram), dense.transform(x), atol=1e-7)


def test_more_starts_never_cost_more(rng):
    x = load_digits().data
    costs = [KernelKMeans(10, n_init=n, random_state=0, kernel="rbf", gamma="scale").fit(x).inertia_ for n in (1, 4)]
    assert costs[1] <= costs[0]


def test_the_memory_limit_changes_nothing_but_the_way(rng):
    x = blobs(2500, 6, rng)
    start = rng.integers(5, size=2500)
    settings = dict(init=start, kernel="rbf", gamma="median", method="tiled", tol=0)
    free = KernelKMeans(5, **settings).fit(x)
    tight = KernelKMeans(5, **settings, memory_limit="25MB").fit(x)
    np.testing.assert_array_equal(free.labels_, tight.labels_)
    with pytest.raises(MemoryLimitError, match="memory_limit"):
        KernelKMeans(5, **settings, memory_limit="1MB").fit(x)


def test_an_empty_cluster_is_given_the_dearest_point(rng):
    x = np.vstack([blobs(100, 2, rng, centers=2), [[60.0, 60.0]]])
    model = KernelKMeans(3, kernel="linear", init=np.zeros(101, dtype=int)).fit(x)
    assert len(np.unique(model.labels_)) == 3
    assert (model.labels_ == model.labels_[100]).sum() == 1


def test_copies_leave_clusters_empty_and_say_so():
    x = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 distinct clusters"):
        model = KernelKMeans(3, kernel=Gaussian(1.0)).fit(x)
    assert len(np.unique(model.labels_)) == 2
    assert model.inertia_ == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="n_clusters"):
        model.prototypes()


def test_stopping_early_warns(rng):
    x = load_digits().data[:500]
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        KernelKMeans(10, max_iter=1, tol=0, random_state=0).fit(x)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Matern(2.5, 0.5), Laplacian(0.7), Polynomial(degree=2, c=1.0)])
def test_preimages_are_nearer_to_the_centres_than_any_row(kernel, rng):
    x = blobs(200, 2, rng, centers=3) / 4
    model = KernelKMeans(3, kernel=kernel, random_state=0).fit(x)
    assert model.prototypes("nearest").shape == (3, 2)
    cost = model.transform(model.prototypes("preimage")).diagonal()
    rows = model.transform(x).min(axis=0)
    nearest = model.transform(model.prototypes("nearest")).diagonal()
    np.testing.assert_allclose(nearest, rows, atol=1e-7)
    assert (cost <= rows + 1e-7).all()
    nudged = model.prototypes("preimage")[:, None] + 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1.0]])
    around = np.array([model.transform(nudged[j])[:, j] for j in range(3)])
    if not isinstance(kernel, Laplacian):  # which has a corner at every row
        assert (around >= cost[:, None] - 1e-7).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(n_clusters=5), "n_clusters=5"),
        (dict(n_clusters=2, init=[0, 1]), "pass 4 labels"),
        (dict(n_clusters=2, init=[0, 1, 2, 0]), "labels from 0 to 2"),
        (dict(n_clusters=2, method="monomials"), "only for polynomial kernels"),
    ],
)
def test_errors_name_the_remedy(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelKMeans(**settings).fit(np.arange(8.0).reshape(4, 2))


def test_what_a_given_matrix_cannot_do_is_refused():
    gram = np.eye(6) + 1
    model = KernelKMeans(2, kernel="precomputed").fit(gram)
    for call in (lambda: model.transform(gram), lambda: model.score(gram), model.prototypes):
        with pytest.raises(ValueError, match="precomputed"):
            call()


def test_threads_change_nothing():
    x = load_digits().data
    one, two = (KernelKMeans(10, random_state=0, n_jobs=n).fit(x) for n in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.inertia_ == two.inertia_


@parametrize_with_checks(
    [
        KernelKMeans(),
        KernelKMeans(3, kernel="poly", method="monomials"),
        KernelKMeans(3, kernel=Matern(1.5, 2.0), init="random", method="tiled"),
    ]
)
def test_estimator_checks(estimator, check):
    check(estimator)
