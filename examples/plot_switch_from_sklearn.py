"""
Coming from scikit-learn
========================

One import line changes. The results are the same, and memory becomes a parameter.
"""

# %%
# The same call, twice.

import tracemalloc
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
import sklearn.decomposition

import gramless
from gramless.datasets import resampled_digits

x = resampled_digits(2000, rng=0)
settings = {"n_components": 8, "kernel": "rbf", "gamma": 2e-4, "random_state": 0}
theirs = sklearn.decomposition.KernelPCA(**settings).fit(x)
ours = gramless.KernelPCA(**settings).fit(x)

# %%
# The same results: eigenvalues, and scores of new rows, up to the sign that any eigenvector may have.

new = resampled_digits(500, rng=1)
a, b = theirs.transform(new), ours.transform(new)
b = b * np.sign((a * b).sum(axis=0))
print(f"eigenvalues differ by {np.abs(theirs.eigenvalues_ - ours.eigenvalues_).max():.1e}")
print(f"scores of new rows differ by {np.abs(a - b).max():.1e}")

# %%
# And what scikit-learn does not provide: error bounds.

print(ours.certificate_)

# %%
# Time and memory as the data grows. scikit-learn stores the kernel matrix. So may gramless, where that saves time and
# fits in half of the free memory; ``memory_limit`` sets another bound on the memory of ``fit`` in addition to the data.


def seconds_and_megabytes(model, rows):
    """Seconds of one fit, and the peak memory of another."""
    start = perf_counter()
    model.fit(rows)
    seconds = perf_counter() - start
    tracemalloc.start()
    model.fit(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return seconds, peak / 1e6


models = {
    "scikit-learn": sklearn.decomposition.KernelPCA(copy_X=False, **settings),
    "gramless": gramless.KernelPCA(copy_X=False, **settings),
    'gramless, memory_limit="60MB"': gramless.KernelPCA(copy_X=False, memory_limit="60MB", **settings),
}
sizes = [1000, 2000, 3000, 4000]
figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.0), layout="constrained")
for (name, model), style in zip(models.items(), ["s:", "o-", "^--"], strict=True):
    measured = [seconds_and_megabytes(model, resampled_digits(n, rng=0)) for n in sizes]
    color = "#a59c74" if name == "scikit-learn" else "#00224e"
    left.plot(sizes, [seconds for seconds, _ in measured], style, color=color, label=name)
    right.plot(sizes, [megabytes for _, megabytes in measured], style, color=color, label=name)
left.set(xlabel="rows", ylabel="seconds", title="time to fit", ylim=(0, None), xticks=sizes)
right.set(xlabel="rows", ylabel="MB", title="peak memory of fit", ylim=(0, None), xticks=sizes)
right.legend(frameon=False)
plt.show()
