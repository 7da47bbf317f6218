"""The claim of the exact route: in high dimension, certified, within a memory limit, and faster than scikit-learn.

Every fit runs in a process of its own. Accuracy comes first: residuals are computed from the exact matrix in float64; a
fit that misses the tolerance reports no time. scikit-learn is asked for the same tolerance, and its fastest accurate
solver counts. Peak memory is its growth over entry to `fit`, the caller's array excluded. MNIST and USPS are read from
the folder GRAMLESS_DATA (``mnist.npz``, ``usps.npz``); rows without data say so.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.child import measure
from benchmarks.sweep_rate import sweep_rates
from gramless.bandwidth import resolve_gamma
from gramless.datasets import resampled_digits
from gramless.gram import CenteredGram, TiledGram, rectangular_product
from gramless.kernels import Gaussian, Kernel, Polynomial

ROUNDS, LONG_S, LIMIT_S, WHOLE, SPOTS = 3, 20.0, 1800.0, 20_000, 256
DATA = Path(os.environ.get("GRAMLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Work:
    """Rows, a kernel and what is wanted.

    Attributes
    ----------
    name : str
    x : ndarray of shape (n, d)
    k : int
    tol : float
    degree : int
        Of the kernel (x.y)^degree; 0: Gaussian at the median distance.
    """

    name: str
    x: np.ndarray
    k: int
    tol: float
    degree: int = 0

    @cached_property
    def kernel(self) -> Kernel:
        gamma = self.gamma
        return Polynomial(self.degree, 0.0, gamma) if self.degree else Gaussian.from_gamma(gamma)

    @cached_property
    def gamma(self) -> float:
        return 1 / self.x.shape[1] if self.degree else resolve_gamma("median", self.x, np.ones(len(self.x)))

    def settings(self, **more: Any) -> dict[str, Any]:
        """Parameters that gramless and scikit-learn share."""
        form = {"kernel": "poly", "degree": self.degree, "coef0": 0} if self.degree else {"kernel": "rbf"}
        common = {"n_components": self.k, "gamma": self.gamma, "tol": self.tol, "random_state": 0, "copy_X": False}
        return {**form, **common, **more}

    def fit(self, who: str, **more: Any) -> dict[str, Any]:
        """Medians over the rounds of one contender; the first one settles whether it is accurate."""
        runs: list[dict[str, Any]] = []
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "x.npy"
            np.save(data, self.x)
            while len(runs) < ROUNDS and not (runs and runs[0]["seconds"] > LONG_S):
                result = measure(who, data, self.settings(**more), LIMIT_S)
                if "failed" in result:
                    return {"failed": result["failed"]}
                if not runs:
                    residual = self.residual(result)
                    if not residual <= 1.01 * self.tol:
                        return {"failed": f"misses the accuracy: residual {residual:.0e}"}
                runs.append(result)
        first = runs[0]
        fit = {"residual": residual, "passes": first["passes"], "method": first["method"]}
        fit |= {key: median(run[key] for run in runs) for key in ("seconds", "peak_bytes")}
        if len(first["width"]):
            fit |= {"width": float(first["width"].max()), "kind": sorted(set(first["kind"].tolist()))}
        print(f"  {who} {more}: {fit}", flush=True)
        return {**fit, "eigenvalues": first["eigenvalues"]}

    def residual(self, result: dict[str, Any]) -> float:
        """Worst residual relative to the largest eigenvalue: of the whole matrix, or as some of its rows suggest."""
        vectors, values = result["eigenvectors"].astype(np.float64), result["eigenvalues"].astype(np.float64)
        n = len(self.x)
        if n <= WHOLE:
            residual = CenteredGram(TiledGram(self.kernel, self.x)) @ vectors - vectors * values
            return float(np.linalg.norm(residual, axis=0).max() / values[0])
        spots = np.random.default_rng(0).choice(n, SPOTS, replace=False)
        residual = rectangular_product(self.kernel, self.x[spots], self.x, vectors) - vectors[spots] * values
        residual -= residual.mean(axis=0)  # what centring takes off is the same for all rows
        return float(np.linalg.norm(residual, axis=0).max() * np.sqrt(n / (SPOTS - 1)) / values[0])

    def peer(self, *solvers: str) -> dict[str, Any]:
        """scikit-learn's fastest accurate solver."""
        fits = {solver: self.fit("sklearn", eigen_solver=solver, n_jobs=-1) for solver in solvers}
        best = min(fits, key=lambda solver: fits[solver].get("seconds", np.inf))
        return {**fits[best], "solver": best, "all": {name: _plain(fit) for name, fit in fits.items()}}


def run(scale: float = 1.0) -> dict[str, Any]:
    """All rows of the table; a `scale` below 1 makes everything smaller, to try it out."""

    def size(n: int) -> int:
        return max(1500, int(n * scale))

    rows: list[dict[str, Any]] = []
    for found in chain(_digits(size(20_000)), _mnist(size), _usps(size(7291)), _table(size(100_000)), _single(size)):
        print(found, flush=True)
        rows.append(found)
    rates = sweep_rates(size(20_000))
    print(rates, flush=True)
    return {"rounds": ROUNDS, "long_s": LONG_S, "rows": rows, "rates": rates}


def _digits(n: int) -> Iterator[dict[str, Any]]:
    work = Work(f"{n:,} x 64 (digits with noise), k = 20, tol = 1e-5", resampled_digits(n, rng=0), 20, 1e-5)
    peer, ours = work.peer("arpack", "randomized"), work.fit("gramless")
    yield judge(work.name, ours, peer, "at least 8 times faster", _faster(ours, peer) >= 8)
    part = ours.get("peak_bytes", np.nan) / peer.get("peak_bytes", np.nan)
    yield judge("its memory", ours, peer, "at most a third", part <= 1 / 3, part)
    width = ours.get("width", np.inf)
    yield judge("its widest interval", ours, peer, "below 1e-5 of its eigenvalue", width < 1e-5, width)
    small = work.fit("gramless", memory_limit="200MB")
    kept = small.get("peak_bytes", np.inf) <= 200e6 and _faster(small, peer) > 1
    yield judge(f"{work.name}, memory_limit='200MB'", small, peer, "inside it, and faster", kept)


def _mnist(size: Any) -> Iterator[dict[str, Any]]:
    part, whole = size(15_000), size(60_000)
    names = f"MNIST, {part:,} x 784, k = 20, tol = 1e-5", f"MNIST, {whole:,} x 784, k = 20, memory_limit='2GB'"
    bars = "at least 5 times faster", "completes inside it, certified"
    x = _read("mnist.npz")
    if x is None:
        yield from (_missing(name, bar, "mnist.npz") for name, bar in zip(names, bars, strict=True))
        return
    work = Work(names[0], x[:part].astype(np.float64), 20, 1e-5)
    peer, ours = work.peer("arpack", "randomized"), work.fit("gramless")
    yield judge(work.name, ours, peer, bars[0], _faster(ours, peer) >= 5)
    work = Work(names[1], x[:whole].astype(np.float64), 20, 1e-5)
    ours = work.fit("gramless", memory_limit="2GB")
    met = ours.get("peak_bytes", np.inf) <= 2e9 and ours.get("width", np.inf) < np.inf
    yield judge(work.name, ours, {"needs_bytes": 8 * whole**2}, bars[1], met)


def _usps(n: int) -> Iterator[dict[str, Any]]:
    name, bar = f"USPS, {n:,} x 256, (x.y)^3, k = 256, tol = 1e-6", "at least 3 times faster"
    x = _read("usps.npz")
    if x is None:
        yield _missing(name, bar, "usps.npz")
        return
    work = Work(name, x[:n].astype(np.float64), min(256, n // 6), 1e-6, degree=3)
    peer, ours = work.peer("arpack", "dense", "randomized"), work.fit("gramless")
    yield judge(name, ours, peer, bar, _faster(ours, peer) >= 3)


def _table(n: int) -> Iterator[dict[str, Any]]:
    x = np.random.default_rng(0).standard_normal((n, 16)) * np.linspace(2.0, 0.5, 16)
    work = Work(f"{n:,} x 16 (normal), k = 20, tol = 1e-5, memory_limit='1GB'", x, 20, 1e-5)
    ours = work.fit("gramless", memory_limit="1GB")
    met = ours.get("peak_bytes", np.inf) <= 1e9
    yield judge(work.name, ours, {"needs_bytes": 8 * n**2}, "completes inside it", met)


def _single(size: Any) -> Iterator[dict[str, Any]]:
    """float32 rows; the reference are float64 eigenvalues whose intervals are certified."""
    n = size(20_000)
    name, bar = f"MNIST in float32, {n:,} x 784, k = 20: eigenvalues", "to 1e-5 of the float64 ones"
    x = _read("mnist.npz")
    if x is None:
        yield _missing(name, bar, "mnist.npz")
        return
    x = (x[:n] / np.float32(255)).astype(np.float32)
    exact = Work(name, x.astype(np.float64), 20, 1e-8).fit("gramless")
    ours = Work(name, x, 20, 1e-5).fit("gramless", gamma=resolve_gamma("median", x.astype(np.float64), np.ones(n)))
    error = np.inf
    if "failed" not in ours and "failed" not in exact:
        error = float(np.abs(ours["eigenvalues"] / exact["eigenvalues"] - 1).max()) + exact["width"]
    yield judge(name, ours, {}, bar, error <= 1e-5, error)


def judge(
    name: str, ours: dict[str, Any], peer: dict[str, Any], bar: str, met: bool, figure: float | None = None
) -> dict[str, Any]:
    """One row of the table; its figure is how many times faster than the peer, unless another is given."""
    if figure is None:
        figure = _faster(ours, peer)
    row = {"name": name, "bar": bar, "met": bool(met), **_plain(ours), "peer": _plain(peer)}
    return {**row, "figure": figure} if np.isfinite(figure) else row


def _faster(ours: dict[str, Any], peer: dict[str, Any]) -> float:
    return float(peer.get("seconds", np.nan) / ours.get("seconds", np.nan))


def _plain(fit: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fit.items() if key != "eigenvalues"}


def _missing(name: str, bar: str, file: str) -> dict[str, Any]:
    return {"name": name, "bar": bar, "met": False, "failed": f"no {file} in GRAMLESS_DATA", "peer": {}}


def _read(file: str) -> np.ndarray | None:
    path = DATA / file
    return np.load(path)["X_train"] if path.is_file() else None
