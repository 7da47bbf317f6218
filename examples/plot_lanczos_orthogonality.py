r"""
What rounding does to the Lanczos iteration
===========================================

The Lanczos iteration (Raykar & Ankur, eq. 23) finds the leading eigenvalues of a large symmetric matrix from products
with one vector at a time. In exact arithmetic its vectors are orthonormal. In floating point "exact orthogonality of
these vectors is observed only at the beginning of the process", and there are three remedies: reorthogonalize
against all earlier vectors, against converged Ritz vectors only (Parlett & Scott), or not at all.
"""

# %%
# A symmetric matrix of 400 rows, here the Gram matrix of a Gaussian kernel, and its 20 leading eigenvalues by Lanczos
# and by direct diagonalization: figure 3 of the paper.

import matplotlib.pyplot as plt
import numpy as np

from gramless.eigen import LanczosProcess, eigsh

rng = np.random.default_rng(0)
points = rng.standard_normal((400, 3))
matrix = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 2)
direct = np.linalg.eigvalsh(matrix)[::-1]
lanczos = eigsh(matrix, 20, "lanczos", rng=0)
print(lanczos.certificate[:5])

# %%
# The three settings, step by step: how far V is from orthonormal, and the Ritz values after the last step.

STEPS = 100
SETTINGS = ("full", "selective", "none")
start = rng.standard_normal(400)
start /= np.linalg.norm(start)
loss: dict[str, list[float]] = {}
ritz: dict[str, list[np.ndarray]] = {}
for setting in SETTINGS:
    process = LanczosProcess(matrix, start, STEPS, setting)
    loss[setting], ritz[setting] = [], []
    for _ in range(STEPS):
        process.step()
        loss[setting].append(process.orthogonality_loss())
        ritz[setting].append(process.ritz()[0])

# %%
# Without reorthogonalization, orthogonality is lost as soon as the first eigenvalue has converged (Paige), and from
# then on copies of it, ghosts, converge again and again: the matrix has each of these eigenvalues once.

figure, (agreement, orthogonality, ghosts) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
order = np.arange(1, 21)
agreement.semilogy(order, direct[:20], "o", mfc="none", label="direct diagonalization")
agreement.semilogy(order, lanczos.values, "x", label="Lanczos")
agreement.set(title="The first 20 eigenvalues", xlabel="component", ylabel="eigenvalue")
agreement.legend()

for setting in SETTINGS:
    orthogonality.semilogy(np.arange(1, STEPS + 1), loss[setting], label=setting)
orthogonality.set(title="Loss of orthogonality", xlabel="step", ylabel=r"largest entry of $|V^T V - I|$")
orthogonality.legend(title="reorthogonalisation")


def copies(values: np.ndarray, eigenvalue: float) -> int:
    """Number of Ritz values that approximate one eigenvalue."""
    return int((np.abs(values - eigenvalue) < 1e-6 * eigenvalue).sum())


steps = np.arange(1, STEPS + 1)
for index in range(3):
    counts = [copies(values, direct[index]) for values in ritz["none"]]
    ghosts.step(steps, counts, where="mid", label=f"eigenvalue {index + 1}, none")
ghosts.step(steps, [copies(values, direct[0]) for values in ritz["full"]], "k--", label="eigenvalue 1, full")
ghosts.set(title="Ghosts", xlabel="step", ylabel="Ritz values that approximate it")
ghosts.legend()

print(f"copies of the largest eigenvalue after {STEPS} steps:")
print({setting: copies(ritz[setting][-1], direct[0]) for setting in SETTINGS})
plt.show()
