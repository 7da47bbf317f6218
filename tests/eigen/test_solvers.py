import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from gramless.eigen import (
    Arnoldi,
    Arpack,
    InverseIteration,
    Lanczos,
    Lobpcg,
    NotConvergedWarning,
    Outcome,
    Randomized,
    SubspaceIteration,
    eigsh,
    solvers,
)


def decaying(n: int = 120) -> np.ndarray:
    return np.diag(1 / np.arange(1.0, n + 1) ** 2)


def test_arnoldi_and_lanczos_span_the_same_space() -> None:
    first, second = (eigsh(decaying(), 5, solver, rng=0) for solver in (Arnoldi(), Lanczos()))
    np.testing.assert_allclose(first.values, second.values, rtol=1e-12)
    assert first.passes == second.passes


def test_arpack_takes_a_zero_tolerance_and_reaches_rounding() -> None:
    result = eigsh(decaying(), 5, Arpack(), tol=0, rng=0)
    assert result.outcome is Outcome.ROUNDING
    np.testing.assert_allclose(result.values, 1 / np.arange(1.0, 6) ** 2, rtol=1e-13)


def test_arpack_that_does_not_converge_has_an_outcome() -> None:
    with pytest.warns(NotConvergedWarning):
        result = eigsh(np.diag(np.linspace(1, 2, 300)), 5, Arpack(ncv=7), max_iter=1, rng=0)
    assert result.outcome is Outcome.MAX_ITERATIONS
    assert result.vectors.shape == (300, 5)


def test_lobpcg_that_does_not_converge_has_an_outcome() -> None:
    with pytest.warns(NotConvergedWarning) as warned:
        result = eigsh(np.diag(np.linspace(1, 2, 300)), 5, Lobpcg(), max_iter=2, rng=0)
    assert result.outcome is Outcome.MAX_ITERATIONS
    assert len(warned) == 1


def test_an_inner_solve_that_fails_has_an_outcome() -> None:
    with pytest.warns(NotConvergedWarning):
        result = eigsh(np.diag(np.linspace(1, 2, 300)), 2, InverseIteration(inner_steps=2), rng=0)
    assert result.outcome is Outcome.MAX_ITERATIONS


@pytest.mark.parametrize("solver", list(solvers))
@pytest.mark.parametrize("exponent", [-400, -200, 200, 400])
def test_the_unit_does_not_matter(solver: str, exponent: int) -> None:
    """A spectrum that falls off slowly, so that random probes are asked: their powers leave the range of floats."""
    values = np.r_[3.0, 2.5, np.linspace(1, 0.5, 198)]
    unit = np.ldexp(1.0, exponent)
    plain, scaled = (eigsh(np.diag(values) * factor, 2, solver, tol=1e-6, rng=0) for factor in (1.0, unit))
    certificate = scaled.certificate
    assert (certificate.lower <= values[:2] * unit).all()
    assert (values[:2] * unit <= certificate.upper).all()
    assert (
        certificate.upper - certificate.lower <= 2 * unit * (plain.certificate.upper - plain.certificate.lower)
    ).all()


@pytest.mark.parametrize("unit", [1e-250, 1e170])
def test_a_matrix_that_cannot_be_squared_is_refused(unit: float) -> None:
    for matrix in (decaying() * unit, aslinearoperator(decaying() * unit)):
        with pytest.raises(ValueError, match=r"to square in float64; rescale"):
            eigsh(matrix, 3, rng=0)


def test_guard_vectors_save_steps() -> None:
    few, many = (eigsh(decaying(), 4, SubspaceIteration(guard), rng=0).passes for guard in (1, 12))
    assert many < few


def test_randomized_matches_scikit_learns_choice_by_modulus() -> None:
    spectrum = np.r_[3.0, -2.0, 1.0, 1e-8 * np.ones(47)]
    result = eigsh(np.diag(spectrum), 2, Randomized(), rng=0)
    assert result.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(result.values, [3.0, -2.0], atol=1e-9)


def test_randomized_admits_what_it_did_not_reach() -> None:
    with pytest.warns(NotConvergedWarning):
        result = eigsh(np.diag(np.linspace(1, 2, 100)), 3, Randomized(iterated_power=0), rng=0)
    assert result.outcome is Outcome.MAX_ITERATIONS


@pytest.mark.parametrize(
    "solver",
    [name for name in solvers if "power" not in name and name != "randomized"],
)
def test_eigenvectors_given_as_start_are_not_taken_for_the_leading_ones(solver: str) -> None:
    spectrum = np.r_[1.0, 0.9, 0.8, 0.7, np.linspace(0.5, 0.0, 396)]
    result = eigsh(np.diag(spectrum), 2, solver, tol=1e-6, start=np.eye(400)[:, 2:4], rng=0)
    assert result.outcome.ok
    np.testing.assert_allclose(result.values, [1.0, 0.9], atol=1e-6)


@pytest.mark.parametrize("solver", list(solvers))
def test_k_outside_the_operator_is_refused(solver: str) -> None:
    with pytest.raises(ValueError, match="k=4 is invalid for an operator with 3 rows"):
        eigsh(np.eye(3), 4, solver)


@pytest.mark.parametrize("start", [np.ones((4, 1)), np.array([[np.nan], [0], [0]])])
def test_a_start_that_does_not_fit_is_refused(start: np.ndarray) -> None:
    with pytest.raises(ValueError, match="must have 3 rows of finite numbers"):
        eigsh(np.eye(3), 1, start=start)


@pytest.mark.parametrize("operator", [np.eye(3)[:2], np.ones(3), np.array([[np.inf, 0], [0, 1]])])
def test_an_operator_that_is_none_is_refused(operator: np.ndarray) -> None:
    with pytest.raises(ValueError, match="operator"):
        eigsh(operator, 1)


@pytest.mark.parametrize(("solver", "offered"), [("power", True), ("block_krylov", False)])
def test_what_did_not_converge_is_not_offered_again(solver, offered):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(200, 200))
    with pytest.warns(NotConvergedWarning) as warned:
        eigsh(half @ half.T.copy(), 3, tol=1e-13, solver=solver, max_iter=1)
    message = str(warned[0].message)
    assert "Increase max_iter or tol" in message
    assert ("or use block_krylov (solver=, or eigen_solver=)" in message) == offered
