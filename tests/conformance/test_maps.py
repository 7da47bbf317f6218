"""Laws that every registered feature map keeps, for every kernel it takes. A new map is tested without another line."""

import numpy as np
import pytest

from gramless.features import Box, maps
from gramless.kernels import Cosine, Gaussian, Laplacian, Matern, Polynomial
from gramless.problem import Problem

KERNELS = [
    Gaussian(0.8),
    Gaussian(3.0),
    Matern(1.5, 0.7),
    Laplacian(1.0),
    Polynomial(2, 1.0),
    Polynomial(3, 0.0, 0.5),
    0.5 * Gaussian(2.0) + Polynomial(2, 1.0),
    Gaussian(2.0) * Polynomial(1, 1.0),
    Cosine(),
]
TOL = 1e-3


def pose(kernel, x, weights, tol=TOL):
    box = Box.around(x)
    return Problem(
        n=len(x),
        d=x.shape[1],
        kernel=kernel,
        k=4,
        tol=tol,
        memory_limit=10**9,
        low=box.low,
        high=box.high,
        weight=float(weights.sum()),
        peak=0.05 * float(kernel.diagonal(x).mean()),
    )


def drawn(d, seed=0, n=60):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, d)) * np.linspace(1, 0.3, d), rng.integers(0, 4, n).astype(float)


def cases():
    for name in maps:
        for number, kernel in enumerate(KERNELS):
            for d in (1, 2, 3):
                if d == 3 and isinstance(kernel, (Matern, Laplacian)):
                    continue  # tens of thousands of frequencies
                x, weights = drawn(d)
                if not maps[name].estimate(pose(kernel, x, weights)).refusal:
                    yield pytest.param(name, kernel, d, id=f"{name}-{number}-{d}")


CASES = list(cases())


def made(name, kernel, d):
    x, weights = drawn(d)
    return maps[name].make(pose(kernel, x, weights), x, weights, np.random.default_rng(0)), x, weights


def exact_eigenvalues(kernel, x, weights):
    roots = np.sqrt(weights)
    inside = np.eye(len(x)) - np.outer(roots, roots) / weights.sum()
    return np.linalg.eigvalsh(inside @ (roots[:, None] * kernel(x) * roots) @ inside)[::-1]


def test_every_map_is_tried():
    assert {case.values[0] for case in CASES} == set(maps)


@pytest.mark.parametrize(("name", "kernel", "d"), CASES)
def test_bounds_of_the_moments_hold_the_exact_eigenvalues(name, kernel, d):
    features, x, weights = made(name, kernel, d)
    spectrum = features.moments(x, weights).solve(4, TOL, np.random.default_rng(1))
    truth = exact_eigenvalues(kernel, x, weights)
    slip = 1e-12 * truth[0]
    assert (spectrum.lower[:4] <= truth[:4] + slip).all()
    assert (spectrum.upper[:5] >= truth[:5] - slip).all()
    assert (np.abs(spectrum.values - truth[:4]) <= spectrum.residual + slip).all()


@pytest.mark.parametrize(("name", "kernel", "d"), CASES)
def test_moments_are_those_of_the_features(name, kernel, d):
    features, x, weights = made(name, kernel, d)
    phi = features(x)
    assert phi.shape == (len(x), features.n_features)
    moments = features.moments(x, weights)
    mean = weights @ phi / weights.sum()
    centred = np.sqrt(weights)[:, None] * (phi - mean)
    spectrum = moments.solve(4, TOL, np.random.default_rng(1))
    values = np.linalg.svd(centred, compute_uv=False)[:4] ** 2
    # a map may add what it knows to be left out to every value: never more than its residual allows
    assert (
        np.abs(spectrum.values - np.pad(values, (0, 4 - len(values)))) <= spectrum.residual + 1e-9 * values[0]
    ).all()
    assert moments.weight == weights.sum()
    assert moments.mean_norm2 == pytest.approx(mean @ mean, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("name", "kernel", "d"), CASES)
def test_moments_add_subtract_and_scale(name, kernel, d):
    features, x, weights = made(name, kernel, d)
    whole = features.moments(x, weights)
    first, second = features.moments(x[:23], weights[:23]), features.moments(x[23:], weights[23:])
    rng = np.random.default_rng(1)
    reference = whole.solve(3, 1e-10, rng).values
    close = {"rtol": 1e-6, "atol": 1e-8 * reference[0]}
    np.testing.assert_allclose((first + second).solve(3, 1e-10, rng).values, reference, **close)
    np.testing.assert_allclose((second + first).solve(3, 1e-10, rng).values, reference, **close)
    np.testing.assert_allclose(whole.scaled(2.5).solve(3, 1e-10, rng).values, 2.5 * reference, **close)
    np.testing.assert_allclose((whole - second).solve(3, 1e-10, rng).values, first.solve(3, 1e-10, rng).values, **close)
    assert (first + second).rows == len(x)


@pytest.mark.parametrize(("name", "kernel", "d"), CASES)
def test_dot_is_the_product_with_the_features(name, kernel, d):
    features, x, _ = made(name, kernel, d)
    coefficients = np.random.default_rng(2).standard_normal((features.n_features, 3))
    expected = features(x) @ coefficients
    np.testing.assert_allclose(features.dot(x, coefficients), expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(("name", "kernel", "d"), CASES)
def test_a_map_is_its_own_space_and_not_that_of_another_box(name, kernel, d):
    features, x, weights = made(name, kernel, d)
    assert features.same_space(features)
    again = maps[name].make(pose(kernel, x, weights), x, weights, np.random.default_rng(0))
    assert features.same_space(again)
    if maps[name].boxed:
        moved = x + 1.0
        assert not features.same_space(
            maps[name].make(pose(kernel, moved, weights), moved, weights, np.random.default_rng(0))
        )


@pytest.mark.parametrize(("name", "kernel", "d"), [case for case in CASES if maps[case.values[0]].tensors])
def test_tensors_give_the_features_and_moments_of_arrays(name, kernel, d):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    features, x, weights = made(name, kernel, d)
    assert features.tensors
    rows, coefficients = torch.as_tensor(x), np.random.default_rng(1).standard_normal((features.n_features, 2))
    np.testing.assert_allclose(features.dot(rows, coefficients).numpy(), features.dot(x, coefficients), atol=1e-6)
    np.testing.assert_allclose((features(rows) @ features(rows).T).numpy(), features(x) @ features(x).T, atol=1e-9)
    ours, theirs = (features.moments(part, weights) for part in (rows, x))
    assert ours.trace == pytest.approx(theirs.trace, rel=1e-9)
    spectrum = ours.solve(4, TOL, np.random.default_rng(1))
    truth = exact_eigenvalues(kernel, x, weights)
    slip = 1e-12 * truth[0]
    assert (spectrum.lower[:4] <= truth[:4] + slip).all()
    assert (spectrum.upper[:5] >= truth[:5] - slip).all()
    assert (spectrum.upper - spectrum.lower).max() <= 2 * (
        theirs.solve(4, TOL, np.random.default_rng(1)).upper - spectrum.lower
    ).max() + slip
