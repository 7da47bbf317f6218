"""The output of a command: a table, or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any


def tell(told: dict[str, Any], as_json: bool, *tables: Any) -> None:
    """Print `told` as one JSON object, or the tables."""
    if as_json:
        print(json.dumps(finite(told), allow_nan=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=140)
    for table in tables:
        console.print(table)


def pairs(rows: Sequence[tuple[str, str]]) -> Any:
    """A table of two columns without a frame."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, text in rows:
        table.add_row(Text(name, style="bold"), Text(text))
    return table


def finite(told: Any) -> Any:
    """`told` with None (null in JSON) in place of infinities and NaN, which JSON does not have.

    Examples
    --------
    >>> finite({"seconds": float("inf"), "errors": [0.5, float("nan")]})
    {'seconds': None, 'errors': [0.5, None]}
    """
    if isinstance(told, dict):
        return {name: finite(value) for name, value in told.items()}
    if isinstance(told, list):
        return [finite(value) for value in told]
    return None if isinstance(told, float) and not isfinite(told) else told
