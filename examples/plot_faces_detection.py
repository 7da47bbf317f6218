"""
Face detection by kernel discriminant analysis
==============================================

Windows of 19 x 19 pixels, faces and non-faces: a discriminant in the leading components of kernel PCA against the
same in as many components of linear PCA, by their ROC curves on the held-out set; then a window that slides over a
scene.
"""

# %%
# The windows (MIT Center for Biological and Computational Learning, set no. 1) are read from the folder
# ``GRAMLESS_DATA``, ``cbcl_faces_19x19.npz``. Without it scikit-learn's digits are used: nines are detected among the
# other digits and patches of photographs.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_sample_image
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from gramless import KernelDiscriminantAnalysis


def even_out(windows):
    """Each window with mean 0 and norm 1, for invariance to brightness and contrast."""
    windows = windows - windows.mean(axis=1, keepdims=True)
    return windows / np.maximum(np.linalg.norm(windows, axis=1, keepdims=True), 1e-9)


folder = Path(os.environ.get("GRAMLESS_DATA", Path.cwd().parent / "shared" / "data"))
file = folder / "cbcl_faces_19x19.npz"
if file.exists():
    with np.load(file) as data:
        raw, y = data["X_train"].astype(float), data["y_train"]
        raw_test, y_test = data["X_test"].astype(float), data["y_test"]
    wanted = "faces"
else:
    print(f"{file} not found; set GRAMLESS_DATA to a folder that contains it. Using digits instead of faces.")
    wanted = "nines"
    flower, china = (load_sample_image(name).mean(axis=2) for name in ("flower.jpg", "china.jpg"))
    pieces = [np.lib.stride_tricks.sliding_window_view(part, (8, 8))[::9, ::9] for part in (flower, china[:, :290])]
    others = np.concatenate([piece.reshape(-1, 64) for piece in pieces])
    others = others[np.random.default_rng(0).permutation(len(others))[:3000]]
    raw = np.concatenate([load_digits().data * 16, others])
    y = np.concatenate([load_digits().target == 9, np.zeros(len(others), bool)]).astype(int)
    raw, raw_test, y, y_test = raw[::2], raw[1::2], y[::2], y[1::2]
side = round(raw.shape[1] ** 0.5)
X, X_test = even_out(raw), even_out(raw_test)

# %%
# Sixty components for both. The bandwidth of the kernel and the shrinkage are chosen on training folds, by the area
# under the ROC curve.

COMPONENTS = 60
few = np.random.default_rng(0).permutation(len(X))[:2000]
linear = make_pipeline(PCA(COMPONENTS, random_state=0), LinearDiscriminantAnalysis()).fit(X, y)
search = GridSearchCV(
    KernelDiscriminantAnalysis(n_coordinates=COMPONENTS),
    {"gamma": [0.5, 1.0, 2.0, 4.0], "shrinkage": ["auto", 0.0001]},
    scoring="roc_auc",
    cv=3,
).fit(X[few], y[few])
model = search.best_estimator_.fit(X, y)
figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
for name, detector in (("linear PCA", linear), ("kernel PCA", model)):
    scores = detector.decision_function(X_test)
    area = roc_auc_score(y_test, scores)
    axis.plot(*roc_curve(y_test, scores)[:2], label=f"{name}, {COMPONENTS} components: area {area:.4f}")
    print(f"{name}: area under the ROC curve {area:.4f}")
axis.set(xlabel="false positive rate", ylabel="true positive rate", title="held-out windows")
axis.set(xscale="log", xlim=(1e-3, 1))
axis.legend()

# %%
# A scene: held-out faces pasted into a photograph. Each position of the window is scored, and of overlapping
# ones the highest score is selected (non-maximum suppression).

scene = load_sample_image("china.jpg").mean(axis=2)[170:310, 300:560].copy()
faces = raw_test[y_test == 1]
spots = [(10, 20), (95, 60), (30, 110), (100, 150), (15, 200), (70, 230)]
for (top, start), face in zip(spots, faces[:: max(1, len(faces) // len(spots))], strict=False):
    scene[top : top + side, start : start + side] = face.reshape(side, side)
windows = np.lib.stride_tricks.sliding_window_view(scene, (side, side))
shape = windows.shape[:2]
score = model.decision_function(even_out(windows.reshape(-1, side * side))).reshape(shape)

found, remaining = [], score.copy()
while len(found) < len(spots):
    top, start = np.unravel_index(remaining.argmax(), shape)
    found.append((top, start))
    remaining[max(0, top - side) : top + side, max(0, start - side) : start + side] = -np.inf
hits = sum(min(abs(top - a) + abs(start - b) for a, b in spots) <= 4 for top, start in found)
print(f"{hits} of the {len(spots)} highest-scoring of {score.size} positions are {wanted}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
left.imshow(scene, cmap="gray")
for top, start in found:
    left.add_patch(plt.Rectangle((start - 0.5, top - 0.5), side, side, fill=False, edgecolor="C3", linewidth=1.5))
left.set(title="the six highest scores", xticks=[], yticks=[])
right.imshow(score, cmap="magma")
right.set(title="score of each position", xticks=[], yticks=[])
plt.show()
