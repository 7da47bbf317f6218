"""A sample of the rows, with their numbers and labels: a page cannot show a million rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array, evenly_spaced
from gramless.data import open_source
from gramless.plots import Coloring

_BLOCK = 8192


@dataclass(frozen=True)
class Sample:
    """Rows drawn from the data, in their order.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
    numbers : ndarray of shape (m,)
        Numbers of these rows in the data, counted from 0.
    total : int
        Number of rows of the data.
    names : tuple of str
        Names of the columns.
    coloring : Coloring
        What their labels are, and how each label of the data looks.
    """

    rows: Array
    numbers: Array
    total: int
    names: tuple[str, ...]
    coloring: Coloring = field(default_factory=Coloring)

    def first(self, count: int) -> Sample:
        """At most `count` of the rows, evenly spaced."""
        chosen = evenly_spaced(len(self.rows), count)
        return replace(self, rows=self.rows[chosen], numbers=self.numbers[chosen], coloring=self.coloring.take(chosen))


def draw_sample(X: Any, labels: Any = None, *, label: str = "label", count: int = 4000, seed: int = 0) -> Sample:
    """Draw `count` rows without replacement, every one with the same chance, in one pass over blocks of rows.

    Parameters
    ----------
    X : array, data frame, path or anything else :func:`gramless.open_source` takes
    labels : array-like of shape (n_samples,), optional
    label : str
        What the labels are called.
    count : int
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> sample = draw_sample(np.arange(20.0).reshape(10, 2), count=3)
    >>> sample.rows.shape, sample.total, sample.names
    ((3, 2), 10, ('x1', 'x2'))
    >>> bool((sample.rows[:, 0] == 2 * sample.numbers).all())
    True
    """
    source = open_source(X)
    rng = np.random.default_rng(seed)
    rows, numbers, keys = np.empty((0, source.n_features)), np.empty(0, dtype=np.int64), np.empty(0)
    total = 0
    for block in source.blocks(_BLOCK):
        dense = block.toarray() if scipy.sparse.issparse(block) else block
        keys = np.append(keys, rng.random(len(dense)))
        rows = np.concatenate([rows, dense])
        numbers = np.append(numbers, np.arange(total, total + len(dense)))
        total += len(dense)
        if len(keys) > count:  # the smallest keys are a sample without replacement
            kept = np.sort(np.argpartition(keys, count - 1)[:count])
            rows, numbers, keys = rows[kept], numbers[kept], keys[kept]
    names = source.feature_names or tuple(f"x{j + 1}" for j in range(source.n_features))
    if labels is not None and np.shape(labels) != (total,):
        raise ValueError(f"labels of shape {np.shape(labels)} given for {total} rows; pass one per row")
    coloring = Coloring.of(labels, label).take(numbers)  # of all labels: no class depends on the sample
    return Sample(rows, numbers, total, tuple(str(name) for name in names), coloring)
