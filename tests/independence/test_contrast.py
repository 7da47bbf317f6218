import numpy as np
import pytest

from gramless.independence import Contrast, amari_error, find_rotation, landmarks_for
from gramless.kernels import Gaussian, Laplacian, Matern, Polynomial, Tanh

KERNELS = [Gaussian(1.0), Gaussian(0.5), Polynomial(3, 1.0), Matern(2.5, 1.5), 0.5 * Gaussian(1.0) + Polynomial(2, 1.0)]


def columns(n=150, seed=0):
    random = np.random.default_rng(seed)
    y = np.column_stack([random.uniform(-1.7, 1.7, n), random.laplace(size=n) / 1.4, random.standard_normal(n)])
    turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
    return y @ turn


def naive_contrast(kernel, y, weights, kappa, kind):
    """Bach & Jordan, section 4.3, with whole Gram matrices."""
    (n, m), total = y.shape, weights.sum()
    center = np.eye(n) - np.ones((n, 1)) * weights / total
    root = np.sqrt(weights)
    shrunk = []
    for column in y.T:
        gram = root[:, None] * (center @ kernel(column[:, None]) @ center.T) * root
        shrunk.append(gram @ np.linalg.inv(gram + total * kappa / 2 * np.eye(n)))
    big = np.block([[np.eye(n) if i == j else shrunk[i] @ shrunk[j] for j in range(m)] for i in range(m)])
    values = np.linalg.eigvalsh((big + big.T) / 2)
    return -np.log(values).sum() / 2 if kind == "kgv" else -np.log(values[0]) / 2


@pytest.mark.parametrize("kind", ["kgv", "kcc"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_contrast_is_that_of_whole_gram_matrices(kernel, kind):
    y, weights = columns(), np.random.default_rng(1).integers(0, 3, 150).astype(float)
    contrast = Contrast(landmarks_for(kernel, y, np.ones(len(y)), 1e-9, np.random.default_rng(0)), 2e-2, kind)
    naive = naive_contrast(kernel, y[weights > 0], weights[weights > 0], 2e-2, kind)
    assert contrast.value(y, weights) == pytest.approx(naive, rel=1e-3)


@pytest.mark.parametrize("kind", ["kgv", "kcc"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_gradient_is_that_of_small_differences(kernel, kind):
    z, weights = columns(), np.random.default_rng(1).uniform(0.5, 2, 150)
    contrast = Contrast(landmarks_for(kernel, z, np.ones(len(z)), 1e-5, np.random.default_rng(0)), 2e-2, kind)
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0]
    value, gradient = contrast.value_and_gradient(z, turn, weights)
    assert value == pytest.approx(contrast.value(z @ turn.T, weights))
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = 1e-5
            rise = contrast.value(z @ (turn + step).T, weights) - contrast.value(z @ (turn - step).T, weights)
            assert gradient[i, j] == pytest.approx(rise / 2e-5, abs=1e-6 * np.abs(gradient).max() + 1e-9)


def test_chunks_of_rows_change_nothing():
    z = columns(20_000)
    contrast = Contrast(landmarks_for(Gaussian(1.0), z, np.ones(len(z)), 1e-3, np.random.default_rng(0)), 2e-3)
    value, gradient = contrast.value_and_gradient(z, np.eye(3), np.ones(len(z)))
    parts = [contrast.value_and_gradient(np.repeat(z[:5000], 4, axis=0), np.eye(3), np.ones(len(z)))]
    parts.append(contrast.value_and_gradient(z[:5000], np.eye(3), np.full(5000, 4.0)))
    assert parts[0][0] == pytest.approx(parts[1][0])
    np.testing.assert_allclose(parts[0][1], parts[1][1], atol=1e-9)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_order_and_sign_of_columns_do_not_matter():
    y, weights = columns(), np.ones(150)
    contrast = Contrast(landmarks_for(Gaussian(1.0), y, np.ones(len(y)), 1e-9, np.random.default_rng(0)), 2e-2)
    other = contrast.value(y[:, [2, 0, 1]] * np.array([1.0, -1.0, 1.0]), weights)
    assert contrast.value(y, weights) == pytest.approx(other, rel=1e-3)


def test_the_search_stays_orthogonal_and_goes_down():
    z, weights = columns(400), np.ones(400)
    z = (z - z.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(z.T))).T
    contrast = Contrast(landmarks_for(Gaussian(1.0), z, np.ones(len(z)), 1e-4, np.random.default_rng(0)), 2e-2)
    found = find_rotation(contrast, z, weights, [np.eye(3)])
    np.testing.assert_allclose(found.turn @ found.turn.T, np.eye(3), atol=1e-12)
    assert found.value <= contrast.value(z, weights)
    assert found.value == pytest.approx(contrast.value(z @ found.turn.T, weights))
    _, gradient = contrast.value_and_gradient(z, found.turn, weights)
    assert np.abs(gradient @ found.turn.T - found.turn @ gradient.T).max() < 1e-4


def test_a_kernel_that_is_not_mercer_is_refused():
    with pytest.raises(ValueError, match="Mercer"):
        landmarks_for(Tanh(1.0, 0.0), columns(), np.ones(len(columns())), 1e-3, np.random.default_rng(0))


def test_rough_kernels_keep_to_the_most_landmarks():
    features = landmarks_for(Laplacian(0.1), columns(2000), np.ones(len(columns(2000))), 0.0, np.random.default_rng(0))
    assert features.n_features <= 100


def test_the_amari_error_forgives_order_sign_and_scale_only():
    mixing = np.random.default_rng(0).standard_normal((4, 4))
    right = np.linalg.inv(mixing)
    assert amari_error(np.diag([1.0, -2.0, 3.0, 0.1]) @ right[[3, 1, 0, 2]], mixing) == pytest.approx(0, abs=1e-10)
    assert amari_error(np.ones((4, 4)) @ right, mixing) == pytest.approx(100)
    with pytest.raises(ValueError, match="square product"):
        amari_error(np.ones((2, 3)), np.ones((3, 3)))
