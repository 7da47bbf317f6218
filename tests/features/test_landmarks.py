"""Landmarks: the residual identity, the choice of points, the pair certificate."""

import numpy as np
import pytest
import scipy.sparse
from extended import WIDE, centered_gram, eigenvalues, squared_distances
from hypothesis import given, settings
from hypothesis import strategies as st

from gramless.features import LandmarkBuilder, LandmarkMap, choose_pivots, maps
from gramless.kernels import Epanechnikov, FromCallable, Gaussian, Laplacian, Linear, Matern, Polynomial, Precomputed
from gramless.problem import Problem

KERNELS = {
    "gaussian": (Gaussian(1.0), lambda x, y: np.exp(-squared_distances(x, y) / 2)),
    "wide gaussian": (Gaussian(64.0), lambda x, y: np.exp(-squared_distances(x, y) / 2**13)),
    "laplacian": (Laplacian(2.0), lambda x, y: np.exp(-np.sqrt(squared_distances(x, y)) / 2)),
    "polynomial": (Polynomial(2, 1.0), lambda x, y: (x @ y.T + 1) ** 2),
    "composite": (
        Gaussian(1.0) * Linear() + 0.5 * Laplacian(1.0),
        lambda x, y: np.exp(-squared_distances(x, y) / 2) * (x @ y.T) + np.exp(-np.sqrt(squared_distances(x, y))) / 2,
    ),
}


def problem_of(x, kernel, tol=1e-6, k=3, **changes):
    return Problem(x.shape[0], x.shape[1], kernel, k, tol, 10**9, **({"weight": x.shape[0], "peak": 0.1} | changes))


@st.composite
def data(draw):
    d, n = draw(st.sampled_from([1, 2, 5])), draw(st.integers(2, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    x = rng.standard_normal((n, d)) * draw(st.sampled_from([1e-3, 1.0, 30.0])) + draw(st.sampled_from([0.0, 100.0]))
    shape = draw(st.sampled_from(["plain", "duplicates", "equal", "collinear"]))
    if shape == "duplicates":
        x[n // 2 :] = x[: n - n // 2]
    elif shape == "equal":
        x[:] = x[0]
    elif shape == "collinear":
        x = np.outer(rng.standard_normal(n), x[0])
    weights = rng.integers(0, 3, n).astype(float)
    weights[0] += 1
    return x, weights, draw(st.integers(1, n))


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=40)
@given(problem=data())
def test_truth_is_inside_however_ill_conditioned_the_points(name, problem):
    (kernel, formula), (x, weights, count) = KERNELS[name], problem
    phi = LandmarkMap.at(kernel, x[:count])
    moments = phi.moments(x, weights)
    spectrum = moments.solve(3, 0.0, np.random.default_rng(0))
    gram = formula(x.astype(WIDE), x.astype(WIDE))
    truth = np.append(eigenvalues(centered_gram(gram, weights)), np.zeros(4))[:4]
    slack = 64 * np.finfo(WIDE).eps * np.abs(gram).max() * weights.sum()
    assert (spectrum.lower <= truth + slack).all()
    assert (truth <= spectrum.upper + slack).all()
    if count == len(x):  # all points: nothing but rounding is left out
        assert moments.leak <= 1e-6 * np.abs(gram).max() * weights.sum()


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=20)
@given(problem=data())
def test_what_is_left_out_is_positive_semidefinite_to_the_stated_rounding(name, problem):
    (kernel, formula), (x, _, count) = KERNELS[name], problem
    phi = LandmarkMap.at(kernel, x[:count])
    new = np.vstack([x, x + 1.0, x * 3])
    rows = phi.rows(new)
    values = rows.values.astype(WIDE)
    left = (formula(new.astype(WIDE), new.astype(WIDE)) - values @ values.T).astype(float)
    allowed = rows.rounding.sum() + 1e-18
    assert np.linalg.eigvalsh(left).min() >= -allowed - 1e-15 * np.abs(left).max()
    assert (left.diagonal() <= rows.leak + rows.rounding + 1e-18).all()
    assert (rows.leak - rows.leak_error <= left.diagonal() + rows.rounding + 1e-18).all()


def test_new_points_far_away_have_no_features_of_a_gaussian():
    phi = LandmarkMap.at(Gaussian(1.0), np.random.default_rng(0).standard_normal((20, 2)))
    rows = phi.rows(np.full((1, 2), 1e6))
    assert np.abs(rows.values).max() == 0
    assert rows.leak[0] >= 1


@pytest.mark.parametrize("choice", ["cholesky", "uniform"])
def test_choice_on_thousands_of_duplicates_and_on_low_rank(choice):
    rng = np.random.default_rng(0)
    copies = np.repeat(rng.standard_normal((4, 3)), 1500, axis=0)
    line = np.outer(rng.standard_normal(500), np.ones(3))
    for kernel, x, rank in [(Gaussian(1.0), copies, 4), (Linear(), line, 1), (Gaussian(1.0), np.ones((400, 2)), 1)]:
        builder = LandmarkBuilder(choice)
        phi = builder.make(problem_of(x, kernel), x, np.ones(len(x)), rng)
        assert phi.n_features == rank
        moments = phi.moments(x, np.ones(len(x)))
        assert moments.leak <= 1e-9 * len(x) * kernel.diagonal(x).max()


def test_pivots_stop_at_the_goal_and_beat_a_uniform_choice_on_clusters():
    rng = np.random.default_rng(1)
    x = np.vstack([rng.normal(0, 0.05, (3000, 2)), rng.normal(5, 1.0, (30, 2))])
    kernel, weights = Gaussian(0.5), np.ones(3030)
    few = choose_pivots(kernel, x, weights, 300, 1e-3, rng)
    assert len(few.indices) < 100
    assert len(np.unique(few.indices)) == len(few.indices)
    leaks = [
        LandmarkMap.at(kernel, x[choose_pivots(kernel, x, weights, 20, 0.0, rng, c).indices]).moments(x, weights).leak
        for c in ("cholesky", "uniform")
    ]
    assert leaks[0] < 0.5 * leaks[1]
    weighted = choose_pivots(kernel, x, np.where(np.arange(3030) < 3000, 0.0, 1.0), 10, 0.0, rng)
    assert weighted.indices.min() >= 3000


def test_expected_leak_is_what_the_rows_then_show():
    x = np.random.default_rng(0).uniform(size=(20_000, 3))
    phi = maps["landmarks"].make(
        problem_of(x, Matern(1.5, 1.0), tol=1e-2), x, np.ones(20_000), np.random.default_rng(0)
    )
    leak = phi.moments(x, np.ones(20_000)).leak / 20_000
    assert 0.5 < phi.expected_leak / leak < 2


def test_pair_certificate_holds_and_is_much_narrower_than_the_trace():
    rng = np.random.default_rng(0)
    x, weights = rng.uniform(size=(1500, 3)), rng.uniform(0.5, 1.5, 1500)
    kernel = Matern(1.5, 0.7)
    root = np.sqrt(weights)[:, None]
    ratios = []
    for seed in range(12):
        phi = LandmarkMap.at(kernel, x[rng.choice(1500, 60, replace=False)], pairs=8000, seed=seed)
        moments = phi.moments(x, weights)
        left = root * (kernel(x) - phi(x) @ phi(x).T) * root.T
        assert np.linalg.norm(left, 2) <= moments.likely
        ratios.append(moments.leak / moments.likely)
        spectrum = moments.solve(3, 1e-3, rng)
        assert spectrum.kind == "probabilistic"
    assert min(ratios) > 3


def test_sparse_rows_are_served():
    x = scipy.sparse.random_array((200, 30), density=0.2, random_state=np.random.default_rng(0), format="csr")
    problem = problem_of(x, Gaussian(1.0), sparse=True)
    phi = maps["landmarks"].make(problem, x, np.ones(200), np.random.default_rng(0))
    dense = LandmarkMap.at(Gaussian(1.0), phi.points.toarray())
    np.testing.assert_allclose(phi.moments(x, np.ones(200)).trace, dense.moments(x.toarray(), np.ones(200)).trace)
    assert phi.same_space(phi)


def test_refusals_and_estimates():
    x = np.random.default_rng(0).standard_normal((500, 2))
    for kernel in (Precomputed(), Epanechnikov(1.0), FromCallable(lambda a, b: float(a @ b))):
        assert maps["landmarks"].estimate(problem_of(x, kernel)).refusal
        with pytest.raises(ValueError, match="are not applicable"):
            maps["landmarks"].make(problem_of(x, kernel), x, np.ones(500), np.random.default_rng(0))
    with pytest.raises(ValueError, match="Mercer"):
        LandmarkMap.at(Epanechnikov(1.0), x)
    box = {"low": x.min(axis=0), "high": x.max(axis=0)}
    smooth = maps["landmarks"].estimate(problem_of(x, Gaussian(50.0), **box))
    assert not smooth.refusal
    assert 0 < smooth.seconds < np.inf
