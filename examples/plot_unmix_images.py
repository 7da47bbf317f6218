"""
Unmixing photographs
====================

Three images, superposed with different weights: three mixtures. Pixels are rows, mixtures are columns, and independent
component analysis recovers the images without knowing the mixing matrix (blind source separation).
"""

# %%
# Two photographs that come with scikit-learn, and noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.decomposition import PCA, FastICA

from gramless import KernelICA
from gramless.independence import amari_error

china, flower = (picture[::5, ::5].mean(axis=2) for picture in load_sample_images().images)
rng = np.random.default_rng(0)
pictures = [china, flower, rng.choice([-1.0, 1.0], china.shape)]
sources = np.column_stack([(p.ravel() - p.mean()) / p.std() for p in pictures])
mixing = np.array([[1.0, 0.8, 0.5], [0.7, -1.0, 0.4], [0.6, 0.5, -0.6]])
mixed = sources @ mixing.T

# %%
# PCA makes columns uncorrelated, which is not enough. Kernel ICA makes all functions of them uncorrelated. The two
# photographs are not quite independent of each other, so that no method separates them exactly.

methods = {"PCA": PCA(3, whiten=True), "FastICA": FastICA(whiten="unit-variance", random_state=0)}
methods["KernelICA"] = KernelICA(random_state=0)
found = {name: model.fit_transform(mixed) for name, model in methods.items()}
for name, model in methods.items():
    print(f"{name:>9}: Amari error {amari_error(model.components_, mixing):.1f} of 100")

# %%
# Order and signs of the sources are arbitrary: each is shown next to the image that it resembles most.


def matched(columns):
    """Columns in the order and with the signs of the sources."""
    likeness = np.corrcoef(columns.T, sources.T)[:3, 3:]
    best = np.abs(likeness).argmax(axis=0)
    return columns[:, best] * np.sign(likeness[best, range(3)])


figure, axes = plt.subplots(4, 3, figsize=(7.6, 7.2), layout="constrained")
for line, (name, columns) in zip(axes, [("mixed", mixed), *((n, matched(c)) for n, c in found.items())], strict=True):
    line[0].set_ylabel(name)
    for ax, column in zip(line, columns.T, strict=True):
        ax.imshow(column.reshape(china.shape), cmap="gray", vmin=-2.2, vmax=2.2)
        ax.set(xticks=[], yticks=[])
plt.show()
