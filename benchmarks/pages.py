"""Tables in the pages of the documentation: written between ``.. figures: NAME`` and ``.. end``."""

from __future__ import annotations


def filled(text: str, name: str, lines: list[str]) -> str:
    """The page with these lines in the place of those between the comments."""
    before, rest = text.split(f".. figures: {name}\n", 1)
    return before + f".. figures: {name}\n\n" + "\n".join(lines) + "\n\n.. end" + rest.split(".. end", 1)[1]


def row(*cells: str) -> list[str]:
    """One row of a ``list-table``."""
    return [f"   {'*' if i == 0 else ' '} - {cell}".rstrip() for i, cell in enumerate(cells)]
