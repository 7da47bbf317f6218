"""Kernel k-means with scikit-learn's interface."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gramless.arrays import Array, use_threads
from gramless.clustering import (
    CenterModel,
    Clustering,
    Settings,
    center_preimage,
    find_clusters,
    make_cloud,
    make_parted_cloud,
    nearest_members,
    plan_clustering,
)
from gramless.estimators.columns import take_columns
from gramless.estimators.constraints import KERNEL_CONSTRAINTS
from gramless.estimators.devices import given_back, placement, tensor_on, to_numpy_rows
from gramless.estimators.dominance import SCALE_INPUT, warn_of_width
from gramless.estimators.parted_clusters import (
    fit_clusters_of_parts,
    labels_of_parts,
    score_of_parts,
    transform_clusters_of_parts,
)
from gramless.estimators.posing import make_kernel, pose_problem
from gramless.estimators.reading import is_precomputed, read_new_rows, read_rows, read_seed, read_start
from gramless.estimators.saving import Saving, estimators
from gramless.estimators.seen_rows import SeenRows
from gramless.estimators.source_rows import all_rows, block_by_block, open_rows
from gramless.estimators.summary import NotebookSummary
from gramless.estimators.undoing import whole_or_nothing
from gramless.execution import library_of
from gramless.features import maps
from gramless.persistence.classes import ROWS
from gramless.planning import Plan
from gramless.sources import is_out_of_core
from gramless.warning import warn


@estimators.register("KernelKMeans")
class KernelKMeans(
    Saving,
    SeenRows,
    NotebookSummary,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """K-means in the feature space of a kernel, for any kernel and any number of rows.

    A cluster is the points nearer, in feature space, to its mean than to any other. Distances need sums of kernel
    values only (Vasconcelos' S terms), so that the means are never formed; where the kernel has explicit features,
    ordinary k-means of these does the same in a time that grows with N, not with its square.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "random"} or array-like of shape (n_samples,), default="k-means++"
        How seeds are drawn: far apart in feature space, or anywhere; or labels to begin with.
    n_init : int or "auto", default="auto"
        Starts, of which the best is kept; ``"auto"``: 10 for ``init="random"``, 1 otherwise.
    max_iter : int, default=300
    tol : float, default=1e-4
        The centres stand still when their squared movements sum to less than this part of the variance in feature
        space.
    kernel, gamma, degree, coef0, kernel_params :
        As in :class:`KernelPCA`; the default is a Gaussian with ``gamma="median"``.
    method : str, default="auto"
        ``"tiled"``: exact sums over the Gram matrix, ``"cuda"``: the same on a card; or a map of explicit features:
        ``"monomials"``, ``"taylor"``, ``"fourier"``, ``"landmarks"``, ``"composite"``. ``"auto"``: the cheapest that is
        accurate enough, see ``plan_``.
    accuracy : float, default=1e-6
        What explicit features may leave out: kernel values are off by about this part of the largest variance at most,
        and the inertia by this part of the total one. 0 allows only methods that are exact up to rounding.
    memory_limit : int, str or None, default=None
        What `fit` may take on top of the data: bytes, or a text such as ``"2GB"``. None: half of what is free.
    device : {"cpu", "cuda", "auto", "torch"}, default="cpu"
        ``"cuda"``: sums over the Gram matrix, features and distances on a CUDA card (needs the extra ``gpu``);
        ``"auto"``: where there is one and the plan finds it cheaper; ``"torch"``: the same by torch on the CPU. Torch
        tensors as rows give torch tensors back.
    scale_input : bool, default=False
        Subtract the mean of the rows and divide every column by its deviation before the kernel is applied, so that
        columns of different units count alike. Kept with the model.
    random_state : int, RandomState or None, default=None
        Same seed, same bits. Neither the order of the rows nor the number of threads changes the partition.
    n_jobs : int, default=None
        Threads; None: all cores.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        Weighted sum of squared distances from the nearest centre, in feature space.
    n_iter_ : int
    method_ : str
    plan_ : Plan
    gamma_ : float
    prototype_indices_ : ndarray of shape (n_clusters,)
        The row nearest to each centre, of the cluster's own; -1 for a cluster that is empty.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where X has names.

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
        "method": [StrOptions({"auto", "tiled", "cuda", *maps})],
        "accuracy": [Interval(Real, 0, 1, closed="left")],
        "scale_input": ["boolean"],
    }

    #: Attributes that :meth:`save` writes.
    SAVED: ClassVar[dict[str, Any]] = {
        "X_fit_": ROWS,
        **dict.fromkeys(
            ("_weights", "_prototype_rows", "_input_mean", "_input_scale", "labels_", "prototype_indices_"), np.ndarray
        ),
        "_model": CenterModel,
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
    @whole_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelKMeans:
        """Find the clusters of X.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features), path, source, or dask Array or DataFrame
            For ``kernel="precomputed"`` the Gram matrix (n_samples, n_samples). A ``.npy`` file is mapped to memory,
            other files are read to it. A Dask collection is clustered where it lies, on the active client's cluster or
            on a local one started for the call.
        y : ignored
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Not negative. A weight of 2 counts as the row twice, 0 as its absence; rows of weight 0 get a label.

        Returns
        -------
        KernelKMeans
            This estimator.
        """
        library = library_of(X)
        if library is not None:
            return fit_clusters_of_parts(self, library, X, sample_weight)  # type: ignore[no-any-return]
        opened = open_rows(self, X, sample_weight) if is_out_of_core(X) else None
        if opened is not None:
            X, sample_weight = all_rows(self, opened)
        given = X
        X, weights = self._read(to_numpy_rows(X), to_numpy_rows(sample_weight))
        rows = self._rows_for_kernel(X, weights, fitting=True)
        warn_of_width(self, rows, weights, SCALE_INPUT)
        self.gamma_, kernel = make_kernel(self, rows, weights)
        settings = self._settings(X.shape[0])
        with use_threads(self.n_jobs):
            where = placement(self.device)
            problem = pose_problem(kernel, rows, weights, self.n_clusters, self.accuracy, self.memory_limit, **where)
            tensor = None if rows is not X else tensor_on(problem.device, given, X)
            found = self._carry_out(problem, rows, weights, settings, tensor)
        self._keep(found, X, weights)
        if opened is not None:
            take_columns(self, opened)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the labels of X."""
        return given_back(self.fit(X, sample_weight=sample_weight).labels_, X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the distances (n_samples, n_clusters) of X from the centres."""
        self.fit(X, sample_weight=sample_weight)
        if library_of(X) is not None:
            return self.transform(X)
        known = self.X_fit_.diagonal() if is_precomputed(self.kernel) else None
        return given_back(self._distances(self.X_fit_, known), X)

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row: (m,).

        Parameters
        ----------
        X : {array-like, CSR} of shape (m, n_features), path or source
            For ``kernel="precomputed"`` the kernel values (m, n_samples) of new points and training points.
        """
        library = library_of(X)
        if library is not None:
            return labels_of_parts(self, library, X)
        if is_out_of_core(X):
            check_is_fitted(self)
            return block_by_block(self, X, KernelKMeans.predict)
        rows = read_new_rows(self, X)
        with use_threads(self.n_jobs):
            return given_back(self._model.nearest(self._rows_for_kernel(rows)).astype(np.int32), X)

    def transform(self, X: Any) -> Any:
        """Distances (m, n_clusters) from the centres, in feature space; X may be a path or source."""
        library = library_of(X)
        if library is not None:
            return transform_clusters_of_parts(self, library, X)
        if is_out_of_core(X):
            check_is_fitted(self)
            return block_by_block(self, X, KernelKMeans.transform)
        rows = read_new_rows(self, X)
        self._refuse_given("transform")
        return given_back(self._distances(rows, None), X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The inertia of X with the centres found, times -1."""
        library = library_of(X)
        if library is not None:
            return score_of_parts(self, library, X, sample_weight)
        rows = read_new_rows(self, X)
        self._refuse_given("score")
        weights = _check_sample_weight(to_numpy_rows(sample_weight), rows, dtype=np.float64)
        with use_threads(self.n_jobs):
            return -float(weights @ self._model.distances2(self._rows_for_kernel(rows)).min(axis=1))

    def prototypes(self, method: str = "preimage") -> Any:
        """A row of the input for each cluster: feature space has the centres, the input may not.

        Parameters
        ----------
        method : {"preimage", "nearest"}
            ``"preimage"``: the point whose image is nearest to the centre, by descent from the nearest row and from the
            mean of the cluster's rows. ``"nearest"``: the nearest of the cluster's rows, not necessarily optimal
            (Vasconcelos).

        Returns
        -------
        {ndarray, CSR} of shape (n_clusters, n_features)
        """
        check_is_fitted(self)
        if method not in ("preimage", "nearest"):
            raise ValueError(f"method={method!r} is not known; pass 'preimage' or 'nearest'")
        self._refuse_given("prototypes")
        if (self.prototype_indices_ < 0).any():
            raise ValueError("some clusters are empty and have no prototype; fit with a smaller n_clusters")
        rows = self.__dict__.get("_prototype_rows")
        if method == "nearest":
            return self.X_fit_[self.prototype_indices_] if rows is None else rows
        if rows is not None:
            raise ValueError("a pre-image needs the training rows, which are not here; pass method='nearest'")
        if scipy.sparse.issparse(self.X_fit_):
            raise ValueError("a pre-image of sparse rows is dense; fit X.toarray(), or pass method='nearest'")
        with use_threads(self.n_jobs):
            found = [self._preimage(cluster) for cluster in range(self.n_clusters)]
        return self._rows_for_input(np.array(found)).astype(self.X_fit_.dtype)

    def _preimage(self, cluster: int) -> Array:
        members = np.flatnonzero((self.labels_ == cluster) & (self._weights > 0))
        rows = self._rows_for_kernel(self.X_fit_[members])
        nearest = self._rows_for_kernel(self.X_fit_[self.prototype_indices_[[cluster]]])
        kernel = self._model.span.kernel  # type: ignore[attr-defined]
        return center_preimage(kernel, rows, self._weights[members], nearest)

    def _read(self, X: Any, sample_weight: Any) -> tuple[Any, Array]:
        """Validate rows and weights: at least as many rows that count as clusters."""
        X, weights = read_rows(self, X, sample_weight)
        self._refuse_too_many(int((weights > 0).sum()), len(weights))
        return X, weights

    def _refuse_too_many(self, counted: int, n: int) -> None:
        """Raise unless there are as many rows of positive weight as clusters."""
        if counted < self.n_clusters:
            of = "" if counted == n else " of positive weight"
            raise ValueError(
                f"n_samples={counted}{of} should be >= n_clusters={self.n_clusters}; pass at most {counted} clusters"
            )

    def _settings(self, n: int) -> Settings:
        """How to look; from labels that were given every start would be the same."""
        start = read_start(self.init, n, self.n_clusters)
        drawn = isinstance(start, str)
        auto = 10 if drawn and start == "random" else 1
        n_init = int(self.n_init) if drawn and self.n_init != "auto" else auto
        return Settings(self.n_clusters, start, n_init, self.max_iter, self.tol)

    def _carry_out(self, problem: Any, X: Any, weights: Array, settings: Settings, tensor: Any = None) -> Clustering:
        """Plan and run; a method that finds, on the rows, that memory does not suffice gives way to the next."""

        def run(plan: Plan) -> Clustering:
            rng = read_seed(self.random_state)
            if problem.workers:
                cloud = make_parted_cloud(plan.chosen, problem, X, self.accuracy, rng)
            else:
                cloud = make_cloud(plan, X, weights, self.accuracy, rng, tensor)
            return find_clusters(cloud, settings, rng)

        self.plan_, found = plan_clustering(problem, settings.n_init, self.method).carry_out(run)
        self.method_ = self.plan_.chosen
        return found

    def _keep(self, found: Clustering, X: Any, weights: Array) -> None:
        """Set the fitted attributes."""
        self.__dict__.pop("_prototype_rows", None)
        self.X_fit_, self._weights, self._model = X, weights, found.model
        self.labels_ = found.labels.astype(np.int32)
        self.inertia_, self.n_iter_ = found.inertia, found.n_iter
        self.prototype_indices_ = nearest_members(found.labels, found.distances2, weights, self.n_clusters)
        occupied = int((self.prototype_indices_ >= 0).sum())
        if occupied < self.n_clusters:
            warn(
                f"{occupied} distinct clusters found, n_clusters={self.n_clusters}: X may repeat its rows",
                ConvergenceWarning,
            )
        elif not found.converged:
            warn(
                f"the centres still moved after max_iter={self.max_iter} iterations; raise max_iter or tol",
                ConvergenceWarning,
            )

    def _distances(self, rows: Any, norms2: Array | None) -> Array:
        with use_threads(self.n_jobs):
            distances = np.sqrt(self._model.distances2(self._rows_for_kernel(rows), norms2))
        return distances.astype(rows.dtype, copy=False)

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
