"""Run one fit in a process of its own: its time, how far its memory grew, and how accurate it is."""

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


def measure(
    who: str,
    data: Path | dict[str, Any],
    settings: dict[str, Any],
    limit_s: float,
    *,
    new_rows: int = 0,
    spot_rows: int = 0,
) -> dict[str, Any]:
    """Fit `who` ("gramless" or "sklearn") in a new process.

    Parameters
    ----------
    data : Path or dict
        A file of rows; or what to make in the process, ``{"kind": "uniform", "n": 1000, "d": 2, "seed": 0}``, whose
        eigenvectors are not sent back.
    settings : dict
        Of KernelPCA; for gramless the kernel may be ``{"gaussian": sigma}`` or ``{"polynomial": degree}``.
    new_rows : int
        So many new rows are transformed, and timed; `transformed` is what came of the first thousand.
    spot_rows : int
        So many rows of the exact matrix are multiplied with the eigenvectors; `residual` is the norm, relative to the
        largest eigenvalue, that their residuals suggest for the whole.

    Returns
    -------
    dict
        seconds, peak_bytes (growth of peak resident memory over entry to fit), eigenvalues, method, and the above; or
        `failed`, with the reason.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.npz"
        job = {
            "who": who,
            "data": data if isinstance(data, dict) else str(data),
            "settings": settings,
            "new_rows": new_rows,
            "spot_rows": spot_rows,
            "out": str(out),
        }
        command = [sys.executable, "-m", "benchmarks.child", json.dumps(job)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            return {"failed": f"more than {limit_s:.0f} s"}
        if done.returncode:
            return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
        with np.load(out) as result:
            return {name: value if value.ndim else value.item() for name, value in result.items()}


def _main() -> None:
    job = json.loads(sys.argv[1])
    settings = job["settings"]
    if job["who"] == "gramless":
        from gramless import KernelPCA
        from gramless.kernels import kernels

        if isinstance(settings["kernel"], dict):
            [(name, parameter)] = settings["kernel"].items()
            settings["kernel"] = kernels[name](parameter)
    else:
        from sklearn.decomposition import KernelPCA
    made = isinstance(job["data"], dict)
    x = make(**job["data"]) if made else np.load(job["data"])
    KernelPCA(**settings).fit(x[:300])  # imports and thread pools are not what is measured
    restart_peak()
    before = resident_bytes()
    start = time.perf_counter()
    model = KernelPCA(**settings).fit(x)
    seconds = time.perf_counter() - start
    peak = peak_bytes() - before
    certificate = getattr(model, "certificate_", None)
    result = {
        "seconds": seconds,
        "peak_bytes": peak,
        "eigenvalues": model.eigenvalues_,
        "width": [] if certificate is None else certificate.width,
        "kind": [] if certificate is None else certificate.kind,
        "passes": getattr(model, "passes_", 0),
        "method": getattr(model, "method_", settings.get("eigen_solver", "auto")),
    }
    if not made:
        result["eigenvectors"] = model.eigenvectors_
    if job["new_rows"]:
        new = make(**{**job["data"], "n": job["new_rows"], "seed": job["data"]["seed"] + 1})
        start = time.perf_counter()
        transformed = model.transform(new)
        result |= {"transform_seconds": time.perf_counter() - start, "transformed": transformed[:1000]}
    if job["spot_rows"]:
        result["residual"] = spot_residual(model, x, job["spot_rows"])
    np.savez(job["out"], **result)


def make(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Rows as told: "uniform" in the unit cube."""
    if kind != "uniform":
        raise ValueError(f"kind={kind!r}; known is 'uniform'")
    return np.random.default_rng(seed).random((n, d))


def spot_residual(model: Any, x: np.ndarray, rows: int, block: int = 100_000) -> float:
    """Residual of the eigenpairs at some rows of the exact matrix, by kernel values of scikit-learn's.

    Half of the rows are the outermost: the norm is rather over- than underestimated, yet no bound.
    The eigenvectors v sum to 0, so that (K v)_i - l v_i is the same number for all i: what is left when its mean over
    the rows is taken off is the residual of the centred matrix.
    """
    from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

    def values(some: np.ndarray) -> np.ndarray:
        kernel = model.kernel
        if hasattr(kernel, "sigma"):
            return rbf_kernel(spots, some, gamma=kernel.gamma)
        return polynomial_kernel(spots, some, degree=kernel.degree, gamma=kernel.scale, coef0=kernel.c)

    def vectors(some: np.ndarray) -> np.ndarray:
        return model.transform(some) / np.sqrt(model.eigenvalues_)

    outermost = np.argsort(((x - x.mean(axis=0)) ** 2).sum(axis=1))[-(rows // 2) :]  # where expansions are worst
    anywhere = np.random.default_rng(0).choice(len(x), rows - rows // 2, replace=False)
    spots = x[np.concatenate([outermost, anywhere])]
    product = sum(values(x[i : i + block]) @ vectors(x[i : i + block]) for i in range(0, len(x), block))
    residual = product - vectors(spots) * model.eigenvalues_
    residual -= residual.mean(axis=0)
    norms = np.linalg.norm(residual, axis=0) * np.sqrt(len(x) / (rows - 1))
    return float(norms.max() / model.eigenvalues_[0])


if __name__ == "__main__":
    _main()
