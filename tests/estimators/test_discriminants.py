"""Kernel discriminants against generalised eigenproblems written down on the whole Gram matrix."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import sklearn
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_digits, make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from gramless import BiasedDiscriminantAnalysis, KernelDiscriminantAnalysis, MemoryLimitError, kernels
from gramless.kernels import Gaussian, Laplacian, Linear, Manhattan, Matern, Polynomial

KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(degree=2, c=1.0),
    "gaussian": Gaussian(2.0),
    "laplacian": Laplacian(3.0),
    "manhattan": Manhattan(0.3),
    "matern": Matern(1.5, 3.0),
    "cosine": kernels.Cosine(),
    "sum": 0.5 * Gaussian(2.0) + Linear(),
}


def classes(n, rng, count=3, d=3):
    labels = np.arange(n) % count
    return 1.5 * rng.standard_normal((count, d))[labels] + rng.standard_normal((n, d)), labels


def coordinates(gram, weights):
    """All principal coordinates (n, r) of a Gram matrix with weights, by one dense eigenproblem."""
    share = weights / weights.sum()
    centred = gram - gram @ share - (gram @ share)[:, None] + share @ gram @ share
    roots = np.sqrt(weights)
    values, vectors = np.linalg.eigh(roots[:, None] * centred * roots)
    kept = values > 1e-11 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept]) / roots[:, None]


def naive_fisher(z, labels, weights, shrinkage):
    """Generalised eigenpairs of the scatters, and discriminants (n, c - 1) of the rows up to sign."""
    count, total = labels.max() + 1, weights.sum()
    within, between = np.zeros((2, z.shape[1], z.shape[1]))
    mean = weights @ z / total
    for j in range(count):
        w, rows = weights[labels == j], z[labels == j]
        m = w @ rows / w.sum()
        within += (rows - m).T @ (w[:, None] * (rows - m)) / total
        between += w.sum() / total * np.outer(m - mean, m - mean)
    within = (1 - shrinkage) * within + shrinkage * np.trace(within) / len(within) * np.eye(len(within))
    values, axes = scipy.linalg.eigh(between, within)
    return values[::-1][: count - 1], (z - mean) @ axes[:, ::-1][:, : count - 1]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_discriminants_solve_the_generalised_eigenproblem(name, weighted, rng):
    x, y = classes(90, rng)
    weights = rng.uniform(0.5, 2, 90) if weighted else np.ones(90)
    z = coordinates(KERNELS[name](x), weights)
    ratios, scores = naive_fisher(z, y, weights, 0.1)
    model = KernelDiscriminantAnalysis(shrinkage=0.1, n_coordinates=len(z.T), kernel=KERNELS[name])
    ours = model.fit(x, y, sample_weight=weights).transform(x)
    np.testing.assert_allclose(model.explained_variance_ratio_, ratios / ratios.sum(), rtol=1e-6)
    signs = np.sign((ours * scores).sum(axis=0))
    np.testing.assert_allclose(ours, scores * signs, atol=1e-5 * np.abs(scores).max())


def test_the_linear_kernel_is_scikit_learns_lda(rng):
    x, y = classes(200, rng, count=4, d=5)
    theirs = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2).fit(x, y)
    ours = KernelDiscriminantAnalysis(kernel="linear", shrinkage=0.0, n_coordinates=None).fit(x, y)
    plain = LinearDiscriminantAnalysis(solver="eigen").fit(x, y)
    np.testing.assert_array_equal(ours.predict(x), plain.predict(x))
    # theirs divides by n - c, as svd; ours, as their eigen solver, by n
    np.testing.assert_allclose(ours.predict_proba(x), plain.predict_proba(x), atol=1e-8)
    assert theirs.score(x, y) > 0.5


def test_the_shrinkage_is_ledoit_and_wolfs(rng):
    x, y = classes(60, rng)
    model = KernelDiscriminantAnalysis(kernel="linear", n_coordinates=None).fit(x, y)
    centred = np.vstack([x[y == j] - x[y == j].mean(axis=0) for j in range(3)])
    assert model.shrinkage_ == pytest.approx(ledoit_wolf_shrinkage(centred, assume_centered=True))


def test_probabilities_are_bayes_rule_of_the_discriminants(rng):
    x, y = classes(150, rng)
    priors = np.array([0.6, 0.3, 0.1])
    model = KernelDiscriminantAnalysis(priors=priors).fit(x, y)
    z = model.transform(x)
    means = np.array([z[y == j].mean(axis=0) for j in range(3)])
    density = np.exp(-0.5 * ((z[:, None] - means) ** 2).sum(axis=2)) * priors
    np.testing.assert_allclose(model.predict_proba(x), density / density.sum(axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(x)), model.predict_proba(x), atol=1e-12)
    np.testing.assert_array_equal(model.predict(x), model.decision_function(x).argmax(axis=1))
    two = KernelDiscriminantAnalysis().fit(x, y == 1)
    np.testing.assert_array_equal(two.predict(x), two.decision_function(x) > 0)


def test_circles_need_a_kernel():
    x, y = make_circles(400, noise=0.08, factor=0.5, random_state=0)
    new, truth = make_circles(400, noise=0.08, factor=0.5, random_state=1)
    assert LinearDiscriminantAnalysis().fit(x, y).score(new, truth) < 0.6
    assert KernelDiscriminantAnalysis(kernel=Gaussian(0.5)).fit(x, y).score(new, truth) > 0.97


@pytest.mark.parametrize("method", ["tiled", "dense", "fourier", "landmarks"])
def test_every_route_finds_the_same_discriminants(method, rng):
    x, y = classes(600, rng, d=2)
    settings = dict(kernel=Gaussian(2.0), n_coordinates=12, shrinkage=0.05)
    truth = KernelDiscriminantAnalysis(**settings, method="dense").fit(x, y)
    model = KernelDiscriminantAnalysis(**settings, method=method).fit(x, y)
    assert model.method_ == method
    a, b = truth.transform(x), model.transform(x)
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=2e-3 * np.abs(a).max())


@pytest.mark.parametrize("estimator", [KernelDiscriminantAnalysis, BiasedDiscriminantAnalysis])
def test_weights_sparse_rows_and_precision(estimator, rng):
    x, y = classes(120, rng, count=2)
    weights = rng.integers(0, 3, 120)
    settings = dict(kernel=Gaussian(2.0), n_coordinates=10, shrinkage=0.1)
    weighted = estimator(**settings).fit(x, y, sample_weight=weights)
    repeated = estimator(**settings).fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(x), repeated.decision_function(x), rtol=1e-5, atol=1e-6)
    plain = estimator(**settings).fit(x, y)
    csr = estimator(**settings).fit(scipy.sparse.csr_array(x), y)
    np.testing.assert_allclose(csr.decision_function(scipy.sparse.csr_array(x)), plain.decision_function(x), rtol=1e-6)
    single = estimator(**settings).fit(x.astype(np.float32), y)
    assert single.transform(x.astype(np.float32)).dtype == np.float32
    assert (single.predict(x.astype(np.float32)) == plain.predict(x)).mean() > 0.98
    gram = Gaussian(2.0)(x)
    given = estimator(**{**settings, "kernel": "precomputed"}).fit(gram, y)
    np.testing.assert_allclose(given.decision_function(gram), plain.decision_function(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("estimator", [KernelDiscriminantAnalysis, BiasedDiscriminantAnalysis])
def test_weights_of_few_rows_with_many_columns_count_as_repetitions_in_any_order(estimator, sparse, rng):
    x, y, weights = rng.random((15, 30)), np.arange(15) % 2, rng.integers(0, 5, 15)
    order = rng.permutation(15)
    rows = scipy.sparse.csr_array(x) if sparse else x
    weighted = estimator().fit(rows[order], y[order], sample_weight=weights[order])
    repeated = estimator().fit(rows[np.repeat(np.arange(15), weights)], np.repeat(y, weights))
    for ask in ("decision_function", "predict", "transform"):
        np.testing.assert_allclose(getattr(weighted, ask)(rows), getattr(repeated, ask)(rows), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["linear", "gaussian", "matern"])
def test_biased_directions_solve_their_eigenproblem(name, rng):
    x, y = classes(80, rng, count=2)
    z = coordinates(KERNELS[name](x), np.ones(80))
    mean = z[y == 1].mean(axis=0)
    gathered = np.cov(z[y == 1].T, bias=True)
    pushed = (z[y == 0] - mean).T @ (z[y == 0] - mean) / 40
    size = (np.trace(gathered) + np.trace(pushed)) / 2 / len(gathered)
    ratios, axes = scipy.linalg.eigh(pushed, 0.7 * gathered + 0.3 * size * np.eye(len(gathered)))
    ratios, axes = ratios[::-1][:2], axes[:, ::-1][:, :2]
    model = BiasedDiscriminantAnalysis(2, shrinkage=0.3, n_coordinates=len(z.T), kernel=KERNELS[name]).fit(x, y)
    np.testing.assert_allclose(model.ratios_, ratios, rtol=1e-6)
    scores = (z - mean) @ axes * np.sqrt(ratios)
    np.testing.assert_allclose(np.abs(model.transform(x)), np.abs(scores), atol=1e-5 * np.abs(scores).max())
    distance = (model.transform(x) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.decision_function(x), -distance - model.threshold_, atol=1e-9)


def test_the_sought_class_may_be_either(rng):
    x, y = classes(100, rng, count=2)
    first = BiasedDiscriminantAnalysis(positive_label="a").fit(x, np.where(y == 1, "a", "b"))
    last = BiasedDiscriminantAnalysis().fit(x, y)
    np.testing.assert_allclose(first.decision_function(x), -last.decision_function(x), rtol=1e-9)
    np.testing.assert_array_equal(first.predict(x) == "a", last.predict(x) == 1)


def test_negatives_of_many_kinds_are_told_from_the_sought_digit():
    x, y = load_digits(return_X_y=True)
    model = BiasedDiscriminantAnalysis(n_coordinates=100).fit(x[::2], y[::2] == 3)
    assert model.score(x[1::2], y[1::2] == 3) > 0.96


def test_memory_is_kept(rng):
    x, y = classes(2000, rng, d=6)
    settings = dict(kernel=Laplacian(3.0), n_coordinates=20, method="tiled", shrinkage=0.1)
    free = KernelDiscriminantAnalysis(**settings).fit(x, y)
    tight = KernelDiscriminantAnalysis(**settings, memory_limit="40MB").fit(x, y)
    np.testing.assert_allclose(tight.predict_proba(x), free.predict_proba(x), atol=1e-3)
    with pytest.raises(MemoryLimitError):
        KernelDiscriminantAnalysis(**settings, memory_limit="1MB").fit(x, y)


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (KernelDiscriminantAnalysis(3), [0, 1, 2, 0], "n_components=3"),
        (KernelDiscriminantAnalysis(priors=[1, 2]), [0, 1, 2, 0], "priors"),
        (KernelDiscriminantAnalysis(), [1, 1, 1, 1], "class"),
        (BiasedDiscriminantAnalysis(), [0, 1, 2, 0], "3 classes"),
        (BiasedDiscriminantAnalysis(positive_label=7), [0, 1, 1, 0], "positive_label=7"),
    ],
)
def test_errors_name_the_remedy(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.arange(8.0).reshape(4, 2), y)


def expected_failures(estimator):
    """Checks whose data are wrong: before 1.7, scikit-learn made three classes two by the first label it found.

    It did so for the weighted rows and for the repeated ones, which are in another order: two problems, not one. That
    weights count as repetitions is tested above, with rows like theirs.
    """
    if isinstance(estimator, BiasedDiscriminantAnalysis) and parse_version(sklearn.__version__) < parse_version("1.7"):
        kinds = ("dense", "sparse")
        return {f"check_sample_weight_equivalence_on_{kind}_data": "they are not equivalent" for kind in kinds}
    return {}


@parametrize_with_checks(
    [
        KernelDiscriminantAnalysis(),
        KernelDiscriminantAnalysis(kernel="poly", degree=2, n_coordinates=0.99),
        BiasedDiscriminantAnalysis(),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_checks(estimator, check):
    check(estimator)
