"""
A million points
================

The Gram matrix of a million rows has :math:`10^{12}` entries and would take eight terabytes. It is not needed: a
Gaussian kernel in the plane has Fourier features, one pass over the rows accumulates their moments, and the rest of
the computation does not depend on the number of rows.
"""

# %%
# Points about a spiral of two arms, and six components with their certificate.

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from gramless import KernelPCA
from gramless.kernels import Gaussian


def spiral(n, rng):
    """Two arms that wind once, thinner towards their ends."""
    along = np.sqrt(rng.uniform(0.04, 1.0, n))
    angle = 2 * np.pi * along + np.pi * rng.integers(0, 2, n)
    points = along[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return points + 0.06 * (1.2 - along)[:, None] * rng.standard_normal((n, 2))


X = spiral(1_000_000, np.random.default_rng(0))
begun = perf_counter()
kpca = KernelPCA(6, kernel=Gaussian(sigma=0.25), tol=1e-6, keep_data=False).fit(X)
fitted = perf_counter()
Z = kpca.transform(X)
print(f"method {kpca.method_!r}: fit {fitted - begun:.2f} s, transform {perf_counter() - fitted:.2f} s")
print(kpca.certificate_)

# %%
# So many points are plotted as counts per pixel. Above, the components over the plane: the first two follow
# the arms. Below, the points by their components.


def density(ax, points, bins=300):
    """Counts on a logarithmic scale."""
    counts, across, up = np.histogram2d(*points.T, bins=bins)
    shown = np.log1p(counts.T)
    ax.imshow(shown, origin="lower", extent=(across[0], across[-1], up[0], up[-1]), cmap="Blues", aspect="auto")


figure, axes = plt.subplots(2, 3, figsize=(9.6, 6.2), layout="constrained")
grid = np.stack(np.meshgrid(np.linspace(-1.2, 1.2, 120), np.linspace(-1.2, 1.2, 120)), axis=-1)
heights = kpca.transform(grid.reshape(-1, 2)).reshape(120, 120, -1)
for j, ax in enumerate(axes[0]):
    density(ax, X)
    ax.contour(grid[0, :, 0], grid[:, 0, 1], heights[:, :, j], levels=9, colors="#b3261e", linewidths=0.8)
    ax.set(title=f"component {j + 1} ({100 * kpca.explained_variance_ratio_[j]:.0f} %)", aspect="equal")
for ax, (across, up) in zip(axes[1], ((0, 1), (1, 2), (2, 3)), strict=True):
    density(ax, Z[:, [across, up]])
    ax.set(xlabel=f"component {across + 1}", ylabel=f"component {up + 1}")

# %%
# Time against the number of rows, with the method that the planner chose. The model itself does not grow: only
# moments of the rows are stored.

counts = [1_000, 10_000, 100_000, 1_000_000]
seconds, methods = [], []
for n in counts:
    begun = perf_counter()
    model = KernelPCA(6, kernel=Gaussian(sigma=0.25), tol=1e-6, keep_data=False).fit(X[:n])
    seconds.append(perf_counter() - begun)
    methods.append(model.method_)
    print(f"{n:9,} rows: {seconds[-1]:.3f} s, {model.method_}")
figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
ax.loglog(counts, seconds, "o-", color="#00224e", label="gramless, fit")
ax.loglog(counts, [seconds[0] * (n / counts[0]) ** 2 for n in counts], ":", color="0.5", label="growth with N²")
for n, second, method in zip(counts, seconds, methods, strict=True):
    ax.annotate(method, (n, second), textcoords="offset points", xytext=(0, -14), ha="center", size="small")
ax.set(xlabel="rows", ylabel="seconds", ylim=(min(seconds) / 3, 3e2))
ax.legend()
plt.show()
