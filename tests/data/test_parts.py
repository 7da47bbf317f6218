import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramless.data import LocalParts, join_in_tree, library_of, split_evenly


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(1, 12))
def test_groups_hold_every_part_once_and_are_no_more_than_asked_for(sizes: list[int], count: int) -> None:
    groups = split_evenly(sizes, count)
    assert [number for group in groups for number in group] == list(range(len(sizes)))
    assert all(groups)
    assert sum(len(group) > 0 for group in groups) <= max(count + 1, 1)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=30), st.integers(2, 5))
def test_a_tree_joins_in_order(items: list[str], together: int) -> None:
    assert join_in_tree(items, "".join, together) == "".join(items)


def test_a_thousand_items_meet_in_five_levels() -> None:
    depth = join_in_tree([0] * 1000, lambda group: max(group) + 1)
    assert depth == 5


def test_pairs_are_the_product_with_the_whole() -> None:
    rng = np.random.default_rng(0)
    x, v = rng.standard_normal((30, 4)), rng.standard_normal((30, 2))
    parts = LocalParts(np.split(x, [5, 6, 20, 27]))
    groups = [[0, 1], [2], [3, 4]]
    pairs = parts.pairs(groups, np.concatenate)

    def work(left: np.ndarray, right: np.ndarray | None, a: np.ndarray, b: np.ndarray | None) -> tuple:
        if right is None:
            return left @ (left.T @ a), None
        return left @ (right.T @ b), right @ (left.T @ a)

    sums = pairs.sums(work, each=np.split(v, [6, 20]))
    np.testing.assert_allclose(np.concatenate(sums), x @ (x.T @ v))
    assert len(pairs) == 3


def test_values_for_some_of_the_parts() -> None:
    parts = LocalParts([10, 20, 30])
    assert parts.map(pow, 2) == [100, 400, 900]
    assert parts.map(lambda part, shared, own: part + shared + own, 1, each=[3, 4], only=[2, 0]) == [34, 15]
    assert parts.chosen([2, 1]).reduce(str) == "3020"
    assert len(parts.kept(str)) == 3


def test_data_in_memory_need_no_library() -> None:
    assert library_of(np.ones(3)) is None
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    assert library_of(da.ones(3)).__name__ == "gramless.distributed"
