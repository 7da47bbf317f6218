"""Rows in parts against rows in one place, without a cluster."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.data import Block, ClusterRows, LocalParts, Look, MemoryRows
from gramless.eigen import eigsh
from gramless.fitting.methods import make_plan, methods
from gramless.fitting.methods.partitions import PartedGram
from gramless.gram import CenteredGram, TiledGram
from gramless.kernels import Gaussian, Kernel, Linear, Polynomial, Tanh
from gramless.problem import Problem, Request

LOOK = Look("", 2**30, np.random.default_rng)


def solved(method: str, problem: Problem, rows: ClusterRows | MemoryRows):
    request = Request(np.random.default_rng(0))
    return methods[method].begin(problem, rows, rows.survey(LOOK), request).finish(problem, request, None)


def in_parts(x: np.ndarray, weights: np.ndarray, cuts: list[int]) -> ClusterRows:
    pieces = zip(np.split(x, cuts), np.split(weights, cuts), strict=True)
    return ClusterRows(LocalParts([Block(rows, shares, i, -1) for i, (rows, shares) in enumerate(pieces)]))


def problem_of(kernel: Kernel, rows: ClusterRows, **more: object) -> Problem:
    box = {"low": rows.tally.low, "high": rows.tally.high, "weight": rows.tally.weight}
    base = {"n": rows.n, "d": rows.d, "kernel": kernel, "k": 4, "tol": 1e-10, "memory_limit": 2**30, "workers": 1}
    return Problem(**{**base, **box, "peak": 0.1, **more})


@given(st.lists(st.integers(0, 60), max_size=6), st.integers(0, 10**6))
def test_rows_are_counted_and_found_wherever_they_lie(cuts: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weights = rng.standard_normal((60, 3)), rng.integers(0, 3, 60).astype(float)
    weights[0] = 1.0
    rows = in_parts(x, weights, sorted(cuts))
    assert (rows.n, rows.d) == rows.view.shape == (60, 3)
    assert rows.positive == (weights > 0).sum()
    some = rng.permutation(60)[:17]
    np.testing.assert_array_equal(rows.view[some], x[some])
    np.testing.assert_array_equal(rows.whole().x, x)
    np.testing.assert_array_equal(rows.weights, weights)
    np.testing.assert_array_equal(np.concatenate(rows.split(x)), x)
    np.testing.assert_allclose(rows.tally.mean, np.average(x, axis=0, weights=weights), atol=1e-12)
    center = np.average(x, axis=0, weights=weights).mean()
    assert rows.tally.variance == pytest.approx(np.average((x - center) ** 2, weights=weights, axis=0).mean())
    assert (rows.tally.low == x.min(axis=0)).all()


@pytest.mark.parametrize("method", ["fourier", "landmarks"])
def test_of_very_many_rows_a_sample_is_looked_at(method: str) -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.random((900, 2)), rng.integers(0, 3, 900).astype(float)
    parts = LocalParts([Block(x[i::3], weights[i::3], i, -1) for i in range(3)])
    few, many = ClusterRows(parts), ClusterRows(parts, listed=800, sample=300)
    seen, shares = many.survey(LOOK).sample()
    assert seen.shape == (300, 2)
    assert shares.sum() == pytest.approx(weights.sum())
    assert {tuple(row) for row in seen} <= {tuple(row) for row in x}
    problem = problem_of(Gaussian(0.5), many, partitions=3, tol=1e-6)
    sampled, whole = solved(method, problem, many), solved(method, problem, few)
    np.testing.assert_allclose(sampled.space.scatter, whole.space.scatter, rtol=1e-5)
    assert sampled.space.weight == pytest.approx(weights.sum())


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Linear(), Polynomial(2, 1.0), Tanh(0.1, 0.0)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_products_in_parts_are_those_of_the_matrix(kernel: Kernel, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1300, 3)) + 5
    weights = rng.random(1300) if weighted else np.ones(1300)
    parted, whole = PartedGram(kernel, in_parts(x, weights, [100, 700])), TiledGram(kernel, x, weights)
    v = rng.standard_normal((1300, 2))
    exact = whole.to_dense()
    off = np.linalg.norm(parted @ v - exact @ v, axis=0)
    assert (off <= (parted.error + whole.error) * np.linalg.norm(v, axis=0)).all()
    assert parted.error < 10 * whole.error
    statistics, expected = parted.statistics(), whole.statistics()
    np.testing.assert_allclose(statistics.sums, expected.sums, rtol=1e-9)
    assert statistics.squares == pytest.approx(expected.squares, rel=1e-10)
    assert statistics.frobenius2 >= (exact**2).sum() * (1 - 1e-12)
    np.testing.assert_allclose(parted.diagonal(), exact.diagonal())
    np.testing.assert_allclose(parted.to_dense(), exact)


def test_a_solver_takes_the_operator_in_parts_with_its_draft() -> None:
    x = np.random.default_rng(0).standard_normal((800, 4))
    operator = CenteredGram(PartedGram(Gaussian(2.0), in_parts(x, np.ones(800), [300]), draft=True))
    result = eigsh(operator, 3, tol=1e-10, rng=np.random.default_rng(0))
    exact = np.linalg.eigvalsh(CenteredGram(TiledGram(Gaussian(2.0), x)).to_dense())[::-1][:3]
    assert operator.draft is not None
    assert (result.certificate.lower <= exact).all()
    assert (exact <= result.certificate.upper).all()
    np.testing.assert_allclose(result.values, exact, rtol=1e-10)


@pytest.mark.parametrize("method", ["fourier", "monomials", "landmarks", "tiled"])
def test_every_route_finds_what_it_finds_in_one_place(method: str) -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.random((400, 2)), rng.integers(1, 3, 400).astype(float)
    kernel = Polynomial(3, 1.0) if method == "monomials" else Gaussian(0.5)
    rows = in_parts(x, weights, [1, 150, 150, 399])
    problem = problem_of(kernel, rows, partitions=len(rows.parts))
    alone = solved(method, replace(problem, workers=0, partitions=1), MemoryRows(Block(x, weights)))
    parted = solved(method, problem, rows)
    np.testing.assert_allclose(parted.space.scatter, alone.space.scatter, rtol=1e-10)
    np.testing.assert_allclose(parted.space.project(x), alone.space.project(x), atol=1e-8)
    assert parted.space.trace == pytest.approx(alone.space.trace)


def test_merged_parts_bound_the_truth() -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.random((500, 3)), rng.integers(0, 2, 500).astype(float)
    weights[:120] = 0  # a whole part counts nothing
    rows = in_parts(x, weights, [100, 300])
    exact = np.linalg.eigvalsh(CenteredGram(TiledGram(Gaussian(0.5), x, weights)).to_dense())[::-1][:4]
    for support in (None, 40):
        fitted = solved("merging", problem_of(Gaussian(0.5), rows, support=support), rows)
        assert (fitted.certificate.lower <= exact).all()
        assert (exact <= fitted.certificate.upper).all()


def estimate(method: str, **more: object) -> float:
    rows = in_parts(np.array([[0.0, 0.0], [1.0, 1.0]]), np.ones(2), [1])
    kernel = Gaussian(0.5)
    return make_plan(problem_of(kernel, rows, **{"n": 10**6, "partitions": 100, **more})).candidates[method].seconds


@pytest.mark.parametrize("method", ["fourier", "tiled", "merging"])
def test_plans_count_workers(method: str) -> None:
    assert estimate(method, workers=10) < estimate(method, workers=1)


@pytest.mark.parametrize("method", ["fourier", "merging"])
def test_plans_count_the_way_through_the_network(method: str) -> None:
    assert estimate(method, workers=10, partitions=10**5) > estimate(method, workers=10, partitions=100)
    assert estimate(method, workers=10**5, n=10**5) > estimate(method, workers=10**3, n=10**5)


def test_a_plan_says_what_needs_the_rows_in_one_place() -> None:
    rows = in_parts(np.random.default_rng(0).random((50, 2)), np.ones(50), [20])
    plan = make_plan(problem_of(Gaussian(0.5), rows))
    assert plan.candidates["dense"].refusal == "needs all rows in one place"
    assert plan.chosen in ("fourier", "taylor", "tiled", "landmarks")
    assert "keep_data=False" in make_plan(problem_of(Gaussian(0.5), rows, forget=True)).candidates["tiled"].refusal


def test_flaws_name_their_part() -> None:
    x, weights = np.zeros((4, 2)), np.ones(4)
    x[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"partition 1 \(2 rows\): Input X contains infinity in its row 1, column 1"):
        in_parts(x, weights, [2])
    with pytest.raises(ValueError, match=r"partition 0 .*negative values are not allowed"):
        in_parts(np.zeros((4, 2)), -weights, [2])
    with pytest.raises(ValueError, match="every partition is empty"):
        in_parts(np.zeros((0, 2)), np.zeros(0), [])
