"""
Out-of-core: points in a file
=============================

Two million points are written to a file and fitted from there, in blocks, the next one being read while one is summed.
No more than two blocks are ever in memory. The components are written to a second file as the rows are read; the plan
shows why this method was chosen.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from gramless import KernelPCA, open_source
from gramless.data import open_writer

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)


def spiral(n):
    """Points along two arms of a spiral."""
    turn = 3 * np.pi * np.sqrt(rng.random(n))
    arm = rng.integers(0, 2, n) * np.pi
    rows = turn[:, None] * np.stack([np.cos(turn + arm), np.sin(turn + arm)], axis=1) / 10
    return rows + 0.02 * rng.standard_normal((n, 2))


with open_writer(folder / "points.npy", ["x", "y"]) as writer:
    for _ in range(20):
        writer.write(spiral(100_000))
print(f"{(folder / 'points.npy').stat().st_size / 1e6:.0f} MB")

# %%
# The bounding box is computed in a first pass, the moments in a second one. With ``domain=`` the first is not needed.
# After ``kill -9`` the same call would resume from the checkpoint.

kpca = KernelPCA(6, kernel="rbf", gamma=8.0, memory_limit="200MB", checkpoint=folder / "fit.checkpoint")
kpca.fit(folder / "points.npy")
print(kpca.plan_)

# %%
# The certificate is for the Gram matrix of all two million points, which is never formed.
print(kpca.certificate_)

# %%
# Components, from file to file; the figure takes the first block of either.

kpca.transform(folder / "points.npy", out=folder / "scores.npy")
points, scores = (next(open_source(folder / name).blocks(20_000)) for name in ("points.npy", "scores.npy"))

figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained", sharex=True, sharey=True)
for j, ax in enumerate(axes.flat):
    limit = np.abs(scores[:, j]).max()
    ax.scatter(*points.T, c=scores[:, j], cmap="RdBu_r", vmin=-limit, vmax=limit, s=2, linewidths=0)
    share = 100 * kpca.explained_variance_ratio_[j]
    ax.set(title=f"component {j + 1}, {share:.1f} %", aspect="equal", xticks=[], yticks=[])
