"""
PCA and kernel PCA of an annulus
================================

Points between two circles: figures 1 and 2 of Raykar & Ankur. Principal components are straight axes. "For the data a
more natural axes would be one along the annulus and another perpendicular to it", and kernel PCA with a Gaussian finds
both.
"""

# %%
# Each panel below shows contour lines of one component over the plane. Negative contours are dashed, the thick line is
# zero.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from gramless import KernelPCA
from gramless.datasets import annulus
from gramless.kernels import Gaussian
from gramless.plots import plot_components

x = annulus(400, rng=0)
pca = PCA(2).fit(x)
kpca = KernelPCA(10, kernel=Gaussian(sigma=0.8), random_state=0).fit(x)

# %%
# Figure 1: the two components of PCA, then the fourth and fifth of kernel PCA. The fourth goes round the ring, twice;
# the fifth goes across it.

figure, axes = plt.subplots(1, 4, figsize=(10.4, 3.5), layout="constrained", sharex=True, sharey=True)
plot_components(pca, x, axes=axes[:2])
plot_components(kpca, x, components=[4, 5], axes=axes[2:])
for name, ax in zip(["PCA", "PCA", "kernel PCA", "kernel PCA"], axes, strict=True):
    ax.set_title(f"{name}\n{ax.get_title()}", size="medium")
    ax.label_outer()

# %%
# Correlation of each component with the radius: no linear component has any; the fifth of kernel PCA is almost the
# radius.

radius = np.linalg.norm(x, axis=1)
for name, model in {"PCA": pca, "kernel PCA": kpca}.items():
    correlations = [abs(np.corrcoef(radius, scores)[0, 1]) for scores in model.transform(x).T]
    print(f"{name:>10}:", *(f"{value:.2f}" for value in correlations))

# %%
# Figure 2: more kernel principal components. PCA has two in the plane; kernel PCA has as many as there are points,
# with ever finer waves round the ring and across it.

plot_components(kpca, x, components=[1, 2, 3, 6, 7, 8, 9, 10])
plt.show()
