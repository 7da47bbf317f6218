"""Delimited text files: split at line ends, parsed piece by piece with pyarrow; errors name lines and columns."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.data.formats.cells import (
    BOOLEAN,
    MINUS,
    MISSING,
    NUMBER,
    WAYS,
    doubt_in_words,
    find_doubt,
    find_fault,
    find_kind,
    find_numbers,
    looks_like_number,
)
from gramless.data.formats.dialect import find_layout, kinds_in_words
from gramless.data.formats.lines import opened, whole_lines
from gramless.data.formats.read_options import ReadOptions
from gramless.data.formats.registry import Format, formats
from gramless.data.formats.source import (
    Source,
    check_shape,
    choose_columns,
    chosen_names,
    column_word,
    optional_import,
    some_names,
)
from gramless.errors import FormatError, SourceError

_SUFFIXES = (".csv", ".tsv", ".txt")
_CELLS = 2**18  # cells that are searched for faults at a time
_WIDE = 4096  # most columns for pyarrow, which takes 9 kB for each column


class CsvSource(Source):
    """A ``.csv``, ``.tsv`` or ``.txt`` file of numbers; a first line that is not all numbers names the columns.

    ``.csv.gz`` and other gzip files are decompressed piece by piece. Encoding, delimiter, comments and the signs of
    numbers are found out from the first lines, where `options` do not say them. Columns of percentages are read as
    fractions, columns of ``true``, ``false``, ``yes`` and ``no`` as 1 and 0. Every line is a row: cells with line
    breaks are not supported.

    Parameters
    ----------
    path : Path
    columns : list of str or int, optional
        Columns to read; other columns may hold strings.
    options : ReadOptions, optional

    Attributes
    ----------
    guesses, notes
        See :class:`Source`.
    kinds : list of str or None
        What each column contains, by its first rows; None for strings.
    """

    def __init__(self, path: Path, columns: Any = None, options: ReadOptions | None = None) -> None:
        self.path, self.name = path, str(path)
        self._arrow = optional_import("pyarrow.csv", "CSV files")
        self._lib = optional_import("pyarrow", "CSV files")
        options = ReadOptions() if options is None else options
        self._given_columns, self._options = columns, options
        self._layout = layout = find_layout(path, options)
        self._missing = MISSING.union(options.na_values)
        first = layout.head[layout.first].decode()
        check_shape(self.name, (1, first.count(layout.delimiter) + 1))
        cells = layout.split([first])[0]
        headed = not self._is_row(cells)
        self._before = layout.first + headed  # lines before the first row
        self._begin = sum(map(len, layout.head[: self._before]))
        names = tuple(cell.strip() for cell in cells) if headed else None
        if names is not None and options.comment is None and names[0].startswith("#"):
            names = (names[0].lstrip("# "), *names[1:])
        if names is not None and len(set(names)) < len(names):
            raise FormatError(f"{path} has two columns named {Counter(names).most_common(1)[0][0]!r}; rename one")
        self._width = len(cells)
        try:
            self._chosen = choose_columns(self.name, columns, self._width, names)
        except SourceError as error:
            raise SourceError(f"{error}; {layout.title}") if layout.title else error from None
        self.feature_names = chosen_names(names, self._chosen)
        self._keep = list(range(self._width)) if self._chosen is None else self._chosen
        self.n_features = len(self._keep)
        self._settle(options)

    def _is_row(self, cells: Sequence[str]) -> bool:
        """Whether a first line has numbers, rather than names; a first name may be empty, a first number is not."""
        numbers = [looks_like_number(cell) or WAYS[0].reads([cell]) for cell in cells]
        found = zip(cells, numbers, strict=True)
        return any(numbers) and all(
            is_one or (cell.strip() and cell.strip() in self._missing) for cell, is_one in found
        )

    def _settle(self, options: ReadOptions) -> None:
        """Find out how numbers are written, and what each column holds, from the first rows."""
        rows = self._layout.split(
            self._layout.cleaned(b"".join(self._layout.head[self._before :])).decode().splitlines()
        )
        rows = [row for row in rows if len(row) == self._width]
        columns = [self._present([row[i].strip() for row in rows]) for i in self._keep]
        usual, self._numbers = options.ways[0], find_numbers(columns, options.ways)
        contents = zip(self._known_kinds(options), columns, strict=True)
        self.kinds = [kind or find_kind(cells, self._numbers) for kind, cells in contents]
        given = options.decimal is not None or options.thousands is not None
        plain = not given and self._numbers == WAYS[0]
        pointless = plain and not any(
            "." in cell for cells, kind in zip(columns, self.kinds, strict=True) if kind for cell in cells
        )
        # with commas between cells, a point is an English decimal point
        doubt = find_doubt(columns) if plain and self._layout.delimiter == ";" else {}
        self._undecided = pointless and self._layout.delimiter == ";"
        self._fault = self._diagnosis(rows, 0, doubt) if doubt or None in self.kinds else ""
        self._layout = replace(self._layout, head=[])  # a wide line takes memory
        signs = {name: getattr(self._numbers, name) for name in ("decimal", "thousands")}
        kinds, missing = sorted({str(kind) for kind in self.kinds}), sorted(options.na_values)
        known = {} if pointless else signs  # whole numbers do not show how others would be written
        self.read_options = ReadOptions(
            **known, na_values=options.na_values, kinds=tuple(kind or NUMBER for kind in self.kinds)
        )
        self.reading = f"{self._layout.delimiter!r} {self._layout.comment!r} {self._numbers} {kinds} {missing}"
        self.reading += f" from line {options.skip_lines + 1}" if options.skip_lines else ""
        self.guesses = self._layout.guesses | {k: sign for k, sign in signs.items() if sign != getattr(usual, k)}
        self.notes = kinds_in_words(list(map(self._short, range(self.n_features))), self.kinds)

    def _known_kinds(self, options: ReadOptions) -> Sequence[str | None]:
        """What the columns contain, as far as the options say it."""
        known = options.kinds
        if known is None or (len(known) != self.n_features and options.origin):
            return [None] * self.n_features  # another number of columns is refused by who knows what they are for
        if len(known) != self.n_features:
            raise FormatError(
                f"read_options has {len(known)} kinds for the {self.n_features} columns of {self.name}; pass one each"
            )
        return known

    def read_like(self, known: ReadOptions) -> CsvSource:
        options = self._options.completed(known)
        return self if options == self._options else CsvSource(self.path, self._given_columns, options)

    def _short(self, index: int) -> str:
        """The name of a column in a list of columns."""
        return self.column(index).removeprefix("column ")

    def _present(self, cells: Sequence[str]) -> list[str]:
        return [cell for cell in cells if cell not in self._missing]

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        if self._fault:
            next(self.texts(), None)  # a damaged gzip file is refused as such
            raise FormatError(self._fault)
        row = start
        for text in self.texts(start):
            try:
                block = self._parse(text)
            except ValueError as error:
                raise FormatError(self._first_fault(text, row) or f"{self.name}: {error}") from error
            if self._undecided and not start:  # a pass that is resumed has begun at row 0
                self._decide(text, block, row)
            row += len(block)
            yield block

    def _decide(self, text: bytes, block: Array, row: int) -> None:
        """Find out from the first number with a point, which may come late, whether the point is decimal."""
        plain = [place for place, kind in enumerate(self.kinds) if kind == NUMBER]
        broken = np.flatnonzero((np.nan_to_num(block[:, plain]) % 1 != 0).any(axis=1))
        if not len(broken):
            return
        first = int(broken[0])
        rows = list(islice(self._rows_of(text), first, first + max(1, _CELLS // self._width)))
        doubt = find_doubt([self._present([cells[i].strip() for cells in rows]) for i in self._keep])
        if doubt:
            raise FormatError(self._diagnosis(rows, row + first, doubt))
        self._undecided = False

    def _first_fault(self, text: bytes, row: int) -> str:
        """The message about the first rows that cannot be read, some rows at a time; empty where all can be read."""
        rows, count = self._rows_of(text), max(1, _CELLS // self._width)
        while chunk := list(islice(rows, count)):
            if message := self._diagnosis(chunk, row):
                return message
            row += len(chunk)
        return ""

    def texts(self, start: int = 0) -> Iterator[bytes]:
        """The lines from row `start` on in pieces, in UTF-8, without comments."""
        return whole_lines(self.path, self._begin, start, self._layout.encoding, self._layout.cleaned)

    def strings(self) -> list[str]:
        """All cells of the first chosen column, as they are."""
        place = self._keep[0]
        return [row[place].strip() for text in self.texts() for row in self._rows_of(text) if len(row) > place]

    def count(self) -> int:
        return sum(sum(bool(line.strip()) for line in text.split(b"\n")) for text in self.texts())

    def place(self, row: int) -> str:
        """The line number of a row in an editor; reads the file up to this row."""
        clean = self._layout.cleaned
        with opened(self.path, self._layout.encoding) as file:
            file.read(self._begin)
            for number, line in enumerate(file, self._before + 1):
                row -= bool(clean(line).strip())
                if row < 0:
                    return f"line {number}"
        raise FormatError(f"{self.name} has become shorter while it was read")

    def column(self, index: int) -> str:
        return column_word(self.feature_names, index, self._keep[index])

    def _rows_of(self, text: bytes) -> Iterator[list[str]]:
        try:
            lines = io.StringIO(text.decode())
        except UnicodeDecodeError as error:
            raise FormatError(
                f'{self.name} is not UTF-8 text: {error}; pass read_options={{"encoding": ...}}, or save it as UTF-8'
            ) from None
        return (row for row in csv.reader(lines, delimiter=self._layout.delimiter) if row)

    def _parse(self, text: bytes) -> Any:
        return self._parse_wide(text) if self._width > _WIDE else self._parse_narrow(text)

    def _parse_wide(self, text: bytes) -> Any:
        """Parse line by line: for so many columns, pyarrow's overhead per column would exceed the data."""
        rows = []
        plain = self._numbers == WAYS[0] and set(self.kinds) == {NUMBER}
        for cells in self._rows_of(text):
            if len(cells) != self._width:
                raise ValueError(f"a line has {len(cells)} fields, but the first has {self._width}")
            chosen = [cells[i] for i in self._keep]
            if plain and not {"_", MINUS} & set("".join(chosen)):
                read = ["nan" if cell.strip() in self._missing else cell for cell in chosen]
                rows.append(np.array(read, dtype=np.float64))
            else:
                found = zip(chosen, self.kinds, strict=True)
                rows.append(np.array([self._value(cell, kind) for cell, kind in found]))
        return np.array(rows).reshape(len(rows), len(self._keep))

    def _value(self, cell: str, kind: str | None) -> float:
        return np.nan if cell.strip() in self._missing else self._numbers.read(cell, kind or NUMBER)

    def _parse_narrow(self, text: bytes) -> Any:
        plain = [kind == NUMBER and not self._numbers.thousands for kind in self.kinds]
        try:
            table = self._table(text, plain)
        except self._lib.ArrowInvalid:  # a missing value with blanks around it, for one
            plain = [False] * self.n_features
            table = self._table(text, plain)
        block = np.empty((table.num_rows, self.n_features))
        for j, i in enumerate(self._keep):
            column = table.column(str(i))
            block[:, j] = column.to_numpy() if plain[j] else self._values_of(column, self.kinds[j])
        return block

    def _table(self, text: bytes, plain: Sequence[bool]) -> Any:
        """The chosen columns as a table of pyarrow: numbers where they are `plain`, otherwise strings."""
        module, types = self._arrow, (self._lib.string(), self._lib.float64())
        wanted = {str(i): types[is_plain] for i, is_plain in zip(self._keep, plain, strict=True)}
        return module.read_csv(
            self._lib.BufferReader(self._native(text)),
            read_options=module.ReadOptions(
                column_names=[str(i) for i in range(self._width)], block_size=max(len(text), 1)
            ),
            parse_options=module.ParseOptions(delimiter=self._layout.delimiter, ignore_empty_lines=True),
            convert_options=module.ConvertOptions(
                column_types=wanted,
                include_columns=list(wanted),
                null_values=list(self._missing),
                decimal_point=self._numbers.decimal,
            ),
        )

    def _native(self, text: bytes) -> Any:
        """A copy in memory of pyarrow's own.

        Its threads read ahead and outlive the call: one that has to ask for Python's lock, for a file or a buffer of
        Python's, while the interpreter ends, ends the process by ``std::terminate``.
        """
        buffer = self._lib.allocate_buffer(len(text))
        memoryview(buffer).cast("B")[:] = text
        return buffer

    def _values_of(self, column: Any, kind: str | None) -> Array:
        """The numbers of a column of strings; every string that occurs is read once."""
        found = column.combine_chunks().dictionary_encode()
        values = np.array([self._value(cell, kind) for cell in found.dictionary.to_pylist()], dtype=np.float64)
        numbers: Array = values[found.indices.to_numpy()]
        return numbers

    def _diagnosis(self, rows: list[list[str]], first: int, doubt: Mapping[int, str] = MappingProxyType({})) -> str:
        """The message about a line of uneven length, or about all columns that are not numbers; empty for neither."""
        message = self._faults(rows, first, doubt)
        return f"{self.name}: {self._layout.title}" if message and self._layout.title else message

    def _faults(self, rows: list[list[str]], first: int, doubt: Mapping[int, str]) -> str:
        for number, row in enumerate(rows):
            if len(row) != self._width:
                given = self._options.delimiter is not None
                delimiter = "" if given else f"; {self._layout.delimiter!r} was taken for the delimiter"
                where = f"{self.name}, {self.place(first + number)}"
                return f"{where}: has {len(row)} fields, but the first line has {self._width}{delimiter}"
        columns = [[row[i].strip() for row in rows] for i in self._keep]
        present = [self._present(cells) for cells in columns]
        kinds = [kind or NUMBER for kind in self.kinds]
        numeric = [(cells, kind) for cells, kind in zip(present, kinds, strict=True) if kind != BOOLEAN]
        good = [cells for cells, kind in numeric if self._numbers.reads(cells, kind)]
        ways = [way for way in WAYS if all(way.reads([text.removesuffix("%") for text in cells]) for cells in good)]
        faults: dict[str, list[tuple[int, int, str]]] = {}
        for place, cells in enumerate(present):
            fault = find_fault(cells, self._numbers, kinds[place], ways)
            if fault is not None:
                cell = cells[fault[0]]
                faults.setdefault(fault[1], []).append((place, first + columns[place].index(cell), cell))
        for place, found in doubt.items():
            at = [cell.removesuffix("%") for cell in columns[place]].index(found)
            faults.setdefault(doubt_in_words(next(iter(doubt.values()))), []).append(
                (place, first + at, columns[place][at])
            )
        return self._in_words(faults)

    def _in_words(self, faults: dict[str, list[tuple[int, int, str]]]) -> str:
        """What to do about columns, their rows and cells, by remedy."""
        places = sorted(place for found in faults.values() for place, _, _ in found)
        if not places:
            return ""
        items = []
        for remedy, found in faults.items():
            place, row, cell = found[0]
            others = some_names(self._short(other) for other, _, _ in found[1:])
            also = (
                f"; so do {others}"
                if len(found) > 1 and remedy.startswith("has")
                else f"; so is {others}"
                if others
                else ""
            )
            items.append(f"{self.column(place)}, {self.place(row)}: {cell[:40]!r} {remedy}{also}")
        text = f"{self.name}: {len(places)} of {self.n_features} columns cannot be read as numbers. {'. '.join(items)}"
        needless = sorted(place for remedy, found in faults.items() if "leave out" in remedy for place, _, _ in found)
        if needless:
            chosen = some_names(map(self._short, needless))
            text += f". To leave out {chosen}, choose the others by gramless.open_source(path, columns=[...])"
        return text + (f"; its columns are read like {self._options.origin}" if self._options.origin else "")


formats.register("csv")(
    Format(CsvSource, (*_SUFFIXES, *(f"{suffix}.gz" for suffix in _SUFFIXES)), dialects=True, keyed=False),
)
