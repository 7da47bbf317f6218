"""Kernel PCA with scikit-learn's interface."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gramless import fitting
from gramless.arrays import Array, Symbolic, use_threads
from gramless.arrays.durations import parse_seconds
from gramless.bandwidth import CRITERIA
from gramless.certificates import Certificate
from gramless.data import MemoryRows, Rows, Scaling, library_of
from gramless.eigen import solvers
from gramless.estimators import preimages
from gramless.estimators.applying import applied
from gramless.estimators.checking import READING, like_given, opened_rows, read_new_rows
from gramless.estimators.comparing import refuse_to_merge
from gramless.estimators.compressing import Compressing, numbered, outputs_on_points
from gramless.estimators.exporting import Exporting
from gramless.estimators.parameters import KERNEL_CONSTRAINTS, MethodNames, components_asked, kernel_choice
from gramless.estimators.progress import Callbacks, CallbackSupportMixin, at_work
from gramless.estimators.saving import Saving, estimators
from gramless.estimators.summary import NotebookSummary
from gramless.export.agreement import estimator_error
from gramless.export.rows import rows_like, some_rows
from gramless.fitting import Fit
from gramless.fitting.methods import Plan, State, methods
from gramless.fitting.model import Model
from gramless.fitting.question import Question
from gramless.kernels import Kernel, is_precomputed
from gramless.persistence.classes import ROWS
from gramless.spaces import Compression, Eigenspace, Outputs, PointSpan, RidgePreimage, RowSample

#: Parameters that the state of a stream belongs to.
_SETTLED = ("kernel", "gamma", "degree", "coef0", "kernel_params", "domain", "center_input", "scale_input")


def _can_stream(model: KernelPCA) -> bool:
    """True where `partial_fit` is available; otherwise raises an AttributeError that says why."""
    reason = ""
    if model._precomputed:
        reason = "kernel='precomputed' needs all rows at once"
    elif model.center_input and not model.scale_input:
        reason = "center_input=True needs all rows at once"
    elif model.scale_input and not (hasattr(model, "_fit") and model._fit.scaling):
        reason = "scale_input=True takes the scale from a first fit, which partial_fit can then continue"
    elif model.method != "auto" and model.method in methods and not methods[model.method].streams:
        reason = f"method={model.method!r} needs all rows at once"
    if reason:
        raise AttributeError(f"partial_fit is not available: {reason}; use fit")
    return True


@estimators.register("KernelPCA")
class KernelPCA(
    CallbackSupportMixin,  # type: ignore[misc]
    Saving,
    Exporting,
    Compressing,
    NotebookSummary,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Kernel principal component analysis without the Gram matrix.

    Takes every parameter of :class:`sklearn.decomposition.KernelPCA` with the same meaning and sets the same
    attributes: only the import line has to change. Memory grows with N, not with its square, and ``certificate_`` says
    how accurate each component is.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components; a float in (0, 1): as many as explain that fraction of the exact total variance;
        None: all with an eigenvalue above 0.
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed"}, Kernel or callable, \
default="linear"
        scikit-learn's names, an object from :mod:`gramless.kernels`, or a function of two rows. ``"laplacian"`` is
        scikit-learn's ``laplacian_kernel``, a function of the Manhattan distance.
    gamma : float, "scale", "median", "preimage", "gap" or None, default=None
        For rbf, laplacian, poly and sigmoid. None: 1 / n_features; ``"scale"``: 1 / (n_features * X.var());
        ``"median"``: the sigma of rbf is the median Euclidean distance between points, and 1 / gamma of laplacian is
        the median Manhattan distance; ``"preimage"``, ``"gap"``: the best of thirteen candidates by the error of
        held-out pre-images or by the gap after the last eigenvalue, see :func:`gramless.select_bandwidth`. A `gamma` by
        name warns (``DominantColumnWarning``) where one column accounts for more than 95 % of the squared distances.
    degree : float, default=3
        For poly.
    coef0 : float, default=1
        For poly and sigmoid.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    alpha : float, default=1.0
        Ridge parameter of the inverse transform. 0 is possible where the kernel matrix of the components determines the
        regression in double precision; elsewhere `fit` raises a ``LinAlgError``.
    fit_inverse_transform : bool, default=False
        Learn the inverse transform, by kernel ridge regression of the rows on their scores; `denoise` does not need it.
        Streams, and models without their training rows, store a sample of at most 4096 rows for this.
    eigen_solver : str, default="auto"
        scikit-learn's ``"dense"``, ``"arpack"``, ``"randomized"``, or any name in ``gramless.eigen.solvers``.
    tol : float, default=0
        Every eigenpair of the exact centered operator satisfies ``norm(K v - l v) <= tol * l_1``.
        0 means 1e-10 (1e-5 for float32), with two exceptions, which ``plan_`` explains: 1e-8 where that takes a quarter
        of the time or less; and, where a fit would take more than ten minutes, the smallest residual (at most 1e-3)
        achievable in a tenth of that and within five minutes, with a :class:`LongFitWarning`.
        For ``eigen_solver="arpack"``, `tol` is passed on unchanged.
    max_iter : int, default=None
        Limit on iterations of an iterative solver.
    iterated_power : int or "auto", default="auto"
        Power iterations of the randomized solver.
    remove_zero_eig : bool, default=False
        Drop components of eigenvalue 0; always done when ``n_components=None``.
    random_state : int, RandomState or None, default=None
        Seed; an int gives bitwise reproducible results.
    copy_X : bool, default=True
        Whether to keep a copy of X rather than X itself.
    n_jobs : int, default=None
        Number of threads. None: all cores, where scikit-learn uses one; pass 1 inside of ``GridSearchCV(n_jobs=-1)``.
    method : str, default="auto"
        The method: ``"monomials"``, ``"normalized"``, ``"taylor"``, ``"fourier"``, ``"landmarks"``, ``"sampled"``,
        ``"composite"`` (explicit features), ``"tiled"``, ``"sparse"``, ``"dense"`` (products with the Gram matrix),
        ``"cuda"`` (such products on a GPU), ``"covariance"``, ``"svd"`` (linear kernel), ``"products"`` (linear and
        cosine kernel, sparse rows). ``"auto"`` takes the cheapest method that reaches `tol` within `memory_limit`; see
        ``plan_``.
    memory_limit : int, str or None, default=None
        Memory that `fit` may use in addition to the data: bytes, or a string such as ``"2GB"``. None: half of the free
        memory.
    center_input : bool, default=False
        Subtract the mean of the rows before the kernel is applied (Raykar & Ankur, section 4, step 2). Centring changes
        the result for dot-product kernels.
    scale_input : bool, default=False
        Subtract the mean of the rows and divide every column by its standard deviation before the kernel is applied, so
        that columns in different units have equal influence. The model stores means and standard deviations:
        `transform`, pre-images and later batches use them.
    domain : pair of array-like of shape (n_features,), default=None
        (low, high): a box that contains all rows, including rows of later batches, in the units of X even with
        `scale_input` or `center_input`. The box lets `partial_fit` use the Taylor and Fourier maps, which need one;
        rows outside the box raise an error.
    device : {"cpu", "cuda", "auto", "torch"}, default="cpu"
        ``"cuda"``: products, blocks, features, their moments and projections on a CUDA GPU (needs the extra ``gpu``);
        ``"auto"``: on a GPU where there is one and the plan finds it cheaper; ``"torch"``: the same computation with
        torch on the CPU. Torch tensors as input give torch tensors as output.
    keep_data : bool, default=True
        Whether to store ``X_fit_``, and with it ``eigenvectors_``. Methods with explicit features do not need the rows.
    max_support : int, default=None
        Maximum number of rows that `partial_fit` without explicit features may store. None: all rows, so that memory
        grows with the stream.
    forget : float, default=None
        Half-life in rows: the weight of a row is ``2 ** (-age / forget)``, where its age is the number of later rows,
        whatever the batches. Eigenvalues, variances and certificates are those of the rows with these weights.
    checkpoint : str or Path, default=None
        File with the progress of a `fit`, replaced after every block of rows. After the process was killed, the same
        call resumes after the last block, with bitwise the same result (for the same number of threads). A checkpoint
        of other data or parameters raises an error. The file is deleted when the fit is complete. With a checkpoint,
        rows are read in blocks, even from an array. Methods without explicit features cannot resume, and raise a
        ``CheckpointWarning``.
    time_limit : float or str, default=None
        Maximum run time of `fit` in seconds, or a string such as ``"90s"`` or ``"5min"``. The plan takes the smallest
        tolerance, from `tol` on, that its estimate allows in this time; an iteration that has not converged by then
        stops, and is certified as it stands. A limit that no method meets is an error, which states the minimum.
    verbose : int, default=0
        1: a fit that takes longer than two seconds shows its progress on stderr: passes over the Gram matrix and the
        largest residual compared with `tol`, or rows read; time elapsed, and an estimate of the time left. 2: a line at
        every pass. The result is bitwise the same. scikit-learn's callbacks (``set_callbacks``, from 1.9 on) get the
        same information.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Eigenvalues of the centered Gram matrix, in decreasing order.
    eigenvectors_ : ndarray of shape (n_samples, k)
        Orthonormal eigenvectors of the centred Gram matrix; the entry of largest modulus of each is positive (among
        10,000 evenly spaced rows, where there are more). Methods with explicit features compute the eigenvectors on
        first access. Not available with ``keep_data=False`` and after `partial_fit`.
    explained_variance_ : ndarray of shape (k,)
        ``eigenvalues_`` divided by the total weight.
    explained_variance_ratio_ : ndarray of shape (k,)
        Fraction of the exact total variance, which includes the discarded components.
    certificate_ : Certificate
        For each component, an interval that contains the true eigenvalue, and a bound on the angle.
    plan_ : Plan
        The chosen method, and the estimated cost of all methods.
    method_ : str
        The method that ran.
    passes_ : int
        Number of passes over the Gram matrix.
    X_fit_ : {ndarray, CSR} of shape (n_samples, n_features)
    gamma_ : float
    dual_coef_ : ndarray of shape (n_samples, n_features)
        With ``fit_inverse_transform=True``. Where the Gram matrix of the components exceeds `memory_limit`, the
        regression uses at most 1000 landmarks among the components.
    X_transformed_fit_ : ndarray of shape (n_samples, k)
        With ``fit_inverse_transform=True``; the components that ``dual_coef_`` belongs to.
    n_components_ : int
        Number of components.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if X has feature names.
    fill_values_ : ndarray of shape (n_features,)
        Values imputed for missing ones, if X is a source with ``missing="mean"`` or ``"median"``.
    compression_ : Compression
        Of a model that `compressed` returned: what it has lost.
    read_options_ : ReadOptions
        How numbers were written, and what columns contained, if X was a CSV file: later files are read in the same way.

    See Also
    --------
    sklearn.decomposition.KernelPCA : The same interface, with the Gram matrix in memory.
    select_bandwidth : Choose the bandwidth of a kernel from the rows.
    KernelKMeans : Clusters in feature space.
    KernelDiscriminantAnalysis : Directions that separate classes.
    subspace_distance : One number for the angles between two models.
    load : Load a model that was saved.

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
        "method": [MethodNames({"auto", *methods})],
        "center_input": ["boolean"],
        "scale_input": ["boolean"],
        "domain": ["array-like", None],
        "keep_data": ["boolean"],
        "max_support": [Interval(Integral, 1, None, closed="left"), None],
        "forget": [Interval(Real, 0, None, closed="neither"), None],
        "checkpoint": [str, PathLike, None],
        "time_limit": [Interval(Real, 0, None, closed="neither"), str, None],
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
        time_limit: float | str | None = None,
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
        self.time_limit = time_limit
        self.verbose = verbose

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """As in scikit-learn, which reads the signature at every call: a tenth of the time of a small fit."""
        return list(super()._get_param_names())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelPCA:
        """Fit the model to X.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path, source, or dask Array or DataFrame
            For ``kernel="precomputed"`` the Gram matrix (n_samples, n_samples). A path to a ``.npy``, ``.csv``,
            ``.parquet``, HDF5 or zarr file or a folder of such files, a source from :func:`gramless.open_source`, or an
            iterator of row blocks is read block by block. A Dask collection stays on its workers, on the active
            client's cluster or on a local cluster started for the call.
        y : ignored
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Non-negative weights. A weight of 2 is equivalent to repeating the row, 0 to omitting it. A string names the
            column of weights, in a source with column names.

        Returns
        -------
        KernelPCA
            This estimator.
        """
        question = self._question()
        with at_work(self, X, y, sample_weight) as callbacks:
            fitted = copy.copy(self)
            with self._rows(fitted, X, sample_weight, question.count) as rows:
                fitted._fit = fitting.fit(question, rows)
        fitted._began = _settled(self)
        return self._become(fitted, callbacks)

    @available_if(_can_stream)  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelPCA:
        """Incremental fit on a batch of rows: the model of all rows so far; `transform` may be called at any time.

        What a stream stores depends on the kernel (see ``plan_``). Moments of explicit features give the same model for
        batches in any order: exactly for polynomial kernels, and with ``domain=`` for Gaussian and Matern kernels in
        few dimensions. Otherwise the eigenspace of each batch is merged with the eigenspace of all earlier batches, on
        the rows seen or, with ``max_support=``, on a limited number of rows. For a kernel that is not positive
        semidefinite, the stream stores its rows, and solves the eigenproblem when the model is needed. The model is
        that of a `fit` up to the signs of its components. A `gamma` given as a string is computed from the first batch,
        which must have at least 30 rows then.

        A fitted model can be continued. After a fit by products with the Gram matrix, the eigenproblem of its rows is
        first solved again, for as many directions as a stream maintains, which takes once or twice the time of the fit.
        Where that is more than ten minutes, an ``UncertifiedWarning`` says that the intervals of the certificate will
        be wide.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path or source
            One or more rows. Every block of a file or another source is a batch.
        y : ignored
        sample_weight : array-like of shape (n_samples,) or str, default=None
            A string names the column of weights, in a source with column names.

        Returns
        -------
        KernelPCA
            This estimator, ready to transform.
        """
        before = getattr(self, "_fit", None)
        _refuse_changed(self)
        with at_work(self, X, y, sample_weight) as callbacks:
            fitted = copy.copy(self)
            with self._batch(fitted, X, sample_weight) as rows:
                fitted._fit = fitting.extend(self._question(), before, rows)
        if before is None:
            fitted._began = _settled(self)
        return self._become(fitted, callbacks)

    @available_if(_can_stream)  # type: ignore[untyped-decorator]
    def partial_unfit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelPCA:
        """Remove rows that `partial_fit` or `fit` has added, with the same weights.

        Only streams with explicit features allow this, as moments can be subtracted. The rows need not have come as one
        batch. The rounding errors of the removed rows remain, and the certificate includes them.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        KernelPCA
            This estimator, as if it had never seen these rows.
        """
        if self.forget is not None:
            raise ValueError(f"forget={self.forget!r} has changed the weights of old rows: they cannot be removed")
        if self.fit_inverse_transform:
            raise ValueError("fit_inverse_transform=True stores a sample of the rows: they cannot be removed")
        if not hasattr(self, "_fit"):
            raise ValueError("there are no rows to remove: call partial_fit first")
        _refuse_changed(self)
        fitted = copy.copy(self)
        with use_threads(self.n_jobs), self._batch(fitted, X, sample_weight) as rows:
            fitted._fit = fitting.shrunk(self._question(), self._fit, rows)
        return self._become(fitted)

    def merge(self, other: KernelPCA) -> KernelPCA:
        """A new model of both data sets together: their moments add, or their eigenspaces are merged.

        Rows that both models have seen count twice. The signs of components may differ from those of a `fit`.

        Parameters
        ----------
        other : KernelPCA
            Fitted with the same kernel and method, to rows with the same columns and dtype. With ``forget=``, each row
            keeps the weight that it has in its model.

        Returns
        -------
        KernelPCA

        Raises
        ------
        ValueError
            If the two models cannot be merged; the message names the difference.
        """
        _refuse_changed(self)
        _refuse_changed(other)
        refuse_to_merge(self, other)
        merged = copy.copy(self)
        with use_threads(self.n_jobs):
            merged._fit = fitting.join(self._question(), self._fit, other._question(), other._fit)
        return merged

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the scores of X: (n_samples, k)."""
        self.fit(X, sample_weight=sample_weight)
        if library_of(X) is not None or self._fit.x is None:
            return self.transform(X)
        with use_threads(self.n_jobs):
            return like_given(fitting.in_precision(self._fit.scores(), self._fit.x), X)

    def transform(self, X: Any, out: Any = None) -> Any:
        """Project rows onto the components, block by block.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features), path, source, or dask Array or DataFrame
            For ``kernel="precomputed"`` the kernel values (m, n_samples) of new points and training points.
        out : str or Path, default=None
            A ``.npy``, ``.npz``, ``.parquet`` or ``.csv`` file to write to, block by block; it appears once complete.

        Returns
        -------
        ndarray of shape (m, k), or `out` where that is given
            A Dask array, not computed yet, for a Dask collection.

        Notes
        -----
        A model of 2,048 training points or more that was fitted with ``tol`` of at least 1e-6 (the default for float32
        rows is 1e-5) computes kernel values in float32, which takes about half the time, if this changes the
        components of 64 of its points by at most 1e-6 of their standard deviation. Rows more than twice as far from
        the mean as any training point are computed in float64.
        """
        check_is_fitted(self)
        return applied(self, X, self._finished().projection(), self._n_features_out, out)

    def plan(self, X: Any, sample_weight: Any = None) -> Plan:
        """The estimated cost of each method for X, and the method that `fit` would choose; nothing is fitted.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path or source
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        Plan

        Examples
        --------
        >>> import numpy as np
        >>> from gramless import KernelPCA
        >>> X = np.random.default_rng(0).random((500, 2))
        >>> kpca = KernelPCA(5, kernel="rbf", gamma="median")
        >>> kpca.plan(X).chosen == kpca.fit(X).method_
        True
        """
        asked = copy.copy(self)
        asked.checkpoint = None
        question = self._question()
        with use_threads(self.n_jobs), self._rows(asked, X, sample_weight, question.count) as rows:
            return fitting.prepare(question, rows).plan

    def truncate(self, k: int) -> KernelPCA:
        """A new estimator with the leading `k` components of this model, without a new fit."""
        check_is_fitted(self)
        found = self._finished()
        kept = len(found.eigenvalues)
        if not isinstance(k, Integral) or not 1 <= k <= kept:
            raise ValueError(f"k={k!r} is invalid for a model with {kept} components; pass 1 to {kept}")
        smaller = copy.copy(self)
        smaller.n_components = int(k)
        less = None if found.compression is None else found.compression.truncated(int(k))
        smaller._fit = replace(found, model=found.finished.truncated(int(k)), preimage=None, compression=less)
        if found.x is not None:
            smaller._fit = fitting.learn_preimage(smaller._question(), smaller._fit)
        return smaller

    def inverse_transform(self, X: Any, *, method: str = "ridge") -> Array:
        """Transform scores back to the input space (pre-images).

        Parameters
        ----------
        X : array-like of shape (m, k)
            Scores.
        method : {"auto", "ridge", "fixed_point", "distances"}, default="ridge"
            ``"ridge"``: kernel ridge regression of the rows on their scores, as in scikit-learn; needs
            ``fit_inverse_transform=True``. ``"auto"``: the input whose image is nearest, for every kernel: exact for
            linear and cosine, ``"fixed_point"`` for radial kernels, gradient descent for the others.
            ``"fixed_point"``: the iteration of Mika et al. (1999), for radial kernels; rows for which it does
            not converge fall back to ``"distances"`` with a :class:`~gramless.errors.PreimageWarning`. ``"distances"``:
            from distances to the nearest training points (Kwok & Tsang 2004), for radial kernels.

        Returns
        -------
        ndarray of shape (m, n_features)
        """
        check_is_fitted(self)
        return preimages.inverse(self, X, method)

    def denoise(self, X: Any, *, method: str = "auto") -> Array:
        """Denoise rows: the pre-images of their projections onto the components.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        method : {"auto", "ridge", "fixed_point", "distances"}, default="auto"
            As for `inverse_transform`; iterations start from the row itself.

        Returns
        -------
        ndarray of shape (m, n_features)
        """
        return preimages.denoised(self, read_new_rows(self, X), method)

    def reconstruction_error(self, X: Any, *, space: str = "feature", method: str = "auto") -> Array:
        """Reconstruction error of each row, for anomaly and novelty detection.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features)
        space : {"feature", "input"}, default="feature"
            ``"feature"``: squared distance of phi(x) from the span of the components (Welling, eq. 5). It needs no
            pre-image; over the training rows the errors sum to the discarded eigenvalues. ``"input"``: squared
            distance between x and ``denoise(x)``, which allows a comparison of kernels.
        method : {"auto", "ridge", "fixed_point", "distances"}, default="auto"
            Method of the pre-image, with ``space="input"``.

        Returns
        -------
        ndarray of shape (m,)
        """
        return preimages.reconstruction_errors(self, X, space, method)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the mean reconstruction error of X, for cross-validation: higher is better.

        With ``fit_inverse_transform=True`` the error is that of the inverse transform in the input space, which allows
        a comparison of kernels and their parameters. Otherwise it is measured in feature space, which only allows a
        comparison of models with the same kernel.

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features)
        y : ignored
        sample_weight : array-like of shape (m,), default=None

        Returns
        -------
        float
        """
        space = "input" if self.fit_inverse_transform else "feature"
        errors = self.reconstruction_error(X, space=space, method="ridge")
        weights = _check_sample_weight(sample_weight, errors[:, None], dtype=np.float64)
        return -float(np.average(errors, weights=weights))

    def preimage_error(self, scores: Any, X: Any) -> Array:
        """Squared distance in feature space between points given by their components and the images of rows.

        The error is 0 for an exact pre-image. Where it is large compared with ``reconstruction_error``, the point in
        feature space has no exact pre-image (Fasel, slide 23).

        Parameters
        ----------
        scores : array-like of shape (m, k)
        X : array-like of shape (m, n_features)
            Pre-images, as `inverse_transform` returns them.

        Returns
        -------
        ndarray of shape (m,)
        """
        return preimages.preimage_error(self, scores, read_new_rows(self, X))

    #: Types of the values in a file, by their names in the file.
    SAVED: ClassVar[dict[str, Any]] = {
        "X_fit_": ROWS,
        **dict.fromkeys(("X_transformed_fit_", "dual_coef_", "_weights", "_input_mean", "_input_scale"), np.ndarray),
        **READING,
        "_began": dict[str, Any],
        "_preimage": RidgePreimage,
        "_sample": RowSample | None,
        "gamma_": float,
        "method_": str,
        "plan_": Plan,
        "_fitted": Model,
        "_space": Eigenspace,
        "certificate_": Certificate,
        "compression_": Compression,
        **dict.fromkeys(("eigenvalues_", "explained_variance_", "explained_variance_ratio_"), np.ndarray),
        "passes_": int,
        "_stream": State,
        "_before": Eigenspace | None,
        "_dtype": np.dtype,
    }

    def saved(self) -> dict[str, Any]:
        """The fit as a flat dict for files; its names are kept from versions before :class:`~gramless.fitting.Fit`."""
        fit = self._fit
        values: dict[str, Any] = {
            "X_fit_": fit.x,
            "_weights": fit.weights,
            "_input_mean": fit.scaling.mean,
            "_input_scale": fit.scaling.scale,
            **{name: getattr(self, name, None) for name in READING},
            "_began": _changed(self) or None,
            "_preimage": fit.preimage,
            "_sample": fit.sample,
            "gamma_": fit.gamma,
            "method_": fit.plan.chosen,
            "plan_": fit.plan,
            "compression_": fit.compression,
        }
        if fit.preimage is not None:
            values |= {"X_transformed_fit_": self.X_transformed_fit_, "dual_coef_": self.dual_coef_}
        if fit.model is not None:
            values |= {"_fitted": fit.model, "_space": fit.model.space, "certificate_": fit.model.certificate}
            values |= {"eigenvalues_": fit.eigenvalues, "explained_variance_": fit.variances}
            values |= {"explained_variance_ratio_": fit.ratios, "passes_": fit.model.passes}
        values = {name: value for name, value in values.items() if value is not None}
        if fit.state is not None:
            values |= {"_stream": fit.state, "_before": fit.before, "_dtype": np.dtype(fit.dtype)}
        return values

    def restore(self, values: dict[str, Any]) -> None:
        """Set the fit from the values that :meth:`saved` returned."""
        model, state = values.get("_fitted"), values.get("_stream")
        if model is None and state is None:
            raise ValueError("there is neither a model nor a stream")
        for name in READING.keys() & values.keys():
            setattr(self, name, values[name])
        self._began = _settled(self) | values.get("_began", {})
        self._fit = Fit(
            plan=values["plan_"],
            gamma=values["gamma_"],
            scaling=Scaling(values.get("_input_mean"), values.get("_input_scale")),
            dtype=values["_dtype"] if model is None or "_dtype" in values else values["eigenvalues_"].dtype,
            model=model,
            state=state,
            before=values.get("_before"),
            x=values.get("X_fit_"),
            weights=values.get("_weights"),
            sample=values.get("_sample"),
            preimage=values.get("_preimage"),
            compression=values.get("compression_"),
        )

    def symbolic(self, x: Symbolic) -> dict[str, Any]:
        """Scores of symbolic rows, for :meth:`to_onnx`."""
        return {"transform": self._finished().project(x)}

    def _results_error(self) -> float:
        return estimator_error(self._finished().finished.space.span)

    def _rows_to_compare(self) -> Array:
        found = self._finished()
        if found.x is not None:
            return some_rows(found.x)
        return np.asarray(found.scaling.inverse(rows_like(found.finished.space.span, self.n_features_in_)))

    # ------------------------------------------------------------------------------------------- attributes of the fit

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the centered Gram matrix (k,), descending."""
        return self._finished().eigenvalues

    @property
    def eigenvectors_(self) -> Array:
        """Eigenvectors of the centered Gram matrix (n_samples, k), computed on first access."""
        found: Fit | None = getattr(self, "_fit", None)
        if found is None or found.x is None or found.weights is None:
            raise AttributeError(
                "eigenvectors_ needs the training rows: there are none before fit, with keep_data=False, in a "
                "stream, or in a compressed model"
            )
        if found.finished.vectors is None:
            model = found.finished.with_vectors(found.project(found.x), found.weights)
            self._fit = found = replace(found, model=model)
        vectors = found.finished.vectors
        return np.asarray(vectors).astype(found.eigenvalues.dtype, copy=False)

    @property
    def explained_variance_(self) -> Array:
        """``eigenvalues_`` divided by the total weight (k,)."""
        return self._finished().variances

    @property
    def explained_variance_ratio_(self) -> Array:
        """Fraction (k,) of the exact total variance, which includes the discarded components."""
        return self._finished().ratios

    @property
    def certificate_(self) -> Certificate:
        """For each component, an interval that contains the true eigenvalue, and a bound on the angle."""
        return self._finished().finished.certificate

    @property
    def compression_(self) -> Compression:
        """What a model that `compressed` returned has lost."""
        found = self._known().compression
        if found is None:
            raise AttributeError("this model is not compressed: compressed() returns one that is")
        return found

    @property
    def passes_(self) -> int:
        """Number of passes over the Gram matrix."""
        return self._finished().finished.passes

    @property
    def plan_(self) -> Plan:
        """The chosen method, and the estimated cost of all methods."""
        return self._known().plan

    @property
    def method_(self) -> str:
        """The method that ran."""
        return self._known().plan.chosen

    @property
    def gamma_(self) -> float:
        """The value of `gamma` that was used."""
        return self._known().gamma

    @property
    def X_fit_(self) -> Any:
        """Training rows (n_samples, n_features)."""
        found = self._known().x
        if found is None:
            raise AttributeError(
                "X_fit_ is not stored: keep_data=False, a stream, a compressed model, or rows read in blocks"
            )
        return found

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the inverse transform (n_samples, n_features)."""
        learnt, dtype = self._learnt()
        return learnt.coefficients.astype(dtype)

    @property
    def X_transformed_fit_(self) -> Array:
        """Components (n_samples, k) that ``dual_coef_`` belongs to."""
        learnt, dtype = self._learnt()
        return learnt.scores.astype(dtype)

    # --------------------------------------------------------------------------------------------------- compression

    def _input_scaling(self) -> Scaling:
        return self._known().scaling

    def _outputs(self) -> Outputs | Compression:
        found = self._finished()
        space, rows, weights = found.finished.space, None, found.weights
        if isinstance(space.span, PointSpan):  # of rows, the mean has their weights as coefficients
            weights = space.mean if (space.mean >= 0).all() and space.mean.any() else None
        elif found.x is not None:
            rows = found.scaling(found.x)
        scales = np.append(np.sqrt(np.maximum(space.scatter, 0.0) / space.weight), max(space.trace, 0.0) / space.weight)
        names = np.append(numbered(len(space.scatter)), "mean")
        both = np.column_stack([space.basis, space.mean])
        return outputs_on_points(space.span, both, names, scales=scales, rows=rows, weights=weights)

    def _on_fewer(self, points: Any, coefficients: Any, compression: Compression) -> KernelPCA:
        smaller, found = copy.copy(self), self._finished()
        if points is None:
            smaller._fit = replace(found, compression=compression)
            return smaller
        span: Any = found.finished.space.span
        space = replace(
            found.finished.space,
            span=PointSpan(span.kernel, points, span.device),
            basis=coefficients[:, :-1],
            mean=coefficients[:, -1],
            bounds=None,
        )
        model = replace(found.finished, space=space, vectors=None, moments=None, residuals=None)
        question = self._question()
        fewer = fitting.resampled(question, found, compression.points)
        fewer = replace(fewer, model=model, state=None, before=None, compression=compression)
        smaller._fit = fitting.learn_preimage(question, fewer)
        return smaller

    def _bytes_per_point(self, points: Any, count: int) -> float:
        learnt = 2 * self.n_features_in_ + count + 2 if self.fit_inverse_transform else 0
        return super()._bytes_per_point(points, count) + 2 * 8 * learnt

    def _become(self, fitted: KernelPCA, callbacks: Callbacks | None = None) -> KernelPCA:
        """Take over all attributes of a complete fit in one assignment; only then call the callbacks."""
        self.__dict__ = fitted.__dict__
        if callbacks is not None:
            callbacks.ends()
        return self

    def _known(self) -> Fit:
        """The fit; raises an AttributeError before the first fit, so that ``hasattr`` is correct."""
        found: Fit | None = getattr(self, "_fit", None)
        if found is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return found

    def _finished(self) -> Fit:
        """The fit with its model; a stream computes its model on first access."""
        found = self._known()
        if found.model is None:
            with use_threads(self.n_jobs):
                self._fit = found = fitting.finish(self._question(), found)
        return found

    def _learnt(self) -> tuple[RidgePreimage, Any]:
        """The inverse transform and the dtype of its attributes; raises an AttributeError where it was not fitted."""
        found = self._known()
        if found.preimage is None:
            raise AttributeError("the inverse transform was not fitted: set fit_inverse_transform=True, and fit")
        rows = found.x if found.sample is None else found.sample.rows
        return found.preimage, rows.dtype

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")

    # ----------------------------------------------------------------------------------------------- the request

    def _question(self) -> Question:
        """The question that the parameters pose."""
        precomputed = is_precomputed(self.kernel)
        if isinstance(self.gamma, str) and isinstance(self.kernel, Kernel):
            raise ValueError(
                f"gamma={self.gamma!r} chooses the bandwidth of kernels given by name, and {self.kernel} has one; "
                f"pass kernel=gramless.select_bandwidth(X, {self.kernel}, {self.gamma!r}).kernel"
            )
        moves = "scale" if self.scale_input else "center" if self.center_input else ""
        asked = self.tol > 0 or self.eigen_solver == "arpack"
        return Question(
            kernel=kernel_choice(self, self.n_components, self.alpha if self.fit_inverse_transform else None),
            **components_asked(self.n_components),
            tol=self.tol if asked else None,
            strict=self.tol > 0,
            method=self.method,
            solver=self.eigen_solver,
            iterated_power=self.iterated_power,
            max_iter=self.max_iter,
            memory_limit=self.memory_limit,
            device=self.device,
            time_limit=parse_seconds(self.time_limit),
            moves="" if precomputed else moves,
            scalable=True,
            domain=None if precomputed else self.domain,
            keep_rows=self.keep_data,
            support=self.max_support,
            half_life=self.forget,
            ridge=self.alpha if self.fit_inverse_transform else None,
            fewest=0 if self.remove_zero_eig or self.n_components is None else None,
            seed=self.random_state,
        )

    @contextmanager
    def _rows(self, fitted: KernelPCA, X: Any, sample_weight: Any, count: int) -> Iterator[Rows]:
        """Context of rows to fit to: at least two rows, and at least as many rows as components."""
        if self.fit_inverse_transform and self._precomputed:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: it has no inputs to return to.")
        read_only = isinstance(X, np.memmap) and not X.flags.writeable  # the caller cannot change the rows through X
        copied = self.copy_X and self.keep_data and not read_only
        checks = {"checkpoint": fitted.checkpoint, "copy": copied, "ensure_min_samples": 2}
        with opened_rows(fitted, X, sample_weight, **checks) as rows:
            if isinstance(rows, MemoryRows) and count > rows.n:
                raise ValueError(
                    f"n_components={self.n_components} is more than the {rows.n} samples given; pass at most {rows.n}"
                )
            yield rows

    def _batch(self, fitted: KernelPCA, X: Any, sample_weight: Any) -> Any:
        """Context of the rows of a batch, whose columns must match those of earlier rows."""
        if self.fit_inverse_transform and self._precomputed:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: it has no inputs to return to.")
        return opened_rows(fitted, X, sample_weight, reset=not hasattr(self, "_fit"), ensure_min_samples=1)

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernel)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.fit_inverse_transform
        tags.input_tags.pairwise = self._precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def n_components_(self) -> int:
        """Number of components."""
        return len(self._finished().eigenvalues)

    _n_features_out = n_components_


def _settled(model: KernelPCA) -> dict[str, Any]:
    """The parameters that the state of a stream belongs to; they take effect with the next `fit`."""
    return {name: getattr(model, name) for name in _SETTLED}


def _changed(model: KernelPCA) -> dict[str, Any]:
    """Those of :func:`_settled` that were other ones when the model was fitted, as they were then."""
    began = getattr(model, "_began", {})
    return {name: value for name, value in began.items() if not _equal(value, getattr(model, name))}


def _refuse_changed(model: KernelPCA) -> None:
    """Raise where a parameter was changed that the state of the fitted model belongs to."""
    for name, value in _changed(model).items():
        raise ValueError(
            f"{name}={getattr(model, name)!r} was set after the model was fitted with {name}={value!r}, and takes "
            f"effect with the next fit; set {name} back to continue, or begin a new stream with clone(model)"
        )


def _equal(first: Any, second: Any) -> bool:
    """Whether two values of a parameter are the same; arrays are compared by their elements."""
    return first is second or bool(np.array_equal(first, second))
