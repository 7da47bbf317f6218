"""Density estimation by series of kernel eigenfunctions, with the interface of scikit-learn's KernelDensity."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, DensityMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from gramless.arrays import Array, read_seed, use_threads
from gramless.data.dominance import SCALE_FIRST, column_variances, warn_of_column
from gramless.densities import Series, fit_series
from gramless.estimators.checking import FLOATS, read_weights, refuse_path
from gramless.estimators.compressing import Compressing
from gramless.estimators.saving import Saving, estimators
from gramless.kernels import Gaussian, Kernel
from gramless.spaces import Compression, Outputs


@estimators.register("SeriesDensity")
class SeriesDensity(Saving, Compressing, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Density of rows as a truncated series of kernel eigenfunctions (Girolami 2002).

    The series with all terms is the Parzen estimate, scikit-learn's KernelDensity. Terms whose coefficients do not
    differ significantly from 0 are omitted. Negative values of the truncated series are set to 0, and the density is
    scaled to integrate to 1.

    Parameters
    ----------
    n_components : int, default=None
        Number of leading terms; None: chosen by `truncation`.
    kernel : Kernel, default=None
        A Gaussian, Laplacian or Matern kernel, or a multiple of one. None: a Gaussian kernel with sigma `bandwidth`.
    bandwidth : float or {"scott", "silverman"}, default="scott"
        sigma of the Gaussian kernel. The rules are those of scikit-learn's KernelDensity, times the root mean square of
        the columns' standard deviations. Ignored where `kernel` is given.
    truncation : {"held_out", "rule"}, default="held_out"
        ``"held_out"``: the number of leading terms with the minimum integrated squared error on held-out rows, in five
        folds. ``"rule"``: the terms whose squared coefficient exceeds 2 / (1 + N) times the mean square of the
        eigenfunction.
    random_state : int, RandomState or None, default=None
        Seed of the folds, the landmarks and the integration; an int gives bitwise reproducible results.
    n_jobs : int, default=None
        Number of threads; None: all cores.

    Attributes
    ----------
    n_components_ : int
        Number of terms.
    kernel_ : Kernel
    bandwidth_ : float
        Where `kernel` is None.
    normalization_error_ : float
        Standard error of the integral of the density; 0 where it is exact.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if X has feature names.
    compression_ : Compression
        Of a model that `compressed` returned: what it has lost. The output is the series before normalization, and
        the integral that normalizes it is that of the original.

    See Also
    --------
    sklearn.neighbors.KernelDensity : All terms of the series, for more kernels.
    KernelPCA : Leading components in feature space, exact or by explicit features.
    select_bandwidth : Choose the bandwidth of a kernel from the rows.

    Examples
    --------
    >>> from gramless import SeriesDensity
    >>> X = np.random.default_rng(0).standard_normal((500, 1))
    >>> density = SeriesDensity(random_state=0).fit(X)
    >>> at_the_middle = np.exp(density.score_samples([[0.0]]))
    >>> bool(abs(at_the_middle[0] - 0.4) < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [Kernel, None],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"scott", "silverman"})],
        "truncation": [StrOptions({"held_out", "rule"})],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    #: Attributes that :meth:`save` writes.
    SAVED: ClassVar[dict[str, Any]] = {
        "kernel_": Kernel,
        "_series": Series,
        "compression_": Compression,
        **dict.fromkeys(("bandwidth_", "normalization_error_"), float),
        "n_components_": int,
    }

    _series: Series
    compression_: Compression

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel | None = None,
        bandwidth: float | str = "scott",
        truncation: str = "held_out",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.truncation = truncation
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SeriesDensity:
        """Fit the density of X.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is equivalent to repeating the row, 0 to omitting it.

        Returns
        -------
        SeriesDensity
            This estimator.
        """
        refuse_path(self, X)
        fitted = self.unfitted()
        rows = validate_data(fitted, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2)
        weights = read_weights(sample_weight, rows)
        used = np.flatnonzero(weights > 0)
        rows, weights = rows[used], weights[used]
        fitted.kernel_ = kernel = fitted._choose_kernel(rows, weights) if self.kernel is None else self.kernel
        rng = read_seed(self.random_state)
        truncation: Any = self.truncation
        with use_threads(self.n_jobs):
            folds = rng.permutation(len(used)) % min(5, len(used))
            series = fit_series(kernel, rows, weights, self.n_components, truncation, folds, rng)
            fitted.normalization_error_ = series.mass[1] / series.mass[0]
        fitted._series, fitted.n_components_ = series, series.count
        self.__dict__ = fitted.__dict__
        return self

    def score_samples(self, X: Any) -> Array:
        """Logarithm of the density at rows X (m, n_features): (m,); -inf where it is 0."""
        check_is_fitted(self)
        refuse_path(self, X)
        rows = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        with use_threads(self.n_jobs):
            return self._series.log(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Log-likelihood of X: the sum of `score_samples`, as in scikit-learn's KernelDensity."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Rows (n_samples, n_features) drawn from the density."""
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(f"n_samples={n_samples!r} is invalid; pass 1 or more")
        with use_threads(self.n_jobs):
            return self._series.sample(int(n_samples), read_seed(random_state))

    def _outputs(self) -> Outputs:
        series = self._series
        return Outputs(series.kernel, series.rows, series.weights[:, None], np.array(["density"]))

    def _on_fewer(self, points: Any, coefficients: Any, compression: Compression) -> SeriesDensity:
        smaller, series = copy.copy(self), self._series
        smaller.compression_ = compression
        if points is not None:
            smaller._series = replace(series, rows=points, weights=coefficients[:, 0], known_mass=series.mass)
        return smaller

    def _choose_kernel(self, rows: Any, weights: Array) -> Kernel:
        """A Gaussian kernel with the given bandwidth, or with the bandwidth by a rule of thumb."""
        n, d = float(weights.sum()), rows.shape[1]
        if isinstance(self.bandwidth, str):
            names, what = getattr(self, "feature_names_in_", None), f"bandwidth={self.bandwidth!r}"
            warn_of_column(column_variances(rows, weights), names, what, SCALE_FIRST)
            factor = n if self.bandwidth == "scott" else n * (d + 2) / 4
            width = factor ** (-1 / (d + 4)) * _deviation(rows, weights)
        else:
            width = float(self.bandwidth)
        self.bandwidth_ = width
        return Gaussian(width)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _deviation(rows: Any, weights: Array) -> float:
    """Square root of the mean variance of the columns; 1 where all columns are constant."""
    part = weights / weights.sum()
    if scipy.sparse.issparse(rows):
        mean = part @ rows
        variance = float((part @ rows.multiply(rows)).sum() - (mean**2).sum()) / rows.shape[1]
    else:
        moved = np.asarray(rows, dtype=np.float64) - part @ np.asarray(rows, dtype=np.float64)
        variance = float(part @ np.einsum("ij,ij->i", moved, moved)) / rows.shape[1]
    return float(np.sqrt(variance)) if variance > 0 else 1.0
