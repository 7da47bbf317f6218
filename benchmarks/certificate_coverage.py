"""Are the true eigenvalues inside the certificate? Measured over drawn problems, with the width of what is promised.

Kernels, spectra (rank one, repeated and clustered eigenvalues, slow decay), methods, solvers, precisions, weights and
tolerances are drawn; the truth comes from 80-bit arithmetic, and from 120 digits wherever that leaves a doubt.

Half of the problems have a few hundred rows, for what small ones do not reach: few landmarks, a second level of points,
tiles in float32 and in both precisions, with few landmarks as an approximate inverse, good or bad; all with nearly
singular, clustered, repeated and outlying rows. Their truth comes from float64.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from gramless import KernelPCA, kernels
from gramless.eigen import solvers
from gramless.features.landmark_builder import LandmarkBuilder
from gramless.fitting.methods import exact, methods
from gramless.fitting.methods.layout import Layout
from gramless.gram import Nystroem

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from extended import missed

PROBLEMS, SEED = 20_000, 2026
STREAMS = ("merging", "refitting")


def run(problems: int = PROBLEMS, seed: int = SEED, seconds: float = np.inf) -> dict[str, Any]:
    """Draw so many problems, or as many as the time allows."""
    print(f"seed {seed}", flush=True)
    table: dict[str, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    start = time.monotonic()
    tried = 0
    while tried < problems and time.monotonic() - start < seconds:
        case = (Case, Rough)[tried % 2](np.random.default_rng([seed, tried]))
        tried += 1
        outcome = case.run()
        row = table.setdefault(
            case.method, {"problems": 0, "refused": 0, "widths": [], "probabilistic": 0, "missed": 0}
        )
        row["problems"] += 1
        if isinstance(outcome, str):
            row["refused"] += 1
            continue
        rigorous, outside, widths = outcome
        row["widths"] += widths
        row["probabilistic"] += not rigorous
        if outside:
            row["missed"] += 1
            found.append({"seed": [seed, tried - 1], "rigorous": rigorous, "case": str(case)})
            print(f"outside: {found[-1]}", flush=True)
        if tried % 1000 == 0:
            print(f"{tried} problems, {len(found)} with an eigenvalue outside", flush=True)
    for row in table.values():
        row["components"], row["median_width"] = len(row["widths"]), float(np.median(row.pop("widths") or [np.nan]))
    figures = {"problems": tried, "seed": seed, "violations": found, "methods": dict(sorted(table.items()))}
    for name, row in figures["methods"].items():
        print(f"{name:12} {row}", flush=True)
    return figures


class Case:
    """One problem, drawn; the same for the same seed."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n, self.d = int(rng.integers(3, 17)), int(rng.integers(1, 5))
        if rng.random() < 0.08:  # large enough that a Krylov space does not fill it
            self.n = int(rng.integers(60, 140))
        self.kernel = self._kernel()
        self.shape = str(rng.choice(list(SHAPES)))
        self.x = self._rows()
        self.weights = self._weights()
        self.k = int(rng.integers(1, min(self.n, 7) + 1))
        self.tol = float(rng.choice([0.0, 0.0, 1e-2, 1e-4, 1e-8]))
        self.method, self.solver = self._method()

    def __str__(self) -> str:
        return (
            f"{self.kernel} n={self.n} d={self.d} k={self.k} {self.shape} {self.x.dtype} tol={self.tol} "
            f"method={self.method} eigen_solver={self.solver}"
        )

    def _kernel(self) -> kernels.Kernel:
        rng = self.rng
        width = float(10 ** rng.uniform(-1, 1.5))
        choices: list[Callable[[], kernels.Kernel]] = [
            lambda: kernels.Gaussian(width),
            lambda: kernels.Gaussian(float(10 ** rng.uniform(-3, 4))),
            lambda: kernels.Laplacian(width),
            lambda: kernels.Matern(float(rng.choice([0.5, 1.5, 2.5])), width),
            lambda: kernels.Manhattan(width),
            lambda: kernels.Epanechnikov(width),
            lambda: kernels.Polynomial(int(rng.integers(1, 6)), float(rng.uniform(0, 2)), float(rng.uniform(0.1, 2))),
            lambda: kernels.Linear(),
            lambda: kernels.Cosine(),
            lambda: kernels.Tanh(float(rng.uniform(0.01, 1)), float(rng.uniform(-1, 1))),
            lambda: float(rng.uniform(0.1, 9)) * kernels.Gaussian(width) + kernels.Polynomial(2, 1.0),
            lambda: kernels.Gaussian(width) * kernels.Polynomial(2, 0.5),
        ]
        return choices[int(rng.integers(len(choices)))]()

    def _rows(self) -> np.ndarray:
        rng = self.rng
        x = SHAPES[self.shape](rng, self.n, self.d)
        x = x * 10 ** rng.uniform(-2, 1) + rng.choice([0.0, 0.0, 1.0, 1e3])
        return x.astype(np.float32) if rng.random() < 0.3 else x

    def _weights(self) -> np.ndarray:
        kind = self.rng.integers(4)
        if kind == 0:
            return self.rng.integers(0, 4, self.n) + (np.arange(self.n) == 0.0)
        return self.rng.random(self.n) + 1e-3 if kind == 1 else np.ones(self.n)

    def _method(self) -> tuple[str, str]:
        method = str(self.rng.choice([name for name in methods if name != "cuda" and self._serves(name)]))
        self.tol = 0.0 if method in STREAMS else self.tol  # they say what they reach, and promise nothing
        solver = "auto"
        if method in ("dense", "tiled") and self.rng.random() < 0.4:
            solver = str(self.rng.choice([name for name in solvers if name != "dense"]))
        return method, solver

    def _serves(self, name: str) -> bool:
        """Roughly; what a method thinks of the rest it says itself."""
        kernel = self.kernel
        linear, distance = isinstance(kernel, kernels.Linear), isinstance(kernel, kernels.base.RadialKernel)
        return {
            "covariance": linear,
            "svd": linear,
            "products": linear or isinstance(kernel, kernels.Cosine),
            "normalized": isinstance(kernel, kernels.Cosine),
            "monomials": linear or isinstance(kernel, kernels.Polynomial),
            "taylor": isinstance(kernel, kernels.Gaussian),
            "fourier": distance and kernel.spectral_density() is not None and self.d <= 2,
            "sparse": distance,
            "composite": isinstance(kernel, (kernels.Sum, kernels.Product, kernels.Scaled)),
            "landmarks": bool(kernel.mercer),
            "sampled": bool(kernel.mercer),
            "merging": bool(kernel.mercer),
            "refitting": not kernel.mercer,
        }.get(name, True)

    def run(self) -> str | tuple[bool, bool, list[float]]:
        """Why there is no model; or whether it is rigorous, whether an eigenvalue is outside, and relative widths."""
        model = KernelPCA(
            self.k, kernel=self.kernel, method=self.method, eigen_solver=self.solver, tol=self.tol, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if self.method in STREAMS:
                    for rows, weights in zip(np.array_split(self.x, 2), np.array_split(self.weights, 2), strict=True):
                        if weights.any():
                            model.partial_fit(rows, sample_weight=weights)
                else:
                    model.fit(self.x, sample_weight=self.weights)
                certificate = model.certificate_
            except ValueError as error:
                return str(error)
            except Exception as error:  # of any other kind is as bad as a wrong interval
                print(f"{error!r}: {self}", flush=True)
                return True, True, []
        outside = missed(certificate, self.kernel, self.x, self.weights)
        seen = certificate.values > 1e-10 * certificate.values.max(initial=0)
        rigorous = bool((certificate.kind == "rigorous").all())
        return rigorous, bool(outside.any()), certificate.width[seen].tolist()


class Rough:
    """A problem of a few hundred rows for a method that leaves something out, or computes in float32."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n, self.d = int(rng.choice([60, 150, 300, 450, 700])), int(rng.choice([2, 4, 8, 30]))
        self.shape = str(rng.choice(list(CLOUDS)))
        self.x = CLOUDS[self.shape](rng, self.n, self.d)
        size = float(np.sqrt(self.x.var(axis=0).sum())) + 1e-12
        width = size * 10 ** rng.uniform(-0.7, 0.7)
        self.kernel = [
            kernels.Gaussian(width),
            kernels.Matern(1.5, width),
            kernels.Gaussian(width) + kernels.Gaussian(2 * width),
            kernels.Polynomial(2, 1.0, size**-2),
        ][int(rng.integers(4))]
        self.weights = np.ones(self.n)
        if rng.random() < 0.4:
            drawn = rng.choice([0, 1, 2.0, 1e-3, 50], self.n) + rng.choice([0, 0.1])
            self.weights = drawn if np.count_nonzero(drawn) >= 8 else self.weights
        self.k, self.rank = int(rng.integers(1, 6)), int(rng.choice([5, 20, 60]))
        self.name = str(rng.choice(["landmarks", "sampled", "tiled", "tiled", "dense"]))
        self.way = str(rng.choice(list(WAYS)))
        finest = -5 if self.way == "float32" else -11
        self.tol = float(10 ** rng.uniform(finest, -1)) if self.name == "tiled" else 0.0  # others say what they reach
        self.believed = bool(rng.random() < 0.5)  # whether landmarks are used, however poor they are
        self.method = {
            "landmarks": "landmarks, few",
            "sampled": "sampled",
            "tiled": f"tiled, {self.way}",
            "dense": "dense, few components",
        }[self.name]

    def __str__(self) -> str:
        return f"{self.kernel} n={self.n} d={self.d} k={self.k} {self.shape} tol={self.tol} {self.method} {self.rank}"

    def _layout(self, problem: Any) -> Layout:
        """Tiles as for many rows, which these are not."""
        draft, single, kept = WAYS[self.way]
        width = problem.k + int(self.rng.choice([5, 13, 43]))
        columns = int(self.rng.choice([width + 2 * problem.k, 6 * width]))
        return Layout(width, columns, kept, 2**20, draft, single, min(self.rank, problem.n), 1.0, 1e6)

    def run(self) -> str | tuple[bool, bool, list[float]]:
        """Why there is no model; or whether it is rigorous, whether an eigenvalue is outside, and relative widths."""
        model = KernelPCA(self.k, kernel=self.kernel, method=self.name, tol=self.tol, random_state=0)
        patches = [
            mock.patch.object(LandmarkBuilder, "rank", lambda _, problem: min(self.rank, problem.n)),
            mock.patch.object(exact, "most_pairs", return_value=1e5),
        ]
        if self.name == "tiled":
            patches += [
                mock.patch.object(exact, "choose_layout", self._layout),
                mock.patch.object(exact, "preconditioned", return_value=True),
            ]
            if self.believed:
                patches.append(mock.patch.object(Nystroem, "resolves", return_value=True))
        with warnings.catch_warnings(), ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            warnings.simplefilter("ignore")
            try:
                certificate = model.fit(self.x, sample_weight=self.weights).certificate_
            except ValueError as error:
                return str(error)
            except Exception as error:  # of any other kind is as bad as a wrong interval
                print(f"{error!r}: {self}", flush=True)
                return True, True, []
        truth, error = _float64_eigenvalues(self.kernel, self.x, self.weights)
        truth = truth[: len(certificate)]
        outside = (truth < certificate.lower - error) | (truth > certificate.upper + error)
        seen = certificate.values > 1e-10 * certificate.values.max(initial=0)
        rigorous = bool((certificate.kind == "rigorous").all())
        return rigorous, bool(outside.any()), certificate.width[seen].tolist()


def _float64_eigenvalues(kernel: kernels.Kernel, x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Descending eigenvalues of the centred Gram matrix, and their error: entries from differences of rows."""
    if isinstance(kernel, kernels.Polynomial):
        gram = kernel(x)
    else:
        squares = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
        parts = [kernel.left, kernel.right] if isinstance(kernel, kernels.Sum) else [kernel]
        gram = sum(part.profile(squares.copy()) for part in parts)
    roots = np.sqrt(weights)
    unit = roots / np.linalg.norm(roots)
    gram = roots[:, None] * gram * roots
    error = 1e-15 * float(np.abs(gram).sum(axis=1).max())
    gram -= np.outer(unit, unit @ gram)
    gram -= np.outer(gram @ unit, unit)
    values = np.linalg.eigvalsh((gram + gram.T) / 2)[::-1]
    return values, error + 5e-13 * np.sqrt(len(x)) * float(values[0])


def _normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def _clusters(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Three tight groups: eigenvalues in clusters."""
    return rng.standard_normal((3, d))[rng.integers(0, 3, n)] + 1e-5 * rng.standard_normal((n, d))


SHAPES: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "normal": _normal,
    "uniform": lambda rng, n, d: rng.uniform(-1, 1, (n, d)),
    "clusters": _clusters,
    "duplicates": lambda rng, n, d: rng.standard_normal((max(2, n // 3), d))[rng.integers(0, max(2, n // 3), n)],
    "rank one": lambda rng, n, d: np.outer(rng.standard_normal(n), rng.standard_normal(d)),
    "circle": lambda rng, n, d: np.stack(  # equally spaced: eigenvalues in pairs
        [np.cos(2 * np.pi * np.arange(n) / n + a) for a in np.pi / 2 * np.arange(d)], axis=1
    ),
    "grid": lambda rng, n, d: rng.integers(-1, 2, (n, d)).astype(float),
    "equal": lambda rng, n, d: np.tile(rng.standard_normal(d), (n, 1)),
    "graded": lambda rng, n, d: rng.standard_normal((n, d)) * np.logspace(0, -6, d),
}


def _outliers(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    x = rng.standard_normal((n, d))
    x[rng.integers(0, n, 3)] *= 1e3
    return x


#: Whether tiles are in float32, whether that is all, and the memory for those that are kept.
WAYS: dict[str, tuple[bool, bool, int]] = {
    "float32": (True, True, 0),
    "float32, kept": (True, False, 10**8),
    "both precisions": (True, False, 0),
    "float64": (False, False, 10**8),
}
CLOUDS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "normal": _normal,
    "clusters": lambda rng, n, d: 3 * rng.standard_normal((5, d))[rng.integers(0, 5, n)] + 1e-3 * _normal(rng, n, d),
    "repeated": lambda rng, n, d: rng.standard_normal((n // 5, d))[rng.integers(0, n // 5, n)],
    "outliers": _outliers,
    "tiny": lambda rng, n, d: 1e-4 * rng.standard_normal((n, d)),
    "line": lambda rng, n, d: np.outer(rng.standard_normal(n), np.ones(d)) + 1e-6 * _normal(rng, n, d),
    "far": lambda rng, n, d: rng.standard_normal((n, d)) + 1e4,
    "scales": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 1, d),
}
