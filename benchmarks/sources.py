"""The claims of files: a hundred million points within a gigabyte, at no less than half the rate of points in memory.

Uniform points in the unit square, Gaussian of sigma = 0.5, k = 10. The same points are fitted from memory, from a
``.npy`` file and from a Parquet file, without a domain (two passes) and with one (one pass), each in a process of its
own. The files are written for the run and deleted after it; they are read from the system's cache, as far as that goes.
A run whose eigenvalues are off reports no time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from gramless.arrays.memory import peak_bytes, resident_bytes, restart_peak
from gramless.data import open_writer

N, K, SIGMA, BLOCK, ACCURACY = 10**8, 10, 0.5, 10**6, 1e-9
MOST_BYTES, LEAST_RATE = 1e9, 0.5
DOMAIN = {"domain": (0.0, 1.0)}


def run(scale: float = 1.0) -> dict[str, Any]:
    """All rows of the table; a `scale` below 1 takes fewer points, to try it out."""
    n = int(N * scale)
    with tempfile.TemporaryDirectory() as folder:
        paths = {suffix: Path(folder) / f"points.{suffix}" for suffix in ("npy", "parquet")}
        for path in paths.values():
            write(path, n)
        size = {suffix: path.stat().st_size for suffix, path in paths.items()}
        memory = measure(paths["npy"], load=True)
        print({"memory": memory["seconds"]}, flush=True)
        rows = [
            judged(f"{n:,} points from .{suffix}{', domain given' if more else ''}", measure(path, **more), memory, n)
            for suffix, path in paths.items()
            for more in ({}, DOMAIN)
        ]
    return {"n": n, "k": K, "sigma": SIGMA, "file_bytes": size, "memory_seconds": memory["seconds"], "rows": rows}


def write(path: Path, n: int) -> None:
    """The points, block by block; the same in every format."""
    rng = np.random.default_rng(0)
    with open_writer(path, ["x", "y"]) as writer:
        for first in range(0, n, BLOCK):
            writer.write(rng.random((min(BLOCK, n - first), 2)))


def measure(path: Path, load: bool = False, **settings: Any) -> dict[str, Any]:
    """One fit in a new process: seconds, growth of peak memory over entry to fit, eigenvalues."""
    job = json.dumps({"path": str(path), "load": load, "settings": settings})
    command = [sys.executable, "-m", "benchmarks.sources", job]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def judged(name: str, found: dict[str, Any], memory: dict[str, Any], n: int) -> dict[str, Any]:
    """One row of the table; printed as it is made."""
    error = float(np.abs(np.divide(found["eigenvalues"], memory["eigenvalues"]) - 1).max())
    rate = memory["seconds"] / found["seconds"] if error <= ACCURACY else float("nan")
    row = {
        "name": name,
        "method": found["method"],
        "seconds": found["seconds"] if error <= ACCURACY else float("nan"),
        "peak_bytes": found["peak_bytes"],
        "rows_per_second": n / found["seconds"],
        "error": error,
        "rate": rate,
        "met": bool(rate >= LEAST_RATE and found["peak_bytes"] <= MOST_BYTES),
    }
    print(row, flush=True)
    return row


def _main() -> None:
    from gramless import KernelPCA
    from gramless.kernels import Gaussian

    job = json.loads(sys.argv[1])
    settings = {"kernel": Gaussian(SIGMA), "keep_data": False, **job["settings"]}
    x: Any = np.load(job["path"]) if job["load"] else job["path"]
    few = np.random.default_rng(1).random((300, 2))  # imports and thread pools are not what is measured
    KernelPCA(K, **settings).fit(few if job["load"] else lambda: iter([few]))
    restart_peak()
    before, start = resident_bytes(), time.perf_counter()
    model = KernelPCA(K, **settings).fit(x)
    seconds = time.perf_counter() - start
    found = {"seconds": seconds, "peak_bytes": peak_bytes() - before, "method": model.method_}
    print(json.dumps({**found, "eigenvalues": model.eigenvalues_.tolist()}))


if __name__ == "__main__":
    _main()
