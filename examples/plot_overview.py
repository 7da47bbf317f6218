"""
gramless in one figure
======================

A million points in an annulus. Their Gram matrix would have :math:`10^{12}` entries and take eight terabytes; gramless
finds its leading components without it, in one pass over the points, and says how accurate they are.
"""

# %%
# One call fits all points. :meth:`~gramless.KernelPCA.plan` had the choice between several methods: for a Gaussian
# kernel in the plane, Fourier features are the cheapest that reach the tolerance.

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from gramless import KernelPCA
from gramless.datasets import annulus
from gramless.kernels import Gaussian

X = annulus(1_000_000, rng=0)
start = perf_counter()
kpca = KernelPCA(n_components=10, kernel=Gaussian(sigma=0.5), random_state=0).fit(X)
seconds = perf_counter() - start
print(f"{len(X):,} rows in {seconds:.1f} s by the method {kpca.method_}")

# %%
# Top: the first component of linear PCA, which is constant along straight lines, and one of kernel PCA, which follows
# the annulus. Bottom left: every eigenvalue, and the width of the interval that contains the exact one. Bottom right:
# the time of a fit against the number of rows, beside the memory that the Gram matrix would take.

linear = KernelPCA(n_components=1, kernel="linear").fit(X)
ticks = np.linspace(-1.2, 1.2, 121)
plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
heights = [linear.transform(plane)[:, 0], kpca.transform(plane)[:, 6]]

figure, axes = plt.subplots(2, 2, figsize=(8.0, 6.6), layout="constrained")
titles = ["component 1 of linear PCA", "component 7 of kernel PCA"]
for ax, height, title in zip(axes[0], heights, titles, strict=True):
    ax.contourf(ticks, ticks, height.reshape(121, 121), levels=12, cmap="viridis", alpha=0.75)
    ax.plot(*X[:600].T, ".", color="black", markersize=2)
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])

order = np.arange(1, 11)
certificate = kpca.certificate_
axes[1, 0].semilogy(order, kpca.eigenvalues_, "o", label="eigenvalue")
axes[1, 0].semilogy(order, certificate.upper - certificate.lower, "v", label="width of its certified interval")
axes[1, 0].set(title="every eigenvalue with an error bound", xlabel="component", xticks=order)
axes[1, 0].legend()

sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000]
times = []
for size in sizes:
    start = perf_counter()
    KernelPCA(n_components=10, kernel=Gaussian(sigma=0.5), random_state=0).fit(X[:size])
    times.append(perf_counter() - start)
axes[1, 1].loglog(sizes, times, "o-", label="seconds of a fit")
axes[1, 1].loglog(sizes, [8 * size**2 / 1e9 for size in sizes], "s--", label="GB of the Gram matrix, not stored")
axes[1, 1].set(title="the number of rows hardly matters", xlabel="rows", ylabel="seconds, or GB")
axes[1, 1].legend()
plt.show()
