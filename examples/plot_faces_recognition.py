"""
Face recognition: PCA, LDA, KPCA and KLDA
=========================================

Forty people, five photographs of each for training and five for testing, ten random splits. Principal components are
classified by the nearest neighbor, discriminants by their own rule; every parameter is chosen by cross-validation on
the training half alone.
"""

# %%
# The photographs (AT&T Laboratories Cambridge) are read from the folder ``GRAMLESS_DATA``, ``olivetti_faces.npz``.
# Without it scikit-learn's digits are used, with ten of each digit for training.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from gramless import KernelDiscriminantAnalysis, KernelPCA
from gramless.bandwidth import resolve_gamma

folder = Path(os.environ.get("GRAMLESS_DATA", Path.cwd().parent / "shared" / "data"))
file = folder / "olivetti_faces.npz"
if file.exists():
    with np.load(file) as data:
        X, y = data["X"].astype(float) / 255, data["y"]
    X = X.reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4)).reshape(len(X), -1)  # 32 x 32 pixels suffice
    splits = StratifiedShuffleSplit(10, train_size=200, test_size=200, random_state=0)
else:
    print(f"{file} not found; set GRAMLESS_DATA to a folder that contains it. Using digits instead of faces.")
    X, y = load_digits(return_X_y=True)
    splits = StratifiedShuffleSplit(10, train_size=100, test_size=1000, random_state=0)

# %%
# Each method with the grid its parameters are chosen from.

gammas = resolve_gamma("median", X, np.ones(len(X))) * np.array([0.1, 0.3, 1.0])
nearest = KNeighborsClassifier(1)
methods = {
    "PCA": (make_pipeline(PCA(random_state=0), nearest), {"pca__n_components": [30, 80]}),
    "LDA": (
        make_pipeline(PCA(0.999, random_state=0), LinearDiscriminantAnalysis(solver="lsqr")),
        {"lineardiscriminantanalysis__shrinkage": ["auto", 0.1, 0.3]},
    ),
    "KPCA": (
        make_pipeline(KernelPCA(kernel="rbf"), nearest),
        {"kernelpca__n_components": [30, 80], "kernelpca__gamma": gammas},
    ),
    "KLDA": (
        KernelDiscriminantAnalysis(n_coordinates=None),
        {"gamma": gammas, "shrinkage": ["auto", 0.001, 0.01]},
    ),
}
errors = {name: [] for name in methods}
for train, test in splits.split(X, y):
    for name, (model, grid) in methods.items():
        search = GridSearchCV(model, grid, cv=3).fit(X[train], y[train])
        errors[name].append(100 * (1 - search.score(X[test], y[test])))
for name, values in errors.items():
    print(f"{name:5s} error {np.mean(values):5.2f} % +- {np.std(values):.2f}")

# %%
# The two leading discriminants of one split, for the first eight people.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.boxplot(list(errors.values()), tick_labels=list(errors))
left.set(ylabel="error in %", title="ten splits")
best = KernelDiscriminantAnalysis(n_coordinates=None, gamma=gammas[0]).fit(X[train], y[train])
scores = best.transform(X)
for person in np.unique(y)[:8]:
    right.scatter(*scores[train][y[train] == person, :2].T, marker="o", color=f"C{person}")
    right.scatter(*scores[test][y[test] == person, :2].T, marker="x", color=f"C{person}")
right.set(xlabel="discriminant 1", ylabel="discriminant 2", title="KLDA: training (o), test (x)")
plt.show()
