"""Biased discriminant analysis with scikit-learn's interface."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from gramless.arrays import Array, Symbolic, use_threads
from gramless.discriminants import Projection, find_biased
from gramless.estimators.checking import like_given, read_new_rows
from gramless.estimators.classes import CONSTRAINTS, SAVED, CompressingProjection, gather_in_coordinates, read_classes
from gramless.estimators.exporting import Exporting, label_output
from gramless.estimators.saving import Saving, estimators
from gramless.export.agreement import estimator_error
from gramless.export.rows import rows_like
from gramless.kernels import is_precomputed


@estimators.register("BiasedDiscriminantAnalysis")
class BiasedDiscriminantAnalysis(
    Saving,
    Exporting,
    CompressingProjection,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Biased discriminant analysis in the feature space of a kernel (KBDA).

    For finding one class among all other rows, as in relevance feedback. Along the directions found, the
    positives are close to their mean, and each negative is far from the positives' mean (Zhou & Huang 2001; Raykar &
    Ankur, section 13). Unlike Fisher's discriminants, the directions can be many, and the negatives need not form a
    class.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions; None: all along which negatives are farther from the mean than positives.
    positive_label : object, default=None
        The class of interest; None: the last of the two classes in sorted order.
    shrinkage : float in (0, 1] or "auto", default="auto"
        Fraction of the positives' covariance that is replaced by a multiple of the identity; ``"auto"``: Ledoit and
        Wolf's estimate.
    n_coordinates : int, float or None, default=500
        Components of kernel PCA to work in: a number, a fraction of the variance, or None for all.
    kernel, gamma, degree, coef0, kernel_params, method, memory_limit, random_state, n_jobs, device :
        As in :class:`KernelPCA`; the default is a Gaussian kernel with ``gamma="median"``. With a GPU, coordinates and
        scatters are computed on the GPU as well. Torch tensors as input give torch tensors as output.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    positive_ : object
        The class of interest.
    ratios_ : ndarray of shape (n_components,)
        Mean square of the negatives divided by the mean square of the positives, along each direction.
    threshold_ : float
        A row counts as positive where minus its squared distance from the positives' mean exceeds this threshold, which
        minimizes the sum of both classes' error rates on the training rows.
    shrinkage_ : float
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
    KernelDiscriminantAnalysis : Directions that separate classes.
    KernelPCA : Leading components in feature space, exact or by explicit features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramless import BiasedDiscriminantAnalysis
    >>> X, y = load_digits(return_X_y=True)
    >>> kbda = BiasedDiscriminantAnalysis(n_coordinates=100).fit(X[::3], y[::3] == 8)
    >>> bool(kbda.score(X, y == 8) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "shrinkage": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "positive_label": "no_validation",  # type: ignore[dict-item]
    }

    #: Attributes that :meth:`save` writes.
    SAVED: ClassVar[dict[str, Any]] = {
        **SAVED,
        "positive_": bool | int | float | str,
        "ratios_": np.ndarray,
        "threshold_": float,
    }

    _projection: Projection

    def __init__(
        self,
        n_components: int | None = None,
        *,
        positive_label: Any = None,
        shrinkage: float | str = "auto",
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
        self.positive_label = positive_label
        self.shrinkage = shrinkage
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BiasedDiscriminantAnalysis:
        """Fit the discriminant directions.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Two classes: the class of interest, and the rest.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. A weight of 2 is equivalent to repeating the row, 0 to omitting it.

        Returns
        -------
        BiasedDiscriminantAnalysis
            This estimator.
        """
        fitted = self.unfitted()
        rows, fitted.classes_, labels, weights = read_classes(fitted, X, y, sample_weight)
        positive = fitted._read_positive()
        with use_threads(self.n_jobs):
            space, gathered = gather_in_coordinates(fitted, rows, labels, weights, X)
            rule = find_biased(gathered, positive, self.shrinkage, self.n_components)
        fitted.positive_, fitted.ratios_, fitted.shrinkage_ = fitted.classes_[positive], rule.ratios, rule.shrinkage
        fitted._projection = Projection.along(space, rule.directions, rule.origin)
        used = np.flatnonzero(weights > 0)
        scores = fitted._decide(rows[used])
        fitted.threshold_ = best_threshold(scores, labels[used] == positive, weights[used])
        self.__dict__ = fitted.__dict__
        return self

    def transform(self, X: Any) -> Any:
        """Coordinates (m, n_components) of rows along the directions; the origin is the mean of the positives."""
        rows = read_new_rows(self, X)
        with use_threads(self.n_jobs):
            return like_given(self._projection(rows).astype(rows.dtype, copy=False), X)

    def decision_function(self, X: Any) -> Any:
        """Minus the squared distance of each row from the mean of the positives, minus the threshold: (m,).

        Values are above 0 for rows of ``classes_[1]``, as in scikit-learn: the sign is reversed where ``classes_[0]``
        is the class of interest.
        """
        return like_given(self._margins(X), X)

    def predict(self, X: Any) -> Any:
        """The class of each row: (m,)."""
        above = self._margins(X) > 0
        return like_given(self.classes_[above.astype(int)], X)

    def symbolic(self, x: Symbolic) -> dict[str, Any]:
        """Results for symbolic rows, for :meth:`to_onnx`."""
        along: Any = self._projection(x)
        margins, xp = self._signed(-(along * along).sum(axis=1)), x.__array_namespace__()
        labels = label_output(self.classes_, xp.index(margins > 0))
        return {"transform": along, "decision_function": margins, "predict": labels}

    def _results_error(self) -> float:
        return estimator_error(self._projection.span)

    def _rows_to_compare(self) -> Array:
        return rows_like(self._projection.span, self.n_features_in_)

    def _margins(self, X: Any) -> Array:
        return self._signed(self._decide(read_new_rows(self, X)))  # type: ignore[no-any-return]

    def _signed(self, scores: Any) -> Any:
        """Scores (m,) minus the threshold, above 0 for rows of ``classes_[1]``."""
        margins = scores - self.threshold_
        return margins if self.positive_ == self.classes_[1] else -margins

    def _decide(self, rows: Any) -> Array:
        with use_threads(self.n_jobs):
            along = self._projection(rows)
        return np.asarray(-np.einsum("ij,ij->i", along, along))

    def _read_positive(self) -> int:
        """Index in ``classes_`` of the class of interest."""
        if len(self.classes_) != 2:
            raise ValueError(
                f"Only binary classification is supported. y has {len(self.classes_)} classes; pass y == c for the "
                "class c of interest"
            )
        if self.positive_label is None:
            return 1
        if self.positive_label not in self.classes_:
            raise ValueError(f"positive_label={self.positive_label!r} is not one of the classes {self.classes_}")
        return int(np.flatnonzero(self.classes_ == self.positive_label)[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.classifier_tags.multi_class = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.ratios_)


def best_threshold(scores: Array, positive: Array, weights: Array) -> float:
    """The threshold with the minimum sum of both classes' error rates, midway between two neighboring scores.

    scikit-learn's ``roc_curve`` returns the same rates, but thresholds at scores, not between them.

    Examples
    --------
    >>> best_threshold(np.array([-5.0, -1.0, -3.0]), np.array([False, True, False]), np.ones(3))
    -2.0
    """
    order = np.argsort(scores, kind="stable")
    ranked, share = scores[order], np.where(positive, weights, 0.0)[order]
    rest = np.where(positive, 0.0, weights)[order]
    missed = np.cumsum(share) / share.sum()  # positives at or below the threshold
    accepted = 1 - np.cumsum(rest) / rest.sum()  # negatives above the threshold
    cuts = np.append(np.flatnonzero(np.diff(ranked) > 0), len(ranked) - 1)
    best = int(cuts[np.argmin((missed + accepted)[cuts])])
    return float(ranked[best] if best + 1 == len(ranked) else (ranked[best] + ranked[best + 1]) / 2)
