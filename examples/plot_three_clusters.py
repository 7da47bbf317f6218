"""
Three clusters and a Gaussian
=============================

Slide 27 of Fasel's lecture, after figure 3 of Schölkopf, Smola & Müller: "the first two principal components nicely
separate the data". The later ones resolve the structure within clusters.
"""

# %%
# The kernel is ``exp(-|x - y|^2 / 0.1)``, the standard deviation of a cluster 0.1. Components 1 and 2 separate the
# clusters; 3 to 5 cut the clusters in halves; 6 to 8 cut them again, the other way.

import matplotlib.pyplot as plt

from gramless import KernelPCA
from gramless.datasets import three_clusters
from gramless.kernels import Gaussian
from gramless.plots import plot_components, plot_embedding

x, cluster = three_clusters(90, rng=0)
kpca = KernelPCA(8, kernel=Gaussian.from_width(0.1)).fit(x)
plot_components(kpca, x)

# %%
# In the plane of the first two components each cluster contracts to a short segment, far from the other two.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
names = [f"cluster {number + 1}" for number in cluster]
plot_embedding(x, names, ax=left).set(xlabel="$x_1$", ylabel="$x_2$", title="the data")
plot_embedding(kpca.transform(x), names, ax=right).set(title="the first two components")
left.get_legend().remove()

# %%
# The spectrum shows the same: two components stand out, the others describe variation within the clusters.

print(*(f"{100 * share:.1f} %" for share in kpca.explained_variance_ratio_))
plt.show()
