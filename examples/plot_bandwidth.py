"""
Choosing the bandwidth of a kernel
==================================

Four criteria for the bandwidth of a Gaussian kernel, on data with structure at two scales: three clusters, each of
which is a ring. :func:`gramless.select_bandwidth` uses the distances, the variance, the reconstruction error of
held-out rows, or the gap in the spectrum after the leading components.
"""

# %%
# Rings of radius 0.35 whose centers are 2 apart.

import matplotlib.pyplot as plt
import numpy as np

from gramless import KernelPCA, select_bandwidth
from gramless.kernels import Gaussian

rng = np.random.default_rng(0)
angle, cluster = rng.uniform(0, 2 * np.pi, 600), rng.integers(0, 3, 600)
centers = 2 * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])
X = centers[cluster] + 0.35 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.03 * rng.standard_normal((600, 2))

chosen = {name: select_bandwidth(X, "rbf", name) for name in ("median", "scale", "gap", "preimage")}
for name, bandwidth in chosen.items():
    print(f"{name:>9}: sigma = {bandwidth.value:.3g}")

# %%
# Two components separate three clusters, and the gap after the second is largest at a bandwidth of the scale of the
# clusters, not of the rings. With eight components the gap finds the rings: two for the clusters, two for each ring.

widths = chosen["median"].value * 2.0 ** np.arange(-4.5, 2.75, 0.25)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for k, color in ((2, "#0072b2"), (8, "#d55e00")):
    gap = select_bandwidth(X, "rbf", "gap", n_components=k, candidates=widths)
    left.semilogx(widths, gap.scores / gap.scores.max(), ".-", color=color, label=f"{k} components")
    left.axvline(gap.value, color=color, linestyle=":")
    error = select_bandwidth(X, "rbf", "preimage", n_components=k, candidates=widths)
    right.loglog(widths, error.scores, ".-", color=color, label=f"{k} components")
    right.axvline(error.value, color=color, linestyle=":")
left.set(xlabel="sigma", ylabel="gap, relative to the largest", title="eigenvalue gap: larger is better")
right.set(xlabel="sigma", ylabel="squared error", title="held-out pre-images: smaller is better")
left.legend()
right.legend()

# %%
# The third component over the plane at three bandwidths, which resolve single rows, rings, or clusters.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained", sharey=True)
grid = np.stack(np.meshgrid(np.linspace(-0.8, 2.8, 110), np.linspace(-0.8, 2.6, 110)), axis=-1)
for ax, sigma in zip(axes, (0.08, 0.35, 1.0), strict=True):
    kpca = KernelPCA(3, kernel=Gaussian(sigma)).fit(X)
    heights = kpca.transform(grid.reshape(-1, 2))[:, 2].reshape(110, 110)
    ax.contourf(grid[0, :, 0], grid[:, 0, 1], heights, levels=20, cmap="PuOr")
    ax.plot(*X.T, ".", color="0.15", markersize=1.5)
    ax.set(title=f"sigma = {sigma:g}", aspect="equal", xlabel="$x_1$")
axes[0].set_ylabel("$x_2$")
plt.show()
