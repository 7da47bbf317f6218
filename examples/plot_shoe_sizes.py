"""
Shoe sizes: linear and kernel PCA
=================================

"Consider a person who is attempting to efficiently report measurements of shoe sizes": foot length and width go
together, and one number, the projection onto one line, explains most of it (slides 9 and 10 of Fasel's lecture). Slide
22 then compares linear with kernel PCA: straight lines of equal score against curved ones.
"""

# %%
# Length and width of the feet of 200 people, in centimetres (made up, with proportions as in anthropometric tables).

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from gramless import KernelPCA
from gramless.kernels import Polynomial
from gramless.plots import plot_components

rng = np.random.default_rng(1)
length = 25.5 + 1.6 * rng.standard_normal(200)
feet = np.column_stack([length, 0.39 * length + 0.25 * rng.standard_normal(200)])
pca = PCA(2).fit(feet)
middle, (first, second) = pca.mean_, pca.components_
share = pca.explained_variance_ratio_

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.scatter(*feet.T, s=10, color="0.4")
for direction, deviation, color in zip(
    (first, second), np.sqrt(pca.explained_variance_), ("#0072B2", "#D55E00"), strict=True
):
    ends = middle + np.outer([-3, 3], deviation * direction)
    ax.plot(*ends.T, color=color, linewidth=2)
ax.set(aspect="equal", xlabel="foot length (cm)", ylabel="foot width (cm)")
ax.set_title(f"the first axis explains {share[0]:.1%} of the variance")

# %%
# With one number a foot is described to within a millimetre or two; the second axis explains the rest.

one = PCA(1).fit(feet)
errors = np.linalg.norm(feet - one.inverse_transform(one.transform(feet)), axis=1)
print(
    f"root mean square error: one number {10 * np.sqrt((errors**2).mean()):.1f} mm, the mean alone "
    f"{10 * np.sqrt(((feet - middle) ** 2).sum(axis=1).mean()):.0f} mm"
)

# %%
# Slide 22. Where the points are along a curve, the lines of equal score of linear PCA remain straight. Those of kernel
# PCA, here with (x.y)^2 + x.y, bend with the data: straight in feature space, curved in the input.

t = rng.uniform(-1.2, 1.2, 150)
bent = np.column_stack([t, 0.8 * t**2 - 0.4]) + 0.08 * rng.standard_normal((150, 2))
kpca = KernelPCA(2, kernel=Polynomial(2, c=0.5)).fit(bent)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.9), layout="constrained", sharex=True, sharey=True)
plot_components(PCA(2).fit(bent), bent, components=[1], axes=axes[:1])
plot_components(kpca, bent, components=[1], axes=axes[1:])
for ax, name in zip(axes, ("linear PCA", "kernel PCA"), strict=True):
    ax.set_title(name)
plt.show()
