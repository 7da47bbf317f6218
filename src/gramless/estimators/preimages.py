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
from gramless.kernels import Cosine, DotKernel, Kernel, Linear, Precomputed, RadialKernel
from gramless.kernels.gradients import weighted_gradients
from gramless.spaces import (
    Eigenspace,
    Expansion,
    Projections,
    RidgePreimage,
    along_rays,
    descend,
    expand,
    fixed_points,
    flat_points,
    from_distances,
    has_points,
    nearest_candidates,
    preimage_errors,
)
from gramless.warning import warn

if TYPE_CHECKING:
    from gramless.estimators.kernel_pca import KernelPCA

METHODS = ("auto", "ridge", "fixed_point", "distances")
_SHORTEST, _STEPS = 1e-6, 500  # of a descent: shortest step, relative to the norms of rows; most steps


def inverse(model: KernelPCA, X: Any, method: str) -> Array:
    """Pre-images (m, d) of scores X (m, k)."""
    X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if X.shape[1] != len(model.eigenvalues_):
        raise ValueError(f"X of shape {X.shape} given; inverse_transform expects {len(model.eigenvalues_)} columns")
    return _inverted(model, X.astype(np.float64, copy=False), method, None)


def denoised(model: KernelPCA, rows: Any, method: str) -> Array:
    """Pre-images of the projections of rows (m, d) onto the components."""
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
        raise ValueError(f"space={space!r} is invalid; pass 'feature' or 'input'")
    rows, found = read_new_rows(model, X), model._finished()
    if space == "input":
        apart = rows - denoised(model, rows, method)
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


def _inverted(model: KernelPCA, scores: Array, method: str, start: Array | None) -> Array:
    """Pre-images of `scores` (m, k); iterations start from `start` (m, d), rows after centring and scaling."""
    if method not in METHODS:
        raise ValueError(f"method={method!r} is invalid; pass one of {', '.join(map(repr, METHODS))}")
    found = model._finished()
    if method == "fixed_point" and not isinstance(found.kernel, RadialKernel):
        raise ValueError(
            f"method='fixed_point' is for radial kernels, not {found.kernel}; find pre-images by method='auto'"
        )
    with use_threads(model.n_jobs):
        if method == "ridge":
            points = _ridge(model)(scores)
        elif method == "distances":
            points = from_distances(_expansion(model, found), scores)
        elif method == "fixed_point":
            points = _settled_points(_expansion(model, found), scores, start)
        else:
            points = _nearest(model, found, scores, start)
        if method != "ridge" or found.scaling.scale is not None:  # else the regression is on rows in the input's units
            points = found.scaling.inverse(points)
    return np.asarray(points).astype(found.eigenvalues.dtype, copy=False)


def _nearest(model: KernelPCA, found: Fit, scores: Array, start: Array | None) -> Array:
    """The inputs (m, d) whose images are nearest to the points that `scores` (m, k) describe, whatever the kernel."""
    space, kernel = found.finished.space, found.kernel
    pointless = _rows(found) is None and not has_points(space)
    if isinstance(kernel, (Linear, Cosine)):
        points = flat_points(space, scores, model.n_features_in_)
        if isinstance(kernel, Linear) or (start is None and pointless):  # of the cosine kernel: rows of norm 1
            return points
        return along_rays(points, nearest_candidates(_expansion(model, found), scores) if start is None else start)
    if pointless and kernel.mercer:
        target = Projections(space, scores)
        begin = _first_step(kernel, target, model.n_features_in_) if start is None else start
        if begin is not None:
            length = float(np.sqrt((begin**2).sum(axis=1).mean()))
            return descend(target, begin, shortest=_SHORTEST * length, max_iter=_STEPS)[0]
    expansion = _expansion(model, found)
    if kernel.mercer is False:
        return _regressed(space, expansion.points, scores)
    if isinstance(kernel, RadialKernel):
        return _settled_points(expansion, scores, start)
    return fixed_points(expansion, scores, start).points


def _first_step(kernel: Kernel, target: Projections, d: int) -> Array | None:
    """Where z = sum_i a_i f'(x_i.z) x_i / f'(z.z) leads from the origin, for k = f(x.y) with f'(0) > 0; else None."""
    if not isinstance(kernel, DotKernel):
        return None
    (slope,) = weighted_gradients(kernel, np.zeros((1, d)), np.ones((1, d)), np.ones((1, 1)))[:, 0]
    m = len(target.scores)
    return target.gradients(np.zeros((m, d)), np.arange(m)) / (-2 * slope) if slope > 0 else None


def _regressed(space: Eigenspace, rows: Array, scores: Array) -> Array:
    """Least squares of rows (n, d) on their components: an indefinite kernel has no distances in feature space."""
    known = np.column_stack([np.ones(len(rows)), space.project(rows)])
    return np.asarray(np.column_stack([np.ones(len(scores)), scores]) @ np.linalg.lstsq(known, rows, rcond=None)[0])


def _rows(found: Fit) -> Any:
    """The rows that the fit has kept, all or a sample, as the kernel sees them; None where there are no dense ones."""
    rows = found.x if found.x is not None or found.sample is None else found.sample.rows
    return None if rows is None or scipy.sparse.issparse(rows) else found.scaling(rows)


def _expansion(model: KernelPCA, found: Fit) -> Expansion:
    """The components as an expansion on points: the points of the model, or some of the rows it has stored."""
    return expand(found.finished.space, _rows(found), read_seed(model.random_state))


def _ridge(model: KernelPCA) -> RidgePreimage:
    """The ridge regression; a stream learns it from its sample on first use."""
    found = model._finished()
    if not model.fit_inverse_transform:
        raise NotFittedError(
            "The inverse transform is not available: KernelPCA was created with fit_inverse_transform=False. "
            "Set fit_inverse_transform=True and fit again, or find pre-images by method='auto'."
        )
    if found.preimage is None:
        found = fitting.learn_preimage(model._question(), found)
        if found.preimage is None:
            raise NotFittedError("one of the merged models stored no rows: fit both with fit_inverse_transform=True")
        model._fit = found
    return found.preimage


def _settled_points(expansion: Expansion, scores: Array, start: Array | None) -> Array:
    """Fixed points; a row without convergence is tried again from its nearest neighbor, then by distances."""
    result = fixed_points(expansion, scores, start)
    found, left = result.points, np.flatnonzero(~result.converged)
    if len(left) and start is not None:
        again = fixed_points(expansion, scores[left])
        found[left], left = again.points, left[~again.converged]
    if len(left):
        found[left] = from_distances(expansion, scores[left])
        warn(
            f"the fixed-point iteration did not converge for {len(left)} of {len(scores)} rows, which use the "
            "pre-image from "
            "distances instead; try a larger bandwidth or more components",
            PreimageWarning,
        )
    return found
