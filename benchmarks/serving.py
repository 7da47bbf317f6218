"""The claim of compressed models: `transform` many times faster, with a stated and true bound on the change.

A table of 20,000 x 16 (pendigits resampled with noise; a mixture of Gaussians where the file is not there) with
``compressed(1e-3)``, and MNIST with ``compressed(1e-2)``. Accuracy comes first: the change of the scores of rows that
no model has seen, relative to the standard deviation of each component, and whether each change is within its bound.
Peers on the same rows, kernel and number of components: scikit-learn's KernelPCA, where its Gram matrix fits, and
scikit-learn's Nystroem with PCA, with the fewest landmarks (doubled from 250) whose scores are as near to the exact
ones as those of the compressed model, after the best linear map, which is in its favor. For MNIST, also the accuracy of
logistic regression on the scores, and the time of the exact model in float64, which its tolerance of 1e-5 makes
needless: it is applied in float32. Files are read from the folder GRAMLESS_DATA (``pendigits.npz``, ``mnist.npz``);
rows without data say so.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramless import KernelPCA
from gramless.bandwidth import resolve_gamma

DATA = Path(os.environ.get("GRAMLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
ROUNDS, NEW, MANY, WHOLE = 3, 2_000, 5_000, 20_000
LANDMARKS = (250, 500, 1_000, 2_000, 4_000)
TAUGHT = 10_000  # rows that the classifier is fitted to


@dataclass(frozen=True)
class Work:
    """Rows to fit to, rows that no model has seen, the number of components and the tolerance of the compression.

    `fit_tol` is the tolerance of the fit; `labels` are those of the rows and of the new rows, if known.
    """

    name: str
    x: np.ndarray
    new: np.ndarray
    k: int
    tol: float
    fit_tol: float = 0
    labels: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def gamma(self) -> float:
        some = np.random.default_rng(0).permutation(len(self.x))[:5_000]
        return float(resolve_gamma("median", self.x[some], np.ones(len(some))))


#: A row of the table: from the work and the exact model with its compression to figures. Add a function, and its name.
Contender = Callable[[Work, KernelPCA, KernelPCA], dict[str, Any]]


def run() -> dict[str, Any]:
    table = {}
    for make in (pendigits, mnist):
        work = make()
        table[make.__name__] = {"failed": "mnist.npz is not in GRAMLESS_DATA"} if work is None else measure(work)
    return {"rounds": ROUNDS, "table": table}


def pendigits() -> Work:
    """20,000 x 16 for the fit, and rows of the same distribution."""
    rng = np.random.default_rng(0)
    path, n = DATA / "pendigits.npz", 20_000
    if path.exists():
        with np.load(path) as file:
            known = np.concatenate([file["X_train"], file["X_test"]]).astype(np.float64)
        name, rows = "pendigits, resampled", known[rng.integers(len(known), size=n + NEW)]
        rows = rows + 0.05 * known.std() * rng.standard_normal(rows.shape)
    else:
        centers = 2 * rng.standard_normal((10, 16))
        name, rows = "ten Gaussians", centers[rng.integers(10, size=n + NEW)] + rng.standard_normal((n + NEW, 16))
    return Work(name, rows[:n], rows[n:], 10, 1e-3)


def mnist() -> Work | None:
    """60,000 x 784; None where the file is not there."""
    path = DATA / "mnist.npz"
    if not path.exists():
        return None
    with np.load(path) as file:
        train, test = (file[name].reshape(len(file[name]), -1) / 255 for name in ("X_train", "X_test"))
        labels = file["y_train"], file["y_test"][:MANY]
    return Work("MNIST", train, test[:MANY], 20, 1e-2, 1e-5, labels)


def measure(work: Work) -> dict[str, Any]:
    """Figures of one data set: the compression, and every contender."""
    start = time.perf_counter()
    settings = {"kernel": "rbf", "gamma": work.gamma, "tol": work.fit_tol, "method": "tiled", "random_state": 0}
    exact = KernelPCA(work.k, **settings).fit(work.x)
    fitted = time.perf_counter()
    small = exact.compressed(work.tol)
    seconds = {"fit_seconds": fitted - start, "compress_seconds": time.perf_counter() - fitted}
    found = small.compression_
    stated = {"points": found.points, "change_stated": float(found.change.max()), "bound": float(found.bound.max())}
    sizes = {"n": len(work.x), "d": work.x.shape[1], "k": work.k, "new": len(work.new)}
    row = {"name": work.name, **sizes, "tol": work.tol, **seconds, **stated}
    print(row, flush=True)
    row["contenders"] = {}
    for name, contender in CONTENDERS.items():
        row["contenders"][name] = contender(work, exact, small)
        print(name, row["contenders"][name], flush=True)
    theirs = row["contenders"]["gramless, all points"]
    row["times_faster"] = theirs["seconds"] / row["contenders"]["gramless, compressed"]["seconds"]
    return row


def all_points(work: Work, exact: KernelPCA, small: KernelPCA) -> dict[str, Any]:
    """The exact model."""
    figures = {**timed(exact, work), "points": len(work.x), "bytes": file_size(exact), "change": 0.0}
    return {**figures, **accuracy(exact, work)}


def in_float64(work: Work, exact: KernelPCA, small: KernelPCA) -> dict[str, Any]:
    """The exact model in float64, and what float32 changes, relative to the standard deviation of each component."""
    space = exact._fit.finished.space
    apart = np.abs(exact.transform(work.new) - space.project(work.new)).max(axis=0)
    change = float((apart / np.sqrt(exact.explained_variance_)).max())
    return {**timed(space, work, "project"), "points": len(work.x), "change": change}


def compressed(work: Work, exact: KernelPCA, small: KernelPCA) -> dict[str, Any]:
    """The compressed model; `within`: every change of every row is within its bound."""
    apart, found = np.abs(small.transform(work.new) - exact.transform(work.new)), small.compression_
    within = bool((apart <= found.bounds_at(np.ones(len(work.new)))[:, : work.k]).all())  # k(x, x) = 1
    change = change_of(small, work, exact)
    figures = {**timed(small, work), "points": found.points, "bytes": file_size(small)}
    return {**figures, "change": change, "within": within, **accuracy(small, work)}


def change_of(small: KernelPCA, work: Work, exact: KernelPCA) -> float:
    """Worst root mean square change of a component on the new rows, relative to its scale."""
    apart = small.transform(work.new) - exact.transform(work.new)
    return float((np.sqrt(np.mean(apart**2, axis=0)) / small.compression_.scales[: work.k]).max())


def scikit_learn(work: Work, exact: KernelPCA, small: KernelPCA) -> dict[str, Any]:
    """scikit-learn's KernelPCA: its transform is timed where its Gram matrix fits; all N points are needed."""
    if len(work.x) > WHOLE:
        return {"failed": f"its Gram matrix would take {8 * len(work.x) ** 2 / 1e9:.0f} GB"}
    settings = {"kernel": "rbf", "gamma": work.gamma, "eigen_solver": "randomized", "random_state": 0, "copy_X": False}
    model = Theirs(work.k, **settings).fit(work.x)
    return {**timed(model, work), "points": len(work.x), "change": difference(model, work, exact)}


def nystroem(work: Work, exact: KernelPCA, small: KernelPCA) -> dict[str, Any]:
    """scikit-learn's Nystroem and PCA, with as many landmarks as the accuracy of the compressed model takes."""
    goal, found = change_of(small, work, exact), {}
    for landmarks in LANDMARKS:
        if landmarks >= len(work.x):
            break
        steps = Nystroem(gamma=work.gamma, n_components=landmarks, random_state=0), PCA(work.k, random_state=0)
        model = make_pipeline(*steps).fit(work.x)
        found = {**timed(model, work), "points": landmarks, "change": difference(model, work, exact)}
        if found["change"] <= goal:
            return {**found, "as_accurate": True}
    return {**found, "as_accurate": False}


CONTENDERS: dict[str, Contender] = {
    "gramless, all points": all_points,
    "gramless, all points, in float64": in_float64,
    "gramless, compressed": compressed,
    "scikit-learn KernelPCA": scikit_learn,
    "scikit-learn Nystroem + PCA": nystroem,
}


def accuracy(model: KernelPCA, work: Work) -> dict[str, float]:
    """Fraction of the new rows that logistic regression on the scores of some rows classifies right."""
    if work.labels is None:
        return {}
    scores = model.transform(work.x[:TAUGHT])
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(scores, work.labels[0][:TAUGHT])
    return {"accuracy": float(classifier.score(model.transform(work.new), work.labels[1]))}


def timed(model: Any, work: Work, method: str = "transform") -> dict[str, float]:
    """Median seconds of `transform` of the new rows."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        getattr(model, method)(work.new)
        seconds.append(time.perf_counter() - start)
    return {"seconds": median(seconds)}


def difference(model: Any, work: Work, exact: KernelPCA) -> float:
    """Worst relative change of a component on new rows, after the best linear map of the scores: signs do not count."""
    true, scores = exact.transform(work.new), model.transform(work.new)
    known = np.column_stack([scores, np.ones(len(scores))])
    apart = true - known @ np.linalg.lstsq(known, true, rcond=None)[0]
    return float((np.sqrt(np.mean(apart**2, axis=0)) / true.std(axis=0)).max())


def file_size(model: KernelPCA) -> int:
    """Bytes of the saved model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gramless"
        model.save(path)
        return path.stat().st_size
