"""Kernel k-means with scikit-learn's interface."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gramless.arrays import Array, Symbolic, read_seed, use_threads
from gramless.clustering import (
    CenterModel,
    Clustering,
    Settings,
    center_preimage,
    find_clusters,
    make_cloud,
    nearest_members,
    plan_clustering,
)
from gramless.data import ClusterRows, Rows, Scaling, library_of
from gramless.estimators.applying import Labels, applied
from gramless.estimators.checking import READING, like_given, opened_rows, to_numpy_rows
from gramless.estimators.compressing import Compressing, numbered, outputs_on_points
from gramless.estimators.exporting import Exporting
from gramless.estimators.parameters import KERNEL_CONSTRAINTS, MethodNames, kernel_choice
from gramless.estimators.saving import Saving, estimators
from gramless.estimators.summary import NotebookSummary
from gramless.export.rows import rows_like, some_rows
from gramless.features import maps
from gramless.fitting import Prepared, prepare, warn_of_dominance
from gramless.fitting.methods import Plan
from gramless.fitting.question import Question
from gramless.kernels import is_precomputed
from gramless.persistence.classes import ROWS
from gramless.problem import Problem
from gramless.spaces import Compression, Outputs, PointSpan
from gramless.warning import warn


@estimators.register("KernelKMeans")
class KernelKMeans(
    Saving,
    Exporting,
    Compressing,
    NotebookSummary,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """K-means in the feature space of a kernel, for any kernel and any number of rows.

    A cluster consists of the points that are nearer, in feature space, to its mean than to any other mean. Distances
    need only sums of kernel values (Vasconcelos' S terms), so that the means are never formed. Where the kernel has
    explicit features, ordinary k-means of the features does the same in a time that grows with N, not with its square.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "random"} or array-like of shape (n_samples,), default="k-means++"
        Initialization of the centers: far apart in feature space, or uniformly at random; or initial labels.
    n_init : int or "auto", default="auto"
        Number of initializations, of which the best is used; ``"auto"``: 10 for ``init="random"``, 1 otherwise.
    max_iter : int, default=300
    tol : float, default=1e-4
        Convergence: the squared shifts of the centers sum to less than this fraction of the variance in feature
        space.
    kernel, gamma, degree, coef0, kernel_params :
        As in :class:`KernelPCA`; the default is a Gaussian kernel with ``gamma="median"``.
    method : str, default="auto"
        ``"tiled"``: exact sums over the Gram matrix, ``"cuda"``: the same on a GPU; or a map of explicit features:
        ``"monomials"``, ``"taylor"``, ``"fourier"``, ``"landmarks"``, ``"composite"``. ``"auto"``: the cheapest method
        that is accurate enough, see ``plan_``.
    accuracy : float, default=1e-6
        Tolerated error of explicit features: at most about this fraction of the largest variance in kernel values, and
        this fraction of the total variance in the inertia. 0 allows only methods that are exact up to rounding.
    memory_limit : int, str or None, default=None
        Memory that `fit` may use in addition to the data: bytes, or a string such as ``"2GB"``. None: half of the free
        memory.
    device : {"cpu", "cuda", "auto", "torch"}, default="cpu"
        ``"cuda"``: sums over the Gram matrix, features and distances on a CUDA GPU (needs the extra ``gpu``);
        ``"auto"``: on a GPU where there is one and the plan finds it cheaper; ``"torch"``: the same with torch on the
        CPU. Torch tensors as input give torch tensors as output.
    scale_input : bool, default=False
        Subtract the mean of the rows and divide every column by its standard deviation before the kernel is applied, so
        that columns in different units have equal influence. The model stores means and standard deviations.
    random_state : int, RandomState or None, default=None
        Seed; an int gives bitwise reproducible results. Neither the order of the rows nor the number of threads changes
        the partition.
    n_jobs : int, default=None
        Number of threads; None: all cores.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        Weighted sum of squared distances from the nearest center, in feature space.
    n_iter_ : int
    method_ : str
    plan_ : Plan
    gamma_ : float
    prototype_indices_ : ndarray of shape (n_clusters,)
        Index of the cluster's row that is nearest to its center; -1 for an empty cluster.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if X has feature names.
    fill_values_ : ndarray of shape (n_features,)
        Values imputed for missing ones, if X is a source with ``missing="mean"`` or ``"median"``.
    compression_ : Compression
        Of a model that `compressed` returned: what it has lost. Such a model has neither ``labels_`` nor ``X_fit_``;
        the outputs are the inner products of rows with the centers, and squared distances change by twice as much.
    read_options_ : ReadOptions
        How numbers were written, and what columns contained, if X was a CSV file: later files are read in the same way.

    See Also
    --------
    sklearn.cluster.KMeans : k-means in the input space.
    KernelPCA : Leading components in feature space, exact or by explicit features.
    select_bandwidth : Choose the bandwidth of a kernel from the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gramless import KernelKMeans
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> labels = KernelKMeans(2, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "method": [MethodNames({"auto", "tiled", "cuda", *(name for name in maps if not maps[name].leading)})],
        "accuracy": [Interval(Real, 0, 1, closed="left")],
        "scale_input": ["boolean"],
    }

    #: Attributes that :meth:`save` writes.
    SAVED: ClassVar[dict[str, Any]] = {
        "X_fit_": ROWS,
        **READING,
        **dict.fromkeys(("_weights", "_input_mean", "_input_scale", "labels_", "prototype_indices_"), np.ndarray),
        "_prototype_rows": ROWS,
        "_model": CenterModel,
        "compression_": Compression,
        **dict.fromkeys(("inertia_", "gamma_"), float),
        "n_iter_": int,
        "method_": str,
        "plan_": Plan,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        kernel: Any = "rbf",
        gamma: float | str | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        method: str = "auto",
        accuracy: float = 1e-6,
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        scale_input: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.method = method
        self.accuracy = accuracy
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.scale_input = scale_input

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelKMeans:
        """Compute kernel k-means clustering.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path, source, or dask Array or DataFrame
            For ``kernel="precomputed"`` the Gram matrix (n_samples, n_samples). A ``.npy`` file is memory-mapped, other
            files are read to memory. A Dask collection stays on its workers, on the active client's cluster or on a
            local cluster started for the call.
        y : ignored
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Non-negative weights. A weight of 2 is equivalent to repeating the row, 0 to omitting it; rows of weight 0
            get a label.

        Returns
        -------
        KernelKMeans
            This estimator.
        """
        fitted = self.unfitted()
        with use_threads(self.n_jobs), opened_rows(fitted, X, sample_weight, whole=True) as rows:
            self._refuse_too_many(rows)
            settings = self._settings(rows.n or 0)

            def plan(problem: Problem, method: str) -> Plan:
                return plan_clustering(problem, settings.n_init, method)

            def run(plan: Plan, placed: Problem) -> Clustering:
                rng = read_seed(self.random_state)
                return find_clusters(make_cloud(plan, prepared, self.accuracy, rng), settings, rng)

            question = self._question()
            prepared = prepare(question, rows, plan)
            warn_of_dominance(question, prepared)
            fitted.plan_, found = prepared.plan.carry_out(run)
            fitted._keep(found, prepared, rows)
        self.__dict__ = fitted.__dict__
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the labels of X."""
        return like_given(self.fit(X, sample_weight=sample_weight).labels_, X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the distances (n_samples, n_clusters) of X from the centers."""
        self.fit(X, sample_weight=sample_weight)
        if library_of(X) is not None:
            return self.transform(X)
        known = self.X_fit_.diagonal() if is_precomputed(self.kernel) else None
        with use_threads(self.n_jobs):
            return like_given(Distances(self._model, self._scaling)(self.X_fit_, known), X)

    def predict(self, X: Any) -> Any:
        """Index of the nearest center of each row: (m,).

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features), path or source
            For ``kernel="precomputed"`` the kernel values (m, n_samples) of new points and training points.
        """
        check_is_fitted(self)
        return applied(self, X, Labels(Nearest(self._model, self._scaling)), None)

    def transform(self, X: Any) -> Any:
        """Distances (m, n_clusters) from the centers, in feature space; X may be a path or source."""
        check_is_fitted(self)
        self._refuse_given("transform")
        return applied(self, X, Distances(self._model, self._scaling), self.n_clusters)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The inertia of X with the centers found, times -1; X may be a path or source."""
        check_is_fitted(self)
        self._refuse_given("score")
        squares = applied(self, X, Squares(self._model, self._scaling), None)
        if library_of(X) is not None:
            return -float((squares if sample_weight is None else squares * sample_weight).sum().compute())
        squares = to_numpy_rows(squares)
        weights = _check_sample_weight(to_numpy_rows(sample_weight), squares[:, None], dtype=np.float64)
        return -float(weights @ squares)

    def prototypes(self, method: str = "preimage") -> Any:
        """A point of the input space for each cluster: a center in feature space may have no exact pre-image.

        Parameters
        ----------
        method : {"preimage", "nearest"}
            ``"preimage"``: the point whose image is nearest to the center, by descent from the nearest row and from the
            mean of the cluster's rows. ``"nearest"``: the nearest of the cluster's rows, not necessarily optimal
            (Vasconcelos).

        Returns
        -------
        {ndarray, CSR} of shape (n_clusters, n_features)
        """
        check_is_fitted(self)
        if method not in ("preimage", "nearest"):
            raise ValueError(f"method={method!r} is invalid; pass 'preimage' or 'nearest'")
        self._refuse_given("prototypes")
        if (self.prototype_indices_ < 0).any():
            raise ValueError("some clusters are empty and have no prototype; fit with a smaller n_clusters")
        rows = getattr(self, "_prototype_rows", None)
        if method == "nearest":
            return self.X_fit_[self.prototype_indices_] if rows is None else rows
        if rows is not None:
            raise ValueError(
                "a pre-image needs the training rows, which this model does not have; pass method='nearest'"
            )
        if scipy.sparse.issparse(self.X_fit_):
            raise ValueError("a pre-image of sparse rows is dense; fit X.toarray(), or pass method='nearest'")
        with use_threads(self.n_jobs):
            found = [self._preimage(cluster) for cluster in range(self.n_clusters)]
        return self._scaling.inverse(np.array(found)).astype(self.X_fit_.dtype)

    def _preimage(self, cluster: int) -> Array:
        members = np.flatnonzero((self.labels_ == cluster) & (self._weights > 0))
        rows = self._scaling(self.X_fit_[members])
        nearest = self._scaling(self.X_fit_[self.prototype_indices_[[cluster]]])
        kernel = self._model.span.kernel  # type: ignore[attr-defined]
        return center_preimage(kernel, rows, self._weights[members], nearest)

    def _question(self) -> Question:
        """The question that the parameters pose; `count` is the number of clusters."""
        return Question(
            kernel=kernel_choice(self),
            count=self.n_clusters,
            tol=self.accuracy,
            method=self.method,
            memory_limit=self.memory_limit,
            device=self.device,
            moves="scale" if self.scale_input and not is_precomputed(self.kernel) else "",
            scalable=True,
            seed=self.random_state,
        )

    def _refuse_too_many(self, rows: Rows) -> None:
        """Raise unless there are as many rows of positive weight as clusters."""
        counted = rows.positive if isinstance(rows, ClusterRows) else int((rows.whole().weights > 0).sum())
        if counted < self.n_clusters:
            of = "" if counted == rows.n else " of positive weight"
            raise ValueError(
                f"n_samples={counted}{of} should be >= n_clusters={self.n_clusters}; pass at most {counted} clusters"
            )

    def _settings(self, n: int) -> Settings:
        """Settings of the search; given labels allow one start only, as all starts would be the same."""
        start = _read_start(self.init, n, self.n_clusters)
        drawn = isinstance(start, str)
        auto = 10 if drawn and start == "random" else 1
        n_init = int(self.n_init) if drawn and self.n_init != "auto" else auto
        return Settings(self.n_clusters, start, n_init, self.max_iter, self.tol)

    def _keep(self, found: Clustering, prepared: Prepared, rows: Rows) -> None:
        """Set the fitted attributes."""
        self.method_, self.gamma_, self._model = self.plan_.chosen, prepared.gamma, found.model
        scaling = prepared.rows.scaling
        if scaling:
            self._input_mean, self._input_scale = scaling.mean, scaling.scale
        self.labels_ = found.labels.astype(np.int32)
        self.inertia_, self.n_iter_ = found.inertia, found.n_iter
        parted = rows if isinstance(rows, ClusterRows) else None
        self._weights = rows.whole().weights if parted is None else parted.weights
        self.prototype_indices_ = nearest_members(found.labels, found.distances2, self._weights, self.n_clusters)
        if parted is None:
            self.X_fit_ = rows.whole().original
        else:  # rows stay on the cluster, except those nearest to the centers
            self._prototype_rows = parted.view[np.maximum(self.prototype_indices_, 0)]
        occupied = int((self.prototype_indices_ >= 0).sum())
        if occupied < self.n_clusters:
            warn(
                f"{occupied} distinct clusters found, fewer than n_clusters={self.n_clusters}: X may contain "
                "duplicate rows",
                ConvergenceWarning,
            )
        elif not found.converged:
            warn(
                f"KernelKMeans did not converge in max_iter={self.max_iter} iterations; increase max_iter or tol",
                ConvergenceWarning,
            )

    def symbolic(self, x: Symbolic) -> dict[str, Any]:
        """Labels of symbolic rows, for :meth:`to_onnx`."""
        return {"predict": Nearest(self._model, self._scaling)(x)}

    def _rows_to_compare(self) -> Array:
        if hasattr(self, "X_fit_"):
            return some_rows(self.X_fit_)
        return np.asarray(self._scaling.inverse(rows_like(self._model.span, self.n_features_in_)))

    def restore(self, values: dict[str, Any]) -> None:
        """Set the attributes from a file; raises where there is not one prototype for each center."""
        rows, model = values.get("_prototype_rows"), values.get("_model")
        if rows is not None and model is not None and rows.shape[0] != model.coefficients.shape[1]:
            raise ValueError(f"there are {rows.shape[0]} prototypes for {model.coefficients.shape[1]} centers")
        super().restore(values)

    def _input_scaling(self) -> Scaling:
        return self._scaling

    def _outputs(self) -> Outputs | Compression:
        rows = getattr(self, "X_fit_", None)
        more = {"weights": getattr(self, "_weights", None), "rows": None if rows is None else self._scaling(rows)}
        more = more if rows is not None else {}
        names = numbered(self._model.coefficients.shape[1])
        return outputs_on_points(self._model.span, self._model.coefficients, names, **more)

    def _on_fewer(self, points: Any, coefficients: Any, compression: Compression) -> KernelKMeans:
        smaller = copy.copy(self)
        smaller.compression_ = compression
        if points is None:
            return smaller
        span: Any = self._model.span
        smaller._model = CenterModel(
            PointSpan(span.kernel, points, span.device), coefficients, self._model.squared_norms
        )
        if hasattr(self, "X_fit_"):
            smaller._prototype_rows = self.X_fit_[np.maximum(self.prototype_indices_, 0)]
        for name in ("X_fit_", "_weights", "labels_"):
            smaller.__dict__.pop(name, None)
        return smaller

    def _fixed_bytes(self) -> int:
        return 16 * self.n_clusters * (self.n_features_in_ + 2)

    @property
    def _scaling(self) -> Scaling:
        return Scaling(getattr(self, "_input_mean", None), getattr(self, "_input_scale", None))

    def _refuse_given(self, what: str) -> None:
        if is_precomputed(self.kernel):
            raise ValueError(f"{what} needs rows, or k(x, x) of new ones, which kernel='precomputed' does not give")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters)


def _read_start(init: Any, n: int, k: int) -> Any:
    """The start for `k` clusters of `n` rows: the name of an initialization method, or validated labels (n,)."""
    if isinstance(init, str):
        return init
    labels = np.asarray(init)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init of shape {labels.shape} and type {labels.dtype} given; pass {n} labels (integers), "
            "'k-means++' or 'random'"
        )
    if labels.min() < 0 or labels.max() >= k:
        raise ValueError(f"init has labels from {labels.min()} to {labels.max()}; pass 0 to {k - 1}")
    return labels


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest center of each row; a class, like the next two, so that it can be pickled for workers."""

    model: CenterModel
    scaling: Scaling

    def __call__(self, rows: Any) -> Array:
        return self.model.nearest(self.scaling(rows))


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances from the centers, in the precision of the rows."""

    model: CenterModel
    scaling: Scaling

    def __call__(self, rows: Any, norms2: Array | None = None) -> Array:
        return np.sqrt(self.model.distances2(self.scaling(rows), norms2)).astype(rows.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class Squares:
    """Squared distances from the nearest center."""

    model: CenterModel
    scaling: Scaling

    def __call__(self, rows: Any) -> Array:
        return np.asarray(self.model.distances2(self.scaling(rows)).min(axis=1))
