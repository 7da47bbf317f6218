"""Passes over blocks: the order of the sums, reading ahead, weights, and errors that name the block."""

import threading
import time

import numpy as np
import pytest

from gramless.arrays import Tower
from gramless.data import FileRows, block_rows_for, open_source, read_ahead
from gramless.errors import SourceError

X = np.random.default_rng(0).standard_normal((50, 3))


def _paired(terms):
    """The tree a cluster would add in: neighbours, level by level."""
    while len(terms) > 1:
        terms = [terms[i] if i + 1 == len(terms) else f"({terms[i]}{terms[i + 1]})" for i in range(0, len(terms), 2)]
    return terms[0]


class _Text(str):
    def __add__(self, other):
        return _Text(f"({self!s}{other!s})")


@pytest.mark.parametrize("n", range(1, 18))
def test_a_tower_adds_in_the_tree_of_neighbours_wherever_it_was_interrupted(n):
    terms = [_Text(chr(97 + i)) for i in range(n)]
    for stop in range(n + 1):
        tower = Tower()
        for term in terms[:stop]:
            tower.push(term)
        tower = Tower(tower.parts)
        for term in terms[stop:]:
            tower.push(term)
        assert tower.total() == _paired(terms)
        assert tower.count == n


def test_sum_sums_over_blocks_with_weights():
    weights = np.arange(50.0)
    rows = FileRows(open_source(X), 7, weights)
    total = rows.sum(lambda block: block.weights @ block.x)
    np.testing.assert_allclose(total, weights @ X)
    numbers = []
    rows.sum(lambda block: numbers.append((block.number, block.first)) or 0)
    assert numbers == [(i, 7 * i) for i in range(8)]


def test_the_last_column_as_weight():
    rows = FileRows(open_source(np.column_stack([X, np.arange(50.0)])), 7, weight_column=True)
    assert rows.d == 3
    np.testing.assert_allclose(rows.sum(lambda block: block.weights @ block.x), np.arange(50.0) @ X)
    bad = np.column_stack([X, np.where(np.arange(50) == 13, -1.0, 1.0)])
    rows = FileRows(open_source(bad), 10, weight_column=True)
    with pytest.raises(SourceError, match=r"block 1 \(rows 10 to 19\): the weight of row 13 is negative"):
        rows.sum(lambda block: block.weights.sum())


def test_the_first_block_is_read_once_though_it_is_looked_at():
    read = []

    def blocks():
        for i, block in enumerate(np.array_split(X, 5)):
            read.append(i)
            yield block

    rows = FileRows(open_source(blocks()), 10)
    np.testing.assert_array_equal(rows.head().x, X[:10])
    np.testing.assert_allclose(rows.sum(lambda block: block.x.sum(axis=0)), X.sum(axis=0))
    assert read == list(range(5))


def test_an_error_of_the_work_names_the_block():
    def work(block):
        if block.number == 3:
            raise ValueError("not that one")
        return 0

    with pytest.raises(SourceError, match=r"the array, block 3 \(rows 30 to 39\): not that one"):
        FileRows(open_source(X), 10).sum(work)


def test_weights_of_another_length_are_refused():
    with pytest.raises(ValueError, match="sample_weight has 49 entries for the 50 rows"):
        FileRows(open_source(X), 10, np.ones(49))
    for count in (49, 51):
        rows = FileRows(open_source(iter([X])), 10, np.ones(count))
        with pytest.raises(SourceError, match=f"sample_weight has {count} entries"):
            rows.sum(lambda block: 0)
    with pytest.raises(SourceError, match="has no rows"):
        FileRows(open_source(X[:0]), 10).sum(lambda block: 0)


def test_reading_ahead_overlaps_and_stays_one_ahead():
    begun, overlapped = [], threading.Event()

    def numbers():
        for i in range(6):
            begun.append(i)
            if i == 1:
                overlapped.set()
            yield i

    for i in read_ahead(numbers()):
        if i == 0:
            assert overlapped.wait(10), "the second block is read while the first is in use"
        time.sleep(0.005)
        assert max(begun) <= i + 1


def test_reading_ahead_passes_errors_on_and_stops_with_the_caller():
    def broken():
        yield 1
        raise OSError("disk")

    taken = []
    with pytest.raises(OSError, match="disk"):
        taken.extend(read_ahead(broken()))
    before = threading.active_count()
    for _ in read_ahead(iter(range(1000))):
        break
    assert threading.active_count() <= before


def test_blocks_get_smaller_with_the_memory_limit():
    assert block_rows_for(2) == 2**22
    assert block_rows_for(2, 16 * 2**20) == 2**20 // 16
    assert block_rows_for(10**6, 1) == 256


def test_the_last_block_is_named_by_its_own_rows(tmp_path):
    rows = np.ones((2000, 2))
    rows[1999, 1] = -1.0
    weighted = FileRows(open_source(rows), block_rows=1500, weight_column=True)
    with pytest.raises(SourceError, match=r"block 1 \(rows 1500 to 1999\): the weight of row 1999 is negative"):
        list(weighted.blocks())

    def refuse(block):
        raise ValueError("no")

    with pytest.raises(SourceError, match=r"block 0 \(rows 0 to 1999\): no"):
        FileRows(open_source(rows), block_rows=8192).sum(refuse)
