"""The registry of what can be opened: a new format is one file with one entry."""

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
    """How one kind of thing is opened.

    Attributes
    ----------
    opens : callable
        ``opens(given, columns, key)`` returns a source; `given` is a Path for files.
    suffixes : tuple of str
        Of the files it reads, in lower case, with their dots.
    accepts : callable
        Whether it opens an object that is not a path.
    """

    opens: Callable[[Any, Any, str | None], Source]
    suffixes: tuple[str, ...] = ()
    accepts: Callable[[Any], bool] = _nothing


formats: Registry[Format] = Registry("format")


def suffix_of(path: Path) -> str:
    """What the name of a file ends in, in lower case; of a packed file with what is packed.

    Examples
    --------
    >>> suffix_of(Path("rows.CSV")), suffix_of(Path("rows.2026.csv.gz"))
    ('.csv', '.csv.gz')
    """
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() + suffix if suffix == ".gz" else suffix


def made_by(given: Any, package: str, *names: str) -> bool:
    """Whether an object is of a class of `package` with one of these names; the package is not imported for it."""
    return any(
        cls.__module__.split(".")[0] == package and (not names or cls.__name__ in names) for cls in type(given).__mro__
    )
