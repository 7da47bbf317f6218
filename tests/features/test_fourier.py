"""The Fourier map stands for the kernel within its bound, its moments for the Gram matrix within theirs."""

import numpy as np
import pytest
from extended import WIDE, centered_gram, eigenvalues, squared_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from gramless.arrays import use_threads
from gramless.features import Box, fourier_map, maps
from gramless.kernels import Gaussian, Laplacian, Matern
from gramless.kernels.spectral import SpectralDensity
from gramless.problem import Problem


def gaussian(squared, sigma):
    return np.exp(-squared / (2 * WIDE(sigma) ** 2))


def matern(squared, nu, lengthscale):
    t = np.sqrt(WIDE(2 * nu)) * np.sqrt(squared) / WIDE(lengthscale)
    return {0.5: 1, 1.5: 1 + t, 2.5: 1 + t + t**2 / 3}[nu] * np.exp(-t)


KERNELS = {
    "gaussian": lambda s: (Gaussian(s), lambda q: gaussian(q, s)),
    "scaled": lambda s: (3.0 * Gaussian(s), lambda q: 3 * gaussian(q, s)),
    "laplacian": lambda s: (Laplacian(s), lambda q: matern(q, 0.5, s)),
    "matern 1/2": lambda s: (Matern(0.5, s), lambda q: matern(q, 0.5, s)),
    "matern 3/2": lambda s: (Matern(1.5, s), lambda q: matern(q, 1.5, s)),
    "matern 5/2": lambda s: (Matern(2.5, s), lambda q: matern(q, 2.5, s)),
}


@st.composite
def clouds(draw, most_rows=14):
    """Rows in boxes of many shapes, far from the origin too; d = 1 to 3."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, most_rows))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    sides = np.array(draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=d, max_size=d)))
    sides[draw(st.integers(0, d - 1))] = 1.0
    x = rng.random((n, d)) * sides * draw(st.sampled_from([1.0, 1e-3, 50.0]))
    return x + draw(st.sampled_from([0.0, 1.0, -100.0])), rng


def problem_of(kernel, x, **more):
    given = {"k": 3, "tol": 1e-8, "memory_limit": 10**9, "low": x.min(axis=0), "high": x.max(axis=0), "peak": 0.1}
    return Problem(n=len(x), d=x.shape[1], kernel=kernel, weight=float(len(x)), **{**given, **more})


def wide_gram(formula, x, y):
    return formula(squared_distances(x.astype(WIDE), y.astype(WIDE)))


def width(x, ratio):
    return ratio * float(np.ptp(x, axis=0).max() or 1.0)


@settings(max_examples=60)
@given(
    cloud=clouds(),
    ratio=st.sampled_from([0.02, 0.1, 0.5, 1.0, 5.0]),
    error=st.sampled_from([1e-3, 1e-6, 1e-10]),
    name=st.sampled_from(["gaussian", "scaled"]),
)
def test_the_map_is_the_kernel_within_its_bound(cloud, ratio, error, name):
    x, _ = cloud
    kernel, formula = KERNELS[name](width(x, max(ratio, (0, 0.02, 0.02, 0.1)[x.shape[1]])))
    phi = fourier_map(kernel, Box.around(x), error)
    features = phi(x)
    assert phi.grid.error <= error
    assert np.abs(features @ features.T - wide_gram(formula, x, x)).max() <= phi.grid.error + 1e-13


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=15)
@given(
    cloud=clouds(), ratio=st.sampled_from([0.3, 1.0, 3.0]), where=st.sampled_from(["in", "edge", "by", "far", "inf"])
)
def test_new_points_never_meet_an_image(name, cloud, ratio, where):
    x, rng = cloud
    kernel, formula = KERNELS[name](width(x, ratio))
    phi = fourier_map(kernel, Box.around(x), 1e-3)
    box, reach = phi.grid.box, phi.grid.axes.reach
    along = rng.choice([-1.0, 0.0, 1.0], size=(8, x.shape[1]))
    steps = {
        "in": 0.0,
        "edge": reach * (1 - 1e-9),
        "by": reach * (1 + 1e-6),
        "far": 7.3 * phi.grid.axes.periods,
        "inf": 1e200,
    }
    y = box.center + along * (box.extent / 2 * rng.random((8, x.shape[1])) + steps[where])
    if where == "edge":
        y = np.clip(y, box.low - reach, box.high + reach)
    truth = wide_gram(formula, y, x)
    coefficients = rng.standard_normal((phi.n_features, 3))
    assert np.abs(phi(y) @ phi(x).T - truth).max() <= phi.grid.error + 1e-12 * float(kernel.bound(0.0))
    assert np.allclose(phi.dot(y, coefficients), phi(y) @ coefficients, atol=1e-3 * np.abs(coefficients).sum())


def naive(phi, x, weights):
    features = phi(x)
    mean = weights @ features / weights.sum()
    moved = features - mean
    return mean, (moved * weights[:, None]).T @ moved


def axes_scatter(moments):
    """The scatter of the moments, from all their eigenpairs."""
    width = len(moments.mean)
    spectrum = moments.solve(width, 1e-12, np.random.default_rng(0))
    return spectrum.axes * (spectrum.values) @ spectrum.axes.T


@settings(max_examples=20)
@given(cloud=clouds(), parts=st.integers(1, 3), factor=st.sampled_from([0.0, 0.5, 3.0]))
def test_moments_are_sums_and_add(cloud, parts, factor):
    x, rng = cloud
    x = x[:, :2]
    weights = rng.integers(0, 3, len(x)).astype(float)
    weights[0] = 1.0
    phi = fourier_map(Gaussian(width(x, 2.0)), Box.around(x), 1e-9)
    whole = phi.moments(x, weights)
    mean, scatter = naive(phi, x, weights)
    assert np.allclose(whole.mean, mean, atol=1e-9)
    assert np.allclose(axes_scatter(whole), scatter, atol=1e-7 * weights.sum())
    assert whole.mean_norm2 == pytest.approx(mean @ mean, rel=1e-8)
    assert whole.trace == pytest.approx(float(np.trace(scatter)), abs=1e-8 * weights.sum())
    pieces = [phi.moments(x[i::parts], weights[i::parts]) for i in range(parts)]
    total = pieces[0]
    for piece in pieces[1:]:
        total = total + piece
    close = 1e-9 * weights.sum()
    assert np.allclose(total.sums, whole.sums, atol=close)
    rest = total - pieces[-1]
    assert np.allclose(rest.sums, whole.sums - pieces[-1].sums, atol=close)
    assert rest.weight == pytest.approx(whole.weight - pieces[-1].weight)
    scaled = whole.scaled(factor)
    same = phi.moments(x, factor * weights)
    assert np.allclose(scaled.sums, same.sums, atol=close * factor)
    assert (scaled.weight, scaled.squares) == pytest.approx((same.weight, same.squares))
    assert np.allclose(scaled.solve(2, 1e-8, rng).values, factor * whole.solve(2, 1e-8, rng).values, atol=close)


def assert_certified(kernel, formula, x, weights, k, tol):
    rng = np.random.default_rng(1)
    builder = maps["fourier"]
    phi = builder.make(problem_of(kernel, x, tol=tol), x, weights, rng)
    moments = phi.moments(x, weights)
    spectrum = moments.solve(k, tol, rng)
    centred = centered_gram(wide_gram(formula, x, x), weights)
    truth = np.zeros(k + 1, dtype=WIDE)
    found = eigenvalues(centred)[: k + 1]
    truth[: len(found)] = found
    slack = 64 * np.finfo(WIDE).eps * weights.sum() * kernel.bound(0.0)
    assert (spectrum.lower <= truth + slack).all()
    assert (truth - slack <= spectrum.upper).all()
    assert ((spectrum.lower[:k] <= spectrum.values) & (spectrum.values <= spectrum.upper[:k])).all()
    assert (np.abs(spectrum.values - truth[:k]) <= spectrum.residual + slack).all()
    off = weights.sum() * (phi.grid.tail + phi.grid.aliasing) + moments.rounding
    assert abs(moments.trace - np.trace(centred)) <= off


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=10)
@given(
    cloud=clouds(), ratio=st.sampled_from([0.3, 1.0, 4.0]), k=st.integers(1, 6), tol=st.sampled_from([1e-2, 1e-5, 1e-9])
)
def test_true_eigenvalues_lie_inside_the_bounds(name, cloud, ratio, k, tol):
    x, rng = cloud
    tol = max(tol, 1e-5) if x.shape[1] == 3 else tol  # keeps the grids, and the test, small
    weights = rng.integers(0, 3, len(x)).astype(float)
    weights[0] += 1
    assert_certified(*KERNELS[name](width(x, ratio)), x, weights, k, tol)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_equal_points_have_no_variance(name, d):
    x = np.full((7, d), 12.5)
    tol = 1e-3 if name in ("gaussian", "scaled") or d == 3 else 3e-2  # keeps the grids small
    assert_certified(*KERNELS[name](0.7), x, np.ones(7), 2, tol)


@pytest.mark.parametrize("name", ["gaussian", "matern 3/2", "matern 1/2"])
def test_many_rows_against_the_gram_matrix(name):
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.random((600, 2)), rng.normal(0.3, 0.05, (300, 2))])
    kernel = KERNELS[name](0.2)[0]
    phi = maps["fourier"].make(problem_of(kernel, x, tol=1e-9), x, np.ones(900), rng)
    spectrum = phi.moments(x, np.ones(900)).solve(8, 1e-9, rng)
    truth = np.linalg.eigvalsh(centered_gram(kernel(x), np.ones(900)).astype(float))[::-1][:9]
    assert (spectrum.lower <= truth + 1e-11 * truth[0]).all()
    assert (truth <= spectrum.upper + 1e-11 * truth[0]).all()
    if name == "gaussian":
        assert np.allclose(spectrum.values, truth[:8], rtol=1e-9)
        assert (spectrum.upper - spectrum.lower).max() <= 1e-8 * truth[0]
    else:  # the part left out moves all eigenvalues alike
        assert np.abs(spectrum.values - truth[:8]).max() <= 0.1 * phi.grid.tail * 900 / len(truth)
    scores = phi.dot(x, spectrum.axes)
    scores -= scores.mean(axis=0)
    assert np.allclose(np.linalg.norm(scores, axis=0) ** 2, spectrum.values, rtol=1e-8, atol=1.1 * phi.grid.tail)


def test_double_eigenvalues_are_found_twice():
    turns = np.linspace(0, 2 * np.pi, 240, endpoint=False)
    x = np.column_stack([np.cos(turns), np.sin(turns)])  # on a circle all but one come in pairs
    rng = np.random.default_rng(0)
    phi = fourier_map(Gaussian(0.3), Box.around(x), 1e-10)
    spectrum = phi.moments(x, np.ones(240)).solve(10, 1e-9, rng)
    truth = np.linalg.eigvalsh(centered_gram(Gaussian(0.3)(x), np.ones(240)).astype(float))[::-1][:11]
    assert np.allclose(spectrum.values, truth[:10], rtol=1e-8)
    assert (truth <= spectrum.upper + 1e-10).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_threads_change_no_bit(d):
    rng = np.random.default_rng(0)
    x = rng.random((450_000, d))[: 450_000 if d < 3 else 120_000]
    weights = rng.random(len(x))
    results = []
    for threads in (1, 2, 3):
        phi = fourier_map(Gaussian(0.6), Box.around(x), 1e-5)
        with use_threads(threads):
            moments = phi.moments(x, weights)
            spectrum = moments.solve(4, 1e-5, np.random.default_rng(0))
            results.append((moments.sums, spectrum.values, phi.dot(x, spectrum.axes)))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


@given(d=st.integers(1, 3), nu=st.sampled_from([0.5, 1.5, 2.5, 4.0, float("inf")]), scale=st.sampled_from([0.1, 7.0]))
def test_the_transform_is_that_of_the_kernel(d, nu, scale):
    """In any dimension khat integrates to k(0); on one axis, what lies beyond a cut makes up for what lies within."""
    density = SpectralDensity(scale, nu, 2.0)
    radius = np.concatenate([[0.0], np.geomspace(1e-5, 1e5, 40001)]) / scale
    shell = {1: 2.0, 2: 2 * np.pi * radius, 3: 4 * np.pi * radius**2}[d]
    assert trapezoid(density(radius, d) * shell, radius) == pytest.approx(2.0, rel=1e-4)
    cut = density.cut(0.03)
    inside = np.linspace(0, cut, 20001)
    assert 2 * trapezoid(density(inside, 1), inside) + density.beyond(cut) == pytest.approx(2.0, rel=1e-5)
    assert density.beyond(cut) == pytest.approx(0.03)
