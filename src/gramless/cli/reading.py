"""Options of all commands that read tables: how a file is written, and what happens to missing values."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, get_type_hints

import typer

_Text = str | None
_OPTIONS: dict[str, Any] = {
    "key": Annotated[_Text, typer.Option(metavar="NAME", help="Which array, where a file has several tables.")],
    "missing": Annotated[
        _Text,
        typer.Option(
            metavar="RULE",
            help="Missing values: error; drop their rows; fill in the mean or median, kept with the model.",
        ),
    ],
    "delimiter": Annotated[
        _Text, typer.Option(metavar="CHAR", help="CSV: what separates cells, also tab or space. Found out by default.")
    ],
    "decimal": Annotated[_Text, typer.Option(metavar="CHAR", help="CSV: decimal sign, . or a comma.")],
    "thousands": Annotated[_Text, typer.Option(metavar="CHAR", help="CSV: separator of thousands, also space.")],
    "encoding": Annotated[_Text, typer.Option(metavar="NAME", help="CSV: encoding, such as cp1252.")],
    "comment": Annotated[_Text, typer.Option(metavar="CHAR", help="CSV: lines that begin so are skipped.")],
    "skip_lines": Annotated[
        int | None,
        typer.Option("--skip-lines", metavar="N", min=0, help="CSV: lines before the column names, such as a title."),
    ],
    "na_values": Annotated[
        _Text,
        typer.Option("--na-values", metavar="A,B,...", help="CSV: cells without a value, besides empty, NA, ?, - ..."),
    ],
}


@dataclass(frozen=True)
class Reading:
    """How the rows of a file are to be read.

    Attributes
    ----------
    key, missing : str or None
        As in :func:`gramless.open_source`.
    options : dict
        The ``read_options`` that were given.
    """

    key: str | None = None
    missing: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of tables; the command gets them as its argument `reading`."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        read = {name: given.pop(name) for name in _OPTIONS}
        key, missing = read.pop("key"), read.pop("missing")
        if read["na_values"] is not None:
            read["na_values"] = [value.strip() for value in read["na_values"].split(",")]
        options = {name: value for name, value in read.items() if value is not None}
        command(**given, reading=Reading(key, missing, options))

    hints = get_type_hints(command, include_extras=True) | _OPTIONS
    kept = [option for name, option in inspect.signature(command).parameters.items() if name != "reading"]
    added = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in _OPTIONS]
    shown = sorted([*kept, *added], key=lambda option: option.name == "as_json")  # --json is the last one
    parameters = [option.replace(annotation=hints[option.name]) for option in shown]
    wrapped.__annotations__ = {name: hint for name, hint in hints.items() if name != "reading"}
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapped


def option_words(options: dict[str, Any]) -> str:
    """``read_options`` as options of the command line.

    Examples
    --------
    >>> option_words({"delimiter": ";", "thousands": " ", "na_values": ["?", "-"]})
    "--delimiter ';' --thousands space --na-values '?,-'"
    """
    return " ".join(f"--{name.replace('_', '-')} {_quoted(value)}" for name, value in options.items())


def _quoted(value: Any) -> str:
    if value is ...:
        return "NAME"
    text = ",".join(value) if isinstance(value, (list, tuple)) else str(value)
    return {" ": "space", "\t": "tab"}.get(text) or shlex.quote(text)
