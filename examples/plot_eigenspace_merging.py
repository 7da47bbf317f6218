"""
Merging eigenspaces
===================

Figures 1 and 2 of Sharma, Chaudhury & Srivastava, *Kernel Eigen Space Merging*: how fast the eigenspace of a growing
subset converges to that of all data, and what it costs, in one batch or in incremental updates.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as BatchKernelPCA

from gramless import KernelPCA
from gramless.datasets import parabola
from gramless.kernels import Gaussian
from gramless.spaces import batch_space, merge, subspace_distance

# %%
# The data
# --------
# A thousand points on a parabola, :math:`y = x^2 + \eta`, with x uniform in [-1, 1] and noise of standard deviation
# 0.2. And image descriptors: the 128-dimensional SIFT vectors of ``sift_128d.npz`` where the folder ``GRAMLESS_DATA``
# has them, the 64-dimensional digits of scikit-learn otherwise.


sift = Path(os.environ.get("GRAMLESS_DATA", "")) / "sift_128d.npz"
if sift.is_file():
    name, images = "SIFT", np.load(sift)["X"].astype(float)
else:
    name, images = "digits", load_digits().data


def median_gaussian(x):
    distances = ((x[:200, None] - x[:200]) ** 2).sum(axis=-1)
    return Gaussian(float(np.sqrt(np.median(distances[distances > 0]) / 2)))


# %%
# Figure 1: the distance to the full model
# ----------------------------------------
# Thirty points are merged at a time. For the parabola 6 components are retained and 3 compared, for the images 30 are
# retained and 6 compared; mean of ten runs, each in another order. The distance is the root mean square of the sines of
# the kernel principal angles.


def distances(x, kept, compared, rng):
    kernel = median_gaussian(x)
    whole = batch_space(kernel, x).truncate(compared)
    space, curve = None, []
    order = rng.permutation(len(x))
    for first in range(0, len(x) - 29, 30):
        batch = batch_space(kernel, x[order[first : first + 30]])
        space = batch.truncate(kept) if space is None else merge(space, batch, kept)
        curve.append(subspace_distance(space.truncate(compared), whole))
    return curve


def mean_curve(draw, kept, compared):
    generators = [np.random.default_rng(run) for run in range(10)]
    return np.mean([distances(draw(rng), kept, compared, rng) for rng in generators], axis=0)


synthetic = mean_curve(lambda rng: parabola(1000, noise=0.2, rng=rng), 6, 3)
real = mean_curve(lambda rng: images[rng.choice(len(images), 1000, replace=False)], 30, 6)

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
titles = "parabola: keep 6, compare 3", f"{name}: keep 30, compare 6"
for ax, curve, title in zip(axes, (synthetic, real), titles, strict=True):
    ax.plot(np.arange(1, len(curve) + 1), curve, color="#0072B2")
    ax.set(xlabel="update", ylabel="subspace distance", title=title, ylim=0)
    ax.grid(alpha=0.3)

# %%
# With more updates the distance converges towards zero, up to the truncation error of each update:
print(
    f"first and last distance: parabola {synthetic[0]:.3f}, {synthetic[-1]:.5f}; {name} {real[0]:.3f}, {real[-1]:.4f}"
)

# %%
# Figure 2: the time
# ------------------
# Batch kernel PCA once, for N points, against updates of 100 points until N are in: on the points seen, which takes a
# time that grows with the square of N, and with ``max_support=200``, where it grows with N.

sizes = [200, 400, 800, 1600, 2400]
data = parabola(sizes[-1], rng=0)
kernel = Gaussian(0.5)


def best(work):
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def updates(n, **settings):
    model = KernelPCA(6, kernel=kernel, **settings)
    for first in range(0, n, 100):
        model.partial_fit(data[first : first + 100])
    return model.eigenvalues_


gamma = 1 / (2 * kernel.sigma**2)
seconds = {
    "batch (LAPACK)": [
        best(lambda n=n: BatchKernelPCA(6, kernel="rbf", gamma=gamma, eigen_solver="dense").fit(data[:n]))
        for n in sizes
    ],
    "updates": [best(lambda n=n: updates(n)) for n in sizes],
    "updates, max_support=200": [best(lambda n=n: updates(n, max_support=200)) for n in sizes],
}
figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
for (label, values), color, marker in zip(seconds.items(), ("#D55E00", "#0072B2", "#009E73"), "so^", strict=True):
    axes[0].plot(sizes, values, color=color, marker=marker, label=label)
    if label != "batch (LAPACK)":
        axes[1].plot(sizes, values, color=color, marker=marker, label=label)
for ax, title in zip(axes, ("total time to reach N points", "updates alone"), strict=True):
    ax.set(xlabel="points N", ylabel="seconds", title=title)
    ax.grid(alpha=0.3)
    ax.legend()

# %%
# Updates pay from a number of points on that depends on the machine; here
pairs = zip(sizes, seconds["batch (LAPACK)"], seconds["updates"], strict=True)
cheaper = [n for n, batch, step in pairs if step < batch]
print(f"updates are cheaper than one batch from N = {cheaper[0]} on" if cheaper else "no break-even up to here")
