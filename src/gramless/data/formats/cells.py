"""Cells of text files as numbers: how they are written, what a column holds, and what to do where it holds none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

#: Cells that stand for a missing value.
MISSING = frozenset(
    [
        *("", "?", "-", "--", ".", "NA", "na", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A", "#VALUE!"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
        *("NULL", "Null", "null", "NONE", "None", "none"),
    ]
)
BOOLEANS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}  #: in lower case
KINDS = NUMBER, PERCENT, BOOLEAN = "number", "percent", "boolean"  #: what a column of numbers may hold
_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2009"), " ")  # as separators of thousands
_SIGNS = "[.,' \u00a0\u202f\u2009]"
MINUS = "\u2212"  #: a minus that is no hyphen, as word processors and some plotting libraries write it
_MINUS = re.compile(MINUS + " ?")
_LOOKS_LIKE = re.compile(rf"({MINUS} ?|[+-])?{_SIGNS}?\d(\d|{_SIGNS})*([eE][+{MINUS}-]?\d+)?\s*%?")
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?|\d{1,2}:\d\d(:\d\d.*)?")
_NUMBER = r"[+-]?\d[\d.,' ]*"
_UNIT = re.compile(  # $5 or EUR 5, but not the identifier p5; 5 kg or 5kg
    rf"(?P<before>[^\w\s+.,'-]{{1,3}}\s*|[^\W\d_]{{1,3}}\s+){_NUMBER}|{_NUMBER}(?P<after>[^\d\s.,'%]{{1,5}})"
)
_UNITS = 3  # a column with more different ones has identifiers


@dataclass(frozen=True)
class Numbers:
    """How the numbers of a file are written.

    Attributes
    ----------
    decimal : str
        ``"."`` or ``","``.
    thousands : str
        Separator of thousands; empty for none. A space stands for no-break spaces, too.

    Examples
    --------
    >>> Numbers(",", ".").value("1.234,5"), Numbers(".", " ").value("12 000")
    (1234.5, 12000.0)
    """

    decimal: str = "."
    thousands: str = ""

    @cached_property
    def _grouped(self) -> re.Pattern[str]:
        signs = re.escape(self.thousands), re.escape(self.decimal)
        return re.compile(r"[+-]?[1-9]\d{{0,2}}({}\d{{3}})+({}\d*)?([eE][+-]?\d+)?".format(*signs))

    def value(self, cell: str) -> float:
        """The number in a cell; raises ValueError where the cell is not a number."""
        cell = plain_minus(cell.strip())
        if self.thousands:
            cell = cell.translate(_SPACES)
            if self.thousands in cell:
                if not self._grouped.fullmatch(cell):
                    raise ValueError(f"{cell!r} is not a number with {self.thousands!r} between thousands")
                cell = cell.replace(self.thousands, "")
        if self.decimal != ".":
            if "." in cell:
                raise ValueError(f"{cell!r} has a point, where the decimal sign is {self.decimal!r}")
            cell = cell.replace(self.decimal, ".")
        if "_" in cell:
            raise ValueError(f"{cell!r} has _, which numbers do not have")
        return float(cell)

    def read(self, cell: str, kind: str = NUMBER) -> float:
        """The value of a cell of a column that holds numbers, percentages (as fractions) or booleans (as 1 and 0)."""
        if kind == BOOLEAN:
            word = cell.strip().lower()
            if word not in BOOLEANS:
                raise ValueError(f"{cell!r} is not one of {', '.join(BOOLEANS)}")
            return BOOLEANS[word]
        if kind == PERCENT:
            number, sign, rest = cell.partition("%")
            if not sign or rest.strip():
                raise ValueError(f"{cell!r} is no percentage")
            return self.value(number) / 100
        return self.value(cell)

    def reads(self, cells: Sequence[str], kind: str = NUMBER) -> bool:
        """Whether all cells can be read."""
        if kind != NUMBER or self.thousands:
            return self.first_unread(cells, kind) is None
        text = plain_minus("\n".join(cells))  # cells are parts of lines
        if "_" in text or (self.decimal != "." and "." in text):
            return False
        try:
            for cell in text.replace(self.decimal, ".").split("\n") if cells else ():
                float(cell)
        except ValueError:
            return False
        return True

    def first_unread(self, cells: Sequence[str], kind: str = NUMBER) -> int | None:
        """Position of the first cell that cannot be read; None where all can be read."""
        for position, cell in enumerate(cells):
            try:
                self.read(cell, kind)
            except ValueError:
                return position
        return None

    def proved_by(self, columns: Sequence[Sequence[str]]) -> bool:
        """Whether a point or comma between thousands cannot be a decimal sign: it is there twice, or with the other."""
        if self.thousands not in (",", "."):
            return True
        return any(
            cell.count(self.thousands) > 1 or (self.thousands in cell and self.decimal in cell)
            for cells in columns
            for cell in cells
        )


#: Ways to write numbers, the usual one first.
_GROUPED = Numbers(",", ".")
WAYS = (Numbers(), Numbers(","), *(Numbers(".", sign) for sign in ", '"), *(Numbers(",", sign) for sign in ". '"))


def plain_minus(text: str) -> str:
    """The text with hyphens in place of the minus of typesetting, and of a blank after it."""
    return _MINUS.sub("-", text) if MINUS in text else text


def looks_like_number(cell: str) -> bool:
    """Whether a cell has digits and the signs that go with them only: a number in some way of writing, or a date.

    Examples
    --------
    >>> looks_like_number("1.234,5"), looks_like_number("7 %"), looks_like_number("x7")
    (True, True, False)
    """
    return _LOOKS_LIKE.fullmatch(cell.strip()) is not None


def find_kind(cells: Sequence[str], numbers: Numbers) -> str | None:
    """What a column holds, without its missing cells: NUMBER, PERCENT, BOOLEAN, or None for a column of other text."""
    for kind in KINDS:
        if numbers.reads(cells, kind):
            return kind
    return None


def find_numbers(columns: Sequence[Sequence[str]], ways: Sequence[Numbers] = WAYS) -> Numbers:
    """The way in which numbers are written, where only one way is possible; otherwise the first of `ways`.

    Parameters
    ----------
    columns : list of list of str
        Cells of each column, without missing ones.
    ways : list of Numbers

    Examples
    --------
    >>> find_numbers([["92,5", "7"], ["setosa", "virginica"]])
    Numbers(decimal=',', thousands='')
    >>> find_numbers([["1,234"]])  # 1234 or 1.234
    Numbers(decimal='.', thousands='')
    """
    usual = ways[0]
    columns = [[cell.removesuffix("%") for cell in cells] for cells in columns]
    unread = [cells for cells in columns if not usual.reads(cells)]
    signs = set("".join("".join(cells) for cells in unread).translate(_SPACES))
    ways = [usual, *(way for way in ways[1:] if not way.thousands or way.thousands in signs)]
    others = [cells for cells in unread if any(way.reads(cells) for way in ways)]
    if not others:
        return usual
    voting = [*others, *(cells for cells in columns if usual.reads(cells))]
    possible = [way for way in ways if all(way.reads(cells) for cells in voting)]
    results = [[way.value(cell) for cells in voting for cell in cells] for way in possible]
    certain = possible and all(values == results[0] for values in results) and possible[0].proved_by(voting)
    return possible[0] if certain else usual


def find_doubt(columns: Sequence[Sequence[str]]) -> dict[int, str]:
    """By column, the first number with a point, where all points may be decimal or between thousands; else empty.

    Parameters
    ----------
    columns : list of list of str
        Cells of each column, without missing ones.

    Examples
    --------
    >>> find_doubt([["850", "1.234"], ["x"]]), find_doubt([["850", "1.234"], ["0.5"]]), find_doubt([["0.123"]])
    ({0: '1.234'}, {}, {})
    """
    numeric = {place: [cell.removesuffix("%") for cell in cells] for place, cells in enumerate(columns)}
    numeric = {place: cells for place, cells in numeric.items() if WAYS[0].reads(cells)}
    if not all(_GROUPED.reads(cells) for cells in numeric.values()):
        return {}
    found = {place: next((cell for cell in cells if "." in cell), "") for place, cells in numeric.items()}
    return {place: cell for place, cell in found.items() if cell}


def doubt_in_words(cell: str) -> str:
    """What a number may be that :func:`find_doubt` has found, and the options that say which."""
    values = WAYS[0].value(cell), _GROUPED.value(cell)
    return 'is {:.12g} with read_options={{"decimal": "."}}, or {:.12g} with read_options={{"thousands": "."}}'.format(
        *values
    )


def find_fault(
    cells: Sequence[str], numbers: Numbers, kind: str | None, ways: Sequence[Numbers] = WAYS
) -> tuple[int, str] | None:
    """Position of the first cell that cannot be read, and what to do; None where all can be read.

    Parameters
    ----------
    cells : list of str
        Cells of a column, without missing ones.
    numbers : Numbers
    kind : str or None
        What the column holds, as :func:`find_kind` found it in the first rows.
    ways : list of Numbers
        Ways of writing numbers that the other columns allow.

    Examples
    --------
    >>> find_fault(["7", "92,5"], Numbers(), NUMBER)
    (1, 'is 92.5 with read_options={"decimal": ","}')
    """
    position = numbers.first_unread(cells, kind or NUMBER)
    if position is None:
        return None
    cell = cells[position].strip()
    found = find_kind(cells, numbers)
    if kind in KINDS and found not in (None, kind):  # columns of numbers are read in one way, here and in other files
        return position, _MIXED[found, kind] if (found, kind) in _MIXED else _MIXED[kind, found]
    return position, _remedy(cells, cell, numbers, ways)


_MIXED = {
    (NUMBER, PERCENT): "is in a column of percentages and other numbers: write all of them in one way",
    (NUMBER, BOOLEAN): "is in a column of numbers and words such as yes: write all of them in one way",
    (PERCENT, BOOLEAN): "is in a column of percentages and words such as yes: write all of them in one way",
}


def _remedy(cells: Sequence[str], cell: str, numbers: Numbers, ways: Sequence[Numbers]) -> str:
    words = [text.strip() for text in cells if not looks_like_number(text)]
    if _DATE.fullmatch(cell):
        return "is a date or a time: turn it into a number, such as days, or leave out the column"
    if not words:
        return _other_ways(cells, cell, numbers, ways)
    if _UNIT.fullmatch(cell):
        found = [unit for unit in map(_UNIT.fullmatch, words) if unit is not None]
        if len({(unit["before"] or unit["after"]).strip() for unit in found}) <= _UNITS:
            return "has a unit: write the numbers alone, or leave out the column"
    if 2 * len(words) < len(cells) and len(set(words)) <= 3:
        listed = ", ".join(f'"{text}"' for text in sorted(set(words)))
        return f'is among numbers: pass read_options={{"na_values": [{listed}]}} if it stands for a missing value'
    return "is text: encode it as numbers, such as 0 and 1 for each category, or leave out the column"


def _other_ways(cells: Sequence[str], cell: str, numbers: Numbers, ways: Sequence[Numbers]) -> str:
    """The options with which cells of digits and signs can be read."""
    signs = sum("%" in text for text in cells)
    if 0 < signs < len(cells):
        return _MIXED[NUMBER, PERCENT]
    digits = [text.replace("%", "") for text in cells]
    found: dict[float, str] = {}
    for way in ways:
        if way.reads(digits):
            given = [f'"decimal": "{way.decimal}"'] if way.decimal != numbers.decimal else []
            given += [f'"thousands": "{way.thousands}"'] if way.thousands != numbers.thousands else []
            found.setdefault(way.value(cell.replace("%", "")), f"read_options={{{', '.join(given)}}}")
    alone = next((way for way in WAYS if way.reads(digits)), None)
    if alone is None:
        return "is not a number, or the column has numbers written in several ways: write all of them in one way"
    if not found:
        return f"has the decimal sign {alone.decimal!r}, where other columns have another: write all of them in one way"
    return "is " + ", or ".join(f"{value:.12g} with {options}" for value, options in found.items())
