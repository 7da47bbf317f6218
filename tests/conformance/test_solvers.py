"""One table of operators with exactly known spectra, against every registered solver."""

import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard
from scipy.sparse.linalg import aslinearoperator

from gramless.eigen import EigenResult, NotConvergedWarning, eigsh, solvers

N = 32
TOL = 1e-10
ROUNDING = 2e-13  # of residuals and eigenvalues, relative to the norm of the operator
EVERY_SOLVER = pytest.mark.parametrize("solver", list(solvers))


def dense_with(spectrum: np.ndarray) -> np.ndarray:
    """A full matrix with exactly these eigenvalues, if they are multiples of 2^-40 of modulus at most 2.

    With H a Hadamard matrix, H D H^T / n needs no rounding: its entries are sums of n such numbers over a power of two.
    """
    h = hadamard(len(spectrum)).astype(float)
    return (h * spectrum) @ h.T / len(spectrum)


def second_difference(n: int) -> np.ndarray:
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def second_difference_spectrum(n: int) -> np.ndarray:
    pi = np.arccos(np.longdouble(-1))
    return 2 + 2 * np.cos(np.arange(1, n + 1) * pi / (n + 1))


@cache
def operators() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name -> (matrix, its exact eigenvalues)."""
    j = np.arange(1.0, N + 1)
    spectra = {
        "inverse squares": 1 / j**2,
        "geometric": 0.5**j,
        "flat": 1 + j / N,
        "repeated": np.r_[1, 1, 1, 0.5, 0.25 / j[: N - 4]],
        "indefinite": np.r_[1, -2, 0.5, -1.5, 0.25, -0.3 / j[: N - 5]],
        "twins of either sign": np.r_[1, -1, 0.5, -0.5, 0.25, -0.25 / j[: N - 5]],
        "many negative": np.r_[-2 * np.ones(N - 3), 1, 0.9, 0.8],
        "all negative": -j / N,
        "rank one": np.r_[1.5, np.zeros(N - 1)],
        "clustered": np.r_[1 + 2.0**-20 * j[:5], 0.5 / j[: N - 5]],
        "identity": np.ones(N),
        "zero": np.zeros(N),
    }
    table = {}
    for name, spectrum in spectra.items():
        exact = np.round(spectrum * 2.0**40) / 2.0**40
        table[name] = dense_with(np.random.default_rng(1).permutation(exact)), exact
    for name, scale in {"tiny": 2.0**-100, "huge": 2.0**100}.items():
        matrix, exact = table["inverse squares"]
        table[name] = matrix * scale, exact * scale
    table["second difference"] = second_difference(N), second_difference_spectrum(N)
    return table


def solve(operator: object, k: int, solver: str, **more: object) -> EigenResult:
    """The result, having checked that a warning came exactly when the outcome is not ok."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = eigsh(operator, k, solver, **{"rng": 0, "tol": TOL, **more})
    warned = [w for w in caught if issubclass(w.category, NotConvergedWarning)]
    assert bool(warned) == (not result.outcome.ok)
    assert len(caught) == len(warned), [str(w.message) for w in caught]
    return result


def check(result: EigenResult, matrix: np.ndarray, spectrum: np.ndarray, k: int, solver: str, tol: float = TOL) -> None:
    """All that must hold of any result, and agreement with the truth where the outcome claims it."""
    spectrum = np.sort(spectrum)[::-1]
    norm = float(np.abs(spectrum).max())
    assert result.values.shape == result.residuals.shape == (k,)
    assert result.vectors.shape == (len(matrix), k)
    assert (np.diff(result.values) <= 0).all()
    assert np.abs(result.vectors.T @ result.vectors - np.eye(k)).max() < 1e-12

    measured = np.linalg.norm(matrix @ result.vectors - result.vectors * result.values, axis=0)
    assert np.abs(measured - result.residuals).max() <= ROUNDING * norm

    certificate = result.certificate
    assert (certificate.lower <= spectrum[:k]).all()
    assert (spectrum[:k] <= certificate.upper).all()

    if result.outcome.ok:
        values, truth = result.values, spectrum[:k]
        if solver == "randomized":  # leading by modulus; of l and -l it may keep either
            values, truth = np.sort(np.abs(values)), np.sort(np.abs(spectrum))[-k:]
        allowed = tol * float(np.abs(truth).max()) + ROUNDING * norm
        assert np.abs(values - truth).max() <= allowed
        assert result.residuals.max() <= allowed


@EVERY_SOLVER
@pytest.mark.parametrize("name", list(operators()))
def test_agrees_with_the_exact_spectrum(name: str, solver: str) -> None:
    matrix, spectrum = operators()[name]
    check(solve(matrix, 3, solver), matrix, spectrum, 3, solver)


# What each method cannot do, by its nature; everything else must converge.
TOO_HARD = {
    "power": {"twins of either sign", "clustered"},
    "power_schur": {"twins of either sign", "clustered"},
    "shifted_power": {"clustered"},
    "randomized": {"flat", "all negative", "second difference", "indefinite", "twins of either sign", "many negative"},
}


@EVERY_SOLVER
@pytest.mark.parametrize("name", list(operators()))
def test_converges(name: str, solver: str) -> None:
    if solver == "lanczos_none" or name in TOO_HARD.get(solver, ()):
        pytest.skip("the method cannot")
    result = solve(operators()[name][0], 3, solver)
    assert result.outcome.ok, result.outcome.value


@EVERY_SOLVER
@pytest.mark.parametrize("name", ["inverse squares", "repeated", "indefinite", "rank one", "zero"])
def test_finds_all_pairs(name: str, solver: str) -> None:
    matrix, spectrum = operators()[name]
    check(solve(matrix, N, solver, max_iter=2000), matrix, spectrum, N, solver)


@EVERY_SOLVER
@pytest.mark.parametrize("matrix", [[[2.0]], [[0.0]], [[-3.0]], [[2, 1], [1, 2]], [[0, 1], [1, 0]], [[1, 0], [0, 1]]])
def test_smallest_operators(matrix: list[list[float]], solver: str) -> None:
    array = np.array(matrix, dtype=float)
    spectrum = np.array([array[0, 0]]) if len(array) == 1 else array[0, 0] + array[0, 1] * np.array([1.0, -1.0])
    for k in range(1, len(array) + 1):
        check(solve(array, k, solver, max_iter=500), array, spectrum, k, solver)


@EVERY_SOLVER
@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csr_matrix, aslinearoperator, np.float32])
def test_any_form_of_operator(form: type, solver: str) -> None:
    spectrum = np.r_[1, 0.5, 0.25, -0.75, np.zeros(N - 4)]
    matrix = dense_with(spectrum)
    check(solve(form(matrix), 2, solver), matrix, spectrum, 2, solver)


@EVERY_SOLVER
def test_start_is_used_and_not_believed(solver: str) -> None:
    """A start of exact eigenvectors, but not the leading ones, must not be taken for the answer."""
    n = 64
    spectrum = np.r_[1, 0.75, 0.5, 0.25, 2.0 ** -np.arange(5.0, n + 1).clip(max=20)]
    matrix, vectors = dense_with(spectrum), hadamard(n) / np.sqrt(n)
    for columns in ([2, 3], [0, 1], [40], [0, 5, 6]):
        check(solve(matrix, 2, solver, start=vectors[:, columns]), matrix, spectrum, 2, solver)
    check(solve(matrix, 2, solver, start=np.zeros((n, 2))), matrix, spectrum, 2, solver)


@EVERY_SOLVER
@pytest.mark.parametrize("name", ["inverse squares", "flat", "repeated", "indefinite"])
def test_one_iteration_is_admitted(name: str, solver: str) -> None:
    matrix, spectrum = operators()[name]
    check(solve(matrix, 3, solver, max_iter=1), matrix, spectrum, 3, solver)


@EVERY_SOLVER
def test_unattainable_tolerance_ends(solver: str) -> None:
    matrix, spectrum = operators()["inverse squares"]
    check(solve(matrix, 3, solver, tol=0.0), matrix, spectrum, 3, solver, tol=0.0)


@EVERY_SOLVER
def test_same_seed_same_bits(solver: str) -> None:
    matrix, _ = operators()["repeated"]
    first, second = (solve(matrix, 3, solver, rng=7) for _ in range(2))
    assert (first.values == second.values).all()
    assert (first.vectors == second.vectors).all()
    assert (first.certificate.upper == second.certificate.upper).all()


@EVERY_SOLVER
@given(
    spectrum=st.lists(st.integers(-(2**12), 2**12), min_size=16, max_size=16),
    k=st.integers(1, 6),
    exponent=st.integers(-60, 60),
    seed=st.integers(0, 99),
)
def test_drawn_spectra(solver: str, spectrum: list[int], k: int, exponent: int, seed: int) -> None:
    exact = np.array(spectrum, dtype=float) * 2.0**exponent
    matrix = dense_with(exact)
    check(solve(matrix, k, solver, rng=seed, max_iter=300), matrix, exact, k, solver)
