"""
A density as a series of kernel eigenfunctions
==============================================

The eigenfunctions of a kernel, which kernel PCA finds, are orthogonal with respect to the density of the data. Expanded
in all of them the density is the Parzen estimate; truncated where the coefficients are not significant it needs
only a few terms (Girolami 2002).
"""

# %%
# A bimodal density: a narrow and a wide mode.

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.neighbors import KernelDensity

from gramless import SeriesDensity

rng = np.random.default_rng(0)
narrow = rng.random(1000) < 0.3
x = np.where(narrow, rng.normal(-2, 0.35, 1000), rng.normal(1, 1, 1000))[:, None]
grid = np.linspace(-5, 5.5, 1000)
truth = 0.3 * norm.pdf(grid, -2, 0.35) + 0.7 * norm.pdf(grid, 1, 1)


def density(model):
    return np.exp(model.score_samples(grid[:, None]))


def error(estimate):
    """Integrated squared error."""
    return trapezoid((estimate - truth) ** 2, grid)


# %%
# Left: one, two, three terms, then the number chosen on held-out rows. Right: the error of the series by the number
# of its terms, for three bandwidths. With all terms it is that of the Parzen estimate (dotted); a bandwidth that is too
# large needs fewer.

width = 0.4
chosen = SeriesDensity(bandwidth=width, random_state=0).fit(x)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.fill_between(grid, truth, color="0.88", label="truth")
colors = plt.colormaps["viridis"](np.linspace(0, 0.85, 4))
for k, color in zip((1, 2, 3, chosen.n_components_), colors, strict=True):
    style = "-" if k == chosen.n_components_ else "--"
    name = f"{k} term{'s' if k > 1 else ''}" + (", held out" if style == "-" else "")
    left.plot(grid, density(SeriesDensity(k, bandwidth=width, random_state=0).fit(x)), style, color=color, label=name)
left.set(xlabel="x", ylabel="density", title=f"Gaussian kernel, bandwidth {width}")
left.legend(frameon=False)

counts = np.arange(1, 26)
for sigma, color, marker in zip((0.2, 0.4, 0.6), ("#0072B2", "#D55E00", "#009E73"), "os^", strict=True):
    errors = [error(density(SeriesDensity(int(k), bandwidth=sigma, random_state=0).fit(x))) for k in counts]
    picked = SeriesDensity(bandwidth=sigma, random_state=0).fit(x).n_components_
    right.semilogy(counts, errors, color=color, marker=marker, markersize=4, label=f"bandwidth {sigma}")
    right.plot(picked, errors[picked - 1], "o", markersize=13, markerfacecolor="none", color=color)
    right.axhline(error(density(KernelDensity(bandwidth=sigma).fit(x))), color=color, linestyle=":", linewidth=1)
right.set(xlabel="terms", ylabel="integrated squared error", title="circles: chosen on held-out rows")
right.legend(frameon=False)

# %%
# It is a density: it integrates to 1, and can be sampled from.

print(f"integral {trapezoid(density(chosen), grid):.4f}, {chosen.n_components_} terms")
drawn = chosen.sample(5000, random_state=0)[:, 0]
print(f"of 5000 samples {np.mean(drawn < -1):.1%} are in the narrow mode, of the data {np.mean(x < -1):.1%}")
plt.show()
