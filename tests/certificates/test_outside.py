"""Bounds outside a subspace must hold, and be of use."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.certificates import (
    from_fact,
    from_frobenius,
    from_probes,
    largest_of_sums,
    outside_leading,
    probe_unit,
)
from gramless.certificates.outside import chi2_lower

SPECTRA = {
    "positive": 1 / np.arange(1.0, 201) ** 2,
    "flat": np.ones(200),
    "indefinite": np.linspace(-1, 1, 200),
    "mostly negative": np.r_[0.1, -np.linspace(0, 1, 199)],
    "one above noise": np.r_[1.0, 1e-3 * np.ones(199)],
}


def powers(spectrum: np.ndarray, degree: int, seed: int = 0) -> list[np.ndarray]:
    """G, C G, C^2 G, ... for a diagonal C."""
    g = np.random.default_rng(seed).standard_normal((len(spectrum), 30))
    return [spectrum[:, None] ** m * g for m in range(degree + 1)]


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("name", list(SPECTRA))
def test_probes_bound_the_largest_eigenvalue(name: str, degree: int) -> None:
    spectrum = SPECTRA[name]
    for seed in range(20):
        assert from_probes(powers(spectrum, degree, seed), 1e-10, 1e-14) >= spectrum.max()


@given(
    spectrum=st.lists(st.floats(-1, 1), min_size=1, max_size=30),
    degree=st.integers(1, 3),
    scale=st.sampled_from([1e-30, 1.0, 1e30]),
)
def test_probes_bound_drawn_spectra(spectrum: list[float], degree: int, scale: float) -> None:
    values = np.array(spectrum) * scale
    assert from_probes(powers(values, degree), 1e-10, 1e-14 * scale) >= values.max()


@pytest.mark.parametrize("size", [1e-130, 1e-60, 1.0, 1e60, 1e130])
def test_probes_in_high_powers_of_any_unit(size: float) -> None:
    """Ten powers of a matrix of size 1e-60 are 0, unless each is divided by the unit: then the bound is the same."""
    spectrum = SPECTRA["flat"] * size
    made = powers(spectrum, 1)
    unit = probe_unit(made)
    for _ in range(8):
        made.append(spectrum[:, None] * made[-1] / unit)
    bound = from_probes(made, 1e-10, 1e-14 * size, unit=unit)
    assert size <= bound <= 1.2 * size


def test_probes_that_are_not_finite_prove_nothing() -> None:
    made = [*powers(SPECTRA["flat"], 1), np.full((200, 30), np.nan)]
    assert from_probes(made, 1e-10, 1e-14) == np.inf or from_probes(made, 1e-10, 1e-14) >= 1.0


def test_probes_fail_as_seldom_as_stated() -> None:
    """At a failure probability that can be seen: one eigenvalue, where the chi-squared bound of degree 1 is sharp."""
    spectrum = np.r_[1.0, np.zeros(19)]
    bounds = np.array([from_probes(powers(spectrum, 1, seed), 0.2, 0.0) for seed in range(400)])
    assert 0.03 < (bounds < 1).mean() <= 0.2


def test_one_power_of_one_eigenvalue_is_bounded_by_the_quantile():
    """C = l u u^T: |C G| = l |u^T G|, the square of which is divided by what chi-squared exceeds all but seldom."""
    made = powers(np.r_[0.5, np.zeros(19)], 1)
    expected = 0.5 * np.linalg.norm(made[0][0]) / np.sqrt(chi2_lower(30, 0.05))  # half for each of two events
    assert from_probes(made, 0.1, 0.0) == pytest.approx(expected, rel=1e-9)


def test_more_powers_bound_more_closely() -> None:
    for spectrum in SPECTRA.values():
        bounds = [from_probes(powers(spectrum, degree), 1e-10, 1e-14) for degree in (1, 2, 3)]
        assert bounds[0] >= bounds[1] >= bounds[2]


def test_an_indefinite_operator_is_bounded_as_closely_as_a_definite_one() -> None:
    """|p| grows fast on both sides of [0, a]; for an indefinite C only p = T_m(x/a) stays small on the spectrum."""
    symmetric, shifted = np.linspace(-1, 1, 200), np.linspace(0, 1, 200)
    for degree, slack in ((2, 2.3), (3, 1.6)):
        assert from_probes(powers(symmetric, degree), 1e-10, 1e-14) <= slack
        assert from_probes(powers(shifted, degree), 1e-10, 1e-14) <= slack


def test_errors_of_the_products_are_covered() -> None:
    """Each product may be off by `rounding` times its argument, in the direction that hides the most."""
    spectrum = np.r_[1.0, 0.5 * np.ones(99)]
    rounding = 1e-2
    g = np.random.default_rng(0).standard_normal((100, 30))
    for degree in (1, 2, 3):
        made = [g]
        for _ in range(degree):
            product = spectrum[:, None] * made[-1]
            slip = np.zeros_like(product)
            slip[0] = -product[0]
            size = np.linalg.norm(slip)
            made.append(product + slip * min(1.0, rounding * np.linalg.norm(made[-1]) / size))
        assert from_probes(made, 1e-10, rounding) >= 1.0


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_errors_of_the_products_are_attained_on_one_axis(degree):
    """C = 1, each product too small by all that is allowed, and G as short as it may be: just 1 can be proved."""
    rounding, probability = 1e-2, 1e-3
    g = np.ones((1, 30)) * np.sqrt(chi2_lower(30, probability / 2) / 30)
    made = [(1 - rounding) ** m * g for m in range(degree + 1)]
    assert from_probes(made, probability, rounding) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_units_do_not_matter(unit):
    for spectrum in SPECTRA.values():
        here, there = (from_probes(powers(s * spectrum, 3), 1e-10, 1e-3 * s) for s in (1.0, unit))
        assert there == pytest.approx(unit * here, rel=1e-12)


def test_nothing_outside_is_zero() -> None:
    assert from_probes(powers(np.zeros(10), 3), 1e-10, 0.0) == 0.0


def test_quantile_of_chi_squared() -> None:
    """Two degrees of freedom: P[x < t] = 1 - exp(-t / 2)."""
    assert chi2_lower(2, 0.3) == pytest.approx(-2 * np.log(0.7))


def partitioned(seed: int, n: int = 12, m: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A symmetric matrix, its Ritz values on the first m axes, the coupling there, the eigenvalues outside."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n, n)) * np.where(rng.random() < 0.5, 1e-2, 1.0)
    matrix = (matrix + matrix.T) / 2 + np.diag(rng.standard_normal(n) * 2)
    values, turn = np.linalg.eigh(matrix[:m, :m])
    return (
        np.linalg.eigvalsh(matrix)[::-1],
        values[::-1],
        matrix[m:, :m] @ turn[:, ::-1],
        np.linalg.eigvalsh(matrix[m:, m:]),
    )


@given(seed=st.integers(0, 10_000))
def test_frobenius_bounds_the_rest(seed: int) -> None:
    truth, ritz, coupling, rest = partitioned(seed)
    assert from_frobenius(float((truth**2).sum()) * (1 + 1e-14), ritz, coupling, 1e-14) >= np.linalg.norm(rest) * (
        1 - 1e-12
    )


@given(seed=st.integers(0, 10_000), slack=st.sampled_from([0.0, 1e-12, 1.0, 100.0]))
def test_frobenius_norm_and_trace_bound_the_rest(seed: int, slack: float) -> None:
    truth, ritz, coupling, rest = partitioned(seed)
    squares, trace = float((truth**2).sum()) * (1 + 1e-14), float(truth.sum())
    bound = from_frobenius(squares, ritz, coupling, 1e-13, (trace - slack, trace + slack), len(truth))
    assert rest[-1] - 1e-12 <= bound <= from_frobenius(squares, ritz, coupling, 1e-13)


@given(values=st.lists(st.floats(-10, 10), min_size=1, max_size=40), slack=st.sampled_from([0.0, 1e-9, 1.0, 1e3]))
def test_no_number_exceeds_what_its_sums_allow(values: list[float], slack: float) -> None:
    numbers = np.array(values)
    total, squares = numbers.sum(), (numbers**2).sum()
    assert largest_of_sums(total - slack, total + slack, squares, len(numbers)) >= numbers.max() - 1e-12


def test_the_bound_by_sums_is_reached_where_all_others_are_equal() -> None:
    numbers = np.r_[3.0, np.full(50, 0.2)]
    assert largest_of_sums(numbers.sum(), numbers.sum(), (numbers**2).sum(), 51) == pytest.approx(3.0, rel=1e-10)


@given(seed=st.integers(0, 10_000), count=st.integers(1, 5))
def test_a_fact_bounds_the_rest(seed: int, count: int) -> None:
    truth, ritz, coupling, rest = partitioned(seed)
    assert from_fact(count, float(truth[count]), ritz, coupling, 1e-13) >= rest[-1] - 1e-12


@given(seed=st.integers(0, 10_000), q=st.integers(0, 5))
def test_bound_outside_the_leading_ritz_vectors(seed: int, q: int) -> None:
    _, ritz, coupling, rest = partitioned(seed)
    block = np.diag(np.r_[ritz[q:], rest])
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(rest), len(rest))))[0]
    block[len(ritz) - q :, len(ritz) - q :] = turn @ np.diag(rest) @ turn.T
    block[len(ritz) - q :, : len(ritz) - q] = coupling[:, q:]
    truth = np.linalg.eigvalsh(block, UPLO="L")[-1]
    assert outside_leading(ritz, coupling, float(rest[-1]) + 1e-13, q, 1e-13) >= truth - 1e-12
