r"""
Fast products with polynomial and Gaussian kernels
==================================================

An iterative eigenvalue solver needs a Gram matrix only through its products :math:`v_i = \sum_j k(x_i, x_j) u_j`.
Raykar & Ankur reverse the kernel trick: with :math:`k(x, y) = \varphi(x) \cdot \varphi(y)` the sum over the sources
is taken once, :math:`A = \sum_j u_j \varphi(x_j)`, and then :math:`v_i = \varphi(x_i) \cdot A` (their eqs. 33 and 34).
That costs :math:`O(ND)` instead of :math:`O(N^2)`. This example reproduces their figures 4 to 9.
"""

# %%
# Direct: form the matrix and multiply. Fast: never form it. Both use one thread; times are
# the best of a few runs.

import time
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

from gramless.arrays import use_threads
from gramless.eigen import eigsh
from gramless.features.monomials import Monomials
from gramless.features.taylor import TaylorMap, poisson_bound, raykar_ankur_bound
from gramless.gram import CenteredGram, FactoredGram, fast_product
from gramless.kernels import Gaussian, Polynomial

rng = np.random.default_rng(0)
SIZES = np.arange(100, 1001, 100)
LARGE = np.array([1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
D = 2


def direct_product(kernel, x, y, u):
    """K(x, y) u, with K formed explicitly."""
    return kernel(x, y) @ u


def seconds(call: Callable[[], object], repeats: int = 15) -> float:
    """Best of a few runs on one thread."""
    times = []
    with threadpool_limits(1), use_threads(1):
        for _ in range(repeats):
            begun = time.perf_counter()
            call()
            times.append(time.perf_counter() - begun)
    return min(times)


def extrapolate(times):
    """Times of the larger sizes, if those of the upper half of the small ones grow as N^2."""
    upper = slice(len(SIZES) // 2, None)
    return np.median(times[upper] / SIZES[upper] ** 2) * LARGE**2.0


def compare(kernel, features, n, m=None):
    """Seconds of the direct and the fast product, and the largest difference, for `n` sources and `m` targets."""
    sources, u = rng.random((n, D)), rng.random(n)
    targets = sources if m is None else rng.random((m, D))
    difference = direct_product(kernel, targets, sources, u) - fast_product(features, targets, sources, u)
    return (
        seconds(lambda: direct_product(kernel, targets, sources, u)),
        seconds(lambda: fast_product(features, targets, sources, u)),
        np.abs(difference).max(),
    )


def fast_seconds(features, n):
    """The fast product alone, where the matrix would not fit in memory."""
    x, u = rng.random((n, D)), rng.random(n)
    return seconds(lambda: fast_product(features, x, x, u), repeats=2)


# %%
# The polynomial kernel: exact
# ----------------------------
# For :math:`(x \cdot y + 1)^2` in two dimensions there are 6 features. The two products differ by rounding only, of
# sums of a thousand terms between 0 and 9.

quadratic = Polynomial(degree=2, c=1.0)
squares = Monomials(quadratic, D)
rows = np.array([compare(quadratic, squares, n) for n in SIZES])
far = np.array([fast_seconds(squares, n) for n in LARGE])

figure, (small, large, errors) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
small.plot(SIZES, 1e3 * rows[:, 0], "o-", label="straightforward")
small.plot(SIZES, 1e3 * rows[:, 1], "s-", label="fast")
small.set(title="Figure 4: p = 2, d = 2", xlabel="N", ylabel="milliseconds")
small.legend()
large.loglog(SIZES, rows[:, 0], "o-", label="straightforward")
large.loglog(LARGE, extrapolate(rows[:, 0]), "C0:", label=r"the same, extrapolated as $N^2$")
large.loglog(SIZES, rows[:, 1], "s-C1", label="fast")
large.loglog(LARGE, far, "s-C1")
large.set(title="... and on to a million points", xlabel="N", ylabel="seconds")
large.legend()
errors.semilogy(SIZES, np.maximum(rows[:, 2], 1e-17), "o-")
errors.grid(alpha=0.3)
errors.set(title="Figure 5: largest difference", xlabel="N", ylabel="absolute")
print(f"a million points: {far[-1]:.2f} s; the matrix would have 10^12 entries")

# %%
# A higher degree has more features, :math:`\binom{p+2}{2}` of them. The break-even size hardly
# grows: the direct product has higher powers to compute.


def break_even(sizes, straightforward, fast):
    """The minimum size from which the fast product is faster; None if there is none among these."""
    slower = np.flatnonzero(fast >= straightforward)
    first = 0 if not len(slower) else slower[-1] + 1
    return int(sizes[first]) if first < len(sizes) else None


figure, axes = plt.subplots(1, 4, figsize=(13, 3.5), layout="constrained", sharey=True)
for degree, panel in zip(range(2, 6), axes, strict=True):
    kernel = Polynomial(degree=degree, c=1.0)
    features = Monomials(kernel, D)
    rows = np.array([compare(kernel, features, n) for n in SIZES])
    even = break_even(SIZES, rows[:, 0], rows[:, 1])
    print(f"p = {degree}: {features.n_features} features, break-even at N = {even}")
    panel.semilogy(SIZES, 1e3 * rows[:, 0], "o-", label="straightforward")
    panel.semilogy(SIZES, 1e3 * rows[:, 1], "s-", label="fast")
    if even:
        panel.axvline(even, color="0.7", ls="--", label=f"break-even, N = {even}")
    panel.set(title=f"Figure 6: p = {degree}", xlabel="N")
    panel.legend(fontsize=8, loc="upper left")
axes[0].set_ylabel("milliseconds")

# %%
# The Gaussian kernel: accurate to a tolerance
# --------------------------------------------
# The series is truncated after the terms of degree p - 1. Raykar & Ankur bound the error of one kernel value on the
# unit cube by :math:`(d/4)^p e^{d/4\sigma^2} / (\sigma^{2p} p!)`. With r the radius of the data about the center, it is
# also at most :math:`\Pr[\mathrm{Poisson}(r^2/\sigma^2) \ge p]`, which is never larger. A sum over N points with
# weights of at most 1 errs by at most N times that.

SIGMA, N, TOLERANCE = 1.0, 1000, 1e-6
gaussian = Gaussian(SIGMA)
center, radius = np.full(D, 0.5), np.sqrt(D) / 2


def tight_bound(p):
    return poisson_bound(radius, SIGMA, p)


def paper_bound(p):
    return raykar_ankur_bound(D, SIGMA, p)


def series(p):
    return TaylorMap(gaussian, center, p)


def terms_for(n, bound):
    """The fewest terms for which n times the bound stays below the tolerance."""
    return next(p for p in range(1, 100) if n * bound(p) <= TOLERANCE)


orders = np.arange(1, 12)
measured = np.array([compare(gaussian, series(p), N)[2] for p in orders])
bounds = {
    "bound of Raykar & Ankur": N * np.array([paper_bound(p) for p in orders]),
    "Poisson bound": N * np.array([tight_bound(p) for p in orders]),
}
for name, bound in bounds.items():
    print(f"{name}: {np.median(bound / measured):.0f} times the error, in the median; always above it:", end=" ")
    print(bool((measured <= bound).all()))

figure, (error, clock) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
error.semilogy(orders, measured, "o-", label="measured")
for (name, bound), style in zip(bounds.items(), ("^--", "v:"), strict=True):
    error.semilogy(orders, bound, style, label=name)
error.set(title="Figure 7: N = 1000, d = 2", xlabel="truncation number p", ylabel="largest absolute error")
error.legend()

rows = np.array([compare(gaussian, series(terms_for(n, tight_bound)), n) for n in SIZES])
far = np.array([fast_seconds(series(terms_for(n, tight_bound)), n) for n in LARGE])
clock.loglog(SIZES, rows[:, 0], "o-", label="straightforward")
clock.loglog(LARGE, extrapolate(rows[:, 0]), "C0:", label=r"the same, extrapolated as $N^2$")
clock.loglog(SIZES, rows[:, 1], "s-C1", label="fast")
clock.loglog(LARGE, far, "s-C1")
clock.set(title=r"Figure 8: error below $10^{-6}$", xlabel="N", ylabel="seconds")
clock.legend()

# %%
# Twice as many targets as sources, and the number of terms grown with N so that the error stays below 1e-6.

rows = np.array([compare(gaussian, series(terms_for(n, paper_bound)), n, 2 * n) for n in SIZES])
tight = np.array([compare(gaussian, series(terms_for(n, tight_bound)), n, 2 * n) for n in SIZES])
figure, (error, terms) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
error.semilogy(SIZES, rows[:, 2], "o-", label="p from the bound of Raykar & Ankur")
error.semilogy(SIZES, tight[:, 2], "s-", label="p from the Poisson bound")
error.axhline(TOLERANCE, color="0.5", ls="--", label="tolerance")
error.set(title="Figure 9: M = 2N targets", xlabel="N", ylabel="largest absolute error")
error.legend()
for bound, style, name in ((paper_bound, "o-", "Raykar & Ankur"), (tight_bound, "s-", "Poisson")):
    terms.step(SIZES, [terms_for(n, bound) for n in SIZES], style, where="mid", label=name)
terms.set(title="... and the truncation number", xlabel="N", ylabel="p")
terms.yaxis.get_major_locator().set_params(integer=True)
terms.legend()

# %%
# Their algorithm
# ---------------
# Lanczos with a fast product: the leading components of 20,000 points. The certificate includes the truncation of the
# series, rounding errors and the convergence of the iteration.

x = rng.random((20_000, D))
operator = CenteredGram(FactoredGram(series(terms_for(len(x), tight_bound)), x))
result = eigsh(operator, 5, "lanczos", tol=1e-8, rng=0)
print(result.certificate)

plt.show()
