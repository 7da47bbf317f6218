"""Prints the versions that pip would install today for development, one ``name==version`` a line: ``make lock``.

pip resolves; nothing is installed. Only names and versions are kept, so that any index serves.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

_HEADER = "# Versions that development is done with; written by `make lock`. Use: pip install -r requirements-dev.lock"


def locked(extras: str) -> list[str]:
    """Pins of everything that gramless with these extras needs, by name."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    report = subprocess.run([*command, f".[{extras}]"], check=True, capture_output=True, text=True).stdout
    pins = {}
    for item in json.loads(report)["install"]:
        name = re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower()
        if name != "gramless":
            pins[name] = f"{name}=={item['metadata']['version']}"
    return [pins[name] for name in sorted(pins)]


if __name__ == "__main__":
    print("\n".join([_HEADER, *locked(sys.argv[1])]))
