"""Models in production: one row through Python and through ONNX, and the time until a loaded model has projected a row.

The model of 1,000 points projects one row at a time, by `transform` and by onnxruntime in turn; the scores are compared
first. The large model has 60,000 points of 784 columns, 376 MB, as exact kernel PCA of MNIST has; its coefficients are
drawn instead of fitted, which would take minutes and changes nothing here. It is loaded in a process of its own each
time, whole (``mmap=False``: every byte read and its checksum verified) and mapped in turn, and both project the same
row. The file is in the page cache in both cases.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from gramless import KernelPCA
from gramless.datasets import resampled_digits
from gramless.kernels import Gaussian

POINTS, CALLS, ROUNDS = 1_000, 2_000, 7
ROWS, COLUMNS, K = 60_000, 784, 20

_CHILD = """
import json, re, sys
from pathlib import Path
from time import perf_counter
import numpy as np
from gramless import load
def own():  # memory that no other process can share, in kB
    status = Path("/proc/self/status")
    return int(re.search(r"RssAnon:\\s+(\\d+)", status.read_text())[1]) if status.exists() else 0
row = np.load(sys.argv[2])
before = own()
start = perf_counter()
model = load(sys.argv[1], mmap=sys.argv[3] == "mapped")
loaded = perf_counter() - start
scores = model.transform(row)
total = perf_counter() - start
print(json.dumps({"load": loaded, "total": total, "kilobytes": own() - before, "scores": scores.tolist()}))
"""


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return {"calls": CALLS, "rounds": ROUNDS, "row": one_row(Path(folder)), "load": loading(Path(folder))}


def one_row(folder: Path) -> dict[str, Any]:
    """Microseconds of one row by a model of 1,000 points, by Python and by ONNX in both precisions, in turn."""
    import onnxruntime

    x = resampled_digits(POINTS, rng=0)
    model = KernelPCA(10, kernel="rbf", gamma="median", method="dense").fit(x)
    new = resampled_digits(CALLS, rng=1)
    expected = model.transform(new)
    ways: dict[str, Callable[[Any], Any]] = {"Python": model.transform}
    found: dict[str, dict[str, Any]] = {"Python": {"difference": 0.0}}
    for dtype in ("float64", "float32"):
        path = folder / f"{dtype}.onnx"
        model.to_onnx(path, dtype=dtype)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        name = f"ONNX {dtype}"

        def call(row: Any, session: Any = session, dtype: str = dtype) -> Any:
            return session.run(["transform"], {"X": row.astype(dtype, copy=False)})[0]

        off = float(np.abs(call(new) - expected).max() / np.abs(expected).max())
        if off > (1e-10 if dtype == "float64" else 1e-4):
            raise ArithmeticError(f"{name} differs by {off:.0e}")
        ways[name], found[name] = call, {"difference": off, "bytes": path.stat().st_size}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for i in range(CALLS):
        row = new[i : i + 1]
        for name, way in ways.items():
            start = perf_counter()
            way(row)
            seconds[name].append(perf_counter() - start)
    for name, times in seconds.items():
        found[name] |= {"microseconds": 1e6 * median(times), "slow": 1e6 * float(np.quantile(times, 0.99))}
        found[name]["times_faster"] = found["Python"]["microseconds"] / found[name]["microseconds"]
        print(f"{name}: {found[name]['microseconds']:.0f} us a row, differs by {found[name]['difference']:.0e}")
    return {"points": POINTS, "columns": x.shape[1], "table": found}


def loading(folder: Path) -> dict[str, Any]:
    """Seconds until a model of 376 MB has projected its first row, read whole and mapped, in turn."""
    path, row = folder / "large.gramless", folder / "row.npy"
    rng = np.random.default_rng(0)
    points = rng.random((ROWS, COLUMNS))
    start = perf_counter()
    large_model(points, rng).save(path)
    saved = perf_counter() - start
    np.save(row, points[:1])
    seen: dict[str, list[dict[str, Any]]] = {"whole": [], "mapped": []}
    for _ in range(ROUNDS):
        for name, runs in seen.items():
            command = [sys.executable, "-c", _CHILD, str(path), str(row), name]
            runs.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    scores = {json.dumps(run["scores"]) for runs in seen.values() for run in runs}
    if len(scores) != 1:
        raise ArithmeticError("scores of a mapped model differ from those of the model in memory")
    table = {
        name: {key: median(run[key] for run in runs) for key in ("load", "total", "kilobytes")}
        for name, runs in seen.items()
    }
    fraction = table["mapped"]["total"] / table["whole"]["total"]
    print(f"load and first row: {table['mapped']['total']:.2f} s mapped, {table['whole']['total']:.2f} s whole")
    figures = {"rows": ROWS, "columns": COLUMNS, "bytes": path.stat().st_size, "save_seconds": saved}
    return {**figures, "table": table, "fraction": fraction}


def large_model(points: Any, rng: np.random.Generator) -> KernelPCA:
    """A model on these points with drawn coefficients: in form and size that of a fit to them."""
    n = len(points)
    model = KernelPCA(K, kernel=Gaussian(11.0), method="dense").fit(points[:200])
    found = model._fit
    space = found.finished.space
    span: Any = replace(space.span, points=points)  # type: ignore[type-var]
    space = replace(space, span=span, mean=np.full(n, 1 / n), basis=rng.standard_normal((n, K)) / n)
    finished = replace(found.finished, space=space, vectors=None)
    model._fit = replace(found, model=finished, x=points, weights=np.ones(n))
    return model


if __name__ == "__main__":
    run()
