"""
A certificate at work
=====================

Every eigenvalue comes with an interval that contains the true one. Here the true eigenvalues are computed by LAPACK and
compared: how wide are the intervals, how large are the errors, and how do both depend on ``tol``?
"""

# %%
# 1,000 digits, ten components, and eight tolerances.

import matplotlib.pyplot as plt
import numpy as np

from gramless import KernelPCA
from gramless.datasets import resampled_digits
from gramless.kernels import Gaussian

x = resampled_digits(1000, rng=0)
kernel = Gaussian(sigma=50.0)
gram = kernel(x)
centering = np.eye(len(x)) - 1 / len(x)
truth = np.linalg.eigvalsh(centering @ gram @ centering)[::-1][:10]

tolerances = [1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10]
fits = [KernelPCA(10, kernel=kernel, method="tiled", tol=tol, random_state=0).fit(x) for tol in tolerances]

# %%
# The fit with the largest tolerance first. The errors of its eigenvalues, at the lower ends of the bars, are visible,
# and the intervals show them: the true eigenvalue, marked by a cross, is inside each.

coarse = fits[0].certificate_
number = np.arange(1, 11)
_, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.vlines(number, coarse.lower, coarse.upper, color="#7c7b78", linewidth=7, alpha=0.5, label="certified interval")
ax.plot(number, coarse.values, "_", color="#00224e", markersize=11, label="computed")
ax.plot(number, truth, "x", color="black", markersize=6, label="true")
ax.set(xlabel="component", ylabel="eigenvalue", title=f"tol = {tolerances[0]:g}", xticks=number)
ax.legend(frameon=False)

# %%
# Then all of them, relative to the largest eigenvalue. The interval always covers the error. It shrinks with the square
# of the residual until it meets the rounding error that is charged to the products; below about 1e-14 the reference
# itself is no better.

errors = [np.abs(fit.eigenvalues_ - truth).max() / truth[0] for fit in fits]
widths = [(fit.certificate_.upper - fit.certificate_.lower).max() / truth[0] for fit in fits]
# sphinx_gallery_thumbnail_number = 2
_, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.loglog(tolerances, widths, "s-", color="#7c7b78", label="widest interval")
ax.loglog(tolerances, np.maximum(errors, 1e-16), "o--", color="#00224e", label="largest true error")
ax.loglog(tolerances, tolerances, ":", color="black", label="tol")
ax.invert_xaxis()
ax.set(xlabel="tol", ylabel="relative to the largest eigenvalue", title="intervals and errors")
ax.legend(frameon=False)

# %%
# Does every interval contain its eigenvalue? The slack is the rounding error of the reference.

slack = 1e-13 * truth[0]
for tol, fit in zip(tolerances, fits, strict=True):
    certificate = fit.certificate_
    inside = (certificate.lower - slack <= truth) & (truth <= certificate.upper + slack)
    print(f"tol={tol:<6g} {inside.sum()} of 10 inside, {fit.passes_} passes over the matrix")

# %%
# The certificate prints as a table.

print(fits[-1].certificate_)
plt.show()
