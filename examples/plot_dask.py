"""
One model from many machines
============================

A spiral of points lies in eight partitions, each with an arm of its own, as data that were gathered in eight places
would. A model of one partition contains no information on the others. On a cluster each partition sums the moments of
its features; the sums are added, and the components are those of all points, to rounding: no row leaves its worker.

Here the cluster consists of two workers in this process. With ``Client("tcp://scheduler:8786")`` in the place of
``Client(processes=False)`` the same lines run on a hundred machines.
"""

# %%
# The points, in polar coordinates: a partition is a piece of the spiral.
import matplotlib.pyplot as plt
import numpy as np

from gramless import KernelPCA

PARTITIONS, ROWS = 8, 5000


def arm(number: int) -> np.ndarray:
    """Points of one partition."""
    rng = np.random.default_rng(number)
    angle = (number + rng.random(ROWS)) / PARTITIONS * 3.5 * np.pi
    radius = 0.2 + angle / 11 + 0.03 * rng.standard_normal(ROWS)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


arms = [arm(number) for number in range(PARTITIONS)]
everything = np.concatenate(arms)

# %%
# The same call with a NumPy array, with one partition, and with a Dask array whose blocks are the partitions. Without
# Dask (``pip install ".[dask]"``) the last of them is omitted, and the figure shows the first in its place.
settings = {"n_components": 3, "kernel": "rbf", "gamma": 4.0, "domain": (-1.6, 1.6), "method": "fourier"}
alone = KernelPCA(**settings).fit(everything)
partial = KernelPCA(**settings).fit(arms[2])

try:
    import dask.array as da
    from distributed import Client

    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"):
        rows = da.concatenate([da.from_array(piece, chunks=(ROWS, 2)) for piece in arms])
        together = KernelPCA(**settings).fit(rows)
        components = together.transform(rows)  # lazy: nothing is computed yet
        print(components)
        print(f"variance of the components: {components.var(axis=0).compute().round(4)}")
except ImportError:
    print('Dask is not installed: pip install ".[dask]"')
    together = alone

apart = np.abs(together.eigenvalues_ - alone.eigenvalues_).max() / alone.eigenvalues_[0]
print(f"eigenvalues differ from those of one process by {apart:.0e} of the largest")
print(together.certificate_)

# %%
# The second component over the plane. That of one partition varies along its own arm only; that of all partitions
# divides the whole spiral.
side = np.linspace(-1.6, 1.6, 150)
grid = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True, constrained_layout=True)
for number, piece in enumerate(arms):
    axes[0].plot(*piece[::10].T, ".", markersize=2, label=f"{number}")
axes[0].legend(title="partition", fontsize="x-small", markerscale=5, loc="lower right", ncols=2)
axes[0].set_title("partitions of the points")
for panel, model, title in ((axes[1], partial, "partition 2 alone"), (axes[2], together, "all, on a cluster")):
    heights = model.transform(grid)[:, 1].reshape(len(side), -1)
    most = np.abs(heights).max()
    panel.contourf(side, side, heights, 21, cmap="RdBu", vmin=-most, vmax=most)
    panel.plot(*everything[::40].T, ".", color="black", markersize=1)
    panel.set_title(f"second component: {title}")
for panel in axes:
    panel.set(aspect="equal", xlabel="$x_1$")
axes[0].set_ylabel("$x_2$")
plt.show()
