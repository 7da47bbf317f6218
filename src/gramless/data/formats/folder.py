"""A folder of files as one table, in the order of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gramless.data.formats.read_options import ReadOptions
from gramless.data.formats.source import Source, block_name
from gramless.errors import SourceError

Opener = Callable[[Path, Any], Source]


class FolderSource(Source):
    """The rows of several files, one after another; each file must have the columns of the first file.

    Numbers of CSV files must be written as in the first file, and columns of percentages be percentages in all files.

    Parameters
    ----------
    path : Path
    files : list of Path
        Files, in the order of their rows.
    opener : callable
        ``opener(path, columns)`` returns the source of one file.
    columns : list of str or int, optional
    """

    def __init__(self, path: Path, files: list[Path], opener: Opener, columns: Any = None) -> None:
        first = opener(files[0], columns)
        wanted = columns if first.feature_names is None else list(first.feature_names)
        self._join(path, [first, *(self._agreeing(opener, file, wanted, first) for file in files[1:])])

    def _join(self, path: Path, parts: list[Source]) -> None:
        self.path, self.name = path, str(path)
        first = parts[0]
        self.read_options = first.read_options
        if first.read_options is not None:
            parts = self._alike(parts, first.read_options)
        self._parts = parts
        self.n_features, self.feature_names = first.n_features, first.feature_names
        counts = [part.n_rows for part in self._parts]
        known = [count for count in counts if count is not None]
        self.n_rows = sum(known) if len(known) == len(counts) else None
        self.notes, self.reading = first.notes, first.reading
        self.guesses = {name: sign for part in reversed(self._parts) for name, sign in part.guesses.items()}
        single = all(part.dtype == np.float32 for part in self._parts)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    @staticmethod
    def _agreeing(opener: Opener, file: Path, wanted: Any, first: Source) -> Source:
        part = opener(file, wanted)
        if part.n_features != first.n_features or part.feature_names != first.feature_names:
            raise SourceError(
                f"{part.name} has {part.n_features} columns {part.feature_names or ''}, but {first.name} has "
                f"{first.n_features} {first.feature_names or ''}"
            )
        return part

    def _alike(self, parts: list[Source], settled: ReadOptions) -> list[Source]:
        """The files, each read like those before it, as far as they show how numbers are written."""
        made, origin = parts[:1], f"those of {parts[0].name}"
        for part in parts[1:]:
            made.append(part.read_like(replace(settled, origin=origin)))
            found = made[-1].read_options
            if settled.decimal is settled.thousands is None and found is not None and found.decimal is not None:
                settled, origin = (
                    replace(settled, decimal=found.decimal, thousands=found.thousands),
                    f"those of {part.name}",
                )
        self.read_options = settled
        return made

    def read_like(self, known: ReadOptions) -> FolderSource:
        """See :class:`Source`."""
        made = FolderSource.__new__(FolderSource)
        made._join(self.path, [part.read_like(known) for part in self._parts])
        return made

    def count(self) -> int:
        return sum(part.count() for part in self._parts)

    def place(self, row: int) -> str:
        """The place of a row in its file, and the name of the file."""
        for part in self._parts:
            count = part.count()
            if row < count:
                return f"{part.place(row)} of {part.name}"
            row -= count
        raise SourceError(f"{self.name} has become shorter while it was read")

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        row = 0
        for part in self._parts:
            if row < start and row + part.count() <= start:
                row += part.count()
                continue
            inside = max(0, start - row)
            row += inside
            for piece in part.checked_pieces(rows, inside):
                row += piece.shape[0]
                yield np.asarray(piece, dtype=self.dtype)
        if start > row:
            raise SourceError(f"{self.name} ends before {block_name(start, rows)}")
