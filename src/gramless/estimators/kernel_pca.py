"""Kernel PCA with scikit-learn's interface."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from gramless.arrays import Array, parse_memory, thread_count, use_threads
from gramless.eigen import solvers
from gramless.estimators.bandwidth import resolve_gamma
from gramless.estimators.reading import read_gram, read_kernel, read_seed, read_solver
from gramless.kernels import Kernel, Precomputed
from gramless.planning import make_plan, methods
from gramless.problem import Problem, Request
from gramless.routes import Fitted
from gramless.spaces import RidgePreimage

_NAMES = {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel principal component analysis without the Gram matrix.

    Takes every parameter of :class:`sklearn.decomposition.KernelPCA` with the same meaning and sets the same
    attributes: changing the import line is the whole migration. Memory grows with N, not with its square, and
    ``certificate_`` says how accurate each component is.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components; a float in (0, 1): as many as capture that share of the exact total variance;
        None: all with an eigenvalue above 0.
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}, Kernel or callable, default="linear"
        scikit-learn's names, an object from :mod:`gramless.kernels`, or a function of two rows.
    gamma : float, "scale", "median" or None, default=None
        For rbf, poly and sigmoid. None: 1 / n_features; ``"scale"``: 1 / (n_features * X.var());
        ``"median"``: the Gaussian's sigma is the median distance between points.
    degree : float, default=3
        For poly.
    coef0 : float, default=1
        For poly and sigmoid.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    alpha : float, default=1.0
        Ridge of the inverse transform.
    fit_inverse_transform : bool, default=False
        Learn the inverse transform, by ridge regression of the rows on their components.
    eigen_solver : str, default="auto"
        scikit-learn's ``"dense"``, ``"arpack"``, ``"randomized"``, or any name in ``gramless.eigen.solvers``.
    tol : float, default=0
        Every kept pair of the exact centred operator satisfies ``norm(K v - l v) <= tol * l_1``.
        0 means 1e-10 (1e-5 for float32). ``"arpack"`` gets it as it is.
    max_iter : int, default=None
        Limit on iterations of an iterative solver.
    iterated_power : int or "auto", default="auto"
        Power iterations of the randomized solver.
    remove_zero_eig : bool, default=False
        Drop components of eigenvalue 0; always done when ``n_components=None``.
    random_state : int, RandomState or None, default=None
        Same seed, same bits.
    copy_X : bool, default=True
        Whether to keep a copy of X rather than X itself.
    n_jobs : int, default=None
        Threads; None: all cores.
    method : {"auto", "tiled", "dense", "covariance", "svd"}, default="auto"
        How to work; see ``plan_``.
    memory_limit : int, str or None, default=None
        What `fit` may take on top of the data: bytes, or a text such as ``"2GB"``. None: half of what is free.
    center_input : bool, default=False
        Subtract the mean of the rows before the kernel is applied (Raykar & Ankur, section 4, step 2). It changes
        the result for kernels of the dot product.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Of the centred Gram matrix, descending.
    eigenvectors_ : ndarray of shape (n_samples, k)
        Of the centred Gram matrix, orthonormal; the entry of largest modulus of each is positive.
    explained_variance_ : ndarray of shape (k,)
        ``eigenvalues_`` divided by the total weight.
    explained_variance_ratio_ : ndarray of shape (k,)
        Against the exact total variance, that of the components not kept included.
    certificate_ : Certificate
        Per component an interval that holds the true eigenvalue, and a bound on the angle.
    plan_ : Plan
        Which method, and why.
    method_ : str
        The method that ran.
    passes_ : int
        Sweeps over the Gram matrix.
    X_fit_ : {ndarray, CSR} of shape (n_samples, n_features)
    gamma_ : float
    dual_coef_ : ndarray of shape (n_samples, n_features)
        With ``fit_inverse_transform=True``.
    X_transformed_fit_ : ndarray of shape (n_samples, k)
        With ``fit_inverse_transform=True``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where X has names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramless import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> kpca = KernelPCA(n_components=7, kernel="rbf", gamma="median").fit(X)
    >>> kpca.transform(X).shape
    (1797, 7)
    >>> bool((kpca.certificate_.width < 1e-8).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "kernel": [StrOptions(_NAMES), Kernel, callable],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"scale", "median"}), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", *solvers})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "method": [StrOptions({"auto", *methods})],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "center_input": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        method: str = "auto",
        memory_limit: int | float | str | None = None,
        center_input: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.method = method
        self.memory_limit = memory_limit
        self.center_input = center_input

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelPCA:
        """Find the leading components of X.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix (n_samples, n_samples).
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Not negative. A weight of 2 counts as the row twice, 0 as its absence.

        Returns
        -------
        KernelPCA
            This estimator.
        """
        X, weights = self._read(X, sample_weight)
        kernel = self._make_kernel(X, weights)
        rows = self._rows_for_kernel(X, weights, fitting=True)
        with use_threads(self.n_jobs):
            problem = self._pose(rows, kernel)
            self.plan_ = make_plan(problem, self.method)
            self.method_ = self.plan_.chosen
            fitted = methods[self.method_].run(problem, rows, weights, self._request())
            self.X_fit_ = X
            self._keep(fitted, weights)
            if self.fit_inverse_transform:
                self._fit_inverse(X, weights)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the components of X: (n_samples, k)."""
        self.fit(X, sample_weight=sample_weight)
        return self._training_scores()

    def transform(self, X: Any) -> Array:
        """Project rows on the components, block by block.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features)
            For ``kernel="precomputed"`` the kernel values (m, n_samples) of new points and training points.

        Returns
        -------
        ndarray of shape (m, k)
        """
        rows = self._read_new(X)
        with use_threads(self.n_jobs):
            return self._like_input(self._space.project(self._rows_for_kernel(rows)), rows)

    def inverse_transform(self, X: Any) -> Array:
        """Inputs (m, n_features) whose components are near X (m, k); needs ``fit_inverse_transform=True``."""
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The inverse transform is not available: KernelPCA was made with fit_inverse_transform=False. "
                "Set fit_inverse_transform=True and fit again."
            )
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if X.shape[1] != len(self.eigenvalues_):
            raise ValueError(f"X of shape {X.shape} given; inverse_transform takes {len(self.eigenvalues_)} columns")
        with use_threads(self.n_jobs):
            return self._like_input(self._preimage(X.astype(np.float64, copy=False)), self.X_fit_)

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance in feature space of each row from the kept components (Welling, eq. 5).

        Needs no pre-image. Over the training rows the errors sum to the eigenvalues that were not kept.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m,)
        """
        rows = self._read_new(X)
        if isinstance(self._space.span.kernel, Precomputed):  # type: ignore[attr-defined]
            raise ValueError("reconstruction_error needs k(x, x) of new rows, which kernel='precomputed' does not give")
        with use_threads(self.n_jobs):
            return self._space.residual(self._rows_for_kernel(rows))

    def truncate(self, k: int) -> KernelPCA:
        """The same model with the leading `k` components only, as a new estimator; nothing is fitted again."""
        check_is_fitted(self)
        kept = len(self.eigenvalues_)
        if not isinstance(k, Integral) or not 1 <= k <= kept:
            raise ValueError(f"k={k!r} components asked of a model with {kept}; pass 1 to {kept}")
        smaller = copy.copy(self)
        smaller.n_components = int(k)
        smaller._keep(
            Fitted(
                self._space.truncate(k),
                self._vectors[:, :k],
                self.certificate_[:k],
                self._outcome,
                self.passes_,
            ),
            self._weights,
        )
        if self.fit_inverse_transform:
            smaller._fit_inverse(self.X_fit_, self._weights)
        return smaller

    def _read(self, X: Any, sample_weight: Any) -> tuple[Any, Array]:
        """Validate the data: float rows, more than one of them, and their weights."""
        if self.fit_inverse_transform and self._precomputed:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: it has no inputs to return to.")
        X = validate_data(
            self, X, accept_sparse="csr", copy=self.copy_X, dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        if self._precomputed:
            X = read_gram(X)
        n = X.shape[0]
        if isinstance(self.n_components, Integral) and self.n_components > n:
            raise ValueError(f"n_components={self.n_components} is more than the {n} samples given; pass at most {n}")
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not (weights > 0).any():
            raise ValueError("sample_weight is 0 for every row; at least one must be positive")
        return X, weights

    def _read_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    def _make_kernel(self, X: Any, weights: Array) -> Kernel:
        """A kernel object, with the gamma that suits the data."""
        self.gamma_ = 1.0 / X.shape[1] if self._precomputed else resolve_gamma(self.gamma, X, weights)
        return read_kernel(self.kernel, self.gamma_, self.degree, self.coef0, self.kernel_params)

    def _rows_for_kernel(self, X: Any, weights: Array | None = None, *, fitting: bool = False) -> Any:
        """The rows the kernel sees: less their mean, where that was asked for."""
        if not self.center_input or self._precomputed:
            return X
        if scipy.sparse.issparse(X):
            raise ValueError("center_input=True would fill a sparse X; pass X.toarray(), or center_input=False")
        if fitting:
            self._input_mean = np.average(np.asarray(X, dtype=np.float64), axis=0, weights=weights)
        return X - self._input_mean

    def _pose(self, X: Any, kernel: Kernel) -> Problem:
        """The problem for the planner."""
        n, d = X.shape
        single = X.dtype == np.float32
        tol = self.tol if self.tol > 0 or self.eigen_solver == "arpack" else (1e-5 if single else 1e-10)
        if self.n_components is None:
            k = n
        else:
            k = int(self.n_components) if isinstance(self.n_components, Integral) else min(n, 16)
        return Problem(
            n=n,
            d=d,
            kernel=kernel,
            k=k,
            tol=tol,
            memory_limit=parse_memory(self.memory_limit),
            solver=self.eigen_solver,
            threads=thread_count(),
            sparse=scipy.sparse.issparse(X),
        )

    def _request(self) -> Request:
        """What the method is asked for: the seed, the share of variance, a solver if one was named."""
        share = None
        if self.n_components is not None and not isinstance(self.n_components, Integral):
            share = float(self.n_components)
        solver = read_solver(self.eigen_solver, self.iterated_power)
        return Request(rng=read_seed(self.random_state), share=share, solver=solver, max_iter=self.max_iter)

    def _keep(self, fitted: Fitted, weights: Array) -> None:
        """Set the fitted attributes."""
        values = fitted.space.scatter
        if self.remove_zero_eig or self.n_components is None:
            k = int((values > 0).sum())
            fitted = Fitted(
                fitted.space.truncate(k), fitted.vectors[:, :k], fitted.certificate[:k], fitted.outcome, fitted.passes
            )
        dtype = self.X_fit_.dtype
        self._space, self._weights, self._vectors, self._outcome = fitted.space, weights, fitted.vectors, fitted.outcome
        self.eigenvalues_ = fitted.space.scatter.astype(dtype)
        self.eigenvectors_ = fitted.vectors.astype(dtype, copy=False)
        self.certificate_ = fitted.certificate
        self.passes_ = fitted.passes
        self.explained_variance_ = (fitted.space.scatter / fitted.space.weight).astype(dtype)
        total = fitted.space.trace
        ratio = fitted.space.scatter / total if total > 0 else np.zeros_like(fitted.space.scatter)
        self.explained_variance_ratio_ = ratio.astype(dtype)

    def _training_scores(self) -> Array:
        """Components of the training rows, from the eigenvectors; rows of weight 0 are projected."""
        roots = np.sqrt(self._weights)
        scale = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        scores = self._vectors * np.sqrt(self._space.scatter) * scale[:, None]
        left_out = np.flatnonzero(self._weights == 0)
        if len(left_out):
            scores[left_out] = self._space.project(self._rows_for_kernel(self.X_fit_[left_out]))
        return self._like_input(scores, self.X_fit_)

    def _fit_inverse(self, X: Any, weights: Array) -> None:
        """Learn the pre-image once, for `fit` and `fit_transform` alike."""
        if scipy.sparse.issparse(X):
            raise ValueError("Inverse transform not implemented for sparse matrices: pass X.toarray().")
        self.X_transformed_fit_ = self._training_scores()
        self._preimage = RidgePreimage.fit(
            self._space.span.kernel,  # type: ignore[attr-defined]
            self.X_transformed_fit_.astype(np.float64),
            X,
            weights,
            self.alpha,
            parse_memory(self.memory_limit),
        )
        self.dual_coef_ = self._preimage.coefficients.astype(X.dtype)

    def _like_input(self, values: Array, X: Any) -> Array:
        """Results in the precision of the input."""
        return values.astype(X.dtype if X.dtype == np.float32 else np.float64, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.fit_inverse_transform
        tags.input_tags.pairwise = self._precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.eigenvalues_.shape[0])
