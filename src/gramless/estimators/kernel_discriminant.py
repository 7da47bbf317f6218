"""Kernel discriminant analysis with scikit-learn's interface."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.special
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from gramless.arrays import Array, Symbolic, use_threads
from gramless.discriminants import FisherRule, Projection, find_fisher
from gramless.estimators.checking import like_given, read_new_rows
from gramless.estimators.classes import CONSTRAINTS, SAVED, CompressingProjection, gather_in_coordinates, read_classes
from gramless.estimators.exporting import Exporting, label_output
from gramless.estimators.saving import Saving, estimators
from gramless.export.agreement import estimator_error
from gramless.export.rows import rows_like
from gramless.kernels import is_precomputed


@estimators.register("KernelDiscriminantAnalysis")
class KernelDiscriminantAnalysis(
    Saving,
    Exporting,
    CompressingProjection,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Linear discriminant analysis in the feature space of a kernel (KLDA).

    Finds the directions along which class means are farthest apart relative to the within-class variance. This is
    a generalized symmetric eigenproblem (Raykar & Ankur, section 13), posed in the coordinates of the leading
    components of kernel PCA, so that no N x N matrix is needed beyond what `memory_limit` allows. The classifier models
    classes as Gaussians with a common covariance, as in
    :class:`sklearn.discriminant_analysis.LinearDiscriminantAnalysis`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of discriminants that `transform` returns, at most ``n_classes - 1``; None: all. `predict` uses all.
    shrinkage : float, "auto" or None, default="auto"
        Fraction of the within-class covariance that is replaced by a multiple of the identity; ``"auto"``: Ledoit and
        Wolf's estimate of the best; None: no shrinkage.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None: the weighted class frequencies.
    n_coordinates : int, float or None, default=500
        Components of kernel PCA to work in: a number, a fraction of the variance, or None for all.
    kernel, gamma, degree, coef0, kernel_params, method, memory_limit, random_state, n_jobs, device :
        As in :class:`KernelPCA`; the default is a Gaussian kernel with ``gamma="median"``. With a GPU, coordinates and
        scatters are computed on the GPU as well. Torch tensors as input give torch tensors as output.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    priors_ : ndarray of shape (n_classes,)
    shrinkage_ : float
        The shrinkage used.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the between-class variance along each discriminant, measured relative to the within-class variance.
    n_coordinates_ : int
    method_ : str
    plan_ : Plan
    gamma_ : float
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if X has feature names.
    compression_ : Compression
        Of a model that `compressed` returned: what it has lost.

    See Also
    --------
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : The same in the input space.
    BiasedDiscriminantAnalysis : Directions that separate one class from everything else.
    KernelPCA : Leading components in feature space, exact or by explicit features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramless import KernelDiscriminantAnalysis
    >>> X, y = load_digits(return_X_y=True)
    >>> klda = KernelDiscriminantAnalysis(n_coordinates=200).fit(X[::2], y[::2])
    >>> klda.transform(X).shape
    (1797, 9)
    >>> bool(klda.score(X[1::2], y[1::2]) > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
        "priors": ["array-like", None],
    }

    #: Attributes that :meth:`save` writes.
    SAVED: ClassVar[dict[str, Any]] = {
        **SAVED,
        "_rule": FisherRule,
        **dict.fromkeys(("priors_", "explained_variance_ratio_"), np.ndarray),
    }

    _projection: Projection
    _rule: FisherRule

    def __init__(
        self,
        n_components: int | None = None,
        *,
        shrinkage: float | str | None = "auto",
        priors: Any = None,
        n_coordinates: int | float | None = 500,
        kernel: Any = "rbf",
        gamma: float | str | None = "median",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        method: str = "auto",
        memory_limit: int | float | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_coordinates = n_coordinates
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.method = method
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelDiscriminantAnalysis:
        """Fit the discriminants.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. A weight of 2 is equivalent to repeating the row, 0 to omitting it.

        Returns
        -------
        KernelDiscriminantAnalysis
            This estimator.
        """
        fitted = self.unfitted()
        rows, fitted.classes_, labels, weights = read_classes(fitted, X, y, sample_weight)
        count = len(fitted.classes_)
        if self.n_components is not None and self.n_components > count - 1:
            raise ValueError(
                f"n_components={self.n_components} is more than the {count - 1} discriminants of {count} classes; pass "
                f"at most {count - 1}"
            )
        fitted.priors_ = self._read_priors(labels, weights, count)
        with use_threads(self.n_jobs):
            space, gathered = gather_in_coordinates(fitted, rows, labels, weights, X)
            fitted._rule = rule = find_fisher(gathered, fitted.priors_, self.shrinkage)
        fitted.shrinkage_ = rule.shrinkage
        fitted._projection = Projection.along(space, rule.directions, rule.origin)
        total = float(rule.ratios.sum())
        ratios = rule.ratios / total if total > 0 else np.zeros(len(rule.ratios))
        fitted.explained_variance_ratio_ = ratios[: fitted._n_features_out]
        self.__dict__ = fitted.__dict__
        return self

    def transform(self, X: Any) -> Any:
        """Coordinates (m, n_components) of rows along the discriminants; the within-class variance is 1."""
        rows = read_new_rows(self, X)
        return like_given(self._project(rows)[:, : self._n_features_out].astype(rows.dtype, copy=False), X)

    def decision_function(self, X: Any) -> Any:
        """Log of prior times density, up to a common constant: (m, n_classes); for two classes the difference, (m,)."""
        scores = self._rule_scores(X)
        return like_given(scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores, X)

    def predict(self, X: Any) -> Any:
        """The most probable class of each row: (m,)."""
        likeliest = np.argmax(self._rule_scores(X), axis=1)
        return like_given(self.classes_[likeliest], X)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities (m, n_classes) of the classes."""
        return like_given(scipy.special.softmax(self._rule_scores(X), axis=1), X)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities: (m, n_classes)."""
        return like_given(scipy.special.log_softmax(self._rule_scores(X), axis=1), X)

    def symbolic(self, x: Symbolic) -> dict[str, Any]:
        """Results for symbolic rows, for :meth:`to_onnx`."""
        along: Any = self._projection(x)
        scores: Any = self._rule.scores(along, self.priors_)
        xp, kept = x.__array_namespace__(), self._n_features_out
        first, second = (xp.take(scores, j, axis=1) for j in (0, 1))
        return {
            "transform": xp.take(along, np.arange(kept), axis=1) if kept < self._rule.directions.shape[1] else along,
            "predict": label_output(self.classes_, xp.argmax(scores, axis=1)),
            "predict_proba": xp.softmax(scores, axis=1),
            "decision_function": second - first if len(self.classes_) == 2 else scores,
        }

    def _results_error(self) -> float:
        return estimator_error(self._projection.span)

    def _rows_to_compare(self) -> Array:
        return rows_like(self._projection.span, self.n_features_in_)

    def _rule_scores(self, X: Any) -> Array:
        rows = read_new_rows(self, X)
        return self._rule.scores(self._project(rows), self.priors_)

    def _project(self, rows: Any) -> Array:
        with use_threads(self.n_jobs):
            return self._projection(rows)

    def _read_priors(self, labels: Array, weights: Array, count: int) -> Array:
        """The given priors, normalized to sum to 1; without priors the weighted class frequencies."""
        sizes = np.bincount(labels, weights=weights, minlength=count)
        if self.priors is None:
            return np.asarray(sizes / sizes.sum())
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != sizes.shape or not (priors >= 0).all() or not priors.sum() > 0:
            raise ValueError(f"priors={self.priors!r} must be {len(sizes)} numbers >= 0, one for each class")
        return np.asarray(priors / priors.sum())

    def _fixed_bytes(self) -> int:
        return 8 * (self._rule.directions.size + self._rule.origin.size + self._rule.centers.size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        found = self._rule.directions.shape[1]
        return int(found if self.n_components is None else min(self.n_components, found))
