"""Where the cells of a text file are: its encoding, delimiter and comments, as the caller says, or as they look."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gramless.data.formats.cells import BOOLEAN, MISSING, PERCENT, looks_like_number
from gramless.data.formats.lines import first_bytes, first_lines
from gramless.data.formats.read_options import ReadOptions, codec_name
from gramless.errors import FormatError

_DELIMITERS = ",;\t|"
_SEEN = 200  # lines in which the delimiter must be consistent
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True)
class Layout:
    """Where the cells of a file are, before their columns are chosen.

    Attributes
    ----------
    encoding : str
        ``"utf-8"``, or an encoding that the file is converted from while it is read.
    delimiter : str
        A space stands for any number of blanks.
    comment : str
        Empty for none.
    head : list of bytes
        First lines of the file in UTF-8.
    first : int
        Position in `head` of the line with the names of columns, or of the first row.
    guesses : dict of str to str
        Options that were found out rather than given, where they are unusual.
    title : str
        What to do about a first line with fewer cells than those that follow; empty where there is none.
    """

    encoding: str
    delimiter: str
    comment: str
    head: list[bytes]
    first: int
    guesses: dict[str, str]
    title: str = ""

    def split(self, lines: Sequence[str]) -> list[list[str]]:
        """Cells of lines; lines without cells are left out."""
        return _split(lines, self.delimiter)

    def cleaned(self, text: bytes) -> bytes:
        """Lines with comments made empty, and with one blank between columns that are aligned by blanks."""
        if self.comment and self.comment.encode() in text:
            text = re.sub(rb"(?m)^[ \t]*" + re.escape(self.comment.encode()) + rb"[^\n]*", b"", text)
        if self.delimiter == " ":
            text = re.sub(rb"(?m)^ +| +(?=\r?$)", b"", re.sub(rb"[ \t]+", b" ", text))
        return text


def find_layout(path: Path, options: ReadOptions) -> Layout:
    """Encoding, comments and delimiter of a file, from its first lines.

    Raises
    ------
    FormatError
        If the file is empty, or is not text.
    """
    encoding, head, guesses = _read_head(path, options.encoding, options.skip_lines)
    begin = _first_row(head, "", options.skip_lines)
    if begin >= len(head):
        after = f" after {options.skip_lines} lines" if options.skip_lines else ""
        raise FormatError(f"{path} is empty{after}")
    comment = options.comment
    if comment is None:
        comment = "#" if head[begin].startswith(b"#") else ""
    first = _first_row(head, comment, begin)
    if first == len(head):
        raise FormatError(f'{path} has comments only in its first lines; pass read_options={{"comment": ""}}')
    lines = [line.decode() for line in head[first : first + _SEEN]]
    lines = [line for line in lines if line.strip() and not (comment and line.lstrip().startswith(comment))]
    delimiter = options.delimiter or find_delimiter(lines, "\t" if ".tsv" in path.suffixes else ",")
    if options.comment is None and comment:
        before = [len(cells) for cells in _split([head[first - 1].decode()], delimiter)]
        if before > [1] and before == [len(_split(lines[:1], delimiter)[0])]:
            first -= 1  # the last line of a head of comments has the names of the columns
        if first > begin:
            guesses["comment"] = comment
    if options.delimiter is None and delimiter not in ",\t":
        guesses["delimiter"] = delimiter
    comment = comment if first > begin else options.comment or ""
    possible = delimiter if options.delimiter or delimiter in lines[0] else _DELIMITERS
    title = _title([line.decode() for line in head[: first + _SEEN]], first, possible)
    return Layout(encoding, delimiter, comment, head, first, guesses, title)


def _first_row(head: Sequence[bytes], comment: str, begin: int) -> int:
    """Position, from `begin` on, of the first line that is neither a comment nor empty."""
    for number, line in enumerate(head[begin:], begin):
        if line.strip() and not (comment and line.lstrip().startswith(comment.encode())):
            return number
    return len(head)


def _title(head: Sequence[str], first: int, delimiters: str) -> str:
    """What to do about a line `first` that has fewer cells than most lines that follow; empty where it has not.

    Examples
    --------
    >>> _title(["Export", "", "a;b", "1;2", "3;4"], 0, ",;")  # doctest: +ELLIPSIS
    "line 1 has 1 fields, but line 3 has 2, separated by ';'; pass read_options={'skip_lines': 2} if ..."
    """
    for delimiter in delimiters:
        if not any(line.count(delimiter) > head[first].count(delimiter) for line in head[first:]):
            continue
        widths = {i: len(cells) for i in range(first, len(head)) for cells in _split([head[i]], delimiter)}
        usual, count = Counter(widths.values()).most_common(1)[0]
        if usual > widths[first] and 2 * count > len(widths):
            begin = next(i for i, width in widths.items() if width == usual)
            return (
                f"line {first + 1} has {widths[first]} fields, but line {begin + 1} has {usual}, separated by "
                f"{delimiter!r}; pass read_options={{'skip_lines': {begin}}} if the table begins there"
            )
    return ""


def _read_head(path: Path, encoding: str | None, skip: int) -> tuple[str, list[bytes], dict[str, str]]:
    """The encoding, the first lines in UTF-8, and the encoding once more where it was guessed."""
    guesses: dict[str, str] = {}
    if encoding is not None:
        encoding = codec_name(encoding)
    elif first_bytes(path, 2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    if encoding not in (None, "utf-8"):
        return encoding or "", first_lines(path, encoding or "", skip), guesses
    head = first_lines(path, "utf-8", skip)
    try:
        text = b"".join(head).decode()
    except UnicodeDecodeError as error:
        remedy = f'{path} is not UTF-8 text: {error}; pass read_options={{"encoding": ...}}, or save it as UTF-8'
        if encoding is not None:
            raise FormatError(remedy) from None
        try:
            head = first_lines(path, "cp1252", skip)
        except FormatError:
            raise FormatError(remedy) from None
        text, encoding = b"".join(head).decode(), "cp1252"
        if _CONTROLS.search(text):
            raise FormatError(remedy) from None
        guesses["encoding"] = encoding
    if "\0" in text:
        raise FormatError(
            f'{path} has zero bytes: it is not text, or UTF-16 without a mark; pass read_options={{"encoding": '
            '"utf-16-le"} then'
        )
    return encoding or "utf-8", head, guesses


def find_delimiter(lines: Sequence[str], usual: str = ",") -> str:
    """What separates the cells of lines: every line has the same number of cells, and most cells look like numbers.

    Parameters
    ----------
    lines : list of str
    usual : str
        The delimiter of lines that have no delimiter at all.

    Examples
    --------
    >>> find_delimiter(["a|b", "1,5|2"]), find_delimiter(["1,5;2,5", "2,5;1"]), find_delimiter(["x  y", "1   2"])
    ('|', ';', ' ')
    """
    candidates = [delimiter for delimiter in dict.fromkeys(usual + _DELIMITERS) if delimiter in lines[0]]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates and " " in lines[0] and not any('"' in line for line in lines):
        candidates = [" "]
    found: dict[str, tuple[float, int]] = {}
    for delimiter in candidates:
        rows = _split(lines, delimiter)
        width = len(rows[0])
        if width > 1 and all(len(row) == width for row in rows):
            data = [cell for row in rows[1:] or rows for cell in row]
            found[delimiter] = sum(map(_is_data, data)) / len(data), width
    if found.get(" ", (1.0, 0))[0] < 1:  # blanks inside of texts
        del found[" "]
    if not found:
        return max(dict.fromkeys(usual + _DELIMITERS), key=lines[0].count)
    return max(found, key=found.__getitem__)


def _is_data(cell: str) -> bool:
    return looks_like_number(cell) or cell.strip() in MISSING


def _split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    if delimiter == " ":
        lines = [" ".join(line.split()) for line in lines]
    return [row for row in csv.reader(lines, delimiter=delimiter) if row]


def kinds_in_words(names: Sequence[str], kinds: Sequence[str | None]) -> str:
    """Which columns hold percentages and booleans, in words; empty for none."""
    said = {PERCENT: "percentages as fractions", BOOLEAN: "true or yes as 1, false or no as 0"}
    return "; ".join(
        f"{words} ({_few([name for name, found in zip(names, kinds, strict=True) if found == kind])})"
        for kind, words in said.items()
        if kind in kinds
    )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
