"""
Denoising handwritten digits
============================

Project a noisy digit onto components learned from clean ones, and compute the pre-image: noise outside the span of the
components is removed (Mika et al. 1999). Uses the USPS digits where a folder of data sets has them, otherwise those of
scikit-learn.
"""

# %%
# Gaussian noise of standard deviation 0.5 on pixels from -1 to 1, or speckle: two pixels of five made black or white.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from gramless import KernelPCA
from gramless.kernels import Gaussian

rng = np.random.default_rng(0)
path = Path(os.environ.get("GRAMLESS_DATA", Path.cwd().parent / "shared" / "data")) / "usps.npz"
if path.exists():
    usps = np.load(path)
    images, digit = usps["X_train"].astype(float), usps["y_train"]
    new, new_digit = usps["X_test"].astype(float), usps["y_test"]
    chosen = np.concatenate([rng.permutation(np.flatnonzero(digit == c))[:150] for c in range(10)])
    train = images[chosen]
    test = new[np.concatenate([rng.permutation(np.flatnonzero(new_digit == c))[:30] for c in range(10)])]
    print("USPS digits, 150 for training and 30 for testing of each")
else:
    images = load_digits().data[rng.permutation(1797)] / 8 - 1
    train, test = images[:1400], images[1400:]
    print(f"{path} not found; set GRAMLESS_DATA to a folder that contains it. Using scikit-learn's digits.")
d = train.shape[1]
side = int(np.sqrt(d))
speckle = np.where(rng.random(test.shape) < 0.4, rng.choice([-1.0, 1.0], test.shape), test)
noises = {"Gaussian": test + 0.5 * rng.standard_normal(test.shape), "speckle": speckle}

# %%
# Each method at its best number of components. Kernel PCA has as many components as there are images, and uses many:
# its pre-image is a weighted mean of training images, which has no noise. Pre-images from distances to neighbors are
# more robust to speckle, which moves a digit far away.


def error(x):
    return ((x - test) ** 2).sum(axis=1).mean()


kpca = KernelPCA(min(1000, len(train) - 1), kernel=Gaussian.from_width(0.7 * d)).fit(train)
best = {}
for name, noisy in noises.items():
    linear = {}
    for k in (2, 4, 8, 16, 24, 32, 48, 64):
        pca = PCA(k).fit(train)
        linear[k] = pca.inverse_transform(pca.transform(noisy))
    few = min(linear, key=lambda k: error(linear[k]))
    kernel = {}
    for k in (64, 256, len(kpca.eigenvalues_)):
        for method in ("auto", "distances"):
            kernel[k, method] = kpca.truncate(k).denoise(noisy, method=method)
    many = min(kernel, key=lambda key: error(kernel[key]))
    best[name] = noisy, linear[few], kernel[many]
    print(
        f"{name}: noise {error(noisy):.1f}, PCA {error(linear[few]):.1f} ({few} components), kernel PCA "
        f"{error(kernel[many]):.1f} ({many[0]}, {many[1]}), {error(linear[few]) / error(kernel[many]):.2f} times better"
    )

# %%
# One digit of each class: original, noisy, denoised by PCA, denoised by kernel PCA.

shown = np.linspace(0, len(test) - 1, 10).astype(int)
figure, axes = plt.subplots(7, 10, figsize=(9, 6.6), layout="constrained")
rows = [("clean", test)]
for name, (noisy, linear, kernel) in best.items():
    rows += [(name, noisy), ("PCA", linear), ("kernel PCA", kernel)]
for (name, pictures), line in zip(rows, axes, strict=True):
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    for ax, i in zip(line, shown, strict=True):
        ax.imshow(pictures[i].reshape(side, side), cmap="gray_r", vmin=-1, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
plt.show()
