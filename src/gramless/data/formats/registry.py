"""The registry of formats; a new format is one module with one entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramless.data.formats.source import Source
from gramless.registry import Registry


def _nothing(given: Any) -> bool:
    return False


@dataclass(frozen=True)
class Format:
    """How a source of one format is opened.

    Attributes
    ----------
    opens : callable
        ``opens(given, columns, key)`` returns a source; `given` is a Path for files. Where the format has `dialects`,
        ``opens(given, columns, options)`` with a :class:`~gramless.ReadOptions`.
    suffixes : tuple of str
        Suffixes of the files of this format, in lower case, with their dots.
    accepts : callable
        ``accepts(given)`` says whether the format opens an object that is not a path.
    dialects : bool
        Whether files of this format are written in various ways, which ``read_options`` tell apart.
    keyed : bool
        Whether a file of this format may contain several tables, which ``key`` tells apart.
    """

    opens: Callable[[Any, Any, Any], Source]
    suffixes: tuple[str, ...] = ()
    accepts: Callable[[Any], bool] = _nothing
    dialects: bool = False
    keyed: bool = True


formats: Registry[Format] = Registry("format")


def suffix_of(path: Path) -> str:
    """The suffix of a file in lower case; for ``.gz`` files with the suffix before.

    Examples
    --------
    >>> suffix_of(Path("rows.CSV")), suffix_of(Path("rows.2026.csv.gz"))
    ('.csv', '.csv.gz')
    """
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() + suffix if suffix == ".gz" else suffix


def made_by(given: Any, package: str, *names: str) -> bool:
    """Whether the class of an object is from `package`, with one of `names`; the package is not imported."""
    return any(
        cls.__module__.split(".")[0] == package and (not names or cls.__name__ in names) for cls in type(given).__mro__
    )
