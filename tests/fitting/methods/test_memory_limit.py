"""`memory_limit` is kept: the peak of a process that does nothing but fit, as the kernel of the system counts it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {  # the rows themselves count as well
    "fourier": (2_000_000, 2, 60e6, {"n_components": 10, "gamma": 2.0, "tol": 1e-6}),
    "monomials": (400_000, 10, 30e6, {"n_components": 10, "gamma": 0.1, "kernel": "poly", "degree": 2, "tol": 1e-6}),
}
CASES = {  # rows, columns, bytes, settings; normal rows have slow spectra: many passes, and restarts
    "tiled": (8_000, 16, 100e6, {"n_components": 20, "gamma": "median", "tol": 1e-6}),
    "fourier": (200_000, 2, 100e6, {"n_components": 10, "gamma": 2.0, "tol": 1e-6}),
    "landmarks": (20_000, 8, 100e6, {"n_components": 10, "gamma": "median", "tol": 2e-2}),
}


def growth(rows, columns, settings, path=""):
    """Fit in a process of its own; how far its peak rose above what it held when the fit began.

    The rows are in memory, or in a file at `path`, which is made first.
    """
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "2"}
    job = json.dumps({"rows": rows, "columns": columns, "settings": settings, "path": str(path)})
    done = subprocess.run(
        [sys.executable, __file__, job], capture_output=True, text=True, timeout=600, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not count a process's peak")
@pytest.mark.parametrize("method", CASES)
def test_peak_stays_within_the_limit(method):
    rows, columns, limit, settings = CASES[method]
    result = growth(rows, columns, {**settings, "kernel": "rbf", "method": method, "memory_limit": limit, "n_jobs": 2})
    assert result["method"] == method
    assert result["accurate"]
    assert 0 < result["growth"] <= limit, result


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not count a process's peak")
@pytest.mark.parametrize("method", FILES)
def test_peak_of_a_fit_from_a_file_stays_within_the_limit(method, tmp_path):
    rows, columns, limit, settings = FILES[method]
    settings = {"kernel": "rbf", "method": method, "memory_limit": limit, "n_jobs": 2, **settings}
    result = growth(rows, columns, settings, tmp_path / "rows.npy")
    assert result["method"] == method
    assert result["accurate"]
    assert 0 < result["growth"] <= limit, result


def held(name):
    """VmRSS, resident now, or VmHWM, its peak, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in /proc/self/status")


def main():
    import numpy as np

    from gramless import KernelPCA

    job = json.loads(sys.argv[1])
    x = np.random.default_rng(0).standard_normal((job["rows"], job["columns"]))
    x *= np.linspace(2.0, 0.5, job["columns"])
    loose = {**job["settings"], "tol": 0.1, "memory_limit": None}
    few = x[:1500].copy()
    if job["path"]:
        np.save(job["path"], x)
        x = job["path"]
    KernelPCA(**loose).fit((lambda: iter([few])) if job["path"] else few)  # imports, threads and their stacks
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
    before = held("VmRSS")
    model = KernelPCA(**job["settings"], copy_X=False, random_state=0).fit(x)
    result = {"growth": held("VmHWM") - before, "method": model.method_, "passes": model.passes_}
    certificate = model.certificate_
    widest = float((certificate.upper - certificate.lower).max())
    print(json.dumps({**result, "accurate": bool(widest <= 2 * model.tol * model.eigenvalues_[0])}))


if __name__ == "__main__":
    main()
