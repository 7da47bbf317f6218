"""Delimited text files: split at line ends, parsed piece by piece with pyarrow; errors name line and column."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gramless.data.formats.lines import first_line, opened, whole_lines
from gramless.data.formats.registry import Format, formats
from gramless.data.formats.source import Source, block_name, check_shape, choose_columns, chosen_names, optional_import
from gramless.errors import FormatError

_SUFFIXES = (".csv", ".tsv", ".txt")
_WIDE = 4096  # most columns for pyarrow, which takes 9 kB for each column


class CsvSource(Source):
    """A ``.csv``, ``.tsv`` or ``.txt`` file of numbers; a first line that is not all numbers names the columns.

    ``.csv.gz`` and other gzip files are decompressed piece by piece.

    The separator is the most frequent of comma, semicolon and tab in the first line. Every line is a row: cells with
    line breaks are not supported.

    Parameters
    ----------
    path : Path
    columns : list of str or int, optional
        Columns to read; other columns may hold strings.
    """

    def __init__(self, path: Path, columns: Any = None) -> None:
        self.path, self.name = path, str(path)
        self._arrow = optional_import("pyarrow.csv", "CSV files")
        self._lib = optional_import("pyarrow", "CSV files")
        with opened(path) as file:
            bom = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
            file.seek(bom)
            first = first_line(file, path)
            if not first.strip():
                raise FormatError(f"{path} is empty, or begins with an empty line")
            text = _decoded(first, self.name)
            self._separator = max(",;\t", key=text.count)
            check_shape(self.name, (1, text.count(self._separator) + 1))
            cells = next(csv.reader([text], delimiter=self._separator))
            headed = not all(_is_number(cell) for cell in cells)
            self._begin = file.tell() if headed else bom
        names = tuple(cell.strip() for cell in cells) if headed else None
        if names is not None and len(set(names)) < len(names):
            raise FormatError(f"{path} has two columns named {Counter(names).most_common(1)[0][0]!r}; rename one")
        self._width = len(cells)
        self._chosen = choose_columns(self.name, columns, self._width, names)
        self.feature_names = chosen_names(names, self._chosen)
        self._keep = list(range(self._width)) if self._chosen is None else self._chosen
        self.n_features = len(self._keep)
        self._lines_before = 2 if headed else 1  # line number of row 0 in an editor

    def pieces(self, rows: int, start: int = 0) -> Iterator[Any]:
        row = start
        for text in whole_lines(self.path, self._begin, start):
            try:
                block = self._parse(text)
            except ValueError as error:
                raise FormatError(self._diagnosis(text, row, rows) or f"{self.name}: {error}") from error
            row += len(block)
            yield block

    def count(self) -> int:
        return sum(
            sum(bool(line.strip()) for line in text.split(b"\n")) for text in whole_lines(self.path, self._begin, 0)
        )

    def place(self, row: int) -> str:
        """The line number of a row in an editor."""
        return f"line {row + self._lines_before}"

    @property
    def layout(self) -> tuple[int, str, int]:
        """Position of the first chosen column, the separator, and the byte offset of the first row."""
        return self._keep[0], self._separator, self._begin

    def _parse(self, text: bytes) -> Any:
        return self._parse_wide(text) if self._width > _WIDE else self._parse_narrow(text)

    def _parse_wide(self, text: bytes) -> Any:
        """Parse line by line: for so many columns, pyarrow's overhead per column would exceed the data."""
        missing, rows = frozenset(self._arrow.ConvertOptions().null_values), []
        for cells in csv.reader(io.StringIO(_decoded(text, self.name)), delimiter=self._separator):
            if not cells:
                continue
            if len(cells) != self._width:
                raise ValueError(f"a line has {len(cells)} cells, where the first has {self._width}")
            chosen = [cells[i] for i in self._keep]
            rows.append(np.array(["nan" if cell in missing else cell for cell in chosen], dtype=np.float64))
            if "_" in "".join(chosen):
                raise ValueError("numbers have no _")
        return np.array(rows).reshape(len(rows), len(self._keep))

    def _parse_narrow(self, text: bytes) -> Any:
        csv_module, arrow = self._arrow, self._lib
        keys = [str(i) for i in range(self._width)]
        wanted = [keys[i] for i in self._keep]
        table = csv_module.read_csv(
            io.BytesIO(text),
            read_options=csv_module.ReadOptions(column_names=keys, block_size=max(len(text), 1)),
            parse_options=csv_module.ParseOptions(delimiter=self._separator, ignore_empty_lines=True),
            convert_options=csv_module.ConvertOptions(
                column_types=dict.fromkeys(wanted, arrow.float64()),
                include_columns=list(dict.fromkeys(wanted)),
            ),
        )
        block = np.empty((table.num_rows, len(wanted)))
        for j, key in enumerate(wanted):
            block[:, j] = table.column(key).to_numpy()
        return block

    def _diagnosis(self, text: bytes, row: int, rows: int) -> str:
        """The message with line and column of a parse error; computed only after pyarrow has failed, as it is slow."""
        names = dict(enumerate(self.feature_names or ()))
        for cells in csv.reader(io.StringIO(_decoded(text, self.name)), delimiter=self._separator):
            if not cells:
                continue
            where = f"{self.name}, {block_name(row, rows)}, {self.place(row)}"
            if len(cells) != self._width:
                return f"{where}: has {len(cells)} cells, where the first line has {self._width}"
            for place, i in enumerate(self._keep):
                if cells[i].strip() and not _is_number(cells[i]):
                    column = repr(names[place]) if names else i
                    return (
                        f"{where}: column {column} has the text {cells[i][:40]!r}, not a number; choose columns of "
                        "numbers by gramless.open_source(path, columns=[...])"
                    )
            row += 1
        return ""


def _decoded(text: bytes, name: str) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name} is not UTF-8 text: {error}; save it as UTF-8") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


formats.register("csv")(
    Format(lambda path, columns, key: CsvSource(path, columns), (*_SUFFIXES, *(f"{suffix}.gz" for suffix in _SUFFIXES)))
)
