"""
Clustering rings, and prototypes of clusters
============================================

Vasconcelos' example: two rings, which k-means cuts in halves and kernel k-means separates. "But we no longer have
access to the prototype for each cluster": the mean is in feature space, and has no unique prototype in the input space.
"""

# %%
# The mean of a ring, in the plane, is its center, the same for both rings. In the feature space of a Gaussian kernel
# the means differ. Initializations are random, so that a few of them are tried.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from gramless import KernelKMeans
from gramless.kernels import Gaussian

rng = np.random.default_rng(0)
ring = np.arange(800) % 2
angle = rng.uniform(0, 2 * np.pi, 800)
x = np.where(ring, 1.0, 0.3)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
x += 0.05 * rng.standard_normal(x.shape)

linear = KMeans(2, n_init=10, random_state=0).fit(x)
model = KernelKMeans(2, kernel=Gaussian(0.4), n_init=10, random_state=0).fit(x)
agreement = max((model.labels_ == ring).mean(), (model.labels_ != ring).mean())
print(f"{100 * agreement:.1f} % of the points are clustered with their ring; method {model.method_}")

# %%
# The nearest row of a cluster, and the point whose image is nearest to the mean, found by descent in the plane. On the
# outer ring both are one point among many that are equally good: useless as compression, as the lecture says, and the
# distance from the mean shows it, as it is nearly that of any other row. The inner ring is smaller than the bandwidth;
# its pre-image is the center, nearer to the mean than any row.

figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.7), layout="constrained")
for axis, labels, title in ((axes[0], linear.labels_, "k-means"), (axes[1], model.labels_, "kernel k-means")):
    axis.scatter(*x.T, c=labels, s=6, cmap="Set2")
    axis.set(title=title, aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
axes[0].plot(*linear.cluster_centers_.T, "k*", markersize=14, label="mean")
for method, marker in (("nearest", "kX"), ("preimage", "k*")):
    axes[1].plot(*model.prototypes(method).T, marker, markersize=11, markeredgecolor="w", label=method)
axes[0].legend(loc="upper right")
axes[1].legend(loc="upper right")
plt.show()

distance = model.transform(x)
for cluster in range(2):
    own = distance[model.labels_ == cluster, cluster]
    near = model.transform(model.prototypes("preimage"))[cluster, cluster]
    print(f"cluster {cluster}: nearest row at {own.min():.3f}, pre-image at {near:.3f}, its rows {own.mean():.3f}")

# %%
# The distances over the plane show why: a new point is assigned by their difference.

side = np.linspace(-1.4, 1.4, 160)
grid = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
field = model.transform(grid)
difference = (field[:, 0] - field[:, 1]).reshape(160, 160)
figure, axis = plt.subplots(figsize=(4.6, 3.7), layout="constrained")
image = axis.contourf(side, side, difference, np.linspace(-0.8, 0.8, 17), cmap="RdBu")
axis.contour(side, side, difference, [0], colors="k")
axis.set(title="which mean is nearer", aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
figure.colorbar(image, ax=axis, label="difference of distances")
plt.show()
