"""The base class of sources, which yield rows in blocks, so that not all rows need to be in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse

from gramless.arrays import Array
from gramless.data.formats.read_options import ReadOptions
from gramless.errors import FormatError, SourceError

WIDEST = 10**7  #: maximum number of columns; a file that declares more counts as damaged


class Source(ABC):
    """Rows in blocks.

    Attributes
    ----------
    name : str
        Name in messages: a path, or the kind of source.
    n_features : int
        Number of columns.
    n_rows : int or None
        Number of rows; None where it is unknown before all rows are read.
    restartable : bool
        Whether :meth:`blocks` may be called more than once.
    feature_names : tuple of str, or None
    dtype : dtype
        float64 or float32.
    sparse : bool
        Whether blocks are CSR.
    callers_own : bool
        Whether the caller's code makes the blocks; its errors are passed on unchanged.
    guesses : dict of str to str
        Options with which a file is read, where they were found out from its first lines and are unusual.
    reading : str
        How rows are made of what is in the file, where there is a choice: a fit is resumed only with the same.
    notes : str
        What else is to be said about how a file is read; empty for nothing.
    remedy : str
        What to do about a missing value, in a message.
    read_options : ReadOptions or None
        How the numbers of a CSV file are written, and what its columns contain, as given or found out.
    """

    name: str
    n_features: int
    n_rows: int | None = None
    restartable: bool = True
    feature_names: tuple[str, ...] | None = None
    dtype: np.dtype[Any] = np.dtype(np.float64)
    sparse: bool = False
    callers_own: bool = False
    guesses: Mapping[str, str] = MappingProxyType({})
    notes: str = ""
    reading: str = ""
    remedy: str = (
        "leave out such rows with missing='drop' of gramless.open_source, or fill them in with missing='mean' or "
        "missing='median'"
    )
    read_options: ReadOptions | None = None

    @abstractmethod
    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        """Rows from row `start` on, in arrays of any length; of about `rows` rows where the format allows a choice."""

    def blocks(self, rows: int, start: int = 0) -> Iterator[Any]:
        """Blocks of exactly `rows` rows each, the last one of fewer, from row `start` on.

        Parameters
        ----------
        rows : int
        start : int
            Number of rows to skip; a multiple of `rows`, so that block numbers in messages are correct.

        Yields
        ------
        ndarray or CSR of shape (rows, n_features)
            Finite numbers of :attr:`dtype`.

        Raises
        ------
        SourceError
            If rows cannot be read; the message names the source, the block with its rows, and the column.
        """
        if rows < 1 or start < 0:
            raise ValueError(f"rows={rows} must be at least 1 and start={start} at least 0")
        first = start
        for block in regroup(self.checked_pieces(rows, start), rows):
            self._refuse_not_finite(block, first, rows)
            yield block
            first += block.shape[0]

    def read_like(self, known: ReadOptions) -> Source:
        """The same rows, read as `known` says where the caller has not given other options; for CSV files."""
        return self

    def count(self) -> int:
        """Number of rows; some formats read the file to count them. Raises where the number cannot be found."""
        if self.n_rows is None:
            raise SourceError(f"{self.name} does not state its number of rows")
        return self.n_rows

    def present(self) -> Array:
        """Mask (n,) of the rows that are not left out: all rows, unless rows with missing values are dropped."""
        return np.ones(self.count(), dtype=bool)

    def column(self, index: int) -> str:
        """How a message names a column."""
        return column_word(self.feature_names, index)

    def place(self, row: int) -> str:
        """How a message names a row."""
        return f"row {row}"

    def checked_pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        """:meth:`pieces` with the column count checked; errors of a format's library name the source and the block."""
        pieces = self.pieces(rows, start)
        first = start
        while True:
            try:
                piece = next(pieces)
            except StopIteration:
                return
            except SourceError:
                raise
            except MemoryError:
                raise
            except Exception as error:  # libraries raise errors of any type on damaged files
                if self.callers_own:
                    raise
                raise FormatError(f"{self.name}, {block_name(first, rows, self.n_rows)}: {error}") from error
            if piece.ndim != 2 or piece.shape[1] != self.n_features:
                raise SourceError(
                    f"{self.name}, {block_name(first, rows, first + piece.shape[0])}: got an array of shape "
                    f"{piece.shape}; every block must have {self.n_features} columns"
                )
            first += piece.shape[0]
            yield piece

    def _refuse_not_finite(self, block: Any, first: int, rows: int) -> None:
        values = block.data if self.sparse else block
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):  # needs no boolean array of the block's size
                return
        bad = ~np.isfinite(values)
        if not bad.any():
            return
        if self.sparse:
            place = int(np.flatnonzero(bad)[0])
            row, column = int(np.searchsorted(block.indptr, place, side="right")) - 1, int(block.indices[place])
            value, bad = values[place], scipy.sparse.csr_array((bad, block.indices, block.indptr), shape=block.shape)
        else:
            row, column = (int(i) for i in np.argwhere(bad)[0])
            value = values[row, column]
        only = first == 0 and block.shape[0] < rows
        where = self.name if only else f"{self.name}, {block_name(first, rows, first + block.shape[0])}"
        count = int((np.asarray(bad.sum(axis=1)) > 0).sum())
        remedy = self.remedy if np.isnan(value) else "fill in or leave out such rows"
        raise SourceError(
            f"{where}: {self.column(column)} has {_in_words(value)} in {self.place(first + row)}; {count} of "
            f"{block.shape[0]} rows {'' if only else 'of this block '}have such values; {remedy}"
        )


def _in_words(value: float) -> str:
    return "NaN or a missing value" if np.isnan(value) else "an infinite value"


def block_name(first: int, rows: int, end: int | None = None) -> str:
    """How a message names the block of `rows` rows with row `first` in it.

    Parameters
    ----------
    first, rows : int
    end : int, optional
        Number of rows of the source; or the end of the block, where the block is known. None where the number is
        unknown: the message then does not name a last row.

    Examples
    --------
    >>> block_name(2000, 1000, 2500), block_name(2000, 1000)
    ('block 2 (rows 2000 to 2499)', 'block 2 (from row 2000 on)')
    """
    number = first // rows
    begin = number * rows
    if end is None or end <= begin:
        return f"block {number} (from row {begin} on)"
    return f"block {number} (rows {begin} to {min(begin + rows, end) - 1})"


def column_word(names: Sequence[str] | None, index: int, position: int | None = None) -> str:
    """How a message names column `index`; a column without a name by its `position` in the file.

    Examples
    --------
    >>> column_word(("", "a"), 1), column_word(("", "a"), 0), column_word(None, 3)
    ("column 'a'", 'column 0 (no name)', 'column 3')
    """
    position = index if position is None else position
    if names is None:
        return f"column {position}"
    return f"column {str(names[index])!r}" if names[index] else f"column {position} (no name)"


def regroup(pieces: Iterable[Any], rows: int) -> Iterator[Any]:
    """Blocks of exactly `rows` rows, the last one of fewer, from pieces of any length.

    Examples
    --------
    >>> [len(block) for block in regroup([np.ones((5, 1)), np.ones((4, 1))], 3)]
    [3, 3, 3]
    """
    kept: list[Any] = []
    for piece in pieces:
        while piece.shape[0]:
            missing = rows - sum(part.shape[0] for part in kept)
            part, piece = piece[:missing], piece[missing:]
            if not kept and part.shape[0] == rows:
                yield part
                continue
            kept = _appended(kept, part, rows)
            if part.shape[0] == missing:
                yield _whole(kept)
                kept = []
    if kept:
        yield _whole(kept)


def _appended(kept: list[Any], part: Any, rows: int) -> list[Any]:
    """The parts of a block: sparse parts as a list, dense parts copied to one array, so that no part is held twice."""
    if scipy.sparse.issparse(part):
        return [*kept, part]
    first = len(kept[0]) if kept else 0
    room: Any = kept[0].base if kept else np.empty((rows, part.shape[1]), part.dtype)
    room[first : first + len(part)] = part
    return [room[: first + len(part)]]


def _whole(kept: list[Any]) -> Any:
    return kept[0] if len(kept) == 1 else scipy.sparse.vstack(kept, format="csr")


def as_floats(values: Any, dtype: Any) -> Array:
    """Rows as a C-ordered array of `dtype`; a view where possible, which must not be written to."""
    return np.ascontiguousarray(values, dtype=dtype)


def float_dtype(name: str, dtypes: Iterable[Any]) -> np.dtype[Any]:
    """float32 where all of `dtypes` are float32, else float64; raises for a dtype that is not real.

    Examples
    --------
    >>> float_dtype("x", [np.dtype("int8"), np.dtype("float32")])
    dtype('float64')
    """
    dtypes = [np.dtype(dtype) for dtype in dtypes]
    for dtype in dtypes:
        if dtype.kind not in "fiub":
            raise FormatError(f"{name} has values of type {dtype}, not real numbers")
    single = bool(dtypes) and all(dtype == np.float32 for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


def check_shape(name: str, shape: Sequence[int]) -> tuple[int, int]:
    """Numbers of rows and columns of a table; raises where `shape` is not that of a table."""
    if len(shape) != 2:
        raise FormatError(f"{name} has shape {tuple(shape)}; a table of rows and columns is needed")
    if not 0 < shape[1] <= WIDEST:
        raise FormatError(f"{name} has {shape[1]} columns; 1 to {WIDEST} are supported")
    return int(shape[0]), int(shape[1])


def refuse_columns(name: str, kinds: dict[str, str]) -> None:
    """Raise for columns that are not numbers; `kinds` has their types by their names."""
    if kinds:
        listed = some_names(f"{column!r} ({kind})" for column, kind in kinds.items())
        raise FormatError(
            f"{name}: {'column' if len(kinds) == 1 else 'columns'} {listed}: not real numbers. To leave out "
            f"{some_names(map(repr, kinds))}, choose the others by gramless.open_source(path, columns=[...])"
        )


def choose_columns(name: str, columns: Any, n: int, names: tuple[str, ...] | None) -> list[int] | None:
    """Positions of `columns`, given as names or numbers, among `n`; None for all.

    Raises
    ------
    SourceError
        If there is no such column; the message names the columns that exist.
    """
    if columns is None:
        return None
    # reversed, so that of several columns with one name the first is chosen
    places = None if names is None else dict(zip(reversed(names), reversed(range(n)), strict=True))
    chosen = [_position(name, column, n, places) for column in columns]
    if not chosen:
        raise ValueError("columns=[] selects nothing; pass at least one column")
    for place, count in Counter(chosen).items():
        if count > 1:
            raise SourceError(f"{name}: {column_word(names, place)} is selected {count} times; pass it once")
    return chosen


def _position(name: str, column: Any, n: int, places: dict[str, int] | None) -> int:
    if isinstance(column, str):
        if places is None:
            raise SourceError(f"{name} has no column names; select {column!r} by its index, 0 to {n - 1}")
        if column not in places:
            raise SourceError(f"{name} has no column {column!r}; it has: {some_names(reversed(places))}")
        return places[column]
    if not -n <= int(column) < n:
        raise SourceError(f"{name} has no column {column}; it has {n}")
    return int(column) % n


def some_names(names: Iterable[str]) -> str:
    """Names for a message: the first twenty."""
    first = list(islice(names, 21))
    return ", ".join(first[:20]) + (", ..." if len(first) > 20 else "")


def chosen_names(names: tuple[str, ...] | None, chosen: list[int] | None) -> tuple[str, ...] | None:
    """Names of the columns that were chosen."""
    return names if names is None or chosen is None else tuple(names[i] for i in chosen)


def optional_import(module: str, what: str) -> Any:
    """Import an optional dependency; the error says how to install it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.split(".")[0]
        remedy = 'in the folder of gramless, run: pip install ".[io]"'
        raise ImportError(f"reading {what} needs {package}, which is not installed; {remedy}") from None
