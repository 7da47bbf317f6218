"""Davidson: few passes from an operator nearby, and full accuracy although most products are rough."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.certificates import Perturbation
from gramless.datasets import resampled_digits
from gramless.eigen import Davidson, eigsh
from gramless.gram import CenteredGram, Nystroem, TiledGram
from gramless.kernels import Gaussian

N, K = 900, 6


class Spectral:
    """An operator with known eigenvectors that counts its products; its certificate is that of any matrix."""

    def __init__(self, matrix, perturbation=None, stored=False, rough=None):
        self.matrix, self.shape, self.products, self.columns = matrix, matrix.shape, 0, 0
        self.error = 1e-14 * np.linalg.norm(matrix)
        self.frobenius2 = float((matrix**2).sum()) * (1 + 1e-12)
        self.stored, self.rough = stored, rough
        self.perturbation = Perturbation() if perturbation is None else perturbation

    def __matmul__(self, v):
        self.products += 1
        self.columns += v.shape[1]
        return self.matrix @ v


class Exact:
    """An operator nearby of which everything is known."""

    def __init__(self, matrix, floors):
        values, vectors = np.linalg.eigh(matrix)
        self.values, self._vectors, self.floors = values[::-1], vectors[:, ::-1], floors

    def vectors(self, count):
        return self._vectors[:, :count]

    def solve(self, residuals, shifts):
        apart = self.values[:, None] - shifts
        apart[np.abs(apart) < 1e-2] = 1e-2
        return self._vectors @ ((self._vectors.T @ residuals) / apart)


def spectrum(decay=0.05):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((N, N)))[0]
    values = np.exp(-decay * np.arange(N))
    return (basis * values) @ basis.T, basis, values


def noise(size, seed=1):
    x = np.random.default_rng(seed).standard_normal((N, N))
    x = x + x.T
    return x * size / np.linalg.norm(x, 2)


def assert_true(matrix, result, tol):
    truth = np.linalg.eigvalsh(matrix)[::-1][:K]
    assert (result.certificate.lower <= truth + 1e-13).all()
    assert (truth <= result.certificate.upper + 1e-13).all()
    residuals = np.linalg.norm(matrix @ result.vectors - result.vectors * result.values, axis=0)
    assert residuals.max() <= tol * truth[0] * 1.001


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_a_good_operator_nearby_leaves_few_passes(tol):
    matrix, _, values = spectrum()
    operator = Spectral(matrix)
    result = eigsh(operator, K, Davidson(Exact(matrix + noise(1e-3), values - 1e-3)), tol=tol, rng=0)
    assert_true(matrix, result, tol)
    assert operator.products <= {1e-3: 1, 1e-6: 2, 1e-10: 4}[tol]
    assert set(result.certificate.kind) == {"rigorous"}


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("size", [1e-3, 1e-5])
def test_rough_products_do_not_limit_the_accuracy(stored, size):
    matrix, _, values = spectrum()
    rough = Spectral(matrix + noise(size, 2), Perturbation(size), stored)
    operator = Spectral(matrix, rough=rough)
    near = Exact(matrix + noise(1e-3), values - 1e-3)
    result = eigsh(operator, K, Davidson(near), tol=1e-10, rng=0)
    assert result.outcome.ok
    assert_true(matrix, result, 1e-10)
    assert rough.products > 0
    assert operator.products < 4  # without a rough form
    if stored:
        assert operator.products <= 2 + (size > 1e-4)


def test_a_probable_perturbation_makes_the_certificate_probabilistic():
    matrix, _, values = spectrum()
    rough = Spectral(matrix + noise(1e-6, 2), Perturbation(1e-6, 1e-10), stored=True)
    operator = Spectral(matrix, rough=rough)
    result = eigsh(operator, K, Davidson(Exact(matrix + noise(1e-3), values - 1e-3)), tol=1e-10, rng=0)
    assert set(result.certificate.kind) == {"probabilistic"}
    assert result.certificate.failure_probability >= 1e-10


def test_what_the_start_lacks_is_found():
    matrix, basis, values = spectrum()
    blind = matrix - values[2] * np.outer(basis[:, 2], basis[:, 2])  # the third eigenvector is not there
    result = eigsh(Spectral(matrix), K, Davidson(Exact(blind, np.zeros(0))), tol=1e-8, rng=0)
    np.testing.assert_allclose(result.values, values[:K], rtol=1e-6)


@given(st.integers(0, 2**31), st.integers(1, 12), st.sampled_from([1e-2, 1e-5, 1e-9]), st.sampled_from([None, 20, 40]))
def test_small_matrices_without_an_operator_nearby(seed, k, tol, columns):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 60))
    matrix = rng.standard_normal((n, n))
    matrix = matrix + matrix.T
    result = eigsh(matrix, k, Davidson(max_columns=columns), tol=tol, rng=seed)
    truth = np.linalg.eigvalsh(matrix)[::-1][:k]
    assert (result.certificate.lower <= truth + 1e-12 * n).all()
    assert (truth <= result.certificate.upper + 1e-12 * n).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kept", [0, 10**9])
def test_gram_matrices_by_landmarks(weighted, kept):
    rng = np.random.default_rng(0)
    x = resampled_digits(N, rng=0)
    weights = rng.choice([0.0, 1.0, 7.0], N) if weighted else np.ones(N)
    kernel = Gaussian(30.0)
    centered = CenteredGram(TiledGram(kernel, x, weights, draft=True, keep_bytes=kept))
    near = Nystroem(kernel, x, weights, x[:200])
    result = eigsh(centered, K, Davidson(near), tol=1e-10, rng=0)
    assert_true(centered.to_dense(), result, 1e-10)
    assert result.passes <= 12


def test_limits_on_passes_and_time_are_kept():
    matrix, _, values = spectrum()
    near = Exact(matrix + noise(1e-2), values - 1e-2)
    with pytest.warns(UserWarning, match="iteration limit"):
        short = eigsh(Spectral(matrix), K, Davidson(near), tol=1e-12, rng=0, max_iter=1)
    assert (short.certificate.lower <= values[:K] + 1e-13).all()
    assert (values[:K] <= short.certificate.upper + 1e-13).all()
    with pytest.warns(UserWarning, match="time limit"):
        eigsh(Spectral(matrix), K, Davidson(near), tol=1e-12, rng=0, deadline=0.0)
