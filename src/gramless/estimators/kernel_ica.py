"""Kernel independent component analysis, with the interface of scikit-learn's FastICA."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from gramless.arrays import Array, Symbolic, read_seed, times, use_threads
from gramless.data import Block, MemoryRows
from gramless.estimators.checking import FLOATS, read_weights, refuse_path
from gramless.estimators.exporting import Exporting
from gramless.estimators.saving import Saving, estimators
from gramless.export.rows import ROWS
from gramless.fitting import fit
from gramless.fitting.question import FixedKernel, Question
from gramless.independence import Contrast, find_rotation, landmarks_for
from gramless.kernels import Gaussian, Kernel, Linear
from gramless.warning import warn

_FEW = 1000  # rows up to which the paper uses the larger bandwidth


@estimators.register("KernelICA")
class KernelICA(
    Saving,
    Exporting,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Kernel independent component analysis (Bach & Jordan 2002).

    Rows are whitened and then rotated to minimize the dependence of the columns. Dependence is measured by canonical
    correlations between functions of the columns. The functions come from the feature space of a kernel and assume
    nothing about the densities, so that sources of any density can be separated.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources; None: the number of columns, or the rank of the centered rows where that is smaller.
    contrast : {"kgv", "kcc"}, default="kgv"
        Kernel generalized variance, or kernel canonical correlation.
    kernel : Kernel, default=None
        A Mercer kernel on scalars. None: a Gaussian kernel as in the paper, with bandwidth 1 for up to 1,000 rows and
        1/2 for more.
    regularization : float, default=None
        kappa. None: 2e-2 for up to 1,000 rows and 2e-3 for more, as in the paper.
    whiten : {"unit-variance", False}, default="unit-variance"
        False: the columns are white already, and `n_components` is ignored.
    n_restarts : int, default=3
        Number of additional searches from random rotations. Two columns need no restarts: all their rotations are
        tried.
    max_iter : int, default=200
        Maximum number of iterations of the joint search.
    tol : float, default=1e-6
        Stopping criterion of the joint search: the largest entry of the gradient in absolute value.
    random_state : int, RandomState or None, default=None
        Seed; an int gives bitwise reproducible results.
    n_jobs : int, default=None
        Number of threads; None: all cores.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The sources are ``(X - mean_) @ components_.T``; each source has variance 1. Sources are sorted by their
        fraction of the variance of X. The entry of largest modulus in each column of ``mixing_`` is positive.
    mixing_ : ndarray of shape (n_features, n_components)
        The pseudo-inverse of ``components_``.
    mean_ : ndarray of shape (n_features,)
        Not available with ``whiten=False``.
    whitening_ : ndarray of shape (n_components, n_features)
        Not available with ``whiten=False``.
    contrast_ : float
        Value of the contrast at the rotation found: the remaining dependence.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if X has feature names.

    See Also
    --------
    sklearn.decomposition.FastICA : Faster, and less accurate for some densities.
    gramless.independence.amari_error : How far an unmixing matrix is from the right one.
    KernelPCA : Leading components in feature space, exact or by explicit features.

    Examples
    --------
    >>> from gramless import KernelICA
    >>> rng = np.random.default_rng(0)
    >>> sources = np.column_stack([rng.uniform(-1, 1, 500), rng.laplace(size=500)])
    >>> mixed = sources @ np.array([[1.0, 2.0], [0.5, -1.0]])
    >>> found = KernelICA(random_state=0).fit_transform(mixed)
    >>> bool((np.abs(np.corrcoef(found.T, sources.T)[:2, 2:]).max(axis=0) > 0.99).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "contrast": [StrOptions({"kgv", "kcc"})],
        "kernel": [Kernel, None],
        "regularization": [Interval(Real, 0, None, closed="neither"), None],
        "whiten": [StrOptions({"unit-variance"}), "boolean"],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    #: Attributes that :meth:`save` writes.
    SAVED: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("components_", "mixing_", "mean_", "whitening_"), np.ndarray),
        "contrast_": float,
        "n_iter_": int,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        contrast: str = "kgv",
        kernel: Kernel | None = None,
        regularization: float | None = None,
        whiten: str | bool = "unit-variance",
        n_restarts: int = 3,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.contrast = contrast
        self.kernel = kernel
        self.regularization = regularization
        self.whiten = whiten
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelICA:
        """Fit the unmixing matrix to X.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is equivalent to repeating the row, 0 to omitting it.

        Returns
        -------
        KernelICA
            This estimator.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the sources: (n_samples, n_components)."""
        rows = self._fit(X, sample_weight)
        return self._sources(rows)

    def transform(self, X: Any) -> Array:
        """Sources (m, n_components) of rows X (m, n_features)."""
        check_is_fitted(self)
        refuse_path(self, X)
        return self._sources(validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False))

    def inverse_transform(self, X: Any) -> Array:
        """Rows (m, n_features) whose sources are X (m, n_components)."""
        check_is_fitted(self)
        X = check_array(X, dtype=FLOATS, input_name="X")
        if X.shape[1] != self.mixing_.shape[1]:
            raise ValueError(f"X of shape {X.shape} given; inverse_transform expects {self.mixing_.shape[1]} columns")
        mixed: Array = X @ self.mixing_.T.astype(X.dtype)
        return mixed + self.mean_.astype(X.dtype) if self._whitens else mixed

    @property
    def _whitens(self) -> bool:
        return bool(self.whiten)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, sample_weight: Any) -> Any:
        """Whiten, find the rotation, and set the attributes; returns the validated rows."""
        if self.whiten is True:
            raise ValueError("whiten=True is invalid; pass 'unit-variance' or False")
        refuse_path(self, X)
        fitted = self.unfitted()
        rows = validate_data(fitted, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2, ensure_min_features=1)
        weights = read_weights(sample_weight, rows)
        with use_threads(self.n_jobs):
            whitening, white = fitted._whiten(rows, weights)
            used = weights > 0
            turn = fitted._rotate(white[used], weights[used])
        fitted._set(turn, whitening, rows.dtype)
        self.__dict__ = fitted.__dict__
        return rows

    def _whiten(self, rows: Any, weights: Array) -> tuple[Array, Array]:
        """Matrix (k, d) that makes columns white, and the white rows (n, k); sets the mean."""
        if not self._whitens:
            dense = rows.toarray() if hasattr(rows, "toarray") else rows
            return np.eye(rows.shape[1]), np.asarray(dense, dtype=np.float64)
        n, d = rows.shape
        most = min(n, d)
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} is too large for {n} rows and {d} columns; pass at most {most}"
            )
        method = "covariance" if d <= n or hasattr(rows, "toarray") else "svd"
        question = Question(FixedKernel(Linear()), self.n_components or most, method=method, keep_rows=False)
        found = fit(question, MemoryRows(Block(rows.astype(np.float64), weights))).finished.space
        space: Any = found
        kept = space.scatter > 1e-12 * space.scatter.max(initial=0.0)
        if not kept.any():
            raise ValueError("all rows are equal: there is nothing to separate")
        whitening = (space.basis[:, kept] * np.sqrt(space.weight / space.scatter[kept])).T
        self.mean_ = space.span.origin.astype(rows.dtype)
        return whitening, space.span.dot(rows, whitening.T)

    def _rotate(self, white: Array, weights: Array) -> Array:
        """The rotation (m, m) that makes columns independent."""
        few = weights.sum() <= _FEW
        m = white.shape[1]
        if m == 1:
            self.contrast_, self.n_iter_ = 0.0, 1
            return np.eye(1)
        rng = read_seed(self.random_state)
        kappa = (2e-2 if few else 2e-3) if self.regularization is None else float(self.regularization)
        kernel = Gaussian(1.0 if few else 0.5) if self.kernel is None else self.kernel
        leak = 5e-3 * kappa * float(np.average(kernel.diagonal(white[:, :1]), weights=weights))
        features = landmarks_for(kernel, white, weights, leak, rng)
        contrast = Contrast(features, kappa, self.contrast)  # type: ignore[arg-type]
        restarts = self.n_restarts if m > 2 else 0
        starts = [np.eye(m), *(np.linalg.qr(rng.standard_normal((m, m)))[0] for _ in range(restarts))]
        found = find_rotation(contrast, white, weights, starts, tol=self.tol, max_iter=self.max_iter)
        if not found.converged:
            warn(
                f"KernelICA did not converge in {found.iterations} iterations; raise max_iter={self.max_iter} or tol",
                ConvergenceWarning,
            )
        self.contrast_, self.n_iter_ = found.value, max(1, found.iterations)
        return found.turn

    def _set(self, turn: Array, whitening: Array, dtype: Any) -> None:
        """Set the attributes, with a rule for order and signs, which the contrast does not determine."""
        components = turn @ whitening
        mixing = np.linalg.pinv(components)
        order = np.argsort(-np.linalg.norm(mixing, axis=0), kind="stable") if self._whitens else np.arange(len(turn))
        components, mixing = components[order], mixing[:, order]
        peak = np.argmax(np.abs(mixing), axis=0)
        signs = np.where(mixing[peak, np.arange(len(order))] < 0, -1.0, 1.0)
        self.components_ = (signs[:, None] * components).astype(dtype)
        self.mixing_ = (mixing * signs).astype(dtype)
        if self._whitens:
            self.whitening_ = whitening.astype(dtype)

    def _sources(self, rows: Any) -> Array:
        """Sources of rows, in the precision of the rows."""
        matrix = self.components_.T.astype(np.float64)
        with use_threads(self.n_jobs):
            if hasattr(rows, "toarray"):
                sources = np.asarray(rows @ matrix)
                if self._whitens:
                    sources = sources - self.mean_ @ matrix
            else:
                moved = rows - self.mean_ if self._whitens else rows
                sources = times(np.asarray(moved, dtype=np.float64), matrix)
        return sources.astype(rows.dtype if rows.dtype == np.float32 else np.float64, copy=False)

    def symbolic(self, x: Symbolic) -> dict[str, Any]:
        """Sources of symbolic rows, for :meth:`to_onnx`."""
        rows: Any = x
        return {"transform": (rows - self.mean_ if self._whitens else rows) @ self.components_.T}

    def _rows_to_compare(self) -> Array:
        drawn = np.random.default_rng(0).standard_normal((ROWS, len(self.components_))) @ self.mixing_.T
        return np.asarray(drawn + self.mean_ if self._whitens else drawn, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
