"""Small fitted models of every sort, and what each says of a few rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse

from gramless import (
    BiasedDiscriminantAnalysis,
    IndefiniteKernelWarning,
    KernelDiscriminantAnalysis,
    KernelICA,
    KernelKMeans,
    KernelPCA,
    SeriesDensity,
)
from gramless.kernels import Gaussian, Laplacian, Matern, Polynomial, QuadraticForm, Tanh

N, D = 24, 3


def rows(n: int = N, d: int = D) -> Any:
    """The rows that models are fitted to."""
    return np.random.default_rng(0).standard_normal((n, d))


def labels(n: int = N) -> Any:
    """Three classes."""
    return np.arange(n) % 3


def new_rows() -> Any:
    """Rows that no model has seen."""
    return np.random.default_rng(1).standard_normal((5, D))


#: Name, estimator, and how it is fitted.
MODELS: dict[str, tuple[Any, str]] = {
    "pca-dense": (KernelPCA(2, kernel="rbf", method="dense", fit_inverse_transform=True), "fit"),
    "pca-tiled": (KernelPCA(2, kernel=Laplacian(1.0), method="tiled"), "fit"),
    "pca-monomials": (KernelPCA(2, kernel="poly", degree=2, method="monomials"), "fit"),
    "pca-taylor": (KernelPCA(2, kernel="rbf", gamma=0.05, method="taylor", tol=1e-2, keep_data=False), "fit"),
    "pca-fourier": (KernelPCA(2, kernel=Gaussian(6.0), method="fourier", domain=(-4, 4)), "narrow"),
    "pca-landmarks": (KernelPCA(2, kernel=Matern(1.5, 1.0), method="landmarks"), "fit"),
    "pca-composite": (KernelPCA(2, kernel=2.0 * Polynomial(1) + Gaussian(30.0), method="composite", tol=1e-3), "fit"),
    "pca-svd": (KernelPCA(2, method="svd"), "fit"),
    "pca-precomputed": (KernelPCA(2, kernel="precomputed"), "gram"),
    "pca-sparse-rows": (KernelPCA(2, kernel=QuadraticForm(np.diag([1.0, 2.0, 3.0]))), "sparse"),
    "pca-float32": (KernelPCA(2, kernel="cosine", center_input=True), "float32"),
    "pca-scaled": (KernelPCA(2, kernel=Gaussian(2.0), scale_input=True, method="dense"), "fit"),
    "pca-scaled-in-a-box": (
        KernelPCA(2, kernel=Gaussian(6.0), scale_input=True, method="fourier", domain=(-4, 4)),
        "narrow",
    ),
    "kmeans-scaled": (KernelKMeans(2, kernel=Gaussian(2.0), scale_input=True, random_state=0), "fit"),
    "stream-merging": (KernelPCA(2, kernel=Gaussian(1.5)), "partial_fit"),
    "stream-bounded": (KernelPCA(2, kernel=Gaussian(1.5), max_support=10, forget=20.0), "partial_fit"),
    "stream-moments": (KernelPCA(2, kernel="poly", degree=2), "partial_fit"),
    "stream-refitting": (KernelPCA(2, kernel=Tanh(0.05, 0.0)), "partial_fit"),
    "kmeans-points": (KernelKMeans(2, kernel=Laplacian(1.0), random_state=0), "fit"),
    "kmeans-features": (KernelKMeans(2, kernel="poly", degree=2, random_state=0), "fit"),
    "discriminant": (KernelDiscriminantAnalysis(n_coordinates=6), "labels"),
    "biased-discriminant": (BiasedDiscriminantAnalysis(n_coordinates=6, positive_label="b"), "texts"),
    "ica": (KernelICA(random_state=0, n_restarts=0), "fit"),
    "density": (SeriesDensity(random_state=0), "fit"),
    "pca-compressed": (KernelPCA(2, kernel=Gaussian(3.0), method="dense", fit_inverse_transform=True), "compressed"),
    "kmeans-compressed": (KernelKMeans(2, kernel=Laplacian(1.0), random_state=0), "compressed"),
    "density-compressed": (SeriesDensity(random_state=0, bandwidth=2.0), "compressed"),
}


def fitted(name: str) -> Any:
    """A model of that name."""
    from sklearn.base import clone

    model, how = clone(MODELS[name][0]), MODELS[name][1]
    x = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteKernelWarning)
        match how:
            case "gram":
                return model.fit(Gaussian(1.0)(x))
            case "sparse":
                return model.fit(scipy.sparse.csr_array(np.where(np.abs(x) > 0.7, x, 0.0)))
            case "narrow":
                return model.fit(x[:, :1])
            case "float32":
                return model.fit(x.astype(np.float32))
            case "partial_fit":
                return model.partial_fit(x[:10]).partial_fit(x[10:])
            case "labels":
                return model.fit(x, labels())
            case "compressed":
                return model.fit(x).compressed(n_points=8)
            case "texts":
                return model.fit(x, np.where(labels() == 1, "a", "b"))
    return model.fit(x)


def answers(model: Any) -> dict[str, Any]:
    """What the model says of new rows, by method."""
    x = new_rows()
    given = isinstance(model, KernelPCA) and model.kernel == "precomputed"
    x = Gaussian(1.0)(x, rows()) if given else x[:, : model.n_features_in_]
    found = {}
    for name in ("transform", "predict", "decision_function", "predict_proba", "score_samples"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(x)
    if getattr(model, "fit_inverse_transform", False):
        found["inverse_transform"] = model.inverse_transform(found["transform"])
    if hasattr(model, "certificate_"):
        found["upper"] = model.certificate_.upper
    return found
