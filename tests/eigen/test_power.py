import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from gramless.eigen import NotConvergedWarning, Power, ShiftedPower, eigsh


@pytest.mark.parametrize("deflation", ["wielandt", "schur"])
def test_power_passes_through_negative_eigenvalues(deflation: str) -> None:
    result = eigsh(np.diag([-5.0, -4.0, 3.0, 2.0, -1.0, 0.5]), 3, Power(deflation), rng=0)
    assert result.outcome.ok
    np.testing.assert_allclose(result.values, [3, 2, 0.5], atol=1e-9)


def test_power_is_blind_to_a_pair_of_opposite_sign_and_says_so() -> None:
    matrix = np.diag([2.0, -2.0, 1.0, 0.5, 0.25])
    with pytest.warns(NotConvergedWarning, match="iteration limit"):
        assert not eigsh(matrix, 1, Power(), rng=0).outcome.ok
    shifted = eigsh(matrix, 1, ShiftedPower(), rng=0)
    assert shifted.outcome.ok
    assert shifted.values[0] == pytest.approx(2.0)


def test_the_shift_saves_steps() -> None:
    matrix = np.diag(np.linspace(1.0, 2.0, 60))
    plain, shifted = (eigsh(matrix, 2, solver, rng=0) for solver in (Power(), ShiftedPower()))
    assert plain.outcome.ok
    assert shifted.outcome.ok
    assert shifted.passes < 0.6 * plain.passes


def test_schur_vectors_do_not_inherit_errors() -> None:
    """Late pairs come from many deflations; with orthonormal vectors their residuals are no larger than the first."""
    matrix = np.diag(0.7 ** np.arange(25.0))
    result = eigsh(matrix, 15, Power("schur"), rng=0)
    assert result.outcome.ok
    assert result.residuals.max() <= 1e-10


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::gramless.eigen.NotConvergedWarning")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("deflation", ["wielandt", "schur"])
def test_vectors_are_orthonormal_when_products_are_only_noise(deflation: str, seed: int) -> None:
    """Not symmetric, not even linear: what is left of a matrix that cancels."""
    rng = np.random.default_rng(seed)
    noise = LinearOperator((6, 6), matvec=lambda v: 1e-17 * rng.standard_normal(6), dtype=float)
    result = eigsh(noise, 4, Power(deflation), rng=0, max_iter=200)
    assert np.abs(result.vectors.T @ result.vectors - np.eye(4)).max() < 1e-12
