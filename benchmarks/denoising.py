"""De-noising by linear and kernel PCA: the toy and the digits of Mika et al. (1999).

Toy: eleven Gaussians in ten dimensions; the ratio of the two mean squared distances to the true centre, by the number
of components. Digits: 300 training and 50 test images of each, with Gaussian or speckle noise; each method at its best
number of components, kernel PCA also at its best width and pre-image. Needs the USPS digits; scikit-learn's serve where
they are not there.
"""

from __future__ import annotations

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

LINEAR = (1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 128, 192)
KERNEL = (32, 128, 512, 1024, 2200)
WIDTHS = (0.5, 0.6875, 1.5)  # c of exp(-|x - y|^2 / (c d)); 0.5 is the paper's


def run(seeds: int = 5) -> dict[str, Any]:
    warnings.simplefilter("ignore", PreimageWarning)
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
    return {"seeds": seeds, "toy": toys, "data": data, "digits": rows}


def toy(s: float, seeds: int) -> np.ndarray:
    """Linear error over kernel error for 1 to 9 components, averaged over data sets."""
    ratios = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        centers = rng.uniform(-1, 1, (11, 10))
        train = np.repeat(centers, 100, axis=0) + s * rng.standard_normal((1100, 10))
        true = np.repeat(centers, 33, axis=0)
        test = true + s * rng.standard_normal(true.shape)
        kernel = KernelPCA(9, kernel=Gaussian.from_width(2 * s**2)).fit(train)
        row = []
        for k in range(1, 10):
            linear = PCA(k).fit(train)
            ours = kernel.truncate(k).denoise(test, method="fixed_point")
            row.append(error(linear.inverse_transform(linear.transform(test)), true) / error(ours, true))
        ratios.append(row)
    return np.mean(ratios, axis=0)


def digits() -> tuple[str, np.ndarray, np.ndarray]:
    """A name, training and test images with pixels from -1 to 1."""
    default = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("GRAMLESS_DATA", default)) / "usps.npz"
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
            for method in ("fixed_point", "distances"):
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
