"""Sources without missing values: the rows that have one are left out, or the values are filled in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np

from gramless.arrays import Array
from gramless.data.formats.read_options import ReadOptions
from gramless.data.formats.source import Source
from gramless.errors import SourceError

RULES = ("error", "drop", "mean", "median")  #: what happens to missing values
_BLOCK = 8192  # rows
_SAMPLE = 2**17  # rows from which medians are taken
_NUMBERS = 2**23  # numbers of this sample at most: 64 MiB


class _Completed(Source):
    """Rows of another source after something is done about NaN; infinite values still raise an error.

    Attributes
    ----------
    incomplete : int or None
        Number of rows with a missing value, after a pass over all rows.
    """

    def __init__(self, given: Source) -> None:
        self._given = given
        self.name, self.n_features, self.restartable = given.name, given.n_features, given.restartable
        self.feature_names, self.dtype, self.sparse = given.feature_names, given.dtype, given.sparse
        self.callers_own, self.guesses, self.notes = given.callers_own, given.guesses, given.notes
        self.read_options = given.read_options
        if hasattr(given, "path"):
            self.path = given.path
        self.incomplete: int | None = None

    def column(self, index: int) -> str:
        return self._given.column(index)


class DroppingSource(_Completed):
    """The rows of another source that have no missing value.

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

    def __init__(self, given: Source) -> None:
        super().__init__(given)
        self.reading = f"{given.reading} without missing values"

    def read_like(self, known: ReadOptions) -> DroppingSource:
        return DroppingSource(self._given.read_like(known))

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        left_out = seen = 0
        for piece in self._given.checked_pieces(rows):
            whole = whole_rows(piece, self.sparse)
            kept = piece[whole]
            left_out, seen = left_out + int((~whole).sum()), seen + len(whole)
            skipped = min(start, kept.shape[0])
            start -= skipped
            if kept.shape[0] > skipped:
                yield kept[skipped:]
        if left_out == seen > 0:
            raise SourceError(
                f"all {seen} rows of {self.name} have a missing value; leave out empty columns, or fill in the "
                "values with missing='mean' or missing='median'"
            )
        self.incomplete = left_out

    def count(self) -> int:
        return int(self.present().sum())

    def present(self) -> Array:
        """Mask (n,) of the rows of the other source that are not left out; takes a pass over them."""
        found = [whole_rows(piece, self.sparse) for piece in self._given.checked_pieces(_BLOCK)]
        return np.concatenate(found) if found else np.empty(0, dtype=bool)


class FillingSource(_Completed):
    """The rows of another source, with a value of its column in place of every missing value.

    Parameters
    ----------
    given : Source
    rule : {"mean", "median"} or array-like of shape (d,)
        Means or medians of the values that are not missing, for which all rows are read once before the first block; or
        the values themselves. Medians are those of a sample of the rows, where there are more than 131,072 rows, or
        more than 8 million numbers.

    Examples
    --------
    >>> from gramless.data import ArraySource
    >>> source = FillingSource(ArraySource(np.array([[1.0, 2.0], [np.nan, 3.0], [5.0, 7.0]])), "mean")
    >>> next(source.blocks(9)).tolist(), source.fill_values.tolist()
    ([[1.0, 2.0], [3.0, 3.0], [5.0, 7.0]], [3.0, 4.0])
    """

    def __init__(self, given: Source, rule: Any) -> None:
        super().__init__(given)
        self.n_rows = given.n_rows
        self.rule = rule if isinstance(rule, str) else "values"
        if self.sparse:
            raise ValueError("missing values of sparse rows are not filled in; pass missing='drop', or dense rows")
        if self.rule != "values" and not self.restartable:
            raise ValueError(
                f"missing={self.rule!r} needs rows that can be read twice, not {self.name}; pass 'drop' or values"
            )
        self._values: Array | None = None
        if not isinstance(rule, str):
            self._values = np.asarray(rule, dtype=np.float64)
            if self._values.shape != (self.n_features,) or not np.isfinite(self._values).all():
                raise ValueError(
                    f"missing has values of shape {self._values.shape}; pass one finite number for each of the "
                    f"{self.n_features} columns of {self.name}"
                )

    @property
    def fill_values(self) -> Array:
        """What is filled in for each column (d,); the first use takes a pass over the rows, where a rule was given."""
        if self._values is None:
            found = self._means() if self.rule == "mean" else self._medians()
            for place in np.flatnonzero(np.isnan(found)):
                raise SourceError(
                    f"{self.name}: {self.column(int(place))} has no value that is not missing; leave it out"
                )
            self._values = found
        return self._values

    @property
    def reading(self) -> str:  # type: ignore[override]
        """See :class:`Source`."""
        return f"{self._given.reading} filled with {crc32(self.fill_values.tobytes())}"

    def read_like(self, known: ReadOptions) -> FillingSource:
        return FillingSource(self._given.read_like(known), self._values if self.rule == "values" else self.rule)

    def filled_with(self, values: Array) -> FillingSource:
        """The same rows, with other values filled in."""
        return FillingSource(self._given, values)

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        filled, values, whole = 0, self.fill_values.astype(self.dtype), start == 0
        for piece in self._given.checked_pieces(rows, start):
            gaps = np.isnan(piece)
            filled += int(gaps.any(axis=1).sum())
            yield np.where(gaps, values, piece) if gaps.any() else piece
        if whole:
            self.incomplete = filled

    def count(self) -> int:
        return self._given.count()

    def place(self, row: int) -> str:
        return self._given.place(row)

    def _means(self) -> Array:
        count, mean = np.zeros(self.n_features), np.zeros(self.n_features)
        for piece in self._given.checked_pieces(_BLOCK):
            there = np.isfinite(piece)  # infinite values are refused later, with their place
            here = there.sum(axis=0)
            total = np.where(there, piece - mean, 0.0).sum(axis=0)
            count += here
            mean += np.divide(total, count, out=np.zeros_like(mean), where=count > 0)
        return np.where(count > 0, mean, np.nan)

    def _medians(self) -> Array:
        """Medians of all rows, or of a uniform sample: rows with the smallest of random keys."""
        most = max(1000, min(_SAMPLE, _NUMBERS // self.n_features))
        rng = np.random.default_rng(0)
        rows, keys = np.empty((0, self.n_features)), np.empty(0)
        for piece in self._given.checked_pieces(_BLOCK):
            rows, keys = np.concatenate([rows, piece]), np.append(keys, rng.random(len(piece)))
            if len(keys) > 2 * most:
                kept = np.argpartition(keys, most)[:most]
                rows, keys = rows[kept], keys[kept]
        kept = np.argsort(keys)[:most]
        return np.array([_median(column) for column in rows[kept].T])


def _median(values: Array) -> float:
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else np.nan


def whole_rows(piece: Any, sparse: bool) -> Array:
    """Mask (m,) of the rows without NaN."""
    if not sparse:
        return np.asarray(~np.isnan(piece).any(axis=1))
    whole = np.ones(piece.shape[0], dtype=bool)
    whole[np.searchsorted(piece.indptr, np.flatnonzero(np.isnan(piece.data)), side="right") - 1] = False
    return whole
