"""One protocol for rows in memory, in files and on a cluster; and one model, whichever of them it is fitted to."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramless.estimators.checking as source_rows
from gramless import KernelPCA, MemoryLimitError, SourceError, open_source
from gramless.data import Block, ClusterRows, FileRows, LocalParts, Look, MemoryRows, Place, Rows, Scaling, open_writer
from gramless.kernels import Gaussian, Polynomial

LIMIT = 2**30


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of whole numbers, so that their sums are exact, and how to cut them.

    Attributes
    ----------
    x : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
        Some are 0.
    block : int
        Rows that are read at a time.
    cuts : list of int
        Where partitions end; the first two are one place, so that a partition between them is empty.
    """

    x: np.ndarray
    weights: np.ndarray
    block: int
    cuts: list[int]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"column {j}" for j in range(self.x.shape[1]))


@st.composite
def tables(draw: Any) -> Table:
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    weights = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    weights[rng.integers(n)] = 2.0
    cuts = sorted(draw(st.lists(st.integers(0, n), min_size=4, max_size=4)))
    cuts[1] = cuts[0]
    return Table(rng.integers(-50, 50, (n, d)).astype(float), weights, draw(st.integers(1, n + 3)), cuts)


@dataclass(frozen=True, eq=False)
class Opened:
    """Rows of some kind, and what must be true of them."""

    rows: Rows
    names: tuple[str, ...] | None
    place: Place
    dtype: Any = np.float64
    counted: bool = True


def in_memory(table: Table, folder: Path, dtype: Any = np.float64) -> Opened:
    rows = MemoryRows(Block(table.x.astype(dtype), table.weights), table.names)
    return Opened(rows, table.names, Place(), dtype)


def in_file(table: Table, folder: Path, suffix: str, column: bool = False, dtype: Any = np.float64) -> Opened:
    path = folder / f"rows{suffix}"
    values = np.column_stack([table.x, table.weights]) if column else table.x
    with open_writer(path, [*table.names, "weight"][: values.shape[1]], dtype) as writer:
        for part in np.array_split(values, 3):
            writer.write(part)
    source = open_source(path)
    rows = FileRows(source, table.block, None if column else table.weights, column)
    named = suffix in (".csv", ".parquet")
    place = Place(block=table.block, mapped=suffix == ".npy" and not column)
    return Opened(rows, table.names if named else None, place, dtype, counted=suffix != ".csv")


def from_function(table: Table, folder: Path) -> Opened:
    def blocks() -> Iterator[np.ndarray]:
        return iter(np.array_split(table.x, 3))

    rows = FileRows(open_source(blocks), table.block, table.weights)
    return Opened(rows, None, Place(block=table.block), counted=False)


def in_parts(table: Table, folder: Path, parts: int, dtype: Any = np.float64) -> Opened:
    cuts = table.cuts[: parts - 1]
    pieces = zip(np.split(table.x.astype(dtype), cuts), np.split(table.weights, cuts), strict=True)
    blocks = [Block(x, weights, number, -1) for number, (x, weights) in enumerate(pieces)]
    filled = sum(len(block.x) > 0 for block in blocks)
    rows = ClusterRows(LocalParts(blocks), table.names)
    return Opened(rows, table.names, Place(workers=1, partitions=filled), dtype)


#: Every kind of rows there is.
KINDS: dict[str, Callable[[Table, Path], Opened]] = {
    "array": in_memory,
    "array, float32": lambda table, folder: in_memory(table, folder, np.float32),
    "npy": lambda table, folder: in_file(table, folder, ".npy"),
    "npy, float32": lambda table, folder: in_file(table, folder, ".npy", dtype=np.float32),
    "npy, weights in a column": lambda table, folder: in_file(table, folder, ".npy", column=True),
    "csv": lambda table, folder: in_file(table, folder, ".csv"),
    "csv, weights in a column": lambda table, folder: in_file(table, folder, ".csv", column=True),
    "parquet": lambda table, folder: in_file(table, folder, ".parquet"),
    "parquet, weights in a column": lambda table, folder: in_file(table, folder, ".parquet", column=True),
    "iterators": from_function,
    "one partition": lambda table, folder: in_parts(table, folder, 1),
    "two partitions": lambda table, folder: in_parts(table, folder, 2),
    "five partitions": lambda table, folder: in_parts(table, folder, 5),
    "five partitions, float32": lambda table, folder: in_parts(table, folder, 5, np.float32),
}
NEEDS_ARROW = pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
EVERY_KIND = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[NEEDS_ARROW] * kind.startswith(("csv", "parquet"))) for kind in KINDS]
)


@contextmanager
def opened(kind: str, table: Table) -> Iterator[Opened]:
    """Context of the rows of a table, of some kind."""
    with tempfile.TemporaryDirectory() as folder:
        yield KINDS[kind](table, Path(folder))


def look(measures: str = "") -> Look:
    return Look(measures, LIMIT, lambda: np.random.default_rng(0))


def column_moments(table: Table) -> tuple[np.ndarray, np.ndarray]:
    mean = np.average(table.x, axis=0, weights=table.weights)
    return mean, np.average((table.x - mean) ** 2, axis=0, weights=table.weights)


def seconds(block: Block) -> np.ndarray:
    """A summand: sum_i w_i x_i x_i^T."""
    return block.x.astype(float).T @ (block.weights[:, None] * block.x)


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables())
def test_rows_say_what_they_are(kind: str, table: Table) -> None:
    with opened(kind, table) as known:
        rows = known.rows
        assert rows.n == (len(table.x) if known.counted else None)
        assert rows.d == table.x.shape[1]
        assert rows.names == known.names
        assert rows.dtype == known.dtype
        assert rows.place == known.place
        assert (rows.parts is None) == (rows.place.workers == 0)
        assert not rows.sparse
        assert not rows.scaling
        assert rows.begun is None
        assert rows.name


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables())
def test_blocks_are_the_rows_in_order(kind: str, table: Table) -> None:
    with opened(kind, table) as known:
        blocks = list(known.rows.blocks())
        np.testing.assert_array_equal(np.concatenate([block.x for block in blocks]), table.x)
        np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), table.weights)
        assert all(block.x.dtype == known.dtype and len(block.x) > 0 for block in blocks)
        assert (np.diff([block.number for block in blocks]) > 0).all()
        firsts = np.cumsum([0, *(len(block.x) for block in blocks[:-1])])
        assert all(block.first in (first, -1) for block, first in zip(blocks, firsts, strict=True))
        if known.place.block:
            assert [len(block.x) for block in blocks[:-1]] == [table.block] * (len(blocks) - 1)
        if known.place.workers:
            assert len(blocks) == known.place.partitions


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables())
def test_sums_are_those_over_all_rows(kind: str, table: Table) -> None:
    """Whole numbers are summed without rounding, and lists in the order of the rows."""
    with opened(kind, table) as known:
        rows, n = known.rows, len(table.x)
        np.testing.assert_array_equal(rows.sum(seconds), table.x.T @ (table.weights[:, None] * table.x))
        assert rows.sum(lambda block: block.x.tolist()) == table.x.tolist()
        assert rows.sum(lambda block: block.weights.tolist()) == table.weights.tolist()
        assert rows.sum(lambda block: list(range(block.first, block.first + len(block.x)))) == list(range(n))
        assert min(rows.sum(lambda block: [len(block.x)])) > 0


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables())
def test_the_whole_is_the_rows(kind: str, table: Table) -> None:
    with opened(kind, table) as known:
        whole = known.rows.whole()
        np.testing.assert_array_equal(whole.x, table.x)
        np.testing.assert_array_equal(whole.original, table.x)
        np.testing.assert_array_equal(whole.weights, table.weights)
        assert whole.x.dtype == known.dtype
        assert (whole.number, whole.first) == (0, 0)
        assert isinstance(whole.x, np.memmap) == known.place.mapped


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables())
def test_rows_are_read_to_memory_up_to_a_limit(kind: str, table: Table) -> None:
    with opened(kind, table) as known:
        size = table.x.size * np.dtype(known.dtype).itemsize
        np.testing.assert_array_equal(known.rows.whole(most=size).x, table.x)
        if known.place.block and not known.place.mapped:
            with pytest.raises(MemoryLimitError, match="needed more than once"):
                known.rows.whole(most=size - 1)


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables(), measures=st.sampled_from(["", "center", "scale"]))
def test_a_survey_counts_weighs_and_measures_all_rows(kind: str, table: Table, measures: str) -> None:
    mean, variances = column_moments(table)
    with opened(kind, table) as known:
        survey = known.rows.survey(look(measures))
        assert survey.n == known.rows.n == len(table.x)
        assert survey.weight == table.weights.sum()
        assert survey.memory_limit == LIMIT
        assert survey.remote == (known.place.workers > 0)
        np.testing.assert_array_equal(survey.box.low, table.x.min(axis=0))
        np.testing.assert_array_equal(survey.box.high, table.x.max(axis=0))
        if measures:
            np.testing.assert_allclose(survey.mean, mean, atol=1e-12)
            np.testing.assert_array_equal(survey.scaling("center").mean, survey.mean)
            assert survey.scaling("center").scale is None
        if measures == "scale":
            np.testing.assert_allclose(survey.variances, variances, atol=1e-10)
            deviations = np.where(np.ptp(table.x, axis=0) * variances > 0, np.sqrt(variances), 1.0)
            np.testing.assert_allclose(survey.scaling("scale").scale, deviations, rtol=1e-9)
        if measures and survey.squares is not None:
            np.testing.assert_allclose(survey.squares, table.weights.sum() * variances, atol=1e-9)
            entries = np.average((table.x - mean.mean()) ** 2, axis=0, weights=table.weights)
            assert survey.variance == pytest.approx(entries.mean(), abs=1e-10)


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables(), seed=st.integers(0, 99))
def test_what_a_survey_shows_are_rows(kind: str, table: Table, seed: int) -> None:
    """Few rows are all shown, by number or in a sample with their weights."""
    with opened(kind, table) as known:
        survey = known.rows.survey(look())
        x, weights = survey.sample()
        x = x[np.arange(x.shape[0])]
        seen = weights > 0
        there = table.weights > 0
        assert sorted(x[seen].tolist()) == sorted(table.x[there].tolist())
        np.testing.assert_allclose(weights @ x, table.weights @ table.x, atol=1e-9)
        if survey.complete or survey.remote:
            some = np.random.default_rng(seed).integers(0, len(table.x), 5)
            np.testing.assert_array_equal(survey.view[some], table.x[some])
            assert survey.view.shape == table.x.shape
        assert survey.view.dtype == known.dtype


def scalings(d: int, seed: int) -> list[Scaling]:
    """By whole numbers and powers of two, which round nothing."""
    rng = np.random.default_rng(seed)
    mean = rng.integers(-9, 9, d).astype(float)
    return [Scaling(mean), Scaling(mean, 2.0 ** rng.integers(-3, 4, d))]


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables(), seed=st.integers(0, 99))
def test_moved_rows_are_the_rows_moved(kind: str, table: Table, seed: int) -> None:
    with opened(kind, table) as known:
        rows = known.rows
        for scaling in scalings(rows.d, seed):
            if known.place.workers:
                with pytest.raises(ValueError, match=f"{scaling.parameter}=True is not supported on a cluster"):
                    rows.moved(scaling)
                continue
            moved, expected = rows.moved(scaling), scaling(table.x)
            assert (moved.n, moved.d, moved.names, moved.dtype) == (rows.n, rows.d, rows.names, rows.dtype)
            assert moved.scaling is scaling
            for blocks in (list(moved.blocks()), [moved.whole()]):
                np.testing.assert_array_equal(np.concatenate([block.x for block in blocks]), expected)
                np.testing.assert_array_equal(np.concatenate([block.original for block in blocks]), table.x)
                np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), table.weights)
                assert all(block.original.dtype == known.dtype for block in blocks)
            np.testing.assert_array_equal(moved.sum(seconds), expected.T @ (table.weights[:, None] * expected))
            np.testing.assert_array_equal(np.concatenate([block.x for block in rows.blocks()]), table.x)
            np.testing.assert_array_equal(scaling.inverse(moved.whole().x), table.x)


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables(), seed=st.integers(0, 99))
def test_a_survey_moves_with_the_rows(kind: str, table: Table, seed: int) -> None:
    """What is known of rows after scaling is what a look at the scaled rows would tell."""
    with opened(kind, table) as known:
        if known.place.workers:
            return
        for scaling in scalings(known.rows.d, seed):
            before = known.rows.survey(look("scale"))
            told, seen = before.moved(scaling), known.rows.moved(scaling).survey(look("scale"))
            assert (told.n, told.weight) == (seen.n, seen.weight)
            np.testing.assert_array_equal(told.box.low, seen.box.low)
            np.testing.assert_array_equal(told.box.high, seen.box.high)
            np.testing.assert_allclose(told.mean, seen.mean, atol=1e-11)
            np.testing.assert_array_equal(told.sample()[0], seen.sample()[0])
            np.testing.assert_array_equal(told.sample()[1], seen.sample()[1])
            if told.squares is not None:
                np.testing.assert_allclose(told.squares, seen.squares, atol=1e-7)
                assert told.variance == pytest.approx(seen.variance, abs=1e-7)


@EVERY_KIND
@settings(max_examples=12)
@given(table=tables())
def test_read_twice_they_are_the_same(kind: str, table: Table) -> None:
    """To the last bit, whatever was read in between."""

    def work(block: Block) -> np.ndarray:
        return (block.weights / 3) @ (block.x / 7) ** 2

    with opened(kind, table) as known:
        rows = known.rows
        total, sample = rows.sum(work), rows.survey(look("scale")).sample()
        first, _ = list(rows.blocks()), rows.whole()
        for block, again in zip(first, rows.blocks(), strict=True):
            np.testing.assert_array_equal(again.x, block.x)
            np.testing.assert_array_equal(again.weights, block.weights)
            assert (again.number, again.first) == (block.number, block.first)
        np.testing.assert_array_equal(rows.sum(work), total)
        again = rows.survey(look("scale")).sample()
        np.testing.assert_array_equal(again[0][np.arange(len(again[1]))], sample[0][np.arange(len(sample[1]))])
        np.testing.assert_array_equal(again[1], sample[1])


@given(table=tables())
def test_an_iterator_says_that_it_is_read_once(table: Table) -> None:
    rows = FileRows(open_source(iter(np.array_split(table.x, 3))), table.block, table.weights)
    assert rows.place == Place(again=False, block=table.block)
    np.testing.assert_array_equal(rows.sum(seconds), table.x.T @ (table.weights[:, None] * table.x))
    with pytest.raises(SourceError, match="has already been consumed"):
        rows.sum(seconds)


# ------------------------------------------------------------------------------------------------------------ one model

FLAT = np.random.default_rng(0).exponential(size=(600, 2)) * [1.0, 0.6]  # skewed: no doubt about signs
SOME = np.random.default_rng(1).integers(0, 3, 600).astype(float)
WEIGHTS = {"ones": None, "some": SOME, "late": np.where(np.arange(600) < 300, 0.0, SOME)}  # late: none in a whole block
METHODS = {
    "monomials": Polynomial(2, 1.0, 0.5),
    "fourier": Gaussian(1.0),
    "taylor": Gaussian(4.0),
    "landmarks": Gaussian(2.0),
    "tiled": Gaussian(1.0),
    "dense": Gaussian(1.0),
}
FORMS = ["npy", "csv", "parquet", "function", "partitions"]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers in this process, with one thread each."""
    distributed = pytest.importorskip("distributed", reason='distributed is not installed: pip install ".[dask]"')
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as active:
        yield active


def as_form(form: str, x: np.ndarray, folder: Path, request: pytest.FixtureRequest) -> Any:
    """The rows of an array in another form."""
    if form == "partitions":
        request.getfixturevalue("client")
        return pytest.importorskip("dask.array").from_array(x, chunks=(len(x) // 2, x.shape[1]))
    if form == "function":
        return lambda: iter(np.array_split(x, 7))
    if form != "npy":
        pytest.importorskip("pyarrow")
    with open_writer(folder / f"rows.{form}", [f"column {j}" for j in range(x.shape[1])]) as writer:
        writer.write(x)
    return folder / f"rows.{form}"


def fit(method: str, x: Any, weights: np.ndarray | None, **limits: Any) -> KernelPCA:
    model = KernelPCA(3, kernel=METHODS[method], method=method, random_state=0, **limits)
    return model.fit(x, sample_weight=weights)


@cache
def fit_to_array(method: str, weights: str) -> KernelPCA:
    return fit(method, FLAT, WEIGHTS[weights])


def allowance(model: KernelPCA) -> np.ndarray:
    r"""How far, in norm, the components of the rows may be from the exact ones: (k,).

    Times the roots of the weights they are K v / sqrt(l), where the exact ones are sqrt(m) u; both l and m are in the
    interval, v is within the angle of u, and \|K\| is at most the largest upper bound.
    """
    certificate = model.certificate_
    lower, upper = certificate.lower, certificate.upper
    return (2 * upper[0] * np.sin(certificate.angle / 2) + upper - lower) / np.sqrt(lower)


def assert_one_model(ours: KernelPCA, rows: Any, theirs: KernelPCA, x: np.ndarray, weights: np.ndarray | None) -> None:
    """Eigenvalues and components, signs included, of `rows` and of `x` are as near as both certificates say."""
    one, other = ours.certificate_, theirs.certificate_
    assert ours.method_ == theirs.method_
    assert (one.lower <= other.upper).all()
    assert (other.lower <= one.upper).all()
    roots = np.ones(len(x)) if weights is None else np.sqrt(weights)
    apart = np.linalg.norm(roots[:, None] * (np.asarray(ours.transform(rows)) - theirs.transform(x)), axis=0)
    allowed = allowance(ours) + allowance(theirs)
    assert (apart <= allowed).all(), (apart, allowed)
    assert allowed[0] <= 1e-3 * np.sqrt(one.upper[0])  # the certificates say something


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_one_model_of_rows_in_any_form(
    method: str,
    form: str,
    weights: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_rows, "block_rows_for", lambda n_features, limit=None: 256)  # several blocks
    rows = as_form(form, FLAT, tmp_path, request)
    if (method, form) == ("dense", "partitions"):
        with pytest.raises(ValueError, match="needs all rows in one place"):
            fit(method, rows, WEIGHTS[weights])
        return
    ours, theirs = fit(method, rows, WEIGHTS[weights]), fit_to_array(method, weights)
    assert_one_model(ours, rows, theirs, FLAT, WEIGHTS[weights])


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_one_model_under_a_small_limit_of_memory(form: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A wide table, of which no more than 512 rows are read at a time."""
    rng = np.random.default_rng(0)
    x = rng.exponential(size=(600, 3)) @ rng.standard_normal((3, 256)) / 16
    limits = {"memory_limit": "16MB", "n_jobs": 1}
    path = as_form(form, x, tmp_path, request)
    assert KernelPCA(3, method="dense", **limits).plan(path).problem.block < len(x)
    inside, outside = (fit("dense", rows, None, **limits) for rows in (x, path))
    assert_one_model(outside, path, inside, x, None)
