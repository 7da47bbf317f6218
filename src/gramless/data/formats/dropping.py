"""A source without the rows that have a missing value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.data.formats.source import Source

_BLOCK = 8192  # rows


class DroppingSource(Source):
    """The rows of another source without NaN; infinite values still raise an error.

    Parameters
    ----------
    given : Source

    Examples
    --------
    >>> from gramless.data import ArraySource
    >>> source = DroppingSource(ArraySource(np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]])))
    >>> source.count(), source.present().tolist(), next(source.blocks(9)).tolist()
    (2, [True, False, True], [[1.0, 2.0], [4.0, 5.0]])
    """

    drops = True

    def __init__(self, given: Source) -> None:
        self._given = given
        self.name, self.n_features, self.restartable = given.name, given.n_features, given.restartable
        self.feature_names, self.dtype, self.sparse = given.feature_names, given.dtype, given.sparse
        self.callers_own = given.callers_own
        if hasattr(given, "path"):
            self.path = given.path
        self.n_rows = None  # unknown before all rows are read

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        for piece in self._given.pieces(rows):
            kept = piece[_whole_rows(piece, self.sparse)]
            skipped = min(start, kept.shape[0])
            start -= skipped
            if kept.shape[0] > skipped:
                yield kept[skipped:]

    def count(self) -> int:
        return int(self.present().sum())

    def present(self) -> Array:
        """Mask (n,) of the rows of the other source that are not dropped; takes a pass over them."""
        found = [_whole_rows(piece, self.sparse) for piece in self._given.pieces(_BLOCK)]
        return np.concatenate(found) if found else np.empty(0, dtype=bool)


def _whole_rows(piece: Any, sparse: bool) -> Array:
    """Mask (m,) of the rows without NaN."""
    if not sparse:
        return np.asarray(~np.isnan(piece).any(axis=1))
    whole = np.ones(piece.shape[0], dtype=bool)
    whole[np.searchsorted(piece.indptr, np.flatnonzero(np.isnan(piece.data)), side="right") - 1] = False
    return whole
