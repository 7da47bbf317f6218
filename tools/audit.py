"""Looks up known vulnerabilities of everything in a lock file with pip-audit: ``make audit``.

PyPI is asked, and OSV where PyPI leaves a package open (a mirror often has no advisories). The exit status is 0 if
every package was looked up and none is vulnerable, 1 if one is, and 2 if some could not be looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_SERVICES = ("pypi", "osv")
_OPTIONS = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]


def ask(service: str, lock: str) -> tuple[list[dict[str, Any]], str]:
    """What a service says of each package, or nothing and why."""
    command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", service, *_OPTIONS, "-r", lock]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        return json.loads(ran.stdout)["dependencies"], ""
    except ValueError:
        return [], ran.stderr.strip().rpartition("\n")[2]


def audit(lock: str) -> int:
    """Prints what was found; the exit status."""
    with open(lock) as lines:
        left = {line.partition("==")[0] for line in lines if "==" in line and not line.startswith("#")}
    count, found = len(left), []
    for service in _SERVICES:
        packages, reason = ask(service, lock)
        asked = [package for package in packages if "skip_reason" not in package and package["name"] in left]
        found += [package for package in asked if package["vulns"]]
        left -= {package["name"] for package in asked}
        if not left:
            break
        skipped = [package["skip_reason"] for package in packages if package["name"] in left]
        print(f"{service}: {len(left)} of {count} packages left open; {[*skipped, reason][0]}", file=sys.stderr)
    for package in found:
        for known in package["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "none yet"
            print(f"{package['name']} {package['version']}: {known['id']}, fixed in: {fixed}")
    print(f"{lock}: {count - len(left)} of {count} packages looked up, {len(found)} of them with known vulnerabilities")
    if left:
        print(f"NOT AUDITED: {', '.join(sorted(left))}", file=sys.stderr)
    return 1 if found else 2 if left else 0


if __name__ == "__main__":
    raise SystemExit(audit(sys.argv[1]))
