"""
A ring around a cluster, lifted to three dimensions
===================================================

"Under what conditions are high dimensional representations good?" Slides 3 and 4 of Fasel's lecture: two classes in the
plane, a cluster and a ring around it, that no line separates. Mapped to (x1, x2, x1^2 + x2^2) a plane does.
"""

# %%
# Left: the plane. Right: the paraboloid x3 = x1^2 + x2^2 that the map lifts it to, cut by a horizontal plane.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from gramless import KernelPCA
from gramless.kernels import Polynomial

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 150)
ring = (2 + 0.15 * rng.standard_normal((150, 1))) * np.column_stack([np.cos(angle), np.sin(angle)])
center = 0.35 * rng.standard_normal((80, 2))
x, label = np.vstack([center, ring]), np.repeat([0, 1], [80, 150])
lifted = np.column_stack([x, (x**2).sum(axis=1)])

figure = plt.figure(figsize=(9.6, 4.4), layout="constrained")
flat, bowl = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
for c, color, marker in ((0, "#D55E00", "^"), (1, "#0072B2", "o")):
    flat.scatter(*x[label == c].T, s=14, color=color, marker=marker)
    bowl.scatter(*lifted[label == c].T, s=12, color=color, marker=marker, depthshade=False)
flat.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$", title="no line separates them")
side = np.linspace(-2.4, 2.4, 2)
bowl.plot_surface(*np.meshgrid(side, side), np.full((2, 2), 2.4), color="0.5", alpha=0.35)
bowl.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_1^2 + x_2^2$", title="a plane does")
bowl.view_init(elev=14, azim=-60)

# %%
# Accuracy of a linear classifier before and after:

for name, points in {"in the plane": x, "lifted": lifted}.items():
    print(f"{name}: {LinearSVC().fit(points, label).score(points, label):.0%} accuracy")

# %%
# The map need not be known. The kernel (x.y + 1)^2 corresponds to all monomials up to degree 2, and one of its five
# components is almost the height x1^2 + x2^2.

scores = KernelPCA(5, kernel=Polynomial(2, c=1.0)).fit_transform(x)
height = [abs(np.corrcoef(column, lifted[:, 2])[0, 1]) for column in scores.T]
print("correlation of each component with x1^2 + x2^2:", *(f"{value:.2f}" for value in height))
plt.show()
