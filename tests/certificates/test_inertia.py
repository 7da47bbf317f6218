import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.certificates.inertia import least_upper_bound, upper_bounds


@given(
    seed=st.integers(0, 10_000),
    m=st.integers(1, 14),
    p=st.integers(1, 6),
    leak=st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 30.0]),
    scale=st.sampled_from([1e-30, 1.0, 1e30]),
)
def test_bounds_hold(seed: int, m: int, p: int, leak: float, scale: float) -> None:
    """Any partitioned matrix, the outside above or below the Ritz values, the coupling from none to dominant."""
    rng = np.random.default_rng(seed)
    ritz = np.sort(rng.standard_normal(m))[::-1] * scale
    rest = rng.standard_normal((p, p)) * scale
    rest = (rest + rest.T) / 2 - rng.choice([0.0, 3.0]) * scale * np.eye(p)
    coupling = leak * scale * rng.standard_normal((p, m))
    matrix = np.block([[np.diag(ritz), coupling.T], [coupling, rest]])
    truth = np.linalg.eigvalsh(matrix)[::-1]
    slip = 1e-13 * np.linalg.norm(matrix)  # of this reference
    outside = float(np.linalg.eigvalsh(rest)[-1]) + slip
    for j in range(m):
        assert least_upper_bound(ritz, coupling, j, outside, 1e-15 * scale) >= truth[j] - slip
    for count in (1, m):
        assert (upper_bounds(ritz, coupling, count, outside, 1e-15 * scale) >= truth[:count] - slip).all()


@given(seed=st.integers(0, 10_000), m=st.integers(1, 40), leak=st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_groups_lose_little(seed: int, m: int, leak: float) -> None:
    rng = np.random.default_rng(seed)
    ritz = np.sort(rng.uniform(1, 2, m))[::-1]
    coupling = leak * rng.standard_normal((3, m))
    one_by_one = np.array([least_upper_bound(ritz, coupling, j, 0.5, 0.0) for j in range(m)])
    together = upper_bounds(ritz, coupling, m, 0.5, 0.0)
    assert (together - ritz <= 2 * (np.minimum.accumulate(one_by_one) - ritz) + 1e-12).all()


def test_bounds_hold_for_negative_ritz_values_beside_a_strong_coupling() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        coupling = np.ones((1, 6)) + 1e-9 * rng.standard_normal((1, 6))
        ritz = np.sort(-1 + 1e-9 * rng.standard_normal(6))[::-1]
        matrix = np.block([[np.diag(ritz), coupling.T], [coupling, np.array([[-2.0]])]])
        truth = np.linalg.eigvalsh(matrix)[::-1]
        for j in range(6):
            assert least_upper_bound(ritz, coupling, j, -2.0, 0.0) >= truth[j] - 1e-14


def test_a_small_coupling_costs_its_square() -> None:
    bound = least_upper_bound(np.array([2.0, 1.0]), np.array([[1e-5, 0.0]]), 0, 0.5, 0.0)
    assert 2 + 1e-10 / 1.5 <= bound <= 2 + 1.2e-10 / 1.5


@pytest.mark.filterwarnings("error")
def test_an_invariant_subspace_of_nothing() -> None:
    assert least_upper_bound(np.zeros(3), np.zeros((0, 3)), 1, 0.0, 0.0) == 0.0


def test_nothing_known_outside() -> None:
    assert least_upper_bound(np.ones(2), np.zeros((1, 2)), 0, np.inf, 0.0) == np.inf


def test_nothing_lies_outside() -> None:
    assert least_upper_bound(np.ones(2), np.zeros((0, 2)), 0, -np.inf, 0.25) == 1.25
