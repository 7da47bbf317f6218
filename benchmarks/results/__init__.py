"""Figures of the last runs, one JSON file a benchmark, with the machine they were taken on."""

from __future__ import annotations

import json
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def machine() -> str:
    """The machine in a few words: cores and what the figures depend on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {packages}"


def save(name: str, figures: dict[str, Any]) -> None:
    """Keep the figures of one benchmark."""
    record = {"machine": machine(), "date": date.today().isoformat(), **figures}
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def load(name: str) -> dict[str, Any] | None:
    """The figures last kept, if any."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
