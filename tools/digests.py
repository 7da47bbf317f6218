"""Digests of what the library returns, over many cases and through its public names alone.

``python tools/digests.py OUT.json [--only REGEX]`` runs the cases and writes {case: {what: digest or text}};
``python tools/digests.py --compare A.json B.json`` prints what differs, and ends with 1 if anything does. The same
script runs on the code before and after a change that is to change no bit:

    PYTHONPATH=/somewhere/old/src python tools/digests.py old.json

It takes some five minutes of one core. Last digits depend on the threads of BLAS, which has one here unless the
process is told otherwise (OPENBLAS_NUM_THREADS): the case "environment" has what two files must agree on. Cases whose
names begin with "cli:" are what commands print.
"""

# ruff: noqa: D103 - names say it; what does not go without saying has a docstring

from __future__ import annotations

import argparse
import contextlib
import copy
import gzip
import hashlib
import io
import json
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

Notes = dict[str, Any]
CASES: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {}
#: Of the process, unless they are set already: scikit-learn prints sets, and last digits depend on the threads of BLAS,
#: two of which wait for each other by spinning where somebody else has one of the cores.
SETTINGS = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
LONGEST = 8000  # characters of a text that is stored as it is
HEAD = 3  # leading numbers of an array that are stored beside its digest


def case(name: str, function: Callable[..., None], *arguments: Any) -> None:
    """Register ``function(notes, *arguments)``; arguments are copied before each run, as seeds may be objects."""
    if name in CASES:
        raise ValueError(f"two cases are called {name!r}")
    CASES[name] = function, arguments


# What is written down -------------------------------------------------------------------------------------------------


def masked(text: str) -> str:
    """A text without what changes from run to run: the folder, addresses in memory, numbers of containers."""
    text = text.replace(str(Path.cwd()), "FOLDER")
    text = re.sub(r"0[xX][0-9a-fA-F]{6,}", "0x", text)
    return re.sub(r"sk-([a-z-]*)id-\d+", r"sk-\1id", text)


def without_times(text: str) -> str:
    """A text without seconds: those of a run, not those of a plan."""
    text = re.sub(r"\d+\.\d+ s elapsed(, about [\d.a-z ]+ left)?", "T elapsed", text)
    text = re.sub(r'"seconds": \d+\.\d{1,3}(?=[,}])', '"seconds": T', text)
    return re.sub(r"(?m)^(time +)\d+\.\d+ s *$", r"\1T", text)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def described(value: Any) -> Any:
    """A value as JSON: short texts as they are, arrays by digest, shape and leading numbers."""
    if type(value).__module__.startswith("dask"):
        return {"dask": described(value.compute())}
    if type(value).__module__.startswith("torch"):
        return {"tensor": str(value.dtype), **described(value.numpy())}
    if hasattr(value, "iloc"):
        return {"frame": [str(name) for name in value.columns], **described(value.to_numpy())}
    if scipy.sparse.issparse(value):
        return {"csr": type(value).__name__, **described(value.toarray())}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        flat = np.ascontiguousarray(value).ravel()
        norm = float(np.linalg.norm(np.asarray(flat, dtype=np.complex128)))
        numbers = [repr(number.item()) for number in flat[:HEAD]] + [f"norm {norm!r}"]
        return {"sha": sha(flat.tobytes()), "dtype": str(value.dtype), "shape": list(value.shape), "numbers": numbers}
    if isinstance(value, np.ndarray):
        listed = value.tolist()
        text = repr(listed)
        data = {"dtype": str(value.dtype), "shape": list(value.shape)}
        return {**data, "values": text} if len(text) < 300 else {**data, "sha": sha(text.encode()), "begin": text[:60]}
    if isinstance(value, bytes):
        return {"sha": sha(value), "bytes": len(value)}
    text = masked(value if isinstance(value, str) else repr(value))
    return text if len(text) <= LONGEST else {"sha": sha(text.encode()), "begin": text[:200], "characters": len(text)}


def error_text(error: BaseException) -> str:
    return masked(f"{type(error).__name__}: {error}")


def attempt(notes: Notes, what: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Note what a call returns, or what it raises; returns the same, None where it raised."""
    try:
        value = function(*arguments, **options)
        notes[what] = "itself" if hasattr(value, "get_params") else described(value)
        return value
    except Exception as error:
        notes[what] = {"raised": error_text(error)}
        return None


def raised(notes: Notes, what: str) -> bool:
    return isinstance(notes[what], dict) and "raised" in notes[what]


#: Public attributes that are looked at where a model has them; certificate_ and plan_ come besides.
ATTRIBUTES = (
    *("method_", "gamma_", "eigenvalues_", "explained_variance_", "explained_variance_ratio_", "passes_"),
    *("eigenvectors_", "X_fit_", "dual_coef_", "X_transformed_fit_", "n_features_in_", "feature_names_in_"),
    *("labels_", "inertia_", "n_iter_", "prototype_indices_", "classes_", "priors_", "shrinkage_", "n_coordinates_"),
    *("ratios_", "threshold_", "positive_", "components_", "mixing_", "mean_", "whitening_", "contrast_"),
    *("n_components_", "kernel_", "bandwidth_", "normalization_error_"),
)
ABSENT = object()


def saved(model: Any, path: str = "model.gramless") -> bytes:
    """The bytes of a model's file; a seed that is an object cannot be saved, and is left out."""
    if isinstance(getattr(model, "random_state", None), (np.random.RandomState, np.random.Generator)):
        model = copy.copy(model)
        model.random_state = 0
    model.save(path)
    return Path(path).read_bytes()


def record(notes: Notes, model: Any, new: Any = None, prefix: str = "") -> None:
    """Everything public of a fitted model: its file, attributes, and what it makes of new rows."""
    import gramless

    attempt(notes, prefix + "saved", saved, model)
    for name in ATTRIBUTES:
        try:
            value = getattr(model, name, ABSENT)
        except Exception as error:
            value = error_text(error)
        if value is not ABSENT:
            notes[prefix + name] = described(value)
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        for name in ("values", "lower", "upper", "angle", "kind", "failure_probability"):
            notes[f"{prefix}certificate {name}"] = described(getattr(certificate, name))
    if getattr(model, "plan_", None) is not None:
        notes[prefix + "plan_"] = described(str(model.plan_))
    names = [name for name in dir(model) if name.endswith("_") and name[0] != "_" and hasattr(model, name)]
    notes[prefix + "names"] = " ".join(sorted(names))
    if new is None:
        return
    for name in ("transform", "reconstruction_error", "score", "predict", "decision_function", "predict_proba"):
        if hasattr(model, name) and not (name == "score" and hasattr(model, "classes_")):
            attempt(notes, prefix + name, getattr(model, name), new)
    if getattr(model, "fit_inverse_transform", False):
        scores = model.transform(new)
        attempt(notes, prefix + "inverse_transform", model.inverse_transform, scores)
        attempt(notes, prefix + "denoise", model.denoise, new)
    if not raised(notes, prefix + "saved"):
        loaded = gramless.load("model.gramless")
        notes[prefix + "loaded saved"] = saved(loaded, "again.gramless") == Path("model.gramless").read_bytes()
        ask = "transform" if hasattr(loaded, "transform") else "score_samples"
        attempt(notes, f"{prefix}loaded {ask}", getattr(loaded, ask), new)
    attempt(notes, prefix + "saved after use", saved, model)


# Data -----------------------------------------------------------------------------------------------------------------


@cache
def rows(name: str) -> Any:
    """Rows by name, always the same, which nobody may change; a name with ' new' has others of the same sort."""
    made = draw_rows(name)
    made.flags.writeable = False
    return made


def draw_rows(name: str) -> Any:
    kind, _, more = name.partition(" ")
    rng = np.random.default_rng([sum(map(ord, kind)), len(more)])
    n = (
        60
        if more
        else {"tall2": 150_000, "tall5": 100_000, "wide": 1000, "broad": 10_000, "many": 1500, "few": 80}.get(kind, 300)
    )
    if kind in ("plane", "tall2"):
        return rng.random((n, 2)).round(4)
    if kind == "line":
        return rng.random((n, 1)).round(4)
    if kind in ("wide", "broad"):
        d = 800 if kind == "wide" else 100
        mixed = rng.standard_normal((n, 4)) @ np.random.default_rng(2).standard_normal((4, d))
        return (mixed + 0.1 * rng.standard_normal((n, d))).round(3)
    d = {"thin": 12}.get(kind, 5)
    centres = np.random.default_rng(1).standard_normal((3, d)) * 1.5
    return (centres[rng.integers(3, size=n)] + rng.standard_normal((n, d)) * np.linspace(0.5, 1.2, d)).round(4)


@cache
def weights_of(n: int) -> Any:
    """Weights, every seventh of them 0."""
    made = np.random.default_rng(9).random(n).round(3) + 0.2
    made[::7] = 0.0
    return made


def classes_of(x: Any, count: int = 3) -> Any:
    return np.digitize(x[:, 0] + 0.3 * x[:, 1], np.quantile(x[:, 0] + 0.3 * x[:, 1], np.arange(1, count) / count))


def frame(x: Any) -> Any:
    import pandas

    return pandas.DataFrame(np.array(x), columns=[f"c{j}" for j in range(x.shape[1])])


def tensor(x: Any) -> Any:
    import torch

    return torch.as_tensor(np.array(x))


def polars_frame(x: Any) -> Any:
    import polars

    return polars.DataFrame({f"c{j}": x[:, j] for j in range(x.shape[1])})


FORMS: dict[str, Callable[[Any], Any]] = {
    "array": np.array,
    "float32": lambda x: x.astype(np.float32),
    "fortran": np.asfortranarray,
    "list": lambda x: x.tolist(),
    "csr": lambda x: scipy.sparse.csr_array(np.where(np.abs(x) > 0.4, x, 0.0)),
    "csr32": lambda x: scipy.sparse.csr_matrix(np.where(np.abs(x) > 0.4, x, 0.0).astype(np.float32)),
    "frame": frame,
    "polars": polars_frame,
    "tensor": tensor,
    "tensor32": lambda x: tensor(x.astype(np.float32)),
}


@cache
def file_of(name: str, suffix: str, weighted: bool = False) -> str:
    """A file, or a folder of three, that holds rows by name; with a last column of weights, where wanted."""
    x = rows(name)
    x = np.column_stack([x, weights_of(len(x))]) if weighted else x
    if suffix.startswith("folder"):
        folder = Path(f"{name} {suffix}{' weighted' * weighted}".replace(" ", "_"))
        folder.mkdir()
        inner = suffix.removeprefix("folder ")
        for number, part in enumerate(np.array_split(x, 3)):
            write(folder / f"part{number}.{inner}", part, weighted)
        return str(folder)
    path = Path(f"{name}{'_weighted' * weighted}.{suffix}")
    write(path, x, weighted)
    return str(path)


def write(path: Path, x: Any, weighted: bool) -> None:
    """Rows to a file, by its suffix; the last column is called weight where it has the weights."""
    import pyarrow
    from pyarrow import csv, parquet

    names = [f"c{j}" for j in range(x.shape[1] - 1)]
    names.append("weight" if weighted else f"c{len(names)}")
    table = pyarrow.table({name: x[:, j] for j, name in enumerate(names)})
    suffix = "".join(path.suffixes)
    if suffix == ".npy":
        np.save(path, x)
    elif suffix == ".npz":
        np.savez(path, x=x)
    elif suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=len(x) // 3 + 1)
    elif suffix == ".csv":
        csv.write_csv(table, path)
    elif suffix == ".tsv":
        csv.write_csv(table, path, csv.WriteOptions(delimiter="\t"))
    elif suffix == ".csv.gz":
        held = io.BytesIO()
        csv.write_csv(table, held)
        path.write_bytes(gzip.compress(held.getvalue(), mtime=0))
    elif suffix == ".h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["x"] = x
    elif suffix == ".zarr":
        import zarr

        zarr.save(str(path), x)


class Foreign:
    """A source of one's own; it may break off, by Ctrl-C, when so many blocks have been given."""

    restartable, name = True, "rows of our own"

    def __init__(self, x: Any, last: int = -1) -> None:
        self.x, self.last, self.given = x, last, []
        self.n_rows, self.n_features = x.shape

    def blocks(self, size: int, start: int = 0) -> Iterator[Any]:
        for first in range(start, self.n_rows, size):
            if len(self.given) == self.last:
                raise KeyboardInterrupt
            self.given.append(first // size)
            yield self.x[first : first + size]


def source(name: str, kind: str, weighted: bool = False) -> Any:
    """Rows by name from wherever they come."""
    import gramless

    x = rows(name)
    pieces = [x[:5], x[5 : len(x) // 2], x[len(x) // 2 :]]
    if kind == "iterator":
        return iter(pieces)
    if kind == "function":
        return lambda: iter(pieces)
    if kind == "frames":
        return lambda: iter([frame(piece) for piece in pieces])
    if kind == "sparse iterator":
        return iter([FORMS["csr"](piece) for piece in pieces])
    if kind == "foreign":
        return Foreign(x)
    if kind == "memmap":
        return np.load(file_of(name, "npy"), mmap_mode="r")
    if kind == "opened":
        return gramless.open_source(file_of(name, "csv"), columns=["c1", "c0"])
    if kind == "opened array":
        return gramless.open_source(x)
    if kind == "opened drop":
        return gramless.open_source(file_of(name, "csv"), missing="drop")
    return file_of(name, kind, weighted)


SOURCES = (
    *("npy", "npz", "csv", "tsv", "csv.gz", "parquet", "h5", "zarr", "folder npy", "folder csv", "folder parquet"),
    *(
        "iterator",
        "function",
        "frames",
        "sparse iterator",
        "foreign",
        "memmap",
        "opened",
        "opened array",
        "opened drop",
    ),
)


# Kernel PCA -----------------------------------------------------------------------------------------------------------

COMMON = {"n_components": 4, "memory_limit": "1GB", "random_state": 0, "n_jobs": 1}


def tilted(x: Any, y: Any) -> float:
    """A kernel that is a function."""
    return float(np.exp(-0.05 * ((x - y) ** 2).sum()) + 0.1 * (x @ y))


def parameterised(x: Any, y: Any, power: int = 1) -> float:
    return float((1 + x @ y / 5) ** power)


def kernel_objects() -> dict[str, Any]:
    from gramless import kernels as k

    return {
        "gaussian": k.Gaussian(2.0),
        "laplacian": k.Laplacian(2.0),
        "manhattan": k.Manhattan(3.0),
        "matern 0.5": k.Matern(0.5, 2.0),
        "matern 0.8": k.Matern(0.8, 2.0),
        "matern 1.5": k.Matern(1.5, 2.0),
        "matern 2.5": k.Matern(2.5, 2.0),
        "matern inf": k.Matern(float("inf"), 2.0),
        "epanechnikov": k.Epanechnikov(3.0),
        "tanh": k.Tanh(0.02, 0.5),
        "cosine": k.Cosine(),
        "linear": k.Linear(),
        "polynomial 2": k.Polynomial(2, 1.0, 0.2),
        "polynomial 3, c 0": k.Polynomial(3, 0.0, 0.2),
        "polynomial 2.5": k.Polynomial(2.5, 50.0, 0.2),
        "form": k.QuadraticForm(np.diag([1.0, 2.0, 3.0, 0.5, 1.5])),
        "sum": k.Gaussian(2.0) + k.Polynomial(2, 1.0, 0.2),
        "product": k.Gaussian(3.0) * k.Linear(),
        "multiple": 2.5 * k.Matern(1.5, 2.0),
        "sum of three": k.Gaussian(2.0) + 0.5 * k.Laplacian(2.0) + k.Linear(),
        "sum, indefinite": k.Gaussian(2.0) + k.Tanh(0.02, 0.5),
        "callable": tilted,
        "callable, mercer": k.FromCallable(tilted, {}, mercer=True),
    }


def specs() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every method with rows and a kernel that suit it."""
    from gramless import kernels as k

    both, product = k.Gaussian(1.0) + k.Polynomial(2), k.Gaussian(1.0) * k.Polynomial(2)
    rbf, poly, torch = {"kernel": "rbf", "gamma": 0.1}, {"kernel": "poly", "degree": 2}, {"device": "torch"}
    wave = {"kernel": "rbf", "gamma": 2.0}
    return {
        "dense": ("cloud", {**rbf, "method": "dense"}),
        "tiled": ("cloud", {**rbf, "method": "tiled"}),
        "sparse": ("plane", {"kernel": "rbf", "gamma": 300.0, "method": "sparse"}),
        "sparse, compact": ("plane", {"kernel": k.Epanechnikov(0.2), "method": "sparse"}),
        "covariance": ("cloud", {"method": "covariance"}),
        "svd": ("cloud", {"method": "svd"}),
        "monomials": ("cloud", {**poly, "method": "monomials"}),
        "taylor": ("plane", {**wave, "method": "taylor"}),
        "fourier": ("plane", {**wave, "method": "fourier"}),
        "fourier, rough": ("line", {"kernel": k.Matern(2.5, 0.5), "method": "fourier"}),
        "landmarks": ("cloud", {**rbf, "method": "landmarks"}),
        "composite": ("plane", {"kernel": both, "method": "composite"}),
        "composite product": ("plane", {"kernel": product, "method": "composite"}),
        "auto": ("cloud", rbf),
        "auto, plane": ("plane", wave),
        "auto, poly": ("cloud", poly),
        "auto, linear": ("cloud", {}),
        "auto, sigmoid": ("cloud", {"kernel": "sigmoid", "gamma": 0.01}),
        "auto, no card": ("cloud", {**rbf, "device": "auto"}),
        "cuda": ("cloud", {**rbf, **torch, "method": "cuda"}),
        "torch landmarks": ("cloud", {**rbf, **torch, "method": "landmarks"}),
        "torch monomials": ("cloud", {**poly, **torch, "method": "monomials"}),
        "torch taylor": ("plane", {**wave, **torch, "method": "taylor"}),
        "torch composite": ("plane", {"kernel": both, **torch, "method": "composite"}),
        "torch auto": ("plane", {**wave, **torch}),
    }


AROUND = "around"  # a domain that holds the rows
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "weights": {"weights": True},
    "center": {"center_input": True},
    "scale": {"scale_input": True},
    "scale, weights, inverse": {"scale_input": True, "weights": True, "fit_inverse_transform": True},
    "center, inverse": {"center_input": True, "fit_inverse_transform": True},
    "share": {"n_components": 0.9},
    "all": {"n_components": None},
    "twenty, zeros removed": {"n_components": 20, "remove_zero_eig": True},
    "tol": {"tol": 1e-6},
    "tol, tight": {"tol": 1e-13},
    "no data": {"keep_data": False},
    "no data, inverse": {"keep_data": False, "fit_inverse_transform": True, "weights": True},
    "inverse": {"fit_inverse_transform": True, "alpha": 0.1},
    "domain": {"domain": AROUND},
    "domain, scale": {"domain": AROUND, "scale_input": True},
    "forget": {"forget": 80.0, "weights": True},
    "not copied": {"copy_X": False},
    "two threads": {"n_jobs": 2},
    "RandomState": {"random_state": np.random.RandomState(3), "n_jobs": 2, "fit_inverse_transform": True},
    "median": {"gamma": "median", "weights": True},
    "gamma scale": {"gamma": "scale", "scale_input": True},
    "gap": {"gamma": "gap"},
    "preimage": {"gamma": "preimage", "n_components": 2},
    "gamma None": {"gamma": None},
    "float32, weights": {"form": "float32", "weights": True},
    "float32, inverse": {"form": "float32", "fit_inverse_transform": True, "scale_input": True},
    "arpack": {"eigen_solver": "arpack"},
    "solver dense": {"eigen_solver": "dense"},
    "little memory": {"memory_limit": "3MB"},
    **{f"as {form}": {"form": form} for form in FORMS if form not in ("array", "polars")},
    "as csr, weights": {"form": "csr", "weights": True},
    "as frame, weights, inverse": {"form": "frame", "weights": True, "fit_inverse_transform": True},
}
#: Specifications that the others nearly cover: they run in these variants, and the searches for a width with some only.
SELDOM = (
    *("sparse, compact", "composite product", "auto, linear", "auto, no card", "svd", "refitting, tol"),
    *("torch auto", "torch composite", "torch landmarks", "torch merging"),
)
ALWAYS = (
    *("plain", "weights", "scale", "all", "inverse", "no data", "float32, weights", "as tensor", "forget", "domain"),
    *("batches", "looked at", "merge", "saved", "unfit", "sources", "loaded", "support"),
)
SEARCHES, SEARCHED = ("gap", "preimage"), ("monomials", "auto", "auto, plane", "covariance", "cuda", "composite")
TOO_LONG = {
    *(("sparse", "share"), ("fourier, rough", "all"), ("landmarks", "one by one"), ("torch landmarks", "one by one")),
    *(("auto", "npy, forget"), ("auto", "iterator"), ("monomials", "npy, forget"), ("linear", "npy, forget")),
    *(("fourier", "npy, scale"), ("fourier", "npy, RandomState"), ("fourier", "parquet, column, inverse")),
}


def runs(name: str, variant: str) -> bool:
    """Whether a specification runs in a variant."""
    if (name, variant) in TOO_LONG or (name in SELDOM and variant not in ALWAYS):
        return False
    return variant not in SEARCHES or name in SEARCHED


def around(x: Any) -> tuple[list[float], list[float]]:
    return (x.min(axis=0) - 0.25).tolist(), (x.max(axis=0) + 0.25).tolist()


def made(params: dict[str, Any], x: Any = None) -> Any:
    """A KernelPCA with parameters, those that all cases share included."""
    from gramless import KernelPCA

    params = {**COMMON, **params}
    params.pop("weights", None)
    if params.get("domain") == AROUND:
        params["domain"] = around(x)
    return KernelPCA(**params)


def fit_case(notes: Notes, name: str, params: dict[str, Any], change: dict[str, Any]) -> None:
    change = dict(change)
    form, weighted = FORMS[change.pop("form", "array")], change.pop("weights", False)
    x = rows(name)
    model = made({**params, **change}, x)
    given, weights = form(x), weights_of(len(x)) if weighted else None
    attempt(notes, "fit_transform", model.fit_transform, given, sample_weight=weights)
    if not raised(notes, "fit_transform"):
        record(notes, model, form(rows(f"{name} new")))
    notes["rows unchanged"] = sha(str(described(given)).encode()) == sha(str(described(form(x))).encode())


def fit_cases() -> None:
    for name, (data, params) in specs().items():
        for variant, change in VARIANTS.items():
            if runs(name, variant):
                case(f"fit: {name}: {variant}", fit_case, data, params, change)
    named = ("linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "gaussian", "polynomial", "tanh")
    kernels = {name: name for name in named} | {f"{name} object": one for name, one in kernel_objects().items()}
    for name, kernel in kernels.items():
        slow = "callable" in name
        for method in ("auto", "dense") if slow else ("auto", "dense", "tiled", "landmarks"):
            params = {"kernel": kernel, "method": method, "coef0": 0.5}
            case(
                f"kernel: {name}: {method}", fit_case, "few" if slow else "cloud", params, {"weights": method != "auto"}
            )
        case(f"kernel: {name}: torch", fit_case, "few" if slow else "cloud", {"kernel": kernel, "device": "torch"}, {})
    params = {"kernel": parameterised, "kernel_params": {"power": 2}}
    case("kernel: callable with parameters", fit_case, "few", params, {})
    for gamma in ("median", "scale", "gap", "preimage", None, 0.3):
        for kernel in ("laplacian", "poly", "sigmoid"):
            params = {"kernel": kernel, "gamma": gamma, "n_components": 2}
            case(f"gamma: {kernel}: {gamma}", fit_case, "cloud", params, {})
    from gramless import eigen

    for solver in sorted(eigen.solvers):
        for method in ("auto", "tiled"):
            params = {"kernel": "rbf", "gamma": 0.1, "eigen_solver": solver, "method": method, "n_components": 3}
            case(f"solver: {solver}: {method}", fit_case, "cloud", params, {"tol": 1e-6, "max_iter": 2000})
    few = {"kernel": "rbf", "gamma": 0.1}
    case(
        "solver: randomized: power 2", fit_case, "cloud", {**few, "eigen_solver": "randomized", "iterated_power": 2}, {}
    )
    case("solver: few iterations", fit_case, "cloud", {**few, "eigen_solver": "lanczos", "max_iter": 3}, {})
    for limit in ("25MB", "100MB", 5e8):
        case(f"memory: {limit}", fit_case, "many", {**few, "memory_limit": limit, "n_components": 0.8}, {})
    case("fit: fourier, Matern", fit_case, "line", {"kernel": kernel_objects()["matern 1.5"], "method": "fourier"}, {})
    case("threads: all", fit_case, "many", {**few, "n_jobs": None}, {})


def precomputed_case(notes: Notes, change: dict[str, Any], dtype: str, weighted: bool) -> None:
    from gramless.kernels import Gaussian

    x, new = rows("cloud"), rows("cloud new")
    model = made({"kernel": "precomputed", **change})
    weights = weights_of(len(x)) if weighted else None
    attempt(notes, "fit_transform", model.fit_transform, Gaussian(2.0)(x).astype(dtype), sample_weight=weights)
    if not raised(notes, "fit_transform"):
        record(notes, model, Gaussian(2.0)(new, x).astype(dtype))


def source_case(
    notes: Notes, data: str, params: dict[str, Any], change: dict[str, Any], kind: str, weight: str = ""
) -> None:
    """A fit to a file or another source; weights come as an array, or in a column."""
    model = made({**params, **change}, rows(data))
    given = source(data, kind, weight == "column")
    weights = {"column": "weight", "array": weights_of(len(rows(data)))}.get(weight)
    attempt(notes, "fit", model.fit, given, sample_weight=weights)
    if not raised(notes, "fit"):
        new = rows(f"{data} new")
        record(notes, model, new[:, ::-1][:, -2:] if kind == "opened" else new)
        if weight != "column":
            attempt(notes, "transform source", model.transform, source(data, kind))
    notes["given again"] = described(repr(model.get_params()["kernel"]))


LARGE: dict[str, tuple[str, dict[str, Any]]] = {
    "monomials": ("tall5", {"kernel": "poly", "degree": 2, "memory_limit": "25MB"}),
    "fourier": ("tall2", {"kernel": "rbf", "gamma": 4.0, "method": "fourier", "memory_limit": "12MB"}),
    "taylor": ("tall2", {"kernel": "rbf", "gamma": 1.0, "method": "taylor", "memory_limit": "36MB", "tol": 1e-6}),
    "auto": ("tall2", {"kernel": "rbf", "gamma": 2.0, "memory_limit": "16MB"}),
    "landmarks": (
        "broad",
        {"kernel": "rbf", "gamma": 1e-3, "method": "landmarks", "memory_limit": "92MB", "tol": 2e-2},
    ),
    "tiled": ("wide", {"kernel": "rbf", "gamma": 1e-4, "method": "tiled", "memory_limit": "60MB"}),
    "linear": ("broad", {"memory_limit": "40MB"}),
}
LARGE_VARIANTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "npy": ("npy", {}, ""),
    "csv": ("csv", {}, ""),
    "parquet": ("parquet", {}, ""),
    "folder": ("folder npy", {}, ""),
    "iterator": ("iterator", {}, ""),
    "function, two threads": ("function", {"n_jobs": 2}, ""),
    "npy, weights": ("npy", {}, "array"),
    "csv, column": ("csv", {}, "column"),
    "parquet, column, inverse": ("parquet", {"fit_inverse_transform": True}, "column"),
    "npy, scale": ("npy", {"scale_input": True, "fit_inverse_transform": True}, ""),
    "npy, center, weights": ("npy", {"center_input": True}, "array"),
    "npy, median": ("npy", {"gamma": "median"}, ""),
    "npy, gamma scale": ("npy", {"gamma": "scale"}, "array"),
    "npy, gap": ("npy", {"gamma": "gap", "n_components": 2}, ""),
    "npy, domain": ("npy", {"domain": AROUND}, ""),
    "iterator, domain": ("iterator", {"domain": AROUND}, "array"),
    "npy, forget": ("npy", {"forget": 500.0}, ""),
    "npy, no data": ("npy", {"keep_data": False}, ""),
    "npy, share": ("npy", {"n_components": 0.8}, ""),
    "npy, RandomState": ("npy", {"random_state": np.random.RandomState(3), "fit_inverse_transform": True}, ""),
    "npy, torch": ("npy", {"device": "torch"}, ""),
}


def source_cases() -> None:
    for change in ({}, {"n_components": None}, {"n_components": 0.9}, {"method": "tiled"}, {"eigen_solver": "arpack"}):
        for dtype, weighted in (("float64", False), ("float64", True), ("float32", False)):
            case(f"precomputed: {change} {dtype} {weighted}", precomputed_case, change, dtype, weighted)
    case("precomputed: torch", precomputed_case, {"device": "torch"}, "float64", False)
    everywhere = specs()
    for name in ("dense", "tiled", "covariance", "monomials", "fourier", "landmarks", "composite", "auto", "cuda"):
        for kind in SOURCES:
            case(f"source: {name}: {kind}", source_case, *everywhere[name], {}, kind)
        case(f"source: {name}: csv, column", source_case, *everywhere[name], {}, "csv", "column")
        for variant in ("center", "scale", "share", "all", "no data", "inverse", "domain", "forget", "median", "gap"):
            case(f"source: {name}: {variant}", source_case, *everywhere[name], VARIANTS[variant], "npy", "array")
            if name in ("monomials", "auto", "landmarks"):
                case(
                    f"source: {name}: csv, {variant}",
                    source_case,
                    *everywhere[name],
                    VARIANTS[variant],
                    "csv",
                    "column",
                )
    for name in ("sparse", "svd", "taylor", "auto, plane", "auto, sigmoid", "torch landmarks", "torch monomials"):
        for kind in ("npy", "csv", "iterator", "function"):
            case(f"source: {name}: {kind}", source_case, *everywhere[name], {}, kind)
    for name, (data, params) in LARGE.items():
        for variant, (kind, change, weight) in LARGE_VARIANTS.items():
            if runs(name, variant):
                case(f"large: {name}: {variant}", source_case, data, params, change, kind, weight)


# Streams --------------------------------------------------------------------------------------------------------------


def streams() -> dict[str, tuple[str, dict[str, Any]]]:
    from gramless import kernels as k

    rbf, poly, torch = {"kernel": "rbf", "gamma": 0.1}, {"kernel": "poly", "degree": 2}, {"device": "torch"}
    wave = {"kernel": "rbf", "gamma": 2.0, "domain": (-0.5, 1.5)}
    both = k.Gaussian(1.0) + k.Polynomial(2)
    return {
        "monomials": ("cloud", poly),
        "linear": ("cloud", {}),
        "merging": ("cloud", rbf),
        "merging, laplacian": ("cloud", {"kernel": "laplacian", "gamma": "median"}),
        "merging, cosine": ("cloud", {"kernel": "cosine"}),
        "fourier": ("plane", {**wave, "method": "fourier"}),
        "taylor": ("plane", {**wave, "method": "taylor"}),
        "domain": ("plane", wave),
        "composite": ("plane", {"kernel": both, "domain": (-0.5, 1.5)}),
        "landmarks": ("cloud", {**rbf, "method": "landmarks"}),
        "support": ("cloud", {**rbf, "max_support": 40}),
        "refitting": ("cloud", {"kernel": "sigmoid", "gamma": 0.01}),
        "refitting, tol": ("cloud", {**rbf, "tol": 1e-9}),
        "torch monomials": ("cloud", {**poly, **torch}),
        "torch landmarks": ("cloud", {**rbf, **torch, "method": "landmarks"}),
        "torch support": ("cloud", {**rbf, **torch, "max_support": 40}),
        "torch merging": ("cloud", {**rbf, **torch}),
    }


def batches(x: Any, sizes: tuple[int, ...] = (1, 7, 100, 12)) -> list[Any]:
    return [batch for batch in np.split(x, np.cumsum(sizes)) if len(batch)]


def feed(model: Any, x: Any, form: str = "array", weighted: bool = False) -> Any:
    for batch, weights in zip(batches(x), batches(weights_of(len(x))), strict=True):
        used = batch.shape[0] > 1 and weighted
        model.partial_fit(FORMS[form](batch), sample_weight=weights if used else None)
    return model


def in_batches(notes: Notes, x: Any, model: Any, form: str = "array", weighted: bool = False) -> Any:
    return feed(model, x, form, weighted)


def looked_at(notes: Notes, x: Any, model: Any) -> Any:
    for number, batch in enumerate(batches(x)):
        model.partial_fit(batch)
        notes[f"eigenvalues {number}"] = described(model.eigenvalues_)
        notes[f"transform {number}"] = described(model.transform(x[:20]))
    return model


def one_by_one(notes: Notes, x: Any, model: Any) -> Any:
    for row in x[:90]:
        model.partial_fit(row[None])
    return model


def mixed_dtypes(notes: Notes, x: Any, model: Any) -> Any:
    return model.partial_fit(x[:100].astype(np.float32)).partial_fit(x[100:])


def no_weight(notes: Notes, x: Any, model: Any) -> Any:
    model.partial_fit(x[:100])
    attempt(notes, "no weight", model.partial_fit, x[100:120], sample_weight=np.zeros(20))
    attempt(notes, "other columns", model.partial_fit, np.ones((3, 9)))
    attempt(notes, "no number", model.partial_fit, np.full((3, x.shape[1]), np.nan))
    attempt(notes, "outside", copy.copy(model).partial_fit, x[:5] + 50)
    return model.partial_fit(x[120:])


def saved_between(notes: Notes, x: Any, model: Any) -> Any:
    import gramless

    for number, batch in enumerate(batches(x)):
        model.partial_fit(batch)
        attempt(notes, f"saved {number}", saved, model)
        model = gramless.load("model.gramless")
    return pickle.loads(pickle.dumps(model))


def unfitted(notes: Notes, x: Any, model: Any) -> Any:
    model = feed(model, x)
    attempt(notes, "unfit", model.partial_unfit, x[50:100])
    attempt(notes, "unfit once more", model.partial_unfit, x[100:130], sample_weight=np.ones(30))
    return model


def merged(notes: Notes, x: Any, model: Any) -> Any:
    others = [copy.deepcopy(model) for _ in range(2)]
    parts = np.split(x, [90, 150])
    for one, part in zip((model, *others), parts, strict=True):
        feed(one, part)
    notes["looked at"] = described(others[0].eigenvalues_)
    both = model.merge(others[0])
    notes["both"] = described(both.eigenvalues_)
    record(notes, both.merge(others[1]), x[:20], "three: ")
    return both.partial_fit(x[:30])


def shortened(notes: Notes, x: Any, model: Any) -> Any:
    short = feed(model, x[:200]).truncate(2)
    record(notes, short, x[:20], "truncated: ")
    return short.partial_fit(x[200:])


def of_sources(notes: Notes, x: Any, model: Any) -> Any:
    np.save("batch.npy", x[:100])
    np.savetxt("batch.csv", x[100:200], delimiter=",")
    model.partial_fit("batch.npy").partial_fit("batch.csv").partial_fit(iter([x[200:250], x[250:]]))
    attempt(notes, "wrong file", model.partial_fit, file_of("thin", "npy"))
    return model


def of_blocks(notes: Notes, x: Any, model: Any) -> Any:
    """Several blocks: rows so wide that a block has few of them."""
    return model.set_params(memory_limit="60MB", domain=None, gamma=1e-3).partial_fit(file_of("wide", "npy"))


def fitted_again(notes: Notes, x: Any, model: Any) -> Any:
    feed(model, x).fit(x[:150])
    notes["eigenvalues of the fit"] = described(model.eigenvalues_)
    return model.partial_fit(x[150:])


SCENARIOS: dict[str, tuple[Callable[..., Any], dict[str, Any], tuple[Any, ...]]] = {
    "batches": (in_batches, {}, ()),
    "looked at": (looked_at, {}, ()),
    "one by one": (one_by_one, {}, ()),
    "weights": (in_batches, {}, ("array", True)),
    "float32": (in_batches, {}, ("float32", True)),
    "csr": (in_batches, {}, ("csr",)),
    "frame": (in_batches, {}, ("frame", True)),
    "tensor": (in_batches, {}, ("tensor",)),
    "mixed dtypes": (mixed_dtypes, {}, ()),
    "refused batches": (no_weight, {}, ()),
    "forget": (in_batches, {"forget": 60.0}, ("array", True)),
    "forget, looked at": (looked_at, {"forget": 20.0}, ()),
    "inverse": (in_batches, {"fit_inverse_transform": True}, ("array", True)),
    "inverse, forget": (in_batches, {"fit_inverse_transform": True, "forget": 60.0}, ()),
    "share": (in_batches, {"n_components": 0.9}, ()),
    "all": (in_batches, {"n_components": None}, ()),
    "two threads": (in_batches, {"n_jobs": 2}, ()),
    "RandomState": (in_batches, {"random_state": np.random.RandomState(3), "fit_inverse_transform": True}, ()),
    "median": (in_batches, {"gamma": "median"}, ()),
    "saved": (saved_between, {}, ()),
    "saved, inverse": (saved_between, {"fit_inverse_transform": True}, ()),
    "unfit": (unfitted, {}, ()),
    "unfit, forget": (unfitted, {"forget": 60.0}, ()),
    "merge": (merged, {}, ()),
    "merge, inverse": (merged, {"fit_inverse_transform": True}, ()),
    "merge, forget": (merged, {"forget": 60.0, "n_components": 0.9}, ()),
    "truncate": (shortened, {}, ()),
    "truncate, inverse": (shortened, {"fit_inverse_transform": True}, ()),
    "sources": (of_sources, {}, ()),
    "sources, inverse": (of_sources, {"fit_inverse_transform": True, "forget": 100.0}, ()),
    "fit again": (fitted_again, {}, ()),
}


def stream_case(
    notes: Notes, data: str, params: dict[str, Any], scenario: Callable[..., Any], change: Any, more: Any
) -> None:
    x = rows(data)
    model = scenario(notes, x, made({**params, **change}, x), *more)
    form = more[0] if more and more[0] in ("csr", "frame", "tensor") else "array"
    record(notes, model, FORMS[form](rows(f"{data} new")))


def going_on_case(
    notes: Notes, data: str, params: dict[str, Any], change: dict[str, Any], then: dict[str, Any], how: str
) -> None:
    """A fit, and batches after it."""
    change = dict(change)
    form, weighted = FORMS[change.pop("form", "array")], change.pop("weights", False)
    boxed = data in ("plane", "line") and how != "no box"
    x = rows(data)
    weights = weights_of(200) if weighted else None
    model = made({"domain": AROUND if boxed else None, **params, **change}, x)
    if how == "source":
        np.save("first.npy", x[:200])
        model.fit("first.npy", sample_weight=weights)
    else:
        model.fit(form(x[:200]), sample_weight=weights)
    model.set_params(**then)
    if how == "loaded":
        import gramless

        saved(model)
        model = gramless.load("model.gramless")
    model.partial_fit(form(x[200:201]))
    if how == "unfit":
        attempt(
            notes, "unfit", model.partial_unfit, form(x[:20]), sample_weight=None if weights is None else weights[:20]
        )
    record(notes, model, form(rows(f"{data} new")), "one more: ")
    if how == "file":
        np.save("then.npy", x[201:])
        model.partial_fit("then.npy")
    else:
        model.partial_fit(form(x[201:]), sample_weight=weights_of(99) if weighted else None)
    record(notes, model, form(rows(f"{data} new")))


GOING_ON: dict[str, tuple[dict[str, Any], str]] = {
    "plain": ({}, "no box"),
    "weights": ({"weights": True}, "array"),
    "inverse, weights": ({"weights": True, "fit_inverse_transform": True}, "array"),
    "scale": ({"scale_input": True, "fit_inverse_transform": True}, "array"),
    "center": ({"center_input": True}, "array"),
    "no data": ({"keep_data": False}, "array"),
    "forget": ({"forget": 50.0}, "array"),
    "share": ({"n_components": 0.9}, "array"),
    "all": ({"n_components": None}, "array"),
    "support": ({"max_support": 50}, "array"),
    "support, scale": ({"max_support": 50, "scale_input": True}, "file"),
    "float32": ({"form": "float32"}, "array"),
    "csr": ({"form": "csr"}, "array"),
    "frame": ({"form": "frame"}, "file"),
    "loaded": ({}, "loaded"),
    "fit to a file": ({}, "source"),
    "fit to a file, scale": ({"scale_input": True}, "source"),
    "unfit": ({}, "unfit"),
}


def merge_case(notes: Notes, data: str, params: dict[str, Any], change: dict[str, Any], streams_too: bool) -> None:
    """Two fits merged, and a fit with a stream."""
    x = rows(data)
    left, right = (made({**params, **change}, x).fit(part) for part in (x[:160], x[160:]))
    both = attempt(notes, "fits", left.merge, right)
    if both is not None:
        record(notes, both, rows(f"{data} new"), "fits: ")
    if streams_too:
        stream = made({**params, **change, "method": "auto"}, x)
        attempt(notes, "stream", stream.partial_fit, x[160:])
        attempt(notes, "eigenvalues", lambda: left.merge(stream).eigenvalues_)
        attempt(notes, "eigenvalues, turned", lambda: stream.merge(left).eigenvalues_)
        attempt(notes, "truncated", lambda: left.truncate(2).merge(right.truncate(3)).eigenvalues_)


def stream_cases() -> None:
    for name, (data, params) in streams().items():
        for scenario, (function, change, more) in SCENARIOS.items():
            if runs(name, scenario):
                case(f"stream: {name}: {scenario}", stream_case, data, params, function, change, more)
    for name in ("linear", "merging", "support", "landmarks", "refitting", "torch support"):
        case(f"stream: {name}: blocks", stream_case, "wide", streams()[name][1], of_blocks, {}, ())
    for name, kernel in kernel_objects().items():
        data = "few" if "callable" in name else "cloud"
        case(f"stream: {name} object", stream_case, data, {"kernel": kernel}, in_batches, {}, ())
    for name, (data, params) in specs().items():
        for variant, (change, how) in GOING_ON.items():
            if runs(name, variant):
                case(f"going on: {name}: {variant}", going_on_case, data, params, change, {"method": "auto"}, how)
        case(f"going on: {name}: same method", going_on_case, data, params, {}, {}, "array")
        case(f"merge: {name}", merge_case, data, params, {}, True)
        for variant in ("inverse", "scale", "domain", "no data", "forget", "share"):
            if runs(name, variant) and name not in (*SELDOM, "cuda"):
                case(f"merge: {name}: {variant}", merge_case, data, params, VARIANTS[variant], False)
    case("merge: refused", refused_merges)


def refused_merges(notes: Notes) -> None:
    x, plane = rows("cloud"), rows("plane")
    rbf = {"kernel": "rbf", "gamma": 0.1}
    base = made(rbf).partial_fit(x)
    others: dict[str, Any] = {
        "kernel": made({"kernel": "rbf", "gamma": 0.2}).partial_fit(x),
        "kind": made({"kernel": "poly"}).partial_fit(x),
        "columns": made(rbf).partial_fit(plane),
        "float32": made(rbf).partial_fit(x.astype(np.float32)),
        "landmarks": made({**rbf, "method": "landmarks"}).partial_fit(x),
        "support": made({**rbf, "max_support": 40}).partial_fit(x),
        "moved": made({**rbf, "center_input": True}).fit(x),
        "scaled": made({**rbf, "scale_input": True}).fit(x),
        "names": made(rbf).partial_fit(frame(x)),
        "not fitted": made(rbf),
        "nothing": made({}).fit(x[:50]),
    }
    for name, other in others.items():
        attempt(notes, name, base.merge, other)
        attempt(notes, f"{name}, turned", other.merge, base)
    named = made(rbf).partial_fit(frame(x))
    attempt(notes, "other names", named.merge, made(rbf).partial_fit(frame(x).rename(columns={"c0": "z"})))
    wave = {"kernel": "rbf", "gamma": 2.0, "method": "fourier"}
    one, two = made({**wave, "domain": (0, 1)}), made({**wave, "domain": (-1, 2)})
    attempt(notes, "domains", one.partial_fit(plane).merge, two.partial_fit(plane))
    attempt(notes, "linear", made({}).fit(x).merge, made({"method": "svd"}).fit(x))
    attempt(notes, "no stream", made({**rbf, "kernel": "precomputed"}).fit(x @ x.T).merge, base)
    attempt(notes, "another class", base.merge, 3)


# Checkpoints ----------------------------------------------------------------------------------------------------------


def interrupted(notes: Notes, model: Any, x: Any, last: int, **options: Any) -> None:
    """A fit that Ctrl-C ends after so many blocks."""
    given = Foreign(x, last)
    try:
        model.fit(given, **options)
        notes["interrupted"] = "no"
    except KeyboardInterrupt:
        notes["interrupted"] = f"blocks given: {given.given}"
    except Exception as error:
        notes["interrupted"] = error_text(error)


def checkpoint_case(notes: Notes, name: str, change: dict[str, Any], last: int, weighted: bool) -> None:
    data, params = LARGE[name]
    x = rows(data)
    Path("fit.checkpoint").unlink(missing_ok=True)
    settings = {**params, **change, "checkpoint": "fit.checkpoint"}
    weights = weights_of(len(x)) if weighted else None
    interrupted(notes, made(settings, x), x, last, sample_weight=weights)
    if Path("fit.checkpoint").exists():
        notes["checkpoint"] = described(Path("fit.checkpoint").read_bytes())
        for what, value in {"n_components": 3, "random_state": 1, "memory_limit": "60MB", "gamma": 0.77}.items():
            attempt(notes, f"other {what}", made({**settings, what: value}, x).fit, Foreign(x), sample_weight=weights)
        attempt(notes, "other weights", made(settings, x).fit, Foreign(x), sample_weight=np.ones(len(x)))
        attempt(notes, "other rows", made(settings, x).fit, Foreign(x[1:]))
        attempt(notes, "an array", made(settings, x).fit, x)
    given, model = Foreign(x), made(settings, x)
    attempt(notes, "fit", model.fit, given, sample_weight=weights)
    notes["blocks read"] = described(repr(given.given))
    notes["file is there"] = Path("fit.checkpoint").exists()
    if not raised(notes, "fit"):
        record(notes, model, rows(f"{data} new"))
        whole = made({**settings, "checkpoint": None}, x).fit(Foreign(x), sample_weight=weights)
        notes["as if nothing had happened"] = bool((whole.eigenvalues_ == model.eigenvalues_).all())


def checkpoint_array_case(notes: Notes, name: str, kind: str) -> None:
    """Rows in memory, or a file, with a checkpoint; methods that have no use for one warn."""
    data, params = specs()[name]
    Path("fit.checkpoint").unlink(missing_ok=True)
    given = rows(data) if kind == "array" else source(data, kind)
    model = made({**params, "checkpoint": "fit.checkpoint"})
    attempt(notes, "fit", model.fit, given)
    if not raised(notes, "fit"):
        record(notes, model, rows(f"{data} new"))
    notes["file is there"] = Path("fit.checkpoint").exists()


def odd_checkpoints(notes: Notes) -> None:
    x = rows("cloud")
    model = made({"kernel": "poly", "checkpoint": "odd.checkpoint"})
    Path("odd.checkpoint").write_bytes(b"damaged")
    attempt(notes, "damaged", model.fit, x)
    made({"kernel": "poly"}).fit(x).save("odd.checkpoint")
    attempt(notes, "a model", model.fit, x)
    attempt(notes, "no folder", model.set_params(checkpoint="nowhere/fit.checkpoint").fit, x)
    attempt(notes, "stream", made({"kernel": "rbf", "checkpoint": "new.checkpoint"}).fit, iter([x]))
    attempt(notes, "forget", made({"kernel": "rbf", "checkpoint": "new.checkpoint", "forget": 9.0}).fit, x)
    attempt(notes, "partial_fit", made({"kernel": "poly", "checkpoint": "new.checkpoint"}).partial_fit, x)


def checkpoint_cases() -> None:
    for name, lasts in {"monomials": (1, 2), "fourier": (3, 9), "taylor": (1, 3), "landmarks": (1, 3)}.items():
        for last in lasts:
            case(f"checkpoint: {name}: {last}", checkpoint_case, name, {}, last, False)
    inverse = {"fit_inverse_transform": True}
    for last in (1, 4):
        scaled = {"scale_input": True, **inverse}
        case(f"checkpoint: monomials, scale: {last}", checkpoint_case, "monomials", scaled, last, True)
        centred = {"center_input": True, "gamma": "scale"}
        case(f"checkpoint: fourier, center: {last}", checkpoint_case, "fourier", centred, last, False)
        case(f"checkpoint: monomials, median: {last}", checkpoint_case, "monomials", {"gamma": "median"}, last, False)
    case("checkpoint: fourier, domain", checkpoint_case, "fourier", {"domain": AROUND}, 2, True)
    for name in ("monomials", "fourier", "landmarks", "tiled", "dense", "covariance", "torch monomials"):
        for kind in ("array", "csv", "function", "iterator"):
            case(f"checkpoint: {name}: {kind}", checkpoint_array_case, name, kind)
    case("checkpoint: odd files", odd_checkpoints)


# Dask -----------------------------------------------------------------------------------------------------------------


@cache
def client() -> Any:
    import dask
    from distributed import Client

    dask.config.set({"distributed.scheduler.work-stealing": False, "distributed.scheduler.worker-ttl": None})
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "2GB"}
    return Client(processes=False, silence_logs=50, **options)


def dask_form(x: Any, form: str) -> Any:
    import dask.array
    import dask.dataframe

    client()
    if form == "frame":
        return dask.dataframe.from_pandas(frame(x), npartitions=3)
    made = dask.array.from_array(x.astype(np.float32) if form == "float32" else x, chunks=(120, x.shape[1]))
    return made[made[:, 0] > -1e9] if form == "unknown" else made


def dask_case(notes: Notes, data: str, params: dict[str, Any], form: str, weight: str) -> None:
    import dask.array

    x, new = rows(data), rows(f"{data} new")
    weights = {"numpy": weights_of(len(x)), "dask": None}.get(weight)
    if weight == "dask":
        weights = dask.array.from_array(weights_of(len(x)), chunks=120)
    model, given = made(params, x), dask_form(x, form)
    attempt(notes, "fit", model.fit, given, sample_weight=weights)
    if raised(notes, "fit"):
        return
    record(notes, model, frame(new) if form == "frame" else new)
    attempt(notes, "transform dask", model.transform, given)
    attempt(notes, "out", model.transform, given, out="never.npy")
    attempt(notes, "going on", lambda: model.set_params(method="auto").partial_fit(x[:40]).eigenvalues_)


def dask_clusters(notes: Notes, data: str, params: dict[str, Any], form: str, weighted: bool) -> None:
    from gramless import KernelKMeans

    x, new = rows(data), rows(f"{data} new")
    given = dask_form(x, form)
    model = KernelKMeans(**{"n_clusters": 3, "random_state": 0, "memory_limit": "1GB", "n_jobs": 1, **params})
    attempt(notes, "fit", model.fit, given, sample_weight=weights_of(len(x)) if weighted else None)
    if raised(notes, "fit"):
        return
    record(notes, model, frame(new) if form == "frame" else new)
    for name in ("predict", "transform", "score"):
        attempt(notes, f"{name} dask", getattr(model, name), given)
    attempt(notes, "nearest", model.prototypes, "nearest")
    attempt(notes, "preimage", model.prototypes)


def dask_cases() -> None:
    everywhere = specs()
    for name in ("tiled", "monomials", "taylor", "fourier", "landmarks", "composite", "auto", "auto, plane"):
        data, params = everywhere[name]
        for form in ("array", "frame", "float32", "unknown"):
            case(f"dask: {name}: {form}", dask_case, data, params, form, "")
        for weight in ("numpy", "dask"):
            case(f"dask: {name}: weights {weight}", dask_case, data, params, "array", weight)
    data, params = everywhere["auto"]
    for name, change in {
        "merging": {"method": "merging"},
        "merging, support": {"method": "merging", "max_support": 60},
        "share": {"n_components": 0.9},
        "all": {"n_components": None, "method": "tiled"},
        "median": {"gamma": "median"},
        "gap": {"gamma": "gap"},
        "gamma scale": {"gamma": "scale"},
        "domain": {"domain": AROUND},
        "no data": {"keep_data": False, "method": "landmarks"},
        "linear": {"kernel": "linear"},
        "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
        "dense": {"method": "dense"},
        "center": {"center_input": True},
        "scale": {"scale_input": True},
        "inverse": {"fit_inverse_transform": True},
        "forget": {"forget": 9.0},
        "checkpoint": {"checkpoint": "dask.checkpoint"},
        "torch": {"device": "torch"},
        "precomputed": {"kernel": "precomputed"},
        "too many": {"n_components": 999},
        "two threads": {"n_jobs": 2},
    }.items():
        case(f"dask: {name}", dask_case, data, {**params, **change}, "array", "")
    for name, change in {
        "plain": {},
        "tiled": {"method": "tiled"},
        "landmarks": {"method": "landmarks"},
        "monomials": {"kernel": "poly", "gamma": None},
        "random": {"init": "random", "n_init": 2},
        "labels": {"init": np.arange(300) % 3},
        "scale": {"scale_input": True},
        "many": {"n_clusters": 5},
    }.items():
        case(f"dask clusters: {name}", dask_clusters, data, change, "array", name == "tiled")
    case("dask clusters: frame", dask_clusters, data, {}, "frame", True)


# What else a KernelPCA does -------------------------------------------------------------------------------------------


def preimage_case(notes: Notes, name: str, change: dict[str, Any]) -> None:
    data, params = specs()[name]
    x, new = rows(data), rows(f"{data} new")
    model = made({**params, **change}, x).fit(x)
    scores = model.transform(new)
    for method in ("ridge", "fixed_point", "distances", "guess"):
        back = attempt(notes, f"inverse {method}", model.inverse_transform, scores, method=method)
        attempt(notes, f"denoise {method}", model.denoise, new, method=method)
        attempt(notes, f"input error {method}", model.reconstruction_error, new, space="input", method=method)
        if back is not None:
            attempt(notes, f"preimage_error {method}", model.preimage_error, scores, back)
    attempt(notes, "score", model.score, new, sample_weight=np.arange(len(new)))
    short = model.truncate(2)
    record(notes, short, new, "truncated: ")
    attempt(notes, "inverse, wrong", model.inverse_transform, scores[:, :1])


def output_case(notes: Notes, name: str) -> None:
    """Components to files, of files, of other things; frames; names; pickles; clones."""
    from sklearn.base import clone

    import gramless

    data, params = specs()[name]
    x, new = rows(data), rows(f"{data} new")
    model = made(params).fit(frame(x))
    for suffix in (".npy", ".parquet", ".csv", ".npz", ".txt"):
        path = attempt(notes, f"out {suffix}", model.transform, frame(new), out=f"scores{suffix}")
        if path is not None:
            blocks = list(gramless.open_source(path).blocks(1000))
            notes[f"read {suffix}"] = described(np.concatenate(blocks))
    for kind in ("npy", "csv", "parquet", "folder csv", "iterator", "function", "frames", "opened"):
        attempt(notes, f"transform {kind}", model.transform, source(data, kind))
        attempt(
            notes,
            f"out of {kind}",
            lambda kind=kind: Path(model.transform(source(data, kind), out="s.npy")).read_bytes(),
        )
    attempt(notes, "other order", model.transform, frame(new)[frame(new).columns[::-1]])
    attempt(notes, "no names", model.transform, new)
    notes["names out"] = described(model.get_feature_names_out())
    notes["repr"] = described(repr(model))
    notes["certificate"] = described(str(model.certificate_))
    notes["html"] = described(model._repr_html_().partition('<div class="gramless-summary">')[2])
    notes["plan html"] = described(model.plan_._repr_html_())
    again = pickle.loads(pickle.dumps(model))
    record(notes, again, frame(new), "pickled: ")
    copied = clone(model)
    notes["clone"] = f"{copied.get_params() == model.get_params()} {hasattr(copied, 'eigenvalues_')}"
    notes["parameters"] = described(repr(sorted(model.get_params().items(), key=str)))
    model.set_output(transform="pandas")
    attempt(notes, "pandas", model.transform, frame(new))
    attempt(notes, "pandas out", model.transform, frame(new), out="scores.npy")
    attempt(notes, "pandas fit_transform", clone(model).set_output(transform="pandas").fit_transform, frame(x))


def plan_case(notes: Notes, name: str) -> None:
    """Plans of arrays and files; nothing is fitted."""
    data, params = specs()[name]
    model = made(params)
    for what, given in {"array": rows(data), "frame": frame(rows(data)), "csr": FORMS["csr"](rows(data))}.items():
        attempt(notes, what, lambda given=given: str(model.plan(given)))
    for kind in ("npy", "csv", "iterator", "function"):
        attempt(notes, kind, lambda kind=kind: str(model.plan(source(data, kind))))
    for change in ({"n_components": None}, {"scale_input": True}, {"memory_limit": "1MB"}, {"tol": 1e-13}):
        attempt(notes, f"{change}", lambda change=change: str(made({**params, **change}).plan(rows(data))))
        attempt(notes, f"{change} npy", lambda change=change: str(made({**params, **change}).plan(source(data, "npy"))))
    attempt(notes, "weights", lambda: str(model.plan(rows(data), sample_weight=weights_of(300))))
    attempt(notes, "large", lambda: str(made({**params, "memory_limit": "2GB"}).plan(np.tile(rows(data), (100, 1)))))
    notes["fitted"] = hasattr(model, "eigenvalues_")


def angles_case(notes: Notes, first: str, second: str) -> None:
    from gramless import principal_angles, subspace_distance

    models = []
    for name in (first, second):
        data, params = specs()[name.removesuffix(" stream")]
        x = rows(data)[:150]
        if name.endswith(" stream"):
            models.append(feed(made({**params, "method": "auto"}), rows(data)[:150]))
        else:
            models.append(made({**params, "n_components": 3}).fit(x))
    attempt(notes, "angles", principal_angles, *models)
    attempt(notes, "distance", subspace_distance, *models)
    attempt(notes, "truncated", lambda: principal_angles(models[0].truncate(2), models[1]))


def verbose_case(notes: Notes, name: str, kind: str) -> None:
    """What verbose=2 prints, and what callbacks are told."""
    data, params = specs()[name]
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        model = made({**params, "verbose": 2}).fit(source(data, kind) if kind else rows(data))
    notes["printed"] = described(without_times(told.getvalue()))
    events: list[str] = []

    class Follower:
        def setup(self, estimator: Any, context: Any) -> None:
            events.append("setup")

        def teardown(self, estimator: Any, context: Any) -> None:
            events.append("teardown")

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            events.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None, **more: Any) -> None:
            events.append(f"end {context.task_name} {metadata}")

    given = source(data, kind) if kind else rows(data)
    attempt(notes, "fit", made(params).set_callbacks(Follower()).fit, given)
    notes["events"] = described("\n".join(events))
    notes["eigenvalues"] = described(model.eigenvalues_)


def interrupted_fit(notes: Notes, name: str) -> None:
    """Ctrl-C in a second fit leaves the first."""
    data, params = specs()[name]
    model = made(params).fit(rows(data))
    before = sorted(vars(model))
    interrupted(notes, model, rows(data)[:250], 0)
    notes["unchanged"] = before == sorted(vars(model))
    record(notes, model, rows(f"{data} new"))


def other_cases() -> None:
    for name in ("dense", "tiled", "fourier", "taylor", "landmarks", "monomials", "composite", "cuda", "covariance"):
        case(f"preimages: {name}", preimage_case, name, {"fit_inverse_transform": True})
        case(f"preimages: {name}: scale", preimage_case, name, {"scale_input": True, "fit_inverse_transform": True})
        case(f"preimages: {name}: without", preimage_case, name, {"keep_data": name != "landmarks"})
        case(f"output: {name}", output_case, name)
        case(f"interrupted: {name}", interrupted_fit, name)
    for name in specs():
        case(f"plan: {name}", plan_case, name)
    pairs = (
        ("dense", "tiled", "landmarks", "auto stream", "cuda", "torch landmarks"),
        ("taylor", "fourier", "auto, plane"),
    )
    for group in pairs:
        for first in group:
            for second in group:
                case(f"angles: {first}, {second}", angles_case, first, second)
    case("angles: refused", angles_case, "dense", "monomials")
    for name in ("tiled", "dense", "fourier", "landmarks", "monomials", "covariance", "cuda"):
        for kind in ("", "csv"):
            case(f"verbose: {name}: {kind or 'array'}", verbose_case, name, kind)


# The rest of the family -----------------------------------------------------------------------------------------------


def clusters_case(notes: Notes, data: str, params: dict[str, Any], form: str, weighted: bool, kind: str) -> None:
    from gramless import KernelKMeans

    x, new = rows(data), rows(f"{data} new")
    model = KernelKMeans(**{"n_clusters": 3, "random_state": 0, "memory_limit": "1GB", "n_jobs": 1, **params})
    given = source(data, kind) if kind else FORMS[form](x)
    weights = weights_of(len(x)) if weighted else None
    attempt(notes, "fit", model.fit, given, sample_weight=weights)
    if raised(notes, "fit"):
        return
    record(notes, model, FORMS[form](new))
    attempt(notes, "score, weights", model.score, FORMS[form](new), sample_weight=np.arange(60.0))
    for method in ("nearest", "preimage"):
        attempt(notes, f"prototypes {method}", model.prototypes, method)
    for other in (kind, "npy", "csv") if kind else ("npy",):
        attempt(notes, f"predict {other}", model.predict, source(data, other))
        attempt(notes, f"transform {other}", model.transform, source(data, other))
    if not kind:
        attempt(notes, "fit_predict", model.fit_predict, given, sample_weight=weights)
        attempt(notes, "fit_transform", model.fit_transform, given, sample_weight=weights)


def given_clusters_case(notes: Notes) -> None:
    from gramless import KernelKMeans
    from gramless.kernels import Gaussian

    x, new = rows("cloud"), rows("cloud new")
    model = KernelKMeans(3, kernel="precomputed", random_state=0, memory_limit="1GB", n_jobs=1)
    notes["fit_transform"] = described(model.fit_transform(Gaussian(2.0)(x), sample_weight=weights_of(300)))
    record(notes, model, Gaussian(2.0)(new, x))
    attempt(notes, "prototypes", model.prototypes)
    notes["output"] = described(model.get_feature_names_out())


def cluster_cases() -> None:
    poly = {"kernel": "poly", "degree": 2, "gamma": None}
    settings: dict[str, tuple[str, dict[str, Any]]] = {
        "auto": ("cloud", {}),
        "auto, plane": ("plane", {"gamma": 2.0}),
        "tiled": ("cloud", {"method": "tiled"}),
        "landmarks": ("cloud", {"method": "landmarks", "accuracy": 1e-3}),
        "monomials": ("cloud", {**poly, "method": "monomials"}),
        "taylor": ("plane", {"method": "taylor", "gamma": 1.0}),
        "fourier": ("plane", {"method": "fourier", "gamma": 2.0}),
        "composite": ("plane", {"kernel": kernel_objects()["sum"], "method": "composite"}),
        "cuda": ("cloud", {"method": "cuda", "device": "torch"}),
        "torch landmarks": ("cloud", {"method": "landmarks", "device": "torch", "accuracy": 1e-3}),
        "torch auto": ("cloud", {**poly, "device": "torch"}),
        "indefinite": ("cloud", {"kernel": "sigmoid", "gamma": 0.01}),
    }
    variants: dict[str, tuple[dict[str, Any], str, bool, str]] = {
        "plain": ({}, "array", False, ""),
        "weights": ({}, "array", True, ""),
        "scale": ({"scale_input": True}, "array", True, ""),
        "labels": ({"init": np.arange(300) % 3}, "array", False, ""),
        "random": ({"init": "random", "n_init": 3}, "array", False, ""),
        "several": ({"n_init": 4, "n_clusters": 5, "n_jobs": 2}, "array", False, ""),
        "few iterations": ({"max_iter": 1, "n_clusters": 6}, "array", False, ""),
        "RandomState": ({"random_state": np.random.RandomState(3)}, "array", False, ""),
        "gamma scale": ({"gamma": "scale"}, "array", False, ""),
        "exact": ({"accuracy": 0.0}, "array", False, ""),
        "float32": ({}, "float32", True, ""),
        "csr": ({}, "csr", False, ""),
        "frame": ({}, "frame", False, ""),
        "tensor": ({}, "tensor", False, ""),
        "npy": ({}, "array", True, "npy"),
        "csv": ({}, "frame", False, "csv"),
        "iterator": ({"scale_input": True}, "array", False, "iterator"),
        "function": ({}, "array", False, "function"),
    }
    for name, (data, params) in settings.items():
        for variant, (change, form, weighted, kind) in variants.items():
            case(f"clusters: {name}: {variant}", clusters_case, data, {**params, **change}, form, weighted, kind)
    case("clusters: precomputed", given_clusters_case)


def classes_case(notes: Notes, kind: str, params: dict[str, Any], form: str, weighted: bool, words: bool) -> None:
    import gramless

    x, new = rows("cloud"), rows("cloud new")
    y = classes_of(x, 3 if kind == "KernelDiscriminantAnalysis" else 2)
    y = np.array(["low", "middle", "high"])[y] if words else y
    model = getattr(gramless, kind)(**{"random_state": 0, "memory_limit": "1GB", "n_jobs": 1, **params})
    weights = weights_of(len(x)) if weighted else None
    if params.get("kernel") == "precomputed":
        x, new = x @ x.T, new @ x.T
    attempt(notes, "fit", model.fit, FORMS[form](x), y, sample_weight=weights)
    if raised(notes, "fit"):
        return
    record(notes, model, FORMS[form](new))
    attempt(notes, "score", model.score, FORMS[form](x), y)
    notes["names out"] = described(model.get_feature_names_out())
    if hasattr(model, "predict_log_proba"):
        attempt(notes, "logarithms", model.predict_log_proba, FORMS[form](new))


def class_cases() -> None:
    everybody: dict[str, tuple[dict[str, Any], str, bool, bool]] = {
        "plain": ({}, "array", False, False),
        "weights": ({"n_coordinates": 50}, "array", True, True),
        "share": ({"n_coordinates": 0.9}, "array", False, False),
        "all": ({"n_coordinates": None}, "array", True, False),
        "linear": ({"kernel": "linear"}, "array", False, False),
        "poly": ({"kernel": "poly", "gamma": "scale", "degree": 2, "n_coordinates": 30}, "array", False, False),
        "tiled": ({"method": "tiled", "n_coordinates": 20}, "array", True, False),
        "landmarks": ({"method": "landmarks", "n_coordinates": 20}, "array", False, False),
        "cuda": ({"device": "torch", "n_coordinates": 20}, "array", False, False),
        "torch landmarks": ({"device": "torch", "method": "landmarks", "n_coordinates": 20}, "tensor", False, False),
        "tensor": ({"device": "torch", "n_coordinates": 20}, "tensor", True, False),
        "tensor32": ({"device": "torch", "n_coordinates": 20}, "tensor32", False, False),
        "csr": ({"n_coordinates": 40}, "csr", False, False),
        "frame": ({"n_coordinates": 40, "n_jobs": 2}, "frame", False, True),
        "float32": ({"n_coordinates": 40}, "float32", True, False),
        "precomputed": ({"kernel": "precomputed", "n_coordinates": 30}, "array", True, False),
        "shrinkage": ({"shrinkage": 0.3, "n_components": 1}, "array", False, False),
        "object": ({"kernel": kernel_objects()["matern 1.5"], "n_coordinates": 0.8}, "array", False, False),
        "indefinite": ({"kernel": "sigmoid", "gamma": 0.01, "n_coordinates": 10}, "array", False, False),
        "RandomState": ({"random_state": np.random.RandomState(3), "method": "landmarks"}, "array", False, False),
        "little memory": ({"memory_limit": "1MB"}, "array", False, False),
        "too many": ({"n_components": 7, "n_coordinates": 5}, "array", False, False),
    }
    kinds = {
        "KernelDiscriminantAnalysis": {"priors": {"priors": [0.5, 0.3, 0.2]}, "unshrunk": {"shrinkage": None}},
        "BiasedDiscriminantAnalysis": {"first": {"positive_label": 0}, "no label": {"positive_label": 9}},
    }
    for kind, more in kinds.items():
        for name, setting in everybody.items():
            case(f"classes: {kind}: {name}", classes_case, kind, *setting)
        for name, params in more.items():
            case(f"classes: {kind}: {name}", classes_case, kind, {"n_coordinates": 30, **params}, "array", False, False)


def sources_case(notes: Notes, d: int, params: dict[str, Any], form: str, weighted: bool, new: bool = True) -> None:
    """Independent components of mixed sources."""
    from gramless import KernelICA

    rng = np.random.default_rng(5)
    mixed = np.column_stack([rng.uniform(-1, 1, 400), rng.laplace(size=400), rng.choice([-1, 1], 400)])[:, :d]
    x = FORMS[form](mixed @ rng.standard_normal((d, d)) + 1.0)
    model = KernelICA(**{"random_state": 0, "n_jobs": 1, **params})
    attempt(notes, "fit_transform", model.fit_transform, x, sample_weight=weights_of(400) if weighted else None)
    if not raised(notes, "fit_transform"):
        record(notes, model, x[:40])
        attempt(notes, "inverse", lambda: model.inverse_transform(model.transform(x[:10])))


def density_case(notes: Notes, data: str, params: dict[str, Any], form: str, weighted: bool) -> None:
    from gramless import SeriesDensity

    x, new = rows(data), FORMS[form](rows(f"{data} new"))
    model = SeriesDensity(**{"random_state": 0, "n_jobs": 1, **params})
    attempt(notes, "fit", model.fit, FORMS[form](x), sample_weight=weights_of(len(x)) if weighted else None)
    if not raised(notes, "fit"):
        record(notes, model, new)
        attempt(notes, "score_samples", model.score_samples, new)
        attempt(notes, "sample", model.sample, 7, random_state=1)
        attempt(notes, "no sample", model.sample, 0)


def width_case(notes: Notes, given: Any, kernel: Any, criterion: str, options: dict[str, Any]) -> None:
    from gramless import select_bandwidth

    x = source(*given) if isinstance(given, tuple) else FORMS[given](rows("cloud"))
    found = select_bandwidth(x, kernel, criterion, **options)
    notes["kernel"] = described(repr(found.kernel))
    notes["found"] = described(f"{found.value!r} {found.gamma!r} {found.parameter} {found.criterion}\n{found}")
    for name in ("candidates", "scores"):
        notes[name] = described(getattr(found, name))
    notes["html"] = described(found._repr_html_())


def family_cases() -> None:
    kernels = kernel_objects()
    for d in (1, 2, 3):
        case(f"sources: {d}", sources_case, d, {}, "array", False)
        case(f"sources: {d}: weights", sources_case, d, {"contrast": "kcc", "n_jobs": 2}, "array", True)
    for name, params in {
        "two of three": {"n_components": 2},
        "white": {"whiten": False},
        "kernel": {"kernel": kernels["gaussian"], "regularization": 0.1, "n_restarts": 1},
        "few iterations": {"max_iter": 1},
        "too many": {"n_components": 9},
        "RandomState": {"random_state": np.random.RandomState(3)},
    }.items():
        case(f"sources: {name}", sources_case, 3, params, "array", False)
    for form in ("float32", "csr", "frame"):
        case(f"sources: {form}", sources_case, 2, {}, form, False)
    for data in ("line", "plane", "cloud"):
        for truncation in ("held_out", "rule"):
            for weighted in (False, True):
                params = {"truncation": truncation}
                case(f"density: {data} {truncation} {weighted}", density_case, data, params, "array", weighted)
    for name, params in {
        "silverman": {"bandwidth": "silverman"},
        "number": {"bandwidth": 0.3, "n_components": 5},
        "laplacian": {"kernel": kernels["laplacian"]},
        "matern": {"kernel": kernels["matern 1.5"], "truncation": "rule"},
        "multiple": {"kernel": kernels["multiple"]},
        "polynomial": {"kernel": kernels["polynomial 2"]},
        "RandomState": {"random_state": np.random.RandomState(3), "n_jobs": 2},
    }.items():
        case(f"density: {name}", density_case, "plane", params, "array", False)
    for form in ("float32", "frame", "csr"):
        case(f"density: {form}", density_case, "plane", {}, form, False)
    names = ("rbf", "laplacian", "poly", "sigmoid")
    patterns = {name: name for name in names} | {
        f"{name} object": kernels[name] for name in ("matern 1.5", "epanechnikov")
    }
    for name, kernel in patterns.items():
        for criterion in ("median", "scale", "gap", "preimage"):
            case(f"width: {name}: {criterion}", width_case, "array", kernel, criterion, {})
            case(
                f"width: {name}: {criterion}: npy", width_case, ("many", "npy"), kernel, criterion, {"max_samples": 200}
            )
    for criterion in ("median", "scale", "gap", "preimage", "guess"):
        weights = {"sample_weight": weights_of(300)}
        case(f"width: {criterion}: weights", width_case, "array", "rbf", criterion, weights)
        case(f"width: {criterion}: csr", width_case, "csr", "rbf", criterion, {})
        case(f"width: {criterion}: frame", width_case, "frame", "rbf", criterion, {"max_samples": 100})
        case(f"width: {criterion}: csv", width_case, ("cloud", "csv"), "rbf", criterion, weights)
        case(f"width: {criterion}: iterator", width_case, ("cloud", "iterator"), "rbf", criterion, {})
    options = {"candidates": [0.5, 1.0, 4.0], "alpha": 0.1, "n_components": 3}
    case("width: candidates", width_case, "array", "rbf", "preimage", options)
    case("width: all", width_case, "array", "rbf", "gap", {"max_samples": None})


# Errors ---------------------------------------------------------------------------------------------------------------


def wrong_calls() -> dict[str, Callable[[], Any]]:
    """Calls that are refused; each is looked at for its message."""
    import gramless
    from gramless import KernelDiscriminantAnalysis, KernelICA, KernelKMeans, SeriesDensity, load, open_source

    x, plane = rows("cloud"), rows("plane")
    y = classes_of(x)
    sparse, holes = FORMS["csr"](x), np.where(np.arange(300)[:, None] == 17, np.nan, x)
    rbf = {"kernel": "rbf", "gamma": 0.1}
    fitted = made(rbf).fit(x)
    named = made(rbf).fit(frame(x))
    stream = made(rbf).partial_fit(x)
    clusters = KernelKMeans(3, random_state=0, memory_limit="1GB").fit(x)
    none = np.zeros(300)
    np.save("holes.npy", holes)
    np.save("empty.npy", x[:0])
    np.save("one.npy", x[:1])
    np.save("objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    Path("texts.csv").write_text("a,b\n1,2\n3,four\n")
    Path("uneven.csv").write_text("a,b\n1,2\n3\n")
    Path("broken.parquet").write_bytes(b"PAR1 and no more")
    Path("broken.gramless").write_bytes(saved(fitted)[:-9])
    Path("bare").mkdir(exist_ok=True)

    def settings(**params: Any) -> Callable[[], Any]:
        return lambda: made(params, x).fit(x)

    refused_settings = {
        "too many components": settings(n_components=301),
        "no components": settings(n_components=0),
        "share of 1": settings(n_components=1.0),
        "unknown method": settings(method="guess"),
        "unknown solver": settings(eigen_solver="guess"),
        "unknown kernel": settings(kernel="guess"),
        "unknown gamma": settings(kernel="rbf", gamma="guess"),
        "unknown device": settings(device="guess"),
        "no card": settings(device="cuda", **rbf),
        "memory too small": settings(memory_limit="1kB", **rbf),
        "memory not understood": settings(memory_limit="much", **rbf),
        "memory, negative": settings(memory_limit=-1),
        "tol unreachable": settings(tol=1e-17, **rbf),
        "tol, landmarks": settings(tol=1e-12, method="landmarks", **rbf),
        "taylor of poly": settings(kernel="poly", method="taylor"),
        "fourier in five dimensions": settings(method="fourier", **rbf),
        "covariance of rbf": settings(method="covariance", **rbf),
        "merging": settings(method="merging", **rbf),
        "refitting": settings(method="refitting", **rbf),
        "no data, dense": settings(method="dense", keep_data=False, **rbf),
        "domain, infinite": settings(domain=(0, np.inf), **rbf),
        "domain, turned": settings(domain=(1, 0), **rbf),
        "domain, three": settings(domain=(0, 1, 2), **rbf),
        "domain, rows outside": settings(domain=(0, 1), **rbf),
        "no threads": settings(n_jobs=0),
        "Generator": settings(random_state=np.random.default_rng(3)),
        "gap of a share": settings(n_components=0.5, kernel="rbf", gamma="gap"),
        "gap of an object": settings(kernel=gramless.kernels.Gaussian(), gamma="gap"),
        "forget 0": settings(forget=0.0),
        "support of few": lambda: made({**rbf, "max_support": 2}).partial_fit(x),
        "precomputed, not square": settings(kernel="precomputed"),
        "precomputed, not symmetric": lambda: made({"kernel": "precomputed"}).fit(np.triu(x @ x.T)),
        "precomputed, sparse": lambda: made({"kernel": "precomputed"}).fit(scipy.sparse.csr_array(x @ x.T)),
        "precomputed, file": lambda: made({"kernel": "precomputed"}).fit(file_of("cloud", "npy")),
        "precomputed, inverse": lambda: made({"kernel": "precomputed", "fit_inverse_transform": True}).fit(x @ x.T),
    }
    rbf_fit = made(rbf).fit
    refused_rows = {
        "one row": lambda: made(rbf).fit(x[:1]),
        "no rows": lambda: made(rbf).fit(x[:0]),
        "one dimension": lambda: made(rbf).fit(x[:, 0]),
        "NaN": lambda: rbf_fit(holes),
        "infinity": lambda: rbf_fit(np.where(np.isnan(holes), np.inf, x)),
        "complex": lambda: rbf_fit(x + 1j),
        "texts": lambda: rbf_fit(np.full((5, 2), "a")),
        "None": lambda: rbf_fit(None),
        "sparse, scale": lambda: made({**rbf, "scale_input": True}).fit(sparse),
        "sparse, center": lambda: made({**rbf, "center_input": True}).fit(sparse),
        "sparse, inverse": lambda: made({**rbf, "fit_inverse_transform": True}).fit(sparse),
        "sparse, denoise": lambda: made(rbf).fit(sparse).denoise(sparse),
        "weights all 0": lambda: rbf_fit(x, sample_weight=none),
        "weights all 0, landmarks": lambda: made({**rbf, "method": "landmarks"}).fit(x, sample_weight=none),
        "weights negative": lambda: rbf_fit(x, sample_weight=none - 1),
        "weights too few": lambda: rbf_fit(x, sample_weight=none[:9]),
        "weights NaN": lambda: rbf_fit(x, sample_weight=none + np.nan),
        "weights by name, array": lambda: rbf_fit(x, sample_weight="weight"),
        "one row of weight": lambda: rbf_fit(x, sample_weight=np.eye(300)[0]),
        "equal rows": lambda: rbf_fit(np.ones((20, 3))),
        "huge rows": lambda: rbf_fit(1e200 * x),
    }
    refused_files = {
        "no file": lambda: rbf_fit("nowhere.npy"),
        "unknown suffix": lambda: rbf_fit("one.txt"),
        "NaN in a file": lambda: rbf_fit("holes.npy"),
        "empty file": lambda: rbf_fit("empty.npy"),
        "one row in a file": lambda: rbf_fit("one.npy"),
        "objects": lambda: rbf_fit("objects.npy"),
        "texts in a file": lambda: rbf_fit("texts.csv"),
        "uneven lines": lambda: rbf_fit("uneven.csv"),
        "broken file": lambda: rbf_fit("broken.parquet"),
        "empty folder": lambda: rbf_fit("bare"),
        "empty iterator": lambda: rbf_fit(iter(())),
        "iterator twice": lambda: made({**rbf, "method": "tiled"}).fit(iter([x])),
        "iterator, scale": lambda: made({**rbf, "scale_input": True}).fit(iter([x])),
        "iterator, uneven": lambda: rbf_fit(iter([x, plane])),
        "file, weights too few": lambda: rbf_fit(file_of("cloud", "npy"), sample_weight=np.ones(9)),
        "file, weights all 0": lambda: rbf_fit(file_of("cloud", "npy"), sample_weight=none),
        "file, no such column": lambda: rbf_fit(file_of("cloud", "csv"), sample_weight="weight"),
        "file, too many": lambda: made({"kernel": "poly", "n_components": 999}).fit(file_of("cloud", "npy")),
        "file, outside": lambda: made({"kernel": "poly", "domain": (0, 1)}).fit(file_of("cloud", "npy")),
        "file, memory": lambda: made({**rbf, "memory_limit": "9kB"}).fit(file_of("cloud", "csv")),
        "columns, unknown": lambda: open_source(file_of("cloud", "csv"), columns=["z"]),
        "missing, unknown": lambda: open_source(x, missing="guess"),
        "not a source": lambda: open_source(3),
        "load nothing": lambda: load("nowhere.gramless"),
        "load broken": lambda: load("broken.gramless"),
        "load an array": lambda: load("one.npy"),
        "save a function": lambda: made({"kernel": tilted}).fit(x[:40]).save("function.gramless"),
        "save unfitted": lambda: made(rbf).save("never.gramless"),
    }
    refused_uses = {
        "transform unfitted": lambda: made(rbf).transform(x),
        "transform other columns": lambda: fitted.transform(plane),
        "transform other columns of a file": lambda: fitted.transform(file_of("plane", "npy")),
        "transform other names": lambda: named.transform(frame(x).rename(columns={"c1": "z"})),
        "transform other names of a file": lambda: named.transform(file_of("plane", "csv", True)),
        "transform NaN": lambda: fitted.transform(holes),
        "transform to nowhere": lambda: fitted.transform(x, out="nowhere/x.npy"),
        "inverse without": lambda: made({"kernel": "poly"}).fit(x).inverse_transform(np.ones((2, 4))),
        "truncate 0": lambda: fitted.truncate(0),
        "truncate 9": lambda: fitted.truncate(9),
        "truncate unfitted": lambda: made(rbf).truncate(1),
        "unfit nothing": lambda: made(rbf).partial_unfit(x),
        "unfit points": lambda: stream.partial_unfit(x),
        "unfit a fit": lambda: made(rbf).fit(x).partial_unfit(x),
        "unfit all": lambda: made({"kernel": "poly"}).partial_fit(x).partial_unfit(x),
        "partial_fit, center": lambda: made({**rbf, "center_input": True}).partial_fit(x),
        "partial_fit, scale": lambda: made({**rbf, "scale_input": True}).partial_fit(x),
        "partial_fit, precomputed": lambda: made({"kernel": "precomputed"}).partial_fit(x @ x.T),
        "partial_fit, tiled": lambda: made({**rbf, "method": "tiled"}).partial_fit(x),
        "partial_fit, fourier": lambda: made({"kernel": "rbf", "method": "fourier"}).partial_fit(plane),
        "partial_fit, no data": lambda: made({"keep_data": False}).fit(x).partial_fit(x),
        "partial_fit, outside": lambda: made({"kernel": "rbf", "domain": (0, 0.5)}).partial_fit(plane),
        "partial_fit, other columns": lambda: copy.copy(stream).partial_fit(plane),
        "partial_fit, weights all 0": lambda: made(rbf).partial_fit(x, sample_weight=none),
        "eigenvectors of a stream": lambda: stream.eigenvectors_,
        "reconstruction error, space": lambda: fitted.reconstruction_error(x, space="guess"),
        "preimage_error, shape": lambda: fitted.preimage_error(np.ones((300, 1)), x),
    }
    refused_family = {
        "clusters, too many": lambda: KernelKMeans(301).fit(x),
        "clusters, too little weight": lambda: KernelKMeans(3).fit(x, sample_weight=np.eye(300)[0]),
        "clusters, labels too few": lambda: KernelKMeans(3, init=[0, 1]).fit(x),
        "clusters, labels too large": lambda: KernelKMeans(3, init=np.arange(300)).fit(x),
        "clusters, method": lambda: KernelKMeans(3, method="dense").fit(x),
        "clusters, memory": lambda: KernelKMeans(3, memory_limit="1kB").fit(file_of("cloud", "csv")),
        "clusters, copies": lambda: KernelKMeans(3, random_state=0, gamma=1.0).fit(np.ones((9, 2))).prototypes(),
        "clusters, prototypes": lambda: clusters.prototypes("guess"),
        "clusters, columns": lambda: clusters.predict(plane),
        "clusters, file": lambda: clusters.predict(file_of("plane", "npy")),
        "clusters, sparse": lambda: KernelKMeans(2, random_state=0).fit(sparse).prototypes(),
        "classes, one": lambda: KernelDiscriminantAnalysis().fit(x, none),
        "classes, many": lambda: KernelDiscriminantAnalysis(n_components=3).fit(x, y),
        "classes, numbers": lambda: KernelDiscriminantAnalysis().fit(x, x[:, 0]),
        "classes, priors": lambda: KernelDiscriminantAnalysis(priors=[1, 2]).fit(x, y),
        "classes, file": lambda: KernelDiscriminantAnalysis().fit(file_of("cloud", "npy"), y),
        "classes, three": lambda: gramless.BiasedDiscriminantAnalysis().fit(x, y),
        "classes, shrinkage": lambda: gramless.BiasedDiscriminantAnalysis(shrinkage=0.0).fit(x, y > 0),
        "sources, whiten": lambda: KernelICA(whiten=True).fit(x),
        "sources, equal": lambda: KernelICA().fit(np.ones((9, 2))),
        "sources, file": lambda: KernelICA().fit("cloud.npy"),
        "sources, inverse": lambda: KernelICA(random_state=0).fit(plane).inverse_transform(x),
        "density, file": lambda: SeriesDensity().fit("cloud.npy"),
        "density, columns": lambda: SeriesDensity(random_state=0).fit(plane).score_samples(x),
        "density, bandwidth": lambda: SeriesDensity(bandwidth="guess").fit(plane),
        "width, kernel": lambda: gramless.select_bandwidth(x, "linear"),
        "width, components": lambda: gramless.select_bandwidth(x, "rbf", "gap", n_components=0),
        "width, candidates": lambda: gramless.select_bandwidth(x, "rbf", "gap", candidates=[-1.0]),
        "width, few rows": lambda: gramless.select_bandwidth(x[:4], "rbf", "preimage"),
        "width, all of a file": lambda: gramless.select_bandwidth("one.npy", "rbf", "gap", max_samples=None),
    }
    return refused_settings | refused_rows | refused_files | refused_uses | refused_family


def error_case(notes: Notes, group: list[str]) -> None:
    calls = wrong_calls()
    for name in group or calls:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            attempt(notes, name, calls[name])
        notes[f"{name}: warnings"] = told_warnings(said)


# The command line -----------------------------------------------------------------------------------------------------

IRIS = ("iris.csv", "--label", "species", "--memory", "1GB")
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "plan": [("plan", *IRIS), ("plan", *IRIS, "--json"), ("plan", *IRIS[:3], "--memory", "1kB")],
    "fit": [
        ("fit", *IRIS, "-k", "4", "-o", "a.gramless"),
        ("fit", *IRIS, "-k", "4", "-o", "a.gramless", "--json"),
        ("inspect", "a.gramless"),
        ("inspect", "a.gramless", "--plan", "--json"),
        ("transform", "a.gramless", "iris.csv", "-o", "scores.csv", "--keep", "species"),
        ("transform", "a.gramless", "iris.csv", "-o", "scores.npy", "--json"),
        ("inverse", "a.gramless", "scores.csv", "-o", "back.csv"),
        ("denoise", "a.gramless", "iris.csv", "-o", "clean.npy"),
        ("update", "a.gramless", "iris.csv", "-o", "larger.gramless", "--batch", "40"),
        ("fit", "iris.csv", "--like", "a.gramless", "-o", "b.gramless", "--memory", "1GB"),
        ("merge", "a.gramless", "b.gramless", "-o", "both.gramless"),
        ("update", "both.gramless", "iris.csv", "--json"),
    ],
    "kernels": [
        ("fit", *IRIS, "--kernel", "polynomial", "--degree", "2", "-k", "all", "--inverse", "-o", "a.gramless"),
        ("denoise", "a.gramless", "iris.csv", "--by", "ridge", "-o", "clean.csv"),
        ("fit", *IRIS, "--kernel", "matern", "--nu", "2.5", "--sigma", "gap", "-k", "3", "-o", "a.gramless"),
        ("fit", *IRIS, "--kernel", "laplacian", "--gamma", "0.5", "-k", "0.8", "--scale", "-o", "a.gramless"),
        ("denoise", "a.gramless", "iris.csv", "-o", "clean.csv", "--by", "ridge"),
        ("fit", *IRIS, "--kernel", "tanh", "--gamma", "0.01", "-k", "2", "-o", "a.gramless"),
    ],
    "files": [
        ("fit", "plane.npy", "-k", "3", "--memory", "8MB", "-o", "a.gramless"),
        ("fit", "plane.npy", "-k", "3", "--memory", "8MB", "--checkpoint", "c", "--forget-rows", "-o", "b.gramless"),
        ("transform", "a.gramless", "plane.npy", "-o", "scores.parquet"),
    ],
    "cluster": [
        ("cluster", *IRIS, "-k", "3", "-o", "clusters.csv", "--model", "c.gramless", "--keep", "species"),
        ("cluster", *IRIS, "-k", "3", "--scale", "-o", "clusters.npy", "--json", "--starts", "2"),
        ("transform", "c.gramless", "iris.csv", "-o", "distances.csv"),
        ("inspect", "c.gramless"),
    ],
    "errors": [
        ("fit", "nowhere.csv"),
        ("fit", "iris.csv"),
        ("fit", *IRIS, "-k", "999"),
        ("fit", *IRIS, "--method", "guess"),
        ("fit", *IRIS[:3], "--memory", "1kB"),
        ("fit", *IRIS, "--kernel", "guess"),
        ("inspect", "iris.csv"),
        ("cluster", *IRIS, "-k", "999", "-o", "clusters.csv"),
        ("transform", "iris.csv", "iris.csv", "-o", "scores.csv"),
        ("merge", "iris.csv", "-o", "x.gramless"),
    ],
}


def command_case(notes: Notes, name: str) -> None:
    """Commands one after another, in a folder of their own: exit code, what is printed, and the files written."""
    from sklearn.datasets import load_iris

    from gramless.cli import main

    home = Path.cwd()
    folder = home / f"cli {name}"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    try:
        table = frame(load_iris().data)
        table["species"] = load_iris().target_names[load_iris().target]
        table.to_csv("iris.csv", index=False)
        np.save("plane.npy", rows("plane"))
        for number, words in enumerate(COMMANDS[name]):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(list(words))
            text = f"exit {code}\n{out.getvalue()}\n{err.getvalue()}"
            notes[f"{number} {' '.join(words)}"] = described(without_times(text))
            if "-o" in words and Path(written := words[words.index("-o") + 1]).exists():
                notes[f"{number} {written}"] = described(Path(written).read_bytes())
    finally:
        os.chdir(home)


def environment(notes: Notes) -> None:
    """What results depend on besides the code: files of digests that differ here say nothing of the rest."""
    from importlib.metadata import version

    for name in ("numpy", "scipy", "scikit-learn", "finufft", "torch", "dask", "pandas", "pyarrow", "typer", "rich"):
        notes[name] = version(name)
    notes["settings"] = " ".join(f"{name}={os.environ.get(name)}" for name in SETTINGS)
    notes["cores"] = len(os.sched_getaffinity(0))


def register() -> None:
    """All cases."""
    case("environment", environment)
    fit_cases()
    source_cases()
    stream_cases()
    checkpoint_cases()
    other_cases()
    cluster_cases()
    class_cases()
    family_cases()
    case("errors", error_case, [])
    for name in COMMANDS:
        case(f"cli: {name}", command_case, name)
    dask_cases()  # last: its threads stay until the end


# Running and comparing ------------------------------------------------------------------------------------------------


def told_warnings(said: list[warnings.WarningMessage]) -> str:
    """Category, file and text of each warning, in an order that does not depend on threads."""
    found = Counter(
        masked(f"{one.category.__name__} at {Path(one.filename).name}: {one.message}")
        for one in said
        if not issubclass(one.category, ResourceWarning)
    )
    return "\n".join(f"{count} x {text}" for text, count in sorted(found.items()))


def run_case(name: str) -> Notes:
    function, arguments = CASES[name]
    notes: Notes = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            function(notes, *copy.deepcopy(arguments))
        except Exception as error:
            notes["raised"] = error_text(error)
            where = traceback.extract_tb(error.__traceback__)
            if Path(where[-1].filename) == Path(__file__):
                notes["raised here"] = f"line {where[-1].lineno}"
    notes["warnings"] = told_warnings(said)
    return notes


def run(out: Path, only: str) -> None:
    import gramless

    print(f"gramless {gramless.__version__} from {gramless.__file__}", flush=True)
    out = out.resolve()
    home, folder = Path.cwd(), Path(tempfile.mkdtemp(prefix="digests"))
    os.chdir(folder)
    results: dict[str, Notes] = {}
    times: dict[str, float] = {}
    start = time.perf_counter()
    try:
        register()
        wanted = [name for name in CASES if re.search(only, name)]
        for number, name in enumerate(wanted):
            began = time.perf_counter()
            results[name] = run_case(name)
            times[name] = time.perf_counter() - began
            if (number + 1) % 100 == 0:
                print(f"{number + 1} of {len(wanted)} cases, {time.perf_counter() - start:.0f} s: {name}", flush=True)
    finally:
        os.chdir(home)
        if client.cache_info().currsize:
            client().close()
        shutil.rmtree(folder, ignore_errors=True)
    out.write_text(json.dumps(results, indent=0, sort_keys=True))
    slowest = sorted(times, key=times.__getitem__, reverse=True)[:8]
    groups = Counter[str]()
    for name in times:
        groups[name.partition(":")[0]] += times[name]
    print("seconds: " + ", ".join(f"{group} {seconds:.0f}" for group, seconds in groups.most_common()))
    print("slowest: " + ", ".join(f"{name} {times[name]:.1f} s" for name in slowest))
    broken = [f"{name} ({notes['raised here']})" for name, notes in results.items() if "raised here" in notes]
    print(f"cases that failed in this script itself: {', '.join(broken) or 'none'}")
    print(f"{len(results)} cases in {time.perf_counter() - start:.0f} s, written to {out}")


def shown(value: Any) -> str:
    """A value in a line; of arrays the beginning of the digest will do."""
    if isinstance(value, dict) and "numbers" in value:
        more = {name: value[name] for name in value if name not in ("numbers", "sha", "shape", "dtype")} or ""
        return f"{value['dtype']} {value['shape']} {more} {' '.join(value['numbers'])} ... ({value['sha'][:8]})"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) < 600 else text[:600] + " ..."


def difference(one: Any, other: Any) -> str:
    """Two values that differ, and of arrays by how much their leading numbers do."""
    if isinstance(one, str) and isinstance(other, str) and "\n" in one + other:
        left, right = one.splitlines(), other.splitlines()
        return "\n".join(f"    - {a}\n    + {b}" for a, b in zip_longest(left, right) if a != b)
    text = f"    - {shown(one)}\n    + {shown(other)}"
    if isinstance(one, dict) and isinstance(other, dict) and "numbers" in one and "numbers" in other:
        pairs = zip(one["numbers"], other["numbers"], strict=False)
        numbers = [tuple(complex(n.removeprefix("norm ")) for n in pair) for pair in pairs]
        apart = max((abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in numbers), default=0.0)
        text += f"\n    leading numbers differ by {apart:.1e}"
    return text


def zip_longest(left: list[str], right: list[str]) -> list[tuple[str, str]]:
    length = max(len(left), len(right))
    return [(left[j] if j < len(left) else "", right[j] if j < len(right) else "") for j in range(length)]


def compare(first: Path, second: Path, only: str) -> int:
    """Print what differs between two files of digests; 1 if anything does."""
    one, two = (
        {name: notes for name, notes in json.loads(path.read_text()).items() if re.search(only, name)}
        for path in (first, second)
    )
    alone = [
        (name, path) for path, here, there in ((first, one, two), (second, two, one)) for name in here.keys() - there
    ]
    for name, path in sorted(alone):
        print(f"{name}: only in {path}")
    apart = [name for name in one if name in two and one[name] != two[name]]
    kinds: Counter[str] = Counter()
    for name in apart:
        print(name)
        for what in sorted({*one[name], *two[name]}):
            before, after = one[name].get(what, "(nothing)"), two[name].get(what, "(nothing)")
            if before != after:
                kinds[what] += 1
                print(f"  {what}\n{difference(before, after)}")
    both = len(one.keys() & two.keys())
    print(f"{len(apart)} of {both} cases differ, {len(alone)} are in one file only")
    if kinds:
        print("what differs most: " + ", ".join(f"{what} ({count})" for what, count in kinds.most_common(12)))
    return int(bool(apart or alone))


def main() -> int:
    """Run or compare, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, help="where the digests go")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"))
    given = parser.parse_args()
    if given.compare:
        return compare(*given.compare, given.only)
    if given.out is None:
        parser.error("say where the digests go, or --compare")
    if any(name not in os.environ for name in SETTINGS):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**SETTINGS, **os.environ})
    run(given.out, given.only)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
