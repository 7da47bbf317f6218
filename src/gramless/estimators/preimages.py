"""From components back to the input, and how much was lost on the way: methods of KernelPCA."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted

from gramless.arrays import Array, parse_memory, use_threads
from gramless.errors import PreimageWarning
from gramless.estimators.reading import read_new_rows, read_seed
from gramless.kernels import Precomputed, RadialKernel
from gramless.spaces import Expansion, RidgePreimage, RowSample, expand, fixed_points, from_distances, preimage_errors
from gramless.warning import warn

METHODS = ("ridge", "fixed_point", "distances")
_SAMPLE_ROWS = 4096


class Preimages:
    """Inverse transform, de-noising and reconstruction errors of a fitted kernel PCA."""

    def inverse_transform(self: Any, X: Any, *, method: str = "ridge") -> Array:
        """Inputs whose components are near X.

        Parameters
        ----------
        X : array-like of shape (m, k)
            Components.
        method : {"ridge", "fixed_point", "distances"}, default="ridge"
            ``"ridge"``: kernel ridge regression of the rows on their components, as in scikit-learn; needs
            ``fit_inverse_transform=True``. ``"fixed_point"``: the input whose image is nearest (Mika et al. 1999), for
            kernels of the distance; rows for which the iteration does not settle fall back to ``"distances"`` with a
            :class:`~gramless.errors.PreimageWarning`. ``"distances"``: from distances to the nearest training points
            (Kwok & Tsang 2004), for kernels of the distance.

        Returns
        -------
        ndarray of shape (m, n_features)
        """
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if X.shape[1] != len(self.eigenvalues_):
            raise ValueError(f"X of shape {X.shape} given; inverse_transform takes {len(self.eigenvalues_)} columns")
        return self._invert(X.astype(np.float64, copy=False), method, None)  # type: ignore[no-any-return]

    def denoise(self: Any, X: Any, *, method: str = "ridge") -> Array:
        """Project rows on the components and come back: what the components do not hold is left behind.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        method : {"ridge", "fixed_point", "distances"}, default="ridge"
            As for `inverse_transform`; the fixed point starts from the row itself.

        Returns
        -------
        ndarray of shape (m, n_features)
        """
        rows = read_new_rows(self, X)
        if scipy.sparse.issparse(rows):
            raise ValueError("pre-images are dense: pass X.toarray()")
        with use_threads(self.n_jobs):
            seen = self._rows_for_kernel(rows)
            scores = self._space.project(seen)
        return self._invert(scores, method, np.asarray(seen, dtype=np.float64))  # type: ignore[no-any-return]

    def reconstruction_error(self: Any, X: Any, *, space: str = "feature", method: str = "ridge") -> Array:
        """How much of each row the kept components lose.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features)
        space : {"feature", "input"}, default="feature"
            ``"feature"``: squared distance of phi(x) from the kept components (Welling, eq. 5). It needs no pre-image;
            over the training rows the errors sum to the eigenvalues that were not kept. ``"input"``: squared distance
            between x and ``denoise(x)``, in which kernels can be compared.
        method : {"ridge", "fixed_point", "distances"}, default="ridge"
            Of the pre-image, with ``space="input"``.

        Returns
        -------
        ndarray of shape (m,)
        """
        if space not in ("feature", "input"):
            raise ValueError(f"space={space!r} is not known; pass 'feature' or 'input'")
        rows = read_new_rows(self, X)
        if space == "input":
            apart = rows - self.denoise(rows, method=method)
            errors: Array = np.einsum("ij,ij->i", apart, apart, dtype=np.float64)
            return errors
        if isinstance(self._space.span.kernel, Precomputed):
            raise ValueError("reconstruction_error needs k(x, x) of new rows, which kernel='precomputed' does not give")
        with use_threads(self.n_jobs):
            return self._space.residual(self._rows_for_kernel(rows))  # type: ignore[no-any-return]

    def score(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the mean reconstruction error of X, for cross-validation: higher is better.

        With ``fit_inverse_transform=True`` the error is that in the input, in which kernels and their parameters can be
        compared; otherwise it is that in feature space, which serves to compare models of one and the same kernel.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features)
        y : ignored
        sample_weight : array-like of shape (m,), default=None

        Returns
        -------
        float
        """
        errors = self.reconstruction_error(X, space="input" if self.fit_inverse_transform else "feature")
        weights = _check_sample_weight(sample_weight, errors[:, None], dtype=np.float64)
        return -float(np.average(errors, weights=weights))

    def preimage_error(self: Any, scores: Any, X: Any) -> Array:
        """Squared distance in feature space between points given by their components and the images of rows.

        0 for an exact pre-image; where it is large beside ``reconstruction_error``, the point of feature space has none
        (Fasel, slide 23).

        Parameters
        ----------
        scores : array-like of shape (m, k)
        X : array-like of shape (m, n_features)
            As `inverse_transform` returns them.

        Returns
        -------
        ndarray of shape (m,)
        """
        rows = read_new_rows(self, X)
        points = check_array(scores, dtype=np.float64, input_name="scores")
        if points.shape != (rows.shape[0], len(self.eigenvalues_)):
            raise ValueError(
                f"scores of shape {points.shape} for {rows.shape[0]} rows; pass ({rows.shape[0]}, "
                f"{len(self.eigenvalues_)})"
            )
        with use_threads(self.n_jobs):
            return preimage_errors(self._space, points, self._rows_for_kernel(rows))

    def _invert(self: Any, scores: Array, method: str, start: Array | None) -> Array:
        """Pre-images of `scores` (m, k); `start` (m, d) are rows as the kernel sees them."""
        if method not in METHODS:
            raise ValueError(f"method={method!r} is not known; pass one of {', '.join(map(repr, METHODS))}")
        with use_threads(self.n_jobs):
            if method == "ridge":
                found = self._ridge()(scores)
            else:
                expansion = self._expansion()
                found = (
                    from_distances(expansion, scores)
                    if method == "distances"
                    else _settled_points(expansion, scores, start)
                )
            if method != "ridge" or self.scale_input:  # a regression of rows as they came needs no way back
                found = self._rows_for_input(found)
        return found.astype(self.eigenvalues_.dtype, copy=False)  # type: ignore[no-any-return]

    def _expansion(self: Any) -> Expansion:
        """The components on points: the model's own, or some of the rows that are still there."""
        rows = self.__dict__.get("X_fit_")
        if rows is None and self.__dict__.get("_sample") is not None:
            rows = self._sample.rows
        rows = None if rows is None or scipy.sparse.issparse(rows) else self._rows_for_kernel(rows)
        return expand(self._space, rows, read_seed(self.random_state))

    def _ridge(self: Any) -> RidgePreimage:
        """The regression; of a stream it is learnt from the sample when first asked for."""
        if not self.fit_inverse_transform:
            radial = isinstance(self._space.span.kernel, RadialKernel)
            raise NotFittedError(
                "The inverse transform is not available: KernelPCA was made with fit_inverse_transform=False. "
                "Set fit_inverse_transform=True and fit again"
                + (", or pass method='fixed_point' or 'distances'." if radial else ".")
            )
        if "_preimage" not in self.__dict__:
            sample: RowSample | None = self.__dict__.get("_sample")
            if sample is None:
                raise NotFittedError("one of the models merged kept no rows: fit both with fit_inverse_transform=True")
            scores = self._space.project(self._rows_for_kernel(sample.rows))
            self._learn_inverse(scores, sample.rows, sample.weights)
        return self._preimage  # type: ignore[no-any-return]

    def _fit_inverse(self: Any, X: Any, weights: Array) -> None:
        """Learn the pre-image once, for `fit` and `fit_transform` alike."""
        if scipy.sparse.issparse(X):
            raise ValueError("Inverse transform not implemented for sparse matrices: pass X.toarray().")
        self._learn_inverse(self._training_scores().astype(np.float64), X, weights)

    def _learn_inverse(self: Any, scores: Array, X: Array, weights: Array) -> None:
        """Regression of rows on their scores; sets scikit-learn's attributes, which are those of the landmarks where
        all rows together would not fit the memory limit.
        """
        self._preimage = RidgePreimage.fit(
            self._space.span.kernel,
            scores,
            self._rows_for_kernel(X) if self.scale_input else X,
            weights,
            self.alpha,
            parse_memory(self.memory_limit),
            read_seed(self.random_state),
        )
        self.X_transformed_fit_ = self._preimage.scores.astype(X.dtype)
        self.dual_coef_ = self._preimage.coefficients.astype(X.dtype)

    def _sample_rows(self: Any, X: Any, weights: Array, *, first: bool = True) -> None:
        """Keep a sample of rows that go by, for the inverse transform of models that forget them."""
        if not self.fit_inverse_transform:
            return
        if scipy.sparse.issparse(X):
            raise ValueError("Inverse transform not implemented for sparse matrices: pass X.toarray().")
        before = None if first else self.__dict__.get("_sample")
        size = sample_size(self, X.shape[1])
        seed = int(read_seed(self.random_state).integers(2**31))
        new = RowSample.of(X, weights, size, seed=[seed, 0 if before is None else before.seen])
        self._sample = new if before is None else before + new
        for name in ("_preimage", "dual_coef_", "X_transformed_fit_"):
            self.__dict__.pop(name, None)


def sample_size(model: Any, n_features: int) -> int:
    """Rows that a model without its training rows keeps for pre-images."""
    room = parse_memory(model.memory_limit) // (8 * 8 * n_features)
    return max(1, min(_SAMPLE_ROWS, room))


def available_preimage(model: Any) -> str:
    """The method of pre-images that suits a fitted model: the nearest image for kernels of the distance, else ridge."""
    return "fixed_point" if isinstance(model._space.span.kernel, RadialKernel) else "ridge"


def _settled_points(expansion: Expansion, scores: Array, start: Array | None) -> Array:
    """Fixed points; a row that does not settle is tried again from its nearest neighbour, then by distances."""
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
