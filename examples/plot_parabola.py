"""
A parabola, by polynomials of degree 1 to 4
===========================================

Points on a parabola with Gaussian noise, and kernel PCA with the kernel (x.y)^degree: slide 26 of Fasel's lecture,
after figure 2 of Schölkopf, Smola & Müller. "Only two eigenvectors are available in linear PCA", which is degree 1.
"""

# %%
# Columns are degrees, rows are components. From degree 2 on, the first component grows along the parabola, from the tip
# of one arm to the tip of the other; the second grows from the vertex up both arms.

import matplotlib.pyplot as plt

from gramless import KernelPCA
from gramless.datasets import parabola
from gramless.kernels import Polynomial
from gramless.plots import plot_components

x = parabola(100, noise=0.2, rng=0)
figure, axes = plt.subplots(3, 4, figsize=(10.4, 8.2), layout="constrained", sharex=True, sharey=True)
for degree, column in zip((1, 2, 3, 4), axes.T, strict=True):
    kpca = KernelPCA(kernel=Polynomial(degree, c=0.0)).fit(x)
    shown = min(3, len(kpca.eigenvalues_))
    plot_components(kpca, x, components=range(1, shown + 1), axes=column[:shown])
    column[0].set_title(f"degree {degree}\n{column[0].get_title()}", size="medium")
    for ax in column:
        ax.label_outer()
axes[2, 0].text(0.5, 0.5, "linear PCA has\nno third component", ha="center", transform=axes[2, 0].transAxes)
axes[2, 0].set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$")

# %%
# The number of components is the number of monomials: degree p has p + 1 of them in two variables. With a constant in
# the kernel, (x.y + 1)^p, those of all lower degrees are included, except the constant.

for degree in (1, 2, 3, 4):
    plain = KernelPCA(kernel=Polynomial(degree, c=0.0)).fit(x)
    mixed = KernelPCA(kernel=Polynomial(degree, c=1.0)).fit(x)
    print(f"degree {degree}: {len(plain.eigenvalues_)} components, with a constant {len(mixed.eigenvalues_)}")
plt.show()
