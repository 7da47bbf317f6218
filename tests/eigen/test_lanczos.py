import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.eigen import Lanczos, LanczosProcess, NotConvergedWarning, Outcome, PlainLanczos, SelectiveLanczos, eigsh


def symmetric_test_matrix(n: int = 400) -> np.ndarray:
    """A dense symmetric matrix with a decaying spectrum, as Gram matrices have."""
    points = np.random.default_rng(0).standard_normal((n, 3))
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    return np.exp(-squared / 2)


def process(matrix: np.ndarray, steps: int, reorthogonalization: str) -> LanczosProcess:
    start = np.random.default_rng(1).standard_normal(len(matrix))
    made = LanczosProcess(matrix, start / np.linalg.norm(start), steps, reorthogonalization)
    for _ in range(steps):
        made.step()
    return made


@pytest.mark.parametrize("solver", [Lanczos(), SelectiveLanczos()])
def test_first_twenty_eigenvalues_of_a_400_by_400_matrix(solver: Lanczos) -> None:
    """Raykar & Ankur, figure 3."""
    matrix = symmetric_test_matrix()
    result = eigsh(matrix, 20, solver, rng=0)
    assert result.outcome.ok
    np.testing.assert_allclose(result.values, np.linalg.eigvalsh(matrix)[:-21:-1], rtol=1e-11)


@given(n=st.integers(2, 20), seed=st.integers(0, 99))
def test_the_recurrence_tridiagonalises(n: int, seed: int) -> None:
    """A V = V T + beta w e^T: the relation that equation 23 maintains."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n, n))
    matrix = matrix + matrix.T
    start = rng.standard_normal(n)
    made = LanczosProcess(matrix, start / np.linalg.norm(start), n - 1)
    for _ in range(n - 1):
        made.step()
    v, j = made.vectors, len(made.alpha)
    t = np.diag(made.alpha) + np.diag(made.beta[1:j], 1) + np.diag(made.beta[1:j], -1)
    rest = matrix @ v - v @ t
    assert np.abs(rest[:, :-1]).max(initial=0.0) < 1e-10 * np.linalg.norm(matrix)
    assert np.linalg.norm(rest[:, -1]) == pytest.approx(made.beta[-1], abs=1e-10 * np.linalg.norm(matrix))
    assert made.orthogonality_loss() < 1e-13


def test_orthogonality_is_lost_without_reorthogonalisation() -> None:
    matrix = symmetric_test_matrix(200)
    assert process(matrix, 5, "none").orthogonality_loss() < 1e-12
    assert process(matrix, 60, "none").orthogonality_loss() > 0.5
    assert process(matrix, 60, "selective").orthogonality_loss() < 1e-7
    assert process(matrix, 60, "full").orthogonality_loss() < 1e-14


def test_ghosts_appear_without_reorthogonalisation() -> None:
    """Copies of the leading eigenvalue, which is simple, stand among the Ritz values."""
    matrix = symmetric_test_matrix(200)
    leading = np.linalg.eigvalsh(matrix)[-1]

    def copies(reorthogonalization: str) -> int:
        return int((np.abs(process(matrix, 80, reorthogonalization).ritz()[0] - leading) < 1e-8 * leading).sum())

    assert copies("none") > 1
    assert copies("selective") == copies("full") == 1


def test_lost_orthogonality_is_admitted() -> None:
    matrix = symmetric_test_matrix(200)
    with pytest.warns(NotConvergedWarning, match="lost its orthogonality"):
        result = eigsh(matrix, 10, PlainLanczos(), rng=0)
    assert result.outcome is Outcome.LOST_ORTHOGONALITY
    truth = np.linalg.eigvalsh(matrix)[:-11:-1]
    assert (result.certificate.lower <= truth + 1e-12).all()
    assert (truth <= result.certificate.upper + 1e-12).all()


def test_without_reorthogonalisation_a_modest_tolerance_is_reached() -> None:
    matrix = np.diag(0.1 ** np.arange(30.0))
    result = eigsh(matrix, 2, PlainLanczos(), tol=1e-4, rng=0)
    assert result.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(result.values, [1.0, 0.1], atol=1e-4)


def test_every_copy_of_a_repeated_eigenvalue_is_found() -> None:
    matrix = np.diag(np.r_[np.ones(7), 0.5, 0.25, np.zeros(31)])
    for solver in (Lanczos(), SelectiveLanczos()):
        np.testing.assert_allclose(eigsh(matrix, 8, solver, rng=3).values, [1] * 7 + [0.5], atol=1e-10)
