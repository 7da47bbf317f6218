"""
Kernel eigenfaces
=================

"In regular PCA, we can visualize the eigenfaces ... it may be more difficult to visualize kernel eigenfaces, because
some directions in feature space might not have preimages in input space" (slide 23 of Fasel's lecture). This example
plots approximate pre-images, and measures their error. Uses the Olivetti faces where a folder of data sets has them
(AT&T Laboratories Cambridge), otherwise scikit-learn's digits.
"""

# %%
# A Gaussian kernel, with the bandwidth by the median heuristic.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from gramless import KernelPCA

path = Path(os.environ.get("GRAMLESS_DATA", Path.cwd().parent / "shared" / "data")) / "olivetti_faces.npz"
x = np.load(path)["X"].astype(float) / 242 if path.exists() else load_digits().data / 16
print("Olivetti faces" if path.exists() else f"{path} not found; using digits instead of faces.", x.shape)
side = int(np.sqrt(x.shape[1]))
pca = PCA(6).fit(x)
kpca = KernelPCA(60, kernel="rbf", gamma="median").fit(x)

# %%
# An eigenface of PCA is a direction: add it to the mean face, or take it away. In feature space the same: go two
# standard deviations from the mean along a component, and look for the input whose image is nearest.

steps = 2 * np.sqrt(kpca.explained_variance_[:6])
scores = np.zeros((12, 60))
scores[range(6), range(6)], scores[range(6, 12), range(6)] = steps, -steps
kernel_faces = kpca.inverse_transform(scores, method="fixed_point")
moves = 2 * np.sqrt(pca.explained_variance_)[:, None] * pca.components_
moves *= np.sign((moves * (kernel_faces[:6] - kernel_faces[6:])).sum(axis=1))[:, None]  # the same orientation
linear_faces = np.vstack([pca.mean_ + moves, pca.mean_ - moves])

figure, axes = plt.subplots(4, 6, figsize=(8.4, 6), layout="constrained")
names = ["PCA, +", "PCA, -", "kernel PCA, +", "kernel PCA, -"]
for line, name, faces in zip(axes, names, [*np.split(linear_faces, 2), *np.split(kernel_faces, 2)], strict=True):
    line[0].set_ylabel(name, size="small")
    for j, (ax, face) in enumerate(zip(line, faces, strict=True), 1):
        ax.imshow(face.reshape(side, side), cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        if name == names[0]:
            ax.set_title(f"component {j}", size="medium")

# %%
# Do they have pre-images? The squared distance in feature space between the point and the image of what was found,
# where the images themselves have norm 1. A projected face is nearer to an image than such a point is: no face is made
# of one component alone.

alone = kpca.preimage_error(scores, kernel_faces)
own = kpca.transform(x[:50])
projected = kpca.preimage_error(own, kpca.inverse_transform(own, method="fixed_point"))
print("along single components:", *(f"{value:.2f}" for value in alone))
print(f"projected rows: {projected.mean():.2f} on average")
plt.show()
