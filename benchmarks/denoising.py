"""De-noising by linear and kernel PCA: every method of pre-images, and the toy and the digits of Mika et al. (1999).

Methods: Fashion-MNIST (MNIST where it is not there), USPS, scikit-learn's digits and the toy, by linear PCA and by
each method of `denoise`, each at its best number of components; a Gaussian kernel at the median distance, and `auto`
also with the polynomial kernel of scikit-learn's defaults.

Toy: eleven Gaussians in ten dimensions; the ratio of the two mean squared distances to the true centre, by the number
of components. Digits: 300 training and 50 test images of each, with Gaussian or speckle noise; each method at its best
number of components, kernel PCA also at its best width and pre-image. Needs the USPS digits; scikit-learn's serve where
they are not there.
"""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from gramless import KernelPCA
from gramless.errors import PreimageWarning
from gramless.kernels import Gaussian

FOLDER = Path(os.environ.get("GRAMLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
LINEAR = (1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 128, 192)
KERNEL = (32, 128, 512, 1024, 2200)
FEW = (4, 9, 16, 32, 64, 128, 256)
RIDGES = (1.0, 0.01)  # alpha: the default, and a hundredth of it
WIDTHS = (0.5, 0.6875, 1.5)  # c of exp(-|x - y|^2 / (c d)); 0.5 is the paper's


def run(seeds: int = 5) -> dict[str, Any]:
    warnings.simplefilter("ignore", PreimageWarning)
    methods = {name: method_row(name, *drawn) for name, drawn in method_sets().items()}
    toys = {f"{s:g}": [float(r) for r in toy(s, seeds)] for s in (0.05, 0.1, 0.2, 0.4)}
    for deviation, ratios in toys.items():
        print(f"toy, s = {deviation}:", *(f"{ratio:.1f}" for ratio in ratios), flush=True)
    data, clean, test = digits()
    model = {
        width: KernelPCA(min(len(clean) - 1, KERNEL[-1]), kernel=Gaussian.from_width(width * clean.shape[1]))
        for width in WIDTHS
    }
    for width in WIDTHS:
        model[width].fit(clean)
    rows = {name: digit_row(name, noisy, clean, test, model) for name, noisy in noises(test).items()}
    return {"seeds": seeds, "methods": methods, "toy": toys, "data": data, "digits": rows}


def toy(s: float, seeds: int) -> np.ndarray:
    """Linear error over kernel error for 1 to 9 components, averaged over data sets."""
    ratios = []
    for seed in range(seeds):
        train, true, test = toy_rows(s, seed)
        kernel = KernelPCA(9, kernel=Gaussian.from_width(2 * s**2)).fit(train)
        row = []
        for k in range(1, 10):
            linear = PCA(k).fit(train)
            ours = kernel.truncate(k).denoise(test)
            row.append(error(linear.inverse_transform(linear.transform(test)), true) / error(ours, true))
        ratios.append(row)
    return np.mean(ratios, axis=0)


def toy_rows(s: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, the centres of test rows, and test rows."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-1, 1, (11, 10))
    train = np.repeat(centers, 100, axis=0) + s * rng.standard_normal((1100, 10))
    true = np.repeat(centers, 33, axis=0)
    return train, true, true + s * rng.standard_normal(true.shape)


def method_sets() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, Any]]:
    """Training rows, clean and noisy test rows, and `gamma` or a kernel, by name; those that are there."""
    rng = np.random.default_rng(2)
    x = load_digits().data[rng.permutation(1797)] / 16
    clean = {"digits 8 x 8, noise 0.3": (x[:1000], x[1000:1200], 0.3)}
    if (fashion := FOLDER / "fashion-mnist").is_dir():
        train, test = (_idx(fashion / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k"))
        clean = {"Fashion-MNIST, noise 0.3": (train[:1000], test[:200], 0.3), **clean}
    elif (path := FOLDER / "mnist.npz").exists():
        mnist = np.load(path)
        clean = {"MNIST, noise 0.3": (mnist["X_train"][:1000] / 255, mnist["X_test"][:200] / 255, 0.3), **clean}
    if (path := FOLDER / "usps.npz").exists():
        usps = np.load(path)
        clean["USPS, noise 0.5"] = usps["X_train"][:1000].astype(float), usps["X_test"][:200].astype(float), 0.5
    drawn = {
        name: (train, test, test + noise * rng.standard_normal(test.shape), "median")
        for name, (train, test, noise) in clean.items()
    }
    return {**drawn, "toy, s = 0.1": (*toy_rows(0.1, 0), Gaussian.from_width(0.02))}


def _idx(path: Path) -> np.ndarray:
    """Images of an IDX file, one a row, with pixels from 0 to 1."""
    raw = gzip.decompress(path.read_bytes())
    count, height, width = np.frombuffer(raw, ">i4", 3, offset=4)
    return np.frombuffer(raw, np.uint8, offset=16).reshape(count, height * width) / 255


def method_row(name: str, train: np.ndarray, true: np.ndarray, noisy: np.ndarray, kernel: Any) -> dict[str, Any]:
    """Mean squared errors per column, each method at its best of FEW components: error and number of components."""
    counts = [k for k in FEW if k <= min(train.shape)]
    linear = ((restored_error(PCA(k).fit(train), noisy, true), k) for k in counts)
    row: dict[str, Any] = {"noisy": float(((noisy - true) ** 2).mean()), "linear": min(linear)}
    by_name = isinstance(kernel, str)
    settings = {"kernel": "rbf", "gamma": kernel} if by_name else {"kernel": kernel}
    gaussian = KernelPCA(FEW[-1], **settings, random_state=0).fit(train)
    for method in ("auto", "distances"):
        row[method] = min((restored_error(gaussian.truncate(k), noisy, true, method), k) for k in FEW)
    for alpha in RIDGES:
        models = (gaussian.truncate(k).set_params(fit_inverse_transform=True, alpha=alpha).truncate(k) for k in FEW)
        row[f"ridge, alpha {alpha:g}"] = min(
            (restored_error(model, noisy, true, "ridge"), k) for model, k in zip(models, FEW, strict=True)
        )
    poly = KernelPCA(FEW[-1], kernel="poly", random_state=0).fit(train)
    poly_counts = [k for k in FEW if k <= len(poly.eigenvalues_)]
    row["auto, poly"] = min((restored_error(poly.truncate(k), noisy, true, "auto"), k) for k in poly_counts)
    print(name, row, flush=True)
    return row


def digits() -> tuple[str, np.ndarray, np.ndarray]:
    """A name, training and test images with pixels from -1 to 1."""
    path = FOLDER / "usps.npz"
    rng = np.random.default_rng(0)
    if not path.exists():
        train, test = train_test_split(load_digits().data / 8 - 1, test_size=500, random_state=0)
        return "scikit-learn's 8 x 8 digits (no usps.npz found)", train, test
    usps = np.load(path)
    parts = [
        usps[f"X_{part}"][
            np.concatenate([rng.permutation(np.flatnonzero(usps[f"y_{part}"] == c))[:n] for c in range(10)])
        ]
        for part, n in (("train", 300), ("test", 50))
    ]
    return "USPS", parts[0].astype(float), parts[1].astype(float)


def noises(x: np.ndarray) -> dict[str, np.ndarray]:
    """Gaussian noise of deviation 0.5; speckle: two pixels of five black or white."""
    rng = np.random.default_rng(1)
    speckle = np.where(rng.random(x.shape) < 0.4, rng.choice([-1.0, 1.0], x.shape), x)
    return {"Gaussian, deviation 0.5": x + 0.5 * rng.standard_normal(x.shape), "speckle, p = 0.4": speckle}


def digit_row(
    name: str, noisy: np.ndarray, clean: np.ndarray, test: np.ndarray, models: dict[float, KernelPCA]
) -> dict[str, Any]:
    """Each method at its best."""
    linear = {}
    for k in (k for k in LINEAR if k <= min(clean.shape)):
        pca = PCA(k).fit(clean)
        linear[k] = error(pca.inverse_transform(pca.transform(noisy)), test)
    kernel = {}
    for width, model in models.items():
        for k in (k for k in KERNEL if k <= len(model.eigenvalues_)):
            for method in ("auto", "distances"):
                kernel[width, k, method] = error(model.truncate(k).denoise(noisy, method=method), test)
    few, (width, k, method) = min(linear, key=linear.__getitem__), min(kernel, key=kernel.__getitem__)
    row = {
        "noise": error(noisy, test),
        "linear": linear[few],
        "linear_components": few,
        "kernel": kernel[width, k, method],
        "kernel_components": k,
        "width": width,
        "preimage": method,
        "ratio": linear[few] / kernel[width, k, method],
    }
    print(name, row, flush=True)
    return row


def error(x: np.ndarray, true: np.ndarray) -> float:
    """Mean squared distance."""
    return float(((x - true) ** 2).sum(axis=1).mean())


def restored_error(model: Any, noisy: np.ndarray, true: np.ndarray, method: str = "") -> float:
    """Mean squared error of an entry after de-noising; without a `method`, by linear PCA."""
    found = model.denoise(noisy, method=method) if method else model.inverse_transform(model.transform(noisy))
    return float(((found - true) ** 2).mean())
