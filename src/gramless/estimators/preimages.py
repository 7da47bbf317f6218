"""Pre-images of components and reconstruction errors: the work of KernelPCA's methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array

from gramless import fitting
from gramless.arrays import Array, read_seed, use_threads
from gramless.errors import PreimageWarning
from gramless.estimators.checking import read_new_rows
from gramless.fitting import Fit
from gramless.kernels import Precomputed, RadialKernel
from gramless.spaces import Expansion, RidgePreimage, expand, fixed_points, from_distances, preimage_errors
from gramless.warning import warn

if TYPE_CHECKING:
    from gramless.estimators.kernel_pca import KernelPCA

METHODS = ("ridge", "fixed_point", "distances")


def inverse(model: KernelPCA, X: Any, method: str) -> Array:
    """Inputs (m, d) whose components are near X (m, k)."""
    X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if X.shape[1] != len(model.eigenvalues_):
        raise ValueError(f"X of shape {X.shape} given; inverse_transform takes {len(model.eigenvalues_)} columns")
    return _inverted(model, X.astype(np.float64, copy=False), method, None)


def denoised(model: KernelPCA, rows: Any, method: str) -> Array:
    """Pre-images of the projections of rows (m, d) on the components."""
    if scipy.sparse.issparse(rows):
        raise ValueError("pre-images are dense: pass X.toarray()")
    found = model._finished()
    with use_threads(model.n_jobs):
        seen = found.scaling(rows)
        scores = found.finished.space.project(seen)
    return _inverted(model, scores, method, np.asarray(seen, dtype=np.float64))


def reconstruction_errors(model: KernelPCA, X: Any, space: str, method: str) -> Array:
    """Squared distances (m,) between rows and their projections, in feature space or in the input space."""
    if space not in ("feature", "input"):
        raise ValueError(f"space={space!r} is not known; pass 'feature' or 'input'")
    rows, found = read_new_rows(model, X), model._finished()
    if space == "input":
        apart = rows - model.denoise(rows, method=method)
        errors: Array = np.einsum("ij,ij->i", apart, apart, dtype=np.float64)
        return errors
    if isinstance(found.kernel, Precomputed):
        raise ValueError("reconstruction_error needs k(x, x) of new rows, which kernel='precomputed' does not give")
    with use_threads(model.n_jobs):
        return found.finished.space.residual(found.scaling(rows))


def preimage_error(model: KernelPCA, scores: Any, rows: Any) -> Array:
    """Squared distances (m,) in feature space between points given by components (m, k) and the images of rows."""
    points, found = check_array(scores, dtype=np.float64, input_name="scores"), model._finished()
    if points.shape != (rows.shape[0], len(found.eigenvalues)):
        raise ValueError(
            f"scores of shape {points.shape} for {rows.shape[0]} rows; pass ({rows.shape[0]}, {len(found.eigenvalues)})"
        )
    with use_threads(model.n_jobs):
        return preimage_errors(found.finished.space, points, found.scaling(rows))


def available_preimage(model: KernelPCA) -> str:
    """The method of pre-images for a fitted model: ``"fixed_point"`` for kernels of the distance, else ``"ridge"``."""
    return "fixed_point" if isinstance(model.plan_.problem.kernel, RadialKernel) else "ridge"


def _inverted(model: KernelPCA, scores: Array, method: str, start: Array | None) -> Array:
    """Pre-images of `scores` (m, k); fixed points start from `start` (m, d), rows after centring and scaling."""
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not known; pass one of {', '.join(map(repr, METHODS))}")
    found = model._finished()
    with use_threads(model.n_jobs):
        if method == "ridge":
            points = _ridge(model)(scores)
        elif method == "distances":
            points = from_distances(_expansion(model, found), scores)
        else:
            points = _settled_points(_expansion(model, found), scores, start)
        if method != "ridge" or found.scaling.scale is not None:  # else the regression is on rows in the input's units
            points = found.scaling.inverse(points)
    return np.asarray(points).astype(found.eigenvalues.dtype, copy=False)


def _expansion(model: KernelPCA, found: Fit) -> Expansion:
    """The components as an expansion on points: the points of the model, or some of the rows it has kept."""
    rows = found.x if found.x is not None or found.sample is None else found.sample.rows
    rows = None if rows is None or scipy.sparse.issparse(rows) else found.scaling(rows)
    return expand(found.finished.space, rows, read_seed(model.random_state))


def _ridge(model: KernelPCA) -> RidgePreimage:
    """The ridge regression; a stream learns it from its sample on first use."""
    found = model._finished()
    if not model.fit_inverse_transform:
        radial = isinstance(found.kernel, RadialKernel)
        raise NotFittedError(
            "The inverse transform is not available: KernelPCA was made with fit_inverse_transform=False. "
            "Set fit_inverse_transform=True and fit again"
            + (", or pass method='fixed_point' or 'distances'." if radial else ".")
        )
    if found.preimage is None:
        found = fitting.learn_preimage(model._question(), found)
        if found.preimage is None:
            raise NotFittedError("one of the models merged kept no rows: fit both with fit_inverse_transform=True")
        model._fit = found
    return found.preimage


def _settled_points(expansion: Expansion, scores: Array, start: Array | None) -> Array:
    """Fixed points; a row without convergence is tried again from its nearest neighbour, then by distances."""
    result = fixed_points(expansion, scores, start)
    found, left = result.points, np.flatnonzero(~result.converged)
    if len(left) and start is not None:
        again = fixed_points(expansion, scores[left])
        found[left], left = again.points, left[~again.converged]
    if len(left):
        found[left] = from_distances(expansion, scores[left])
        warn(
            f"the fixed point did not settle for {len(left)} of {len(scores)} rows, which have the pre-image from "
            "distances instead; a wider kernel or more components help",
            PreimageWarning,
        )
    return found
