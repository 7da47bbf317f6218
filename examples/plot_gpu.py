r"""
Kernel PCA on a GPU
===================

``device="cuda"`` moves the rows to the GPU once; products with the kernel matrix, features, their moments, distances
and projections are computed there, and certified there. Without a GPU the same code runs on torch's CPU
(``device="torch"``), and without torch this example uses NumPy: the results are the same, only the run time differs.
"""

# %%
# The available device.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramless import KernelDiscriminantAnalysis, KernelKMeans, KernelPCA
from gramless.arrays.devices import find_device, has_torch
from gramless.kernels import Gaussian

device = find_device("auto")
if device == "cpu" and has_torch():
    device = "torch"
print(f"no GPU found: using {device!r}" if device != "cuda" else "using the GPU")

# %%
# Components, clusters and discriminants of the digits, on the device and on the CPU.

X, y = load_digits(return_X_y=True)
settings = {"kernel": Gaussian(30.0), "random_state": 0}
print(f"{'':26} largest difference between {device} and cpu")
components = [np.abs(KernelPCA(5, **settings, tol=1e-8, device=where).fit_transform(X)) for where in (device, "cpu")]
print(f"{'KernelPCA':26} {np.abs(components[0] - components[1]).max():.1e}")
distances = [KernelKMeans(10, **settings, device=where).fit(X).transform(X) for where in (device, "cpu")]
print(f"{'KernelKMeans':26} {np.abs(distances[0] - distances[1]).max():.1e}")
models = [KernelDiscriminantAnalysis(**settings, n_coordinates=100, device=where) for where in (device, "cpu")]
chances = [model.fit(X[::2], y[::2]).predict_proba(X[1::2]) for model in models]
print(f"{'KernelDiscriminantAnalysis':26} {np.abs(chances[0] - chances[1]).max():.1e}")

# %%
# The certificate is also computed on the device, and includes its rounding errors.

kpca = KernelPCA(5, **settings, tol=1e-8, device=device).fit(X)
print(kpca.certificate_)

# %%
# Accuracy of a product with the kernel matrix, by precision: ``"fp32"`` is one fused kernel of half-precision
# products on a GPU and float32 tiles elsewhere, ``"fast"`` the 11 bits of tf32. The dashed lines are the errors that
# the operator states: worst cases, which the certificate relies on.

sizes = np.array([250, 500, 1000, 1797])
precisions = ("fp64", "fp32", "fast") if device == "cuda" else ("fp64", "fp32")
errors: dict[str, list[tuple[float, float]]] = {precision: [] for precision in precisions}
if device != "cpu":
    from gramless.gram.cuda.operator import TorchGram

    for n in sizes:
        v = np.random.default_rng(0).standard_normal((n, 8))
        exact = Gaussian(30.0)(X[:n]) @ v
        for precision in precisions:
            gram = TorchGram(Gaussian(30.0), X[:n], device=device, precision=precision)
            error = np.linalg.norm(gram @ v - exact) / np.linalg.norm(v)
            errors[precision].append((error / gram.statistics().norm, gram.error / gram.statistics().norm))
else:
    print('torch is not installed: pip install ".[gpu]" shows the errors of its precisions here')

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
scores = kpca.transform(X)
left.scatter(scores[:, 0], scores[:, 1], c=y, cmap="tab10", s=6)
left.set(title=f"Digits, components from device={device!r}", xlabel="first component", ylabel="second component")
for precision, pairs in errors.items():
    if pairs:
        made, stated = np.array(pairs).T
        (line,) = right.loglog(sizes, np.maximum(made, 1e-17), "o-", label=precision)
        right.loglog(sizes, stated, "--", color=line.get_color())
right.set(title="Error of a product, relative to the norm", xlabel="rows", ylabel="error (dashed: stated)")
if device != "cpu":
    right.legend()
else:
    right.text(0.5, 0.5, "needs torch", transform=right.transAxes, ha="center")
plt.show()
