"""Run one fit in a process of its own: its time, and how far its memory grew."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np


def resident_bytes() -> int:
    """Memory this process holds now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def measure(who: str, data: Path, settings: dict[str, Any], limit_s: float) -> dict[str, Any]:
    """Fit `who` ("gramless" or "sklearn") to the array in `data`, in a new process.

    Returns seconds, peak_bytes (growth of peak resident memory over entry to fit), eigenvalues and eigenvectors;
    or `failed`, with the reason.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.npz"
        command = [sys.executable, "-m", "benchmarks.child", who, str(data), json.dumps(settings), str(out)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            return {"failed": f"more than {limit_s:.0f} s"}
        if done.returncode:
            return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
        with np.load(out) as result:
            return {
                "seconds": float(result["seconds"]),
                "peak_bytes": int(result["peak_bytes"]),
                "eigenvalues": result["eigenvalues"],
                "eigenvectors": result["eigenvectors"],
                "width": result["width"],
                "kind": result["kind"],
                "passes": int(result["passes"]),
            }


def _main() -> None:
    who, data, settings, out = sys.argv[1:]
    if who == "gramless":
        from gramless import KernelPCA
    else:
        from sklearn.decomposition import KernelPCA
    x = np.load(data)
    KernelPCA(2, kernel="rbf").fit(x[:300])  # imports and thread pools are not what is measured
    before = resident_bytes()
    start = time.perf_counter()
    model = KernelPCA(**json.loads(settings)).fit(x)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    certificate = getattr(model, "certificate_", None)
    np.savez(
        out,
        seconds=seconds,
        peak_bytes=peak,
        eigenvalues=model.eigenvalues_,
        eigenvectors=model.eigenvectors_,
        width=[] if certificate is None else certificate.width,
        kind=[] if certificate is None else certificate.kind,
        passes=getattr(model, "passes_", 0),
    )


if __name__ == "__main__":
    _main()
