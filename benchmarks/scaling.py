"""The constants of docs/scaling.rst, a reduction of a thousand real moments, and the table that follows from them.

Measured: rows a second and thread through the moments of a map; size of the moments; time to add two of them, and to
join a thousand in the tree that a cluster uses; tasks a second of Dask's scheduler; bytes a second between two workers.
Then arithmetic: what 10^9 to 10^12 rows would take on 10 to 1,000 workers.
"""

from __future__ import annotations

import operator
import pickle
import time
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import filled, row
from gramless.arrays.memory import readable_bytes
from gramless.data import join_in_tree
from gramless.features import Box, FeatureMap, LandmarkMap, maps
from gramless.kernels import Gaussian, Polynomial
from gramless.problem import Problem

PAGE = Path(__file__).parent.parent / "docs" / "scaling.rst"
PARTITIONS = 1000
ROWS_IN_PARTITION = 10**7  # at the sizes of the table: fewer, and the scheduler has more tasks than work
DISK = 2e8  # bytes a second that a worker reads: assumed, not measured
READINGS = 2  # passes over rows that do not fit in the workers' memory


def run(scale: float = 1.0) -> dict[str, Any]:
    """Measure, predict, and write the tables into the page; a `scale` below 1 takes fewer rows, to try it out."""
    cluster = measure_cluster(int(2000 * min(1.0, 10 * scale)))
    measured = {name: measure_map(features, scale) for name, features in feature_maps().items()}
    table = [
        {"n": n, "workers": workers, **predict(n, workers, 2, measured["Fourier, 2-d"], cluster)}
        for n in (10**9, 10**10, 10**11, 10**12)
        for workers in (10, 100, 1000)
    ]
    figures = {"cluster": cluster, "maps": measured, "table": table, "partitions": PARTITIONS}
    if scale >= 1:
        write_page(figures)
    return figures


def feature_maps() -> dict[str, FeatureMap]:
    """The maps that are measured: in two and three dimensions, of degree 3, and of a thousand landmarks."""

    def made(name: str, kernel: Any, d: int, rows: int = 4) -> FeatureMap:
        x = np.random.default_rng(0).random((rows, d))
        box = Box(np.zeros(d), np.ones(d))
        problem = Problem(
            n=10**9, d=d, kernel=kernel, k=10, tol=1e-10, memory_limit=2**33, low=box.low, high=box.high, peak=0.1
        )
        features = maps[name].make(problem, x, np.ones(rows), np.random.default_rng(0))
        # landmarks draw pairs of rows for a sharper bound: as many for a partition of two rows as for one of a million
        return replace(features, pairs=0) if isinstance(features, LandmarkMap) else features

    return {
        "Fourier, 2-d": made("fourier", Gaussian(0.5), 2),
        "Fourier, 3-d": made("fourier", Gaussian(0.2), 3),
        "degree 3, 10-d": made("monomials", Polynomial(3, 1.0), 10),
        "1,000 landmarks, 16-d": made("landmarks", Gaussian(1.0), 16, 1000),
    }


def measure_map(features: FeatureMap, scale: float) -> dict[str, Any]:
    """Rate of one thread, and a tree of a thousand moments of true size, whose sum is checked."""
    from gramless.arrays import use_threads

    d = _columns(features)
    rng = np.random.default_rng(1)
    n = max(1000, int((20_000 if isinstance(features, LandmarkMap) else 10**6) * scale))
    with use_threads(1):
        x = rng.random((n, d))
        features.moments(x[:100], np.ones(100))
        begun = time.perf_counter()
        features.moments(x, np.ones(n))
        rate = n / (time.perf_counter() - begun)
        moments = [features.moments(rng.random((100, d)), np.ones(100)) for _ in range(_DIFFERENT)]
        begun = time.perf_counter()
        total = join_in_tree((moments[i % _DIFFERENT] for i in range(PARTITIONS)), partial(reduce, operator.add))
        tree = time.perf_counter() - begun
        whole = reduce(operator.add, moments).scaled(PARTITIONS / _DIFFERENT)
    off = abs(total.trace - whole.trace) / whole.trace
    if not off < 1e-9:
        raise ArithmeticError(f"a tree of moments is off by {off:.1e}")
    size = len(pickle.dumps(total, protocol=5))
    print(type(features).__name__, f"{rate:,.0f} rows/s, {size:,} bytes, tree {tree:.2g} s", flush=True)
    return {"features": features.n_features, "rate": rate, "bytes": size, "tree_seconds": tree, "off": off}


_DIFFERENT = 8  # moments that are made; they are taken again and again, so that a thousand fit in memory


def _columns(features: Any) -> int:
    for name in ("d", "center", "points", "grid"):
        value = getattr(features, name, None)
        if value is not None:
            return int(value if name == "d" else len(value.axes.counts) if name == "grid" else value.shape[-1])
    raise TypeError(f"{type(features).__name__} does not say how many columns it takes")


def measure_cluster(tasks: int) -> dict[str, float]:
    """Seconds a task of Dask's scheduler, and bytes a second between two workers of this machine."""
    from distributed import Client, LocalCluster, wait

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local, Client(local) as client:
        wait(client.map(operator.neg, range(100), pure=False))
        begun = time.perf_counter()
        wait(client.map(operator.neg, range(tasks), pure=False))
        seconds = (time.perf_counter() - begun) / tasks
        one, two = sorted(client.nthreads())
        size = 10**8
        there = client.submit(np.zeros, size // 8, workers=[one], pure=False)
        wait(there)
        begun = time.perf_counter()
        wait(client.submit(len, there, workers=[two], pure=False))
        return {"task": seconds, "network": size / (time.perf_counter() - begun)}


def predict(n: int, workers: int, d: int, features: dict[str, Any], cluster: dict[str, float]) -> dict[str, float]:
    """What the explicit route takes: the model of docs/scaling.rst."""
    partitions = max(workers, -(-n // ROWS_IN_PARTITION))
    read = READINGS * 8 * d * n / workers / DISK
    compute = n / workers / features["rate"]
    levels = int(np.ceil(np.log(partitions) / np.log(4)))
    between = int(np.ceil(np.log(workers) / np.log(4)))
    scheduling = (READINGS + 1 / 3) * partitions * cluster["task"]
    moved = features["bytes"] * (workers - 1)
    reduction = 3 * between * features["bytes"] / cluster["network"]
    return {
        "partitions": partitions,
        "levels": levels,
        "moved": moved,
        "memory": 8 * d * min(ROWS_IN_PARTITION, -(-n // workers)) + 4 * features["bytes"],
        "read": read,
        "compute": compute,
        "reduction": reduction,
        "scheduling": scheduling,
        "seconds": max(read + compute + reduction, scheduling),
    }


def write_page(figures: dict[str, Any]) -> None:
    """Replace what stands between the comments of the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in {"constants": constants(figures), "predictions": predictions(figures)}.items():
        text = filled(text, name, lines)
    PAGE.write_text(text, encoding="utf-8")


def constants(figures: dict[str, Any]) -> list[str]:
    cluster = figures["cluster"]
    lines = [
        f"A task takes the scheduler {cluster['task'] * 1e3:.2g} ms; two workers of one machine exchange "
        f"{cluster['network'] / 1e9:.2g} GB/s.",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
        *row("map", "features", "rows a second and thread", "moments", f"tree of {figures['partitions']:,}", "off by"),
    ]
    for name, one in figures["maps"].items():
        cells = f"{one['features']:,}", f"{one['rate']:,.0f}", readable_bytes(one["bytes"])
        lines += row(name, *cells, f"{one['tree_seconds']:.2g} s", f"{one['off']:.0e}")
    return lines


def predictions(figures: dict[str, Any]) -> list[str]:
    header = "rows", "workers", "partitions", "levels", "moved", "a worker holds", "reading", "moments", "scheduler"
    lines = [".. list-table::", "   :header-rows: 1", "", *row(*header, "in all")]
    for one in figures["table"]:
        lines += row(
            f"10\\ :sup:`{round(np.log10(one['n']))}`",
            f"{one['workers']:,}",
            f"{one['partitions']:,}",
            f"{one['levels']}",
            readable_bytes(one["moved"]),
            readable_bytes(one["memory"]),
            *(_time(one[name]) for name in ("read", "compute", "scheduling", "seconds")),
        )
    return lines


def _time(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} s"


if __name__ == "__main__":
    print(run(0.02))
