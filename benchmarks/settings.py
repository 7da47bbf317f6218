"""The tables of docs/settings.rst: what to write for so many rows and columns, how long it takes, how accurate it is.

Every row is a fit that a benchmark has timed and checked; what is missing in the results is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.explicit import PROBLEMS, TOL
from benchmarks.pages import filled, row

Figures = Mapping[str, Any]
HEADER = "rows x columns", "write", "time", "accuracy"
DEFAULT_TOL = 1e-10


@dataclass(frozen=True)
class Setting:
    """One fit: its size, the call, what came of it, and whether the kernel has explicit features."""

    rows: int
    columns: int
    data: str
    call: str
    seconds: float
    accuracy: str
    tol: float = DEFAULT_TOL
    explicit: bool = True


def with_settings(text: str, load: Callable[[str], dict[str, Any] | None]) -> str:
    """The page with its tables as the results have it; `load` gives figures by name, or None."""
    found, machines = [], []
    for name, pick in PICKS.items():
        figures = load(name)
        if figures is not None:
            found += pick(figures)
            machines.append(f"GPU: {figures['card']}" if name == "gpu" else figures["machine"])
    for name, explicit in (("few", True), ("many", False)):
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 23 42 9 26", "", *row(*HEADER)]
        for one in sorted(found, key=lambda one: (one.rows, one.columns, one.data, -one.tol)):
            if one.explicit == explicit:
                size, time = f"{one.rows:,} x {one.columns}, {one.data}", f"{float(f'{one.seconds:.2g}'):g} s"
                lines += row(size, f"``{one.call}``", time, one.accuracy)
        text = filled(text, name, lines)
    return filled(text, "machine", [f"Measured on {'; '.join(dict.fromkeys(machines))}."])


def accuracy(figures: Figures) -> Iterator[Setting]:
    for one in figures["rows"]:
        if "tol" not in one:  # a peer, or a fit that failed
            continue
        size = re.search(r"([\d,]+) x (\d+)", one["name"])
        gamma, k = re.search(r"gamma = ([\d.]+)", one["name"]), re.search(r"k = (\d+)", one["name"])
        parts = [part for part in one["name"].split(", ") if " x " not in part and " = " not in part]
        asked = one["tol"] if one["tol"] != "default" else DEFAULT_TOL
        given = {} if one["tol"] == "default" else {"tol": asked}
        call = _call(int(k[1]), kernel="rbf", gamma=float(gamma[1]) if gamma else "median", **given)
        said = f"{_short(one['planned_tol'])} promised, {_short(one['residual'])} found"
        done = _count(size[1]), int(size[2]), ", ".join(parts), call, one["seconds"], said
        yield Setting(*done, tol=asked, explicit=gamma is not None)


def explicit(figures: Figures) -> Iterator[Setting]:
    for one in figures["rows"]:
        form = re.match(r"(.+), N = ([\d,]+)", one["name"])
        if form is None or form[1] not in PROBLEMS or "failed" in one:
            continue
        columns, _, kernel = PROBLEMS[form[1]]
        call = _call(figures["k"], **kernel, tol=TOL)
        yield Setting(_count(form[2]), columns, "uniform", call, one["seconds"], f"{_short(one['error'])} found")


def sources(figures: Figures) -> Iterator[Setting]:
    for one in figures["rows"]:
        if one["name"].endswith((".npy", ".parquet")):
            file = f"points.{one['name'].rpartition('.')[2]}"
            call = _call(figures["k"], kernel="rbf", gamma=1 / (2 * figures["sigma"] ** 2))
            said = f"{_short(one['error'])} from the fit in memory"
            yield Setting(figures["n"], 2, "uniform, a file", f'{call}.fit("{file}")', one["seconds"], said)


def gpu(figures: Figures) -> Iterator[Setting]:
    for name, one in figures["table"].items():
        form = re.match(r"(?:KernelPCA, N=([\d,]+), d=|MNIST ([\d,]+) x )(\d+), k=(\d+), tol (\S+)", name)
        if form is not None and "seconds" in one:
            drawn, images, columns, k, tol = form.groups()
            call = _call(int(k), kernel="rbf", gamma="median", tol=float(tol), device="cuda")
            said = f"{_short(float(tol))} promised, {_short(one['residual'])} found"
            data = "MNIST, float32, GPU" if images else "digits with noise, float32, GPU"
            done = _count(drawn or images), int(columns), data, call, one["seconds"], said
            yield Setting(*done, tol=float(tol), explicit=False)


def _count(digits: str) -> int:
    return int(digits.replace(",", ""))


def _call(k: int, **parameters: Any) -> str:
    """The call as one would write it: strings in double quotes, 2 for 2.0, 1e-3 for 0.001."""

    def written(name: str, value: Any) -> str:
        return _short(value) if name == "tol" else f'"{value}"' if isinstance(value, str) else f"{value:g}"

    return f"KernelPCA({k}, {', '.join(f'{name}={written(name, value)}' for name, value in parameters.items())})"


def _short(number: float) -> str:
    """``1e-3``, not ``1e-03``."""
    return f"{number:.0e}".replace("e-0", "e-")


PICKS: dict[str, Callable[[Figures], Iterator[Setting]]] = {
    "accuracy": accuracy,
    "explicit": explicit,
    "sources": sources,
    "gpu": gpu,
}
