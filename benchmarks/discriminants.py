"""KLDA against LDA on USPS digits and Olivetti faces, and the face detector against linear PCA.

Ten random splits; every parameter is chosen by cross-validation on the training part. LDA has the same choice of
shrinkages and more. Sets are read from the folder GRAMLESS_DATA, or shared/data beside the repository; one that is
missing is said to be.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline

from gramless import KernelDiscriminantAnalysis
from gramless.bandwidth import resolve_gamma

FOLDER = Path(os.environ.get("GRAMLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
SPLITS, COMPONENTS = 10, 60


def run() -> dict[str, Any]:
    figures: dict[str, Any] = {"splits": SPLITS}
    for name, work in (("usps", usps), ("olivetti_faces", faces), ("cbcl_faces_19x19", detector)):
        file = FOLDER / f"{name}.npz"
        if not file.exists():
            figures[name] = {"failed": f"no {file.name} in the folder of data; set GRAMLESS_DATA"}
            continue
        with np.load(file) as data:
            figures[name] = work({key: data[key] for key in data.files})
        print(name, figures[name], flush=True)
    return figures


def usps(data: dict[str, np.ndarray]) -> dict[str, Any]:
    x = np.vstack([data["X_train"], data["X_test"]]).astype(float)
    y = np.concatenate([data["y_train"], data["y_test"]])
    return compare(x, y, StratifiedShuffleSplit(SPLITS, train_size=1000, test_size=2000, random_state=0))


def faces(data: dict[str, np.ndarray]) -> dict[str, Any]:
    x = data["X"].reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4)).reshape(len(data["X"]), -1) / 255
    return compare(x, data["y"], StratifiedShuffleSplit(SPLITS, train_size=200, test_size=200, random_state=0))


def compare(x: np.ndarray, y: np.ndarray, splits: StratifiedShuffleSplit) -> dict[str, Any]:
    """Mean and deviation, in %, of the errors of both."""
    errors: dict[str, list[float]] = {"lda": [], "klda": []}
    for train, test in splits.split(x, y):
        gammas = resolve_gamma("median", x[train], np.ones(len(train))) * np.array([0.1, 0.3, 1.0, 3.0])
        models = {
            "lda": GridSearchCV(
                make_pipeline(PCA(0.999, random_state=0), LinearDiscriminantAnalysis(solver="lsqr")),
                {"lineardiscriminantanalysis__shrinkage": ["auto", 0.001, 0.01, 0.03, 0.1, 0.3, 0.6]},
                cv=3,
            ),
            "klda": GridSearchCV(
                KernelDiscriminantAnalysis(n_coordinates=None),
                {"gamma": gammas, "shrinkage": ["auto", 0.001, 0.01, 0.1]},
                cv=3,
            ),
        }
        for name, model in models.items():
            errors[name].append(100 * (1 - model.fit(x[train], y[train]).score(x[test], y[test])))
    summary = {name: {"mean": float(np.mean(e)), "deviation": float(np.std(e))} for name, e in errors.items()}
    return {**summary, "klda_better_in": int(np.sum(np.array(errors["klda"]) < np.array(errors["lda"])))}


def detector(data: dict[str, np.ndarray]) -> dict[str, Any]:
    """Area under the ROC curve on the held-out windows, the same number of components for both."""

    def even_out(windows: np.ndarray) -> np.ndarray:
        windows = windows - windows.mean(axis=1, keepdims=True, dtype=float)
        return windows / np.maximum(np.linalg.norm(windows, axis=1, keepdims=True), 1e-9)

    x, y, test = even_out(data["X_train"]), data["y_train"], even_out(data["X_test"])
    few = np.random.default_rng(0).permutation(len(x))[:2000]
    linear = make_pipeline(PCA(COMPONENTS, random_state=0), LinearDiscriminantAnalysis()).fit(x, y)
    search = GridSearchCV(
        KernelDiscriminantAnalysis(n_coordinates=COMPONENTS),
        {"gamma": [0.5, 1.0, 2.0, 4.0], "shrinkage": ["auto", 0.0001]},
        scoring="roc_auc",
        cv=3,
    ).fit(x[few], y[few])
    models = {"linear": linear, "kernel": search.best_estimator_.fit(x, y)}
    areas = {name: float(roc_auc_score(data["y_test"], m.decision_function(test))) for name, m in models.items()}
    return {"components": COMPONENTS, **areas, "chosen": {key: str(v) for key, v in search.best_params_.items()}}
