"""
A drifting stream
=================

Three clusters turn slowly about the origin. A model that weights all rows equally averages over the whole turn;
with ``forget=`` it tracks the drift, since a row has weight :math:`2^{-a/h}` when it is :math:`a` rows old.
``max_support=`` keeps the number of points it is made of fixed: others are chosen when those there are leave out too
much of the rows that come.
"""

import matplotlib.pyplot as plt
import numpy as np

from gramless import KernelPCA, subspace_distance
from gramless.kernels import Gaussian

rng = np.random.default_rng(0)
N, BATCH, HALF_LIFE = 6000, 100, 300
angle = np.linspace(0, 1.5 * np.pi, N)
turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
side = np.stack([-turn[:, 1], turn[:, 0]], axis=1)
centres = np.stack([3 * turn, -2 * turn, 2.5 * side], axis=1)  # (N, 3, 2)
label = rng.integers(0, 3, N)
X = centres[np.arange(N), label] + 0.4 * rng.standard_normal((N, 2))

# %%
# Two streams, and the reference: a fit to all rows so far with the weights that `forget` defines.

kernel = Gaussian(1.5)
streams = {
    "no forgetting": KernelPCA(2, kernel=kernel, max_support=150),
    f"forget={HALF_LIFE}": KernelPCA(2, kernel=kernel, max_support=150, forget=HALF_LIFE),
}
distances = {name: [] for name in streams}
snapshots = {}
for last in range(BATCH, N + 1, BATCH):
    rows = X[max(0, last - 2000) : last]
    recent = KernelPCA(2, kernel=kernel, method="dense", forget=HALF_LIFE).fit(rows)
    for name, stream in streams.items():
        stream.partial_fit(X[last - BATCH : last])
        distances[name].append(subspace_distance(stream, recent))
    if last in (1000, 3500, 6000):
        snapshots[last] = streams[f"forget={HALF_LIFE}"].truncate(2)

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for (name, curve), color, style in zip(distances.items(), ("#D55E00", "#0072B2"), ("--", "-"), strict=True):
    ax.plot(np.arange(BATCH, N + 1, BATCH), curve, color=color, linestyle=style, label=name)
ax.set(xlabel="rows seen", ylabel="distance from recent rows", ylim=(0, 1))
ax.grid(alpha=0.3)
ax.legend()

# %%
# The first component of the stream that forgets, over the last 400 rows, at three times: it turns with the clusters.

grid = np.linspace(-4.5, 4.5, 60)
plane = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, (last, model) in zip(axes, snapshots.items(), strict=True):
    scores = model.transform(plane)[:, 0].reshape(60, 60)
    ax.contourf(grid, grid, scores, levels=12, cmap="RdBu_r", vmin=-np.abs(scores).max(), vmax=np.abs(scores).max())
    ax.plot(*X[last - 400 : last].T, ".", color="black", markersize=2)
    ax.set(title=f"after {last} rows", aspect="equal", xlabel="$x_1$")
axes[0].set_ylabel("$x_2$")

# %%
# The certificate is for the rows with their present weights, and includes the error of the changes of points.
print(streams[f"forget={HALF_LIFE}"].certificate_)
