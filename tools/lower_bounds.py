"""Prints the oldest versions that pyproject.toml allows, as pins for pip: ``python tools/lower_bounds.py plot io``.

Names of extras add their dependencies. One without a lower bound is an error: a bound nobody tests is a guess.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

_BOUND = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,-]+\])?>=(?P<version>[\d.]+)(?P<rest>[^;]*)(?P<marker>;.*)?")


def lower_bounds(project: dict[str, object], extras: list[str]) -> list[str]:
    """Pins such as ``numpy==1.26``, the extras of gramless itself resolved."""
    listed = list(project["dependencies"])  # type: ignore[call-overload]
    for extra in extras:
        listed += project["optional-dependencies"][extra]  # type: ignore[index]
    pins: list[str] = []
    for requirement in listed:
        if requirement.startswith("gramless["):
            inner = requirement[len("gramless[") : requirement.index("]")].split(",")
            pins += lower_bounds({**project, "dependencies": []}, inner)
            continue
        bound = _BOUND.fullmatch(requirement.replace(" ", ""))
        if bound is None:
            raise SystemExit(f"{requirement!r} has no lower bound; write name>=version")
        pins.append(f"{bound['name']}{bound['extras'] or ''}=={bound['version']}{bound['marker'] or ''}")
    return list(dict.fromkeys(pins))


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    print("\n".join(lower_bounds(tomllib.loads(text)["project"], sys.argv[1:])))
