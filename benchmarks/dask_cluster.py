"""Dask against one process: the same eigenvalues, and the time with one worker and with two.

The rows are on the workers before a clock starts, in as many partitions for one worker as for two. Each worker, and the
one process, has one thread. A run whose eigenvalues are not those of one process reports no time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from gramless import KernelKMeans, KernelPCA

ROUNDS, PARTS = 3, 8


def pca(**parameters: Any) -> Callable[[Any], tuple[Any, float]]:
    def fit(x: Any) -> tuple[Any, float]:
        begun = time.perf_counter()
        values = KernelPCA(10, n_jobs=1, **parameters).fit(x).eigenvalues_
        return values / values[0], time.perf_counter() - begun

    return fit


def clusters(**parameters: Any) -> Callable[[Any], tuple[Any, float]]:
    def fit(x: Any) -> tuple[Any, float]:
        begun = time.perf_counter()
        model = KernelKMeans(5, n_jobs=1, random_state=0, **parameters).fit(x)
        return np.array([model.inertia_ / len(model.labels_)]), time.perf_counter() - begun

    return fit


#: Name, rows, columns, fit, and how far from one process it may be.
CASES = [
    ("moments: Fourier, 2-d, 10,000,000 rows", 10**7, 2, pca(kernel="rbf", gamma=2.0, method="fourier"), 1e-10),
    ("moments: degree 3, 10-d, 2,000,000 rows", 2 * 10**6, 10, pca(kernel="poly", gamma=0.1), 1e-10),
    ("exact tiles: 16-d, 16,000 rows", 16_000, 16, pca(kernel="rbf", gamma=0.1, method="tiled", tol=1e-6), 1e-6),
    ("merged eigenspaces: 16-d, 40,000 rows", 40_000, 16, pca(kernel="rbf", gamma=0.1, method="merging"), None),
    ("k-means: Fourier, 2-d, 1,000,000 rows", 10**6, 2, clusters(gamma=2.0, method="fourier"), 1e-10),
]


def run(scale: float = 1.0) -> dict[str, Any]:
    """All rows of the table; a `scale` below 1 takes fewer rows, to try it out."""
    rows: list[dict[str, Any]] = [{"name": name} for name, *_ in CASES]
    expected = []
    for row, (_, n, d, fit, _) in zip(rows, CASES, strict=True):
        x = points(int(n * scale), d).compute()
        alone = pca(kernel="rbf", gamma=0.1, tol=1e-6) if "merged" in row["name"] else fit
        found = [alone(x) for _ in range(ROUNDS)]
        expected.append(found[0][0])
        row["alone_seconds"] = None if "merged" in row["name"] else median(seconds for _, seconds in found)
    for workers in (1, 2):
        on_workers(workers, scale, rows, expected)
    for row in rows:
        if "failed" not in row:
            row["ratio"] = row["seconds_1"] / row["seconds_2"]
    return {"rounds": ROUNDS, "partitions": PARTS, "rows": rows}


def on_workers(workers: int, scale: float, rows: list[dict[str, Any]], expected: list[Any]) -> None:
    """Fill in the time, and the distance from one process, with so many workers."""
    from distributed import Client, LocalCluster, wait

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
    with cluster, Client(cluster) as client:
        for row, (_, n, d, fit, most), truth in zip(rows, CASES, expected, strict=True):
            x = client.persist(points(int(n * scale), d))
            wait(x)
            found = [fit(x) for _ in range(ROUNDS)]
            apart = float(np.abs(found[0][0] - truth).max())
            print(row["name"], workers, "workers:", f"{found[0][1]:.3g} s, off by {apart:.1e}", flush=True)
            row["apart"] = max(apart, row.get("apart", 0.0))
            if most is not None and not apart <= most:
                row["failed"] = f"off by {apart:.1e}"
            row[f"seconds_{workers}"] = median(seconds for _, seconds in found)


def points(n: int, d: int) -> Any:
    """Uniform rows, the same for any cluster."""
    import dask.array as da

    return da.random.default_rng(0).random((n, d), chunks=(-(-n // PARTS), d))


if __name__ == "__main__":
    print(run(0.01))
