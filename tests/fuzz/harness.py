"""Runs a target in a child process that may not take much memory, and counts what comes of it."""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from fuzz.mutations import mutate
from gramless import FormatError

_AT_ONCE = 20  # seconds of the processor: an input that takes longer hangs
_AT_MOST = 600  # seconds by the clock, for what sleeps
_SPACE = 2**30  # bytes of address space beyond what the imports took
_ALLOWANCE = 16 * 2**20  # bytes: caches and small objects, whatever the input
_TIMES = 30  # the input's size: Python objects for JSON text take twenty times as much


class Counts(TypedDict):
    """What a run came to."""

    inputs: int
    bytes: int
    refused: int
    accepted: int
    failures: int
    reports: list[str]


class Wrong(Exception):
    """An input was accepted, and the answer is wrong."""


class TooMuch(Exception):
    """An input took more memory than it is worth."""


class Hang(BaseException):
    """An input took too long."""


def run(target: str, seconds: float, seed: int) -> Counts:
    """Try mutated inputs on the module `target` in children that may die; a dead one is a failure, and another begins.

    The module has ``seeds()``, a list of (name, bytes), and ``attempt(name, data, path, rng, unchanged=)``, which
    raises a FormatError (or one of its ``REFUSALS``), or returns, or fails.
    """
    total = Counts(inputs=0, bytes=0, refused=0, accepted=0, failures=0, reports=[])
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        folder, attempt = Path(name), 0
        while attempt == 0 or time.monotonic() < end:
            left = max(0.0, end - time.monotonic())
            command = [sys.executable, "-m", "fuzz.harness", target, str(left), str(seed + 1000 * attempt), name]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            child = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
            counts = json.loads((folder / "counts").read_text()) if (folder / "counts").exists() else None
            if counts is None:
                raise RuntimeError(f"the fuzzer did not start: {child.stderr}")
            if child.returncode != 0:
                culprit = (folder / "current").read_bytes()
                counts["failures"] += 1
                counts["reports"].append(f"ended with {child.returncode} on {_shown(culprit)}: {child.stderr[-500:]}")
            for key in counts:
                total[key] += counts[key]
            attempt += 1
            if child.returncode == 0:
                break
    return total


def _shown(data: bytes) -> str:
    """Where an input was kept for a closer look."""
    kept = Path(tempfile.gettempdir()) / f"gramless-fuzz-{abs(hash(data)):x}"
    kept.write_bytes(data)
    return f"{kept} ({len(data)} bytes)"


def _child(target: str, seconds: float, seed: int, folder: Path) -> None:
    module = importlib.import_module(target)
    seeds, rng = module.seeds(), np.random.default_rng(seed)
    counts = Counts(inputs=0, bytes=0, refused=0, accepted=0, failures=0, reports=[])
    _limit_memory()
    for alarm in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(alarm, _hang)
    tracemalloc.start()
    end = time.monotonic() + seconds
    while counts["inputs"] < 20 or time.monotonic() < end:
        (folder / "counts").write_text(json.dumps(counts))
        name, original = seeds[rng.integers(len(seeds))]
        data = mutate(original, rng, [other for _, other in seeds])
        (folder / "current").write_bytes(data)
        counts["inputs"] += 1
        counts["bytes"] += len(data)
        outcome, report = _attempt(module, name, data, folder / "current", rng, unchanged=data == original)
        counts[outcome] += 1
        if report:
            counts["reports"].append(f"{name}: {report}; {_shown(data)}")
    (folder / "counts").write_text(json.dumps(counts))


def _attempt(module: Any, name: str, data: bytes, path: Path, rng: Any, *, unchanged: bool) -> tuple[str, str]:
    """One input: what it counts as, and a report of a failure."""
    tracemalloc.clear_traces()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    signal.alarm(_AT_MOST)
    signal.setitimer(signal.ITIMER_PROF, _AT_ONCE)
    try:
        module.attempt(name, data, path, rng, unchanged=unchanged)
        outcome, report = "accepted", ""
    except getattr(module, "REFUSALS", FormatError) as error:
        outcome, report = ("failures", "refused without a reason") if not str(error) else ("refused", "")
    except (Exception, Hang) as error:
        outcome, report = "failures", f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    peak = tracemalloc.get_traced_memory()[1] - before
    if peak > _ALLOWANCE + _TIMES * len(data):
        outcome, report = "failures", f"took {peak} bytes"
    return outcome, report


def _limit_memory() -> None:
    """So that what a file claims to hold cannot be had: allocations beyond fail here instead of filling the machine."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + _SPACE, resource.RLIM_INFINITY))


def _hang(*_: Any) -> None:
    raise Hang(f"longer than {_AT_ONCE} s of the processor, or {_AT_MOST} s by the clock")


if __name__ == "__main__":
    _child(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
