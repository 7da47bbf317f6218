"""Leading eigenpairs of small matrices, those with multiple eigenvalues above all."""

import numpy as np
import pytest
import scipy.linalg

from gramless.arrays import leading_eigenpairs


def drawn(rng):
    """A symmetric matrix, most of them with eigenvalues that are equal or nearly so, and a number of pairs."""
    n = int(rng.integers(1, 30))
    values = rng.choice([2.0, 1.0, 1.0, 1.0, 0.5, 0.0], n)
    values *= 1 + rng.choice([0, 1]) * 10.0 ** -rng.integers(5, 20) * rng.standard_normal(n)
    if rng.random() < 0.6:
        turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
        matrix = turn * values @ turn.T
    else:
        matrix = np.diag(values) + 10.0 ** -rng.integers(8, 60) * rng.standard_normal((n, n))
    matrix = (matrix - matrix.mean(axis=0) if rng.random() < 0.3 else matrix) * 10.0 ** rng.integers(-100, 100)
    return (matrix + matrix.T) / 2, int(rng.integers(1, n + 1))


def test_pairs_of_matrices_with_multiple_eigenvalues():
    rng = np.random.default_rng(0)
    for _ in range(3000):
        matrix, wanted = drawn(rng)
        all_values = np.linalg.eigvalsh(matrix)[::-1]
        size, slack = np.abs(all_values).max() or 1.0, 40 * len(matrix) * np.finfo(float).eps
        values, vectors = leading_eigenpairs(matrix, wanted)
        assert values.shape == (wanted,)
        assert vectors.shape == (len(matrix), wanted)
        np.testing.assert_allclose(values / size, all_values[:wanted] / size, atol=slack)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(wanted), atol=slack)
        np.testing.assert_allclose(matrix @ (vectors / size), vectors * (values / size), atol=slack)


def _too_few(matrix, wanted):
    return np.zeros(0), np.zeros((len(matrix), 0))


def _twice_the_same(matrix, wanted):
    values, vectors = np.linalg.eigh(matrix)
    return values[-wanted:], np.repeat(vectors[:, -1:], wanted, axis=1)


def _gives_up(matrix, wanted):
    raise scipy.linalg.LinAlgError("Internal Error.")


@pytest.mark.parametrize("fault", [_too_few, _twice_the_same, _gives_up])
def test_faults_of_the_driver_for_some_pairs_are_made_good(monkeypatch, fault):
    """Each was seen; which matrix brings it about depends on the build of LAPACK."""
    original = scipy.linalg.eigh

    def eigh(matrix, subset_by_index=None, **settings):
        if subset_by_index is None:
            return original(matrix, **settings)
        return fault(matrix, subset_by_index[1] - subset_by_index[0] + 1)

    monkeypatch.setattr(scipy.linalg, "eigh", eigh)
    matrix = np.diag([1.0, 3.0, 3.0, 2.0])
    values, vectors = leading_eigenpairs(matrix, 2)
    np.testing.assert_allclose(values, [3, 3])
    np.testing.assert_allclose(matrix @ vectors, 3 * vectors, atol=1e-14)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-14)
