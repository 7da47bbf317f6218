"""How a CSV file is written, as the caller says it, or as another file was read."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gramless.data.formats.cells import KINDS, WAYS, Numbers

_WORDS = {"tab": "\t", r"\t": "\t", "space": " ", r"\s+": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class ReadOptions:
    r"""How a CSV file is written. What is None is found out from the first lines of the file.

    Parameters
    ----------
    delimiter : str, optional
        What separates cells, one character: ``","``, ``";"``, ``"|"``, ``"\t"`` or ``"tab"``; ``" "`` or ``"space"``
        for columns aligned with any number of blanks.
    decimal : {".", ","}, optional
    thousands : str, optional
        Separator of thousands: ``","``, ``"."``, ``"'"``, ``" "`` or ``"space"``; ``""`` for none.
    encoding : str, optional
        Name of an encoding that Python knows, such as ``"cp1252"``.
    comment : str, optional
        Lines that begin with this character are skipped; ``""`` for none.
    na_values : sequence of str
        Cells that stand for a missing value, besides empty cells, ``NA``, ``NaN``, ``null``, ``None``, ``?``, ``-`` and
        the like.
    skip_lines : int
        Number of lines before the names of the columns, such as a title, that are skipped.
    kinds : sequence of {"number", "percent", "boolean", None}, optional
        What each of the selected columns contains: numbers; percentages, which are read as fractions; ``true``,
        ``false``, ``yes`` and ``no``, which are read as 1 and 0.

    Examples
    --------
    >>> ReadOptions(decimal=",", na_values=["unknown"])  # doctest: +ELLIPSIS
    ReadOptions(delimiter=None, decimal=',', thousands=None, ..., na_values=('unknown',), skip_lines=0, kinds=None)
    """

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    comment: str | None = None
    na_values: tuple[str, ...] = ()
    skip_lines: int = 0
    kinds: tuple[str | None, ...] | None = None
    #: In words, the file whose way of writing this is, where the caller has not given the options.
    origin: str = field(default="", repr=False, compare=False, metadata={"saved": False})

    def __post_init__(self) -> None:
        for name in ("delimiter", "thousands"):
            given = getattr(self, name)
            object.__setattr__(self, name, _WORDS.get(given, given))
        values = (self.na_values,) if isinstance(self.na_values, str) else self.na_values
        object.__setattr__(self, "na_values", tuple(str(value) for value in values))
        if self.kinds is not None:
            object.__setattr__(self, "kinds", tuple(self.kinds))
            for kind in self.kinds:
                if kind not in (None, *KINDS):
                    raise ValueError(f"kinds has {kind!r}; pass one of {', '.join(map(repr, KINDS))} for each column")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(f"delimiter={self.delimiter!r} must be one character, or 'tab' or 'space'")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal={self.decimal!r} must be '.' or ','")
        if self.thousands not in (None, "", ",", ".", "'", " "):
            raise ValueError(f"""thousands={self.thousands!r} must be one of ',', '.', "'", ' ', or '' for none""")
        if self.thousands and self.thousands == self.decimal:
            raise ValueError(f"decimal={self.decimal!r} and thousands={self.thousands!r} must differ")
        if self.comment is not None and (len(self.comment) > 1 or self.comment.isspace()):
            raise ValueError(f"comment={self.comment!r} must be one character, or '' for none")
        if not isinstance(self.skip_lines, int) or self.skip_lines < 0:
            raise ValueError(f"skip_lines={self.skip_lines!r} must be a number of lines, at least 0")
        if self.encoding is not None:
            codec_name(self.encoding)

    @classmethod
    def of(cls, given: Any) -> ReadOptions:
        """`given` as options: None, a mapping of names to values, or options already."""
        if isinstance(given, cls):
            return given
        if given is None or isinstance(given, Mapping):
            known = [field.name for field in fields(cls) if field.repr]
            for name in given or ():
                if name not in known:
                    raise ValueError(f"read_options has no {name!r}; it has: {', '.join(known)}")
            return cls(**(given or {}))
        raise TypeError(f"read_options={given!r} must be a dict or gramless.ReadOptions")

    def completed(self, known: ReadOptions) -> ReadOptions:
        """These options; signs of numbers, contents of columns and missing values are those of `known`, if not given.

        Examples
        --------
        >>> options = ReadOptions(decimal=".").completed(ReadOptions(decimal=",", thousands=".", na_values=["lost"]))
        >>> options.decimal, options.thousands, options.na_values
        ('.', None, ('lost',))
        """
        signs = known if self.decimal is self.thousands is None else self
        return replace(
            self,
            decimal=signs.decimal,
            thousands=signs.thousands,
            na_values=self.na_values or known.na_values,
            kinds=known.kinds if self.kinds is None else self.kinds,
            origin=known.origin,
        )

    @property
    def ways(self) -> list[Numbers]:
        """Ways of writing numbers that these options allow."""
        allowed = [
            way
            for way in WAYS
            if self.decimal in (None, way.decimal) and (self.thousands is None or self.thousands == way.thousands)
        ]
        return allowed  # never empty: WAYS has all pairs of signs that differ


def codec_name(name: str) -> str:
    """Python's name of an encoding; ``"utf-8"`` for its variants."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        raise ValueError(f"encoding={name!r} is unknown; pass one such as 'utf-8', 'cp1252' or 'utf-16'") from None
    return "utf-8" if found in ("utf-8-sig", "ascii") else found
