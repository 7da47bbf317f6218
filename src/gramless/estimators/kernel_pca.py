"""Kernel PCA with scikit-learn's interface."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gramless.arrays import Array, in_range, use_threads
from gramless.eigen import solvers
from gramless.estimators.asking import make_request, pose_components
from gramless.estimators.callbacks import CallbackSupportMixin
from gramless.estimators.constraints import KERNEL_CONSTRAINTS
from gramless.estimators.devices import given_back, tensor_on, to_numpy_rows
from gramless.estimators.dominance import SCALE_INPUT, warn_of_width
from gramless.estimators.following import following
from gramless.estimators.out_of_core import OutOfCore
from gramless.estimators.parted import fit_parts, transform_parts
from gramless.estimators.planned import Planned
from gramless.estimators.posing import make_kernel
from gramless.estimators.preimages import Preimages
from gramless.estimators.reading import is_precomputed, read_new_rows, read_rows
from gramless.estimators.saving import Saving, estimators
from gramless.estimators.seen_rows import SeenRows
from gramless.estimators.select_bandwidth import CRITERIA, searched_gamma
from gramless.estimators.source_transform import transform_source
from gramless.estimators.streaming import STREAM_STATE, STREAM_TYPES, Streaming
from gramless.estimators.summary import NotebookSummary
from gramless.estimators.undoing import whole_or_nothing
from gramless.execution import library_of
from gramless.kernels import Kernel
from gramless.persistence.classes import ROWS
from gramless.planning import Plan, make_plan, methods
from gramless.problem import Problem
from gramless.progress import observer
from gramless.routes import Fitted
from gramless.sources import is_out_of_core
from gramless.spaces import RidgePreimage, RowSample


@estimators.register("KernelPCA")
class KernelPCA(
    CallbackSupportMixin,  # type: ignore[misc]
    Saving,
    SeenRows,
    Streaming,
    OutOfCore,
    Preimages,
    Planned,
    NotebookSummary,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Kernel principal component analysis without the Gram matrix.

    Takes every parameter of :class:`sklearn.decomposition.KernelPCA` with the same meaning and sets the same
    attributes: changing the import line is the whole migration. Memory grows with N, not with its square, and
    ``certificate_`` says how accurate each component is.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components; a float in (0, 1): as many as capture that share of the exact total variance;
        None: all with an eigenvalue above 0.
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed"}, Kernel or callable, \
default="linear"
        scikit-learn's names, an object from :mod:`gramless.kernels`, or a function of two rows. ``"laplacian"`` is
        scikit-learn's ``laplacian_kernel``, of the sum of absolute differences.
    gamma : float, "scale", "median", "preimage", "gap" or None, default=None
        For rbf, laplacian, poly and sigmoid. None: 1 / n_features; ``"scale"``: 1 / (n_features * X.var());
        ``"median"``: the Gaussian's sigma, or the Laplacian's 1 / gamma, is the median distance between points, in the
        distance of that kernel; ``"preimage"``, ``"gap"``: the best of
        thirteen by held-out pre-images or by the gap after the last component, see :func:`gramless.select_bandwidth`.
        Where one column makes more than 95 % of the distances, a width by name warns (``DominantColumnWarning``).
    degree : float, default=3
        For poly.
    coef0 : float, default=1
        For poly and sigmoid.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    alpha : float, default=1.0
        Ridge of the inverse transform.
    fit_inverse_transform : bool, default=False
        Learn the inverse transform, by ridge regression of the rows on their components. Streams, and models that go
        on without their rows, keep a sample of at most 4096 of them for it.
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
    method : str, default="auto"
        How to work: ``"monomials"``, ``"taylor"``, ``"fourier"``, ``"landmarks"``, ``"composite"`` (explicit features),
        ``"tiled"``, ``"sparse"``, ``"dense"`` (products with the Gram matrix), ``"cuda"`` (such products on a card),
        ``"covariance"``, ``"svd"`` (linear kernel). ``"auto"`` takes the cheapest that reaches `tol` within
        `memory_limit`; see ``plan_``.
    memory_limit : int, str or None, default=None
        What `fit` may take on top of the data: bytes, or a text such as ``"2GB"``. None: half of what is free.
    center_input : bool, default=False
        Subtract the mean of the rows before the kernel is applied (Raykar & Ankur, section 4, step 2). It changes
        the result for kernels of the dot product.
    scale_input : bool, default=False
        Subtract the mean of the rows and divide every column by its deviation before the kernel is applied, so that
        columns of different units count alike. Kept with the model: `transform`, pre-images and later batches use it.
    domain : pair of array-like of shape (n_features,), default=None
        (low, high): a box that holds all rows, those of later batches included, in the units of X, whatever
        `scale_input` and `center_input` do to them. It lets `partial_fit` use the Taylor and Fourier maps, which are
        made for a box; rows outside are refused.
    device : {"cpu", "cuda", "auto", "torch"}, default="cpu"
        ``"cuda"``: products, blocks, features, their moments and projections on a CUDA card (needs the extra ``gpu``);
        ``"auto"``: on a card where there is one and the plan finds it cheaper; ``"torch"``: what the card would do, by
        torch on the CPU. Torch tensors given to `fit` and `transform` give torch tensors back.
    keep_data : bool, default=True
        Whether to keep ``X_fit_``, and with it ``eigenvectors_``. Methods with explicit features do not need it.
    max_support : int, default=None
        Rows that a stream of `partial_fit` may keep where it has no explicit features. None: all of them, and memory
        grows with the stream.
    forget : float, default=None
        Half-life in rows: a row weighs ``2 ** (-age / forget)``, its age being the number of rows after it, in whatever
        batches. Eigenvalues, variances and certificates are those of the rows with these weights.
    checkpoint : str or Path, default=None
        File that says how far a `fit` has come, replaced after every block of rows. When the process was killed, the
        same call goes on after the last block, with the same bits (for the same number of threads); a checkpoint of
        other data or parameters is refused. It is deleted when the fit is done. Rows are then read in blocks, wherever
        they come from. Methods without explicit features have no use for it: a ``CheckpointWarning`` says so.
    verbose : int, default=0
        1: a fit that takes longer than two seconds shows on stderr how far it is: passes over the kernel matrix and the
        worst residual against `tol`, or rows read; time elapsed, and a guess of the time left. 2: a line at every
        pass. It changes no bit of the result. scikit-learn's callbacks (``set_callbacks``, from 1.9 on) are told the
        same.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Of the centred Gram matrix, descending.
    eigenvectors_ : ndarray of shape (n_samples, k)
        Of the centred Gram matrix, orthonormal; the entry of largest modulus of each is positive (of 10,000 rows evenly
        spaced, where there are more). Methods with explicit features compute it when it is first asked for; not there
        with ``keep_data=False`` and after `partial_fit`.
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
        With ``fit_inverse_transform=True``. Where the Gram matrix of the components does not fit `memory_limit`, of at
        most 1000 landmarks among them instead.
    X_transformed_fit_ : ndarray of shape (n_samples, k)
        With ``fit_inverse_transform=True``; the components that ``dual_coef_`` belongs to.
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
        **KERNEL_CONSTRAINTS,
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions(set(CRITERIA)), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", *solvers})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "copy_X": ["boolean"],
        "method": [StrOptions({"auto", *methods})],
        "center_input": ["boolean"],
        "scale_input": ["boolean"],
        "domain": ["array-like", None],
        "keep_data": ["boolean"],
        "max_support": [Interval(Integral, 1, None, closed="left"), None],
        "forget": [Interval(Real, 0, None, closed="neither"), None],
        "checkpoint": [str, PathLike, None],
        "verbose": ["verbose"],
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
        scale_input: bool = False,
        domain: Any = None,
        keep_data: bool = True,
        device: str = "cpu",
        max_support: int | None = None,
        forget: float | None = None,
        checkpoint: Any = None,
        verbose: int = 0,
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
        self.scale_input = scale_input
        self.domain = domain
        self.keep_data = keep_data
        self.device = device
        self.max_support = max_support
        self.forget = forget
        self.checkpoint = checkpoint
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @whole_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelPCA:
        """Find the leading components of X.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path, source, or dask Array or DataFrame
            For ``kernel="precomputed"`` the Gram matrix (n_samples, n_samples). A path to a ``.npy``, ``.csv``,
            ``.parquet``, HDF5 or zarr file or a folder of such, what :func:`gramless.open_source` returns, or an
            iterator of row blocks: read block by block, never whole. A Dask collection is fitted where it lies, on
            the active client's cluster or on a local one started for the call.
        y : ignored
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Not negative. A weight of 2 counts as the row twice, 0 as its absence. Of a source with names: the column
            that has it.

        Returns
        -------
        KernelPCA
            This estimator.
        """
        library = library_of(X)
        if library is not None:
            return fit_parts(self, library, X, sample_weight)  # type: ignore[no-any-return]
        if is_out_of_core(X) or self.checkpoint is not None:
            return self._fit_source(X, sample_weight)  # type: ignore[no-any-return]
        given = X
        X, weights = self._read(to_numpy_rows(X), to_numpy_rows(sample_weight))
        weights = self._faded(weights)
        rows = self._rows_for_kernel(X, weights, fitting=True)
        warn_of_width(self, rows, weights, SCALE_INPUT)
        kernel = self._make_kernel(rows if self.scale_input else X, weights)
        with following(self, X, y, sample_weight), use_threads(self.n_jobs):
            problem = pose_components(self, rows, kernel, weights)
            tensor = None if rows is not X else tensor_on(problem.device, given, X)
            fitted = self._carry_out(problem, rows, weights, tensor)
            self._forget()
            self._keep(fitted, X, weights)
            if self.fit_inverse_transform:
                self._sample_rows(X, weights)
                self._fit_inverse(X, weights)
        if not self.keep_data:
            self._drop_data()
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the components of X: (n_samples, k)."""
        self.fit(X, sample_weight=sample_weight)
        if library_of(X) is not None:
            return self.transform(X)
        with use_threads(self.n_jobs):
            return given_back(self._training_scores(), X) if hasattr(self, "X_fit_") else self.transform(X)

    def transform(self, X: Any, out: Any = None) -> Any:
        """Project rows on the components, block by block.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features), path, source, or dask Array or DataFrame
            For ``kernel="precomputed"`` the kernel values (m, n_samples) of new points and training points.
        out : str or Path, default=None
            A ``.npy``, ``.parquet`` or ``.csv`` file to write to as the rows are read; it appears when it is whole.

        Returns
        -------
        ndarray of shape (m, k), or `out` where that is given
            A Dask array, not computed yet, for a Dask collection.
        """
        library = library_of(X)
        if library is not None:
            return transform_parts(self, library, X, out)
        if out is not None or is_out_of_core(X):
            return transform_source(self, X, out)
        rows = read_new_rows(self, X)
        with use_threads(self.n_jobs):
            return given_back(self._like_input(self._space.project(self._rows_for_kernel(rows)), rows), X)

    #: Attributes that :meth:`save` writes.
    SAVED: ClassVar[dict[str, Any]] = {
        "X_fit_": ROWS,
        **dict.fromkeys(("X_transformed_fit_", "dual_coef_", "_weights", "_input_mean", "_input_scale"), np.ndarray),
        "_preimage": RidgePreimage,
        "_sample": RowSample | None,
        "gamma_": float,
        "method_": str,
        "plan_": Plan,
        **STREAM_TYPES,
    }

    def truncate(self, k: int) -> KernelPCA:
        """The same model with the leading `k` components only, as a new estimator; nothing is fitted again."""
        check_is_fitted(self)
        kept = len(self.eigenvalues_)
        if not isinstance(k, Integral) or not 1 <= k <= kept:
            raise ValueError(f"k={k!r} components asked of a model with {kept}; pass 1 to {kept}")
        smaller = copy.copy(self)
        smaller.n_components = int(k)
        smaller._set(self._fitted.truncated(int(k)), self.eigenvalues_.dtype)
        if self.fit_inverse_transform:
            for name in ("_preimage", "dual_coef_", "X_transformed_fit_"):
                smaller.__dict__.pop(name, None)
            if hasattr(self, "X_fit_"):
                smaller._fit_inverse(self.X_fit_, self._weights)
        return smaller

    @property
    def eigenvectors_(self) -> Array:
        """Eigenvectors of the centred Gram matrix (n_samples, k), computed when first asked for."""
        fitted = self.__dict__.get("_fitted")
        if fitted is None or "X_fit_" not in self.__dict__:
            raise AttributeError(
                "eigenvectors_ needs the training rows: there are none before fit, with keep_data=False, or in a stream"
            )
        if fitted.vectors is None:
            scores = fitted.space.project(self._rows_for_kernel(self.X_fit_))
            self._fitted = fitted = fitted.with_vectors(scores, self._weights)
        vectors: Array = fitted.vectors.astype(self.eigenvalues_.dtype, copy=False)
        return vectors

    def _read(self, X: Any, sample_weight: Any, *, batch: bool = False, reset: bool = True) -> tuple[Any, Array]:
        """Validate the data: float rows, more than one of them unless a batch, and their weights."""
        if self.fit_inverse_transform and self._precomputed:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: it has no inputs to return to.")
        copied = self.copy_X and self.keep_data and not batch and not _is_read_only_map(X)
        least = 1 if batch else 2
        X, weights = read_rows(self, X, sample_weight, copy=copied, ensure_min_samples=least, reset=reset)
        n = X.shape[0]
        if isinstance(self.n_components, Integral) and self.n_components > n and not batch:
            raise ValueError(f"n_components={self.n_components} is more than the {n} samples given; pass at most {n}")
        return X, weights

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernel)

    def _make_kernel(self, X: Any, weights: Array) -> Kernel:
        """A kernel object, with the gamma that suits the data."""
        self.gamma_, kernel = make_kernel(self, X, weights, searched_gamma(self, X, weights))
        return kernel

    def _forget(self) -> None:
        """Drop what an earlier fit left."""
        for name in ("X_fit_", "X_transformed_fit_", "dual_coef_", "_weights", "_preimage", "_sample", *STREAM_STATE):
            self.__dict__.pop(name, None)

    def _drop_data(self) -> None:
        """Forget the training rows; the plan saw to it that the model can do without."""
        for name in ("X_fit_", "_weights"):
            self.__dict__.pop(name, None)

    def _carry_out(self, problem: Problem, rows: Any, weights: Array, tensor: Any = None) -> Fitted:
        """Plan and run; a method that was chosen and finds, on the rows, that memory does not suffice gives way."""

        def run(plan: Plan) -> Fitted:
            observer().begins(plan.chosen, plan.candidates[plan.chosen].seconds)
            return methods[plan.chosen].run(  # type: ignore[no-any-return]
                plan.placed, rows, weights, make_request(self, tensor)
            )

        plan = make_plan(problem, self.method)
        plan.warn_if_long()
        self.plan_, fitted = plan.carry_out(run)
        self.method_ = self.plan_.chosen
        return fitted

    def _keep(self, fitted: Fitted, X: Any, weights: Array) -> None:
        """Keep a fit and the rows it was made from."""
        self.X_fit_, self._weights = X, weights
        self._set(fitted, X.dtype)

    def _set(self, fitted: Fitted, dtype: Any) -> None:
        """Set the fitted attributes."""
        if self.remove_zero_eig or self.n_components is None:
            fitted = fitted.truncated(int((fitted.space.scatter > 0).sum()))
        space = fitted.space
        values, variances = (
            in_range(some, dtype, what)
            for some, what in ((space.scatter, "eigenvalues"), (space.scatter / space.weight, "variances"))
        )
        self._fitted, self._space = fitted, space
        self.eigenvalues_, self.explained_variance_ = values, variances
        self.certificate_ = fitted.certificate
        self.passes_ = fitted.passes
        total = space.trace
        if self.plan_.problem.kernel.mercer:  # where weights are very far apart both are rounding
            total = max(total, float(space.scatter.sum()))
        ratio = space.scatter / total if total > 0 else np.zeros_like(space.scatter)
        self.explained_variance_ratio_ = ratio.astype(dtype)

    def _training_scores(self) -> Array:
        """Components of the training rows, from the eigenvectors where there are; rows of weight 0 are projected."""
        scores = self._fitted.scores(self._weights)
        left_out = np.flatnonzero(self._weights == 0)
        if scores is None:
            scores = self._space.project(self._rows_for_kernel(self.X_fit_))
        elif len(left_out):
            scores[left_out] = self._space.project(self._rows_for_kernel(self.X_fit_[left_out]))
        return self._like_input(scores, self.X_fit_)

    def _like_input(self, values: Array, X: Any) -> Array:
        """Results in the precision of the input."""
        return in_range(values, X.dtype if X.dtype == np.float32 else np.float64, "components")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.fit_inverse_transform
        tags.input_tags.pairwise = self._precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.eigenvalues_.shape[0])


def _is_read_only_map(X: Any) -> bool:
    """Whether X is a file that nobody can change by way of X: there is no need to keep a copy of it."""
    return isinstance(X, np.memmap) and not X.flags.writeable
