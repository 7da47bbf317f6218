"""K v as Phi (Phi^T v): the fast product of Raykar & Ankur, for any feature map."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gramless.arrays import Array, inner, inner_rounding, unit_roundoff
from gramless.features.base import FeatureMap
from gramless.gram.base import GramOperator, Statistics
from gramless.kernels.rounding import growth

_CHUNK = 2**21  # entries of a block of features that is computed and not kept


class FactoredGram(GramOperator):
    """D^1/2 Phi Phi^T D^1/2, applied from the right: first the D sums over points, then a combination for each point.

    This is eqs. 33-34 of Raykar & Ankur for the polynomial kernel, and their Gaussian summation, as an operator for
    their own algorithm: Lanczos with a fast product. A product costs O(n D) instead of O(n^2).

    Parameters
    ----------
    map : FeatureMap
        With phi(x) . phi(y) ~ k(x, y) and the difference positive semidefinite, as for monomials, truncated series
        and landmarks: then the trace of the difference, sum_i w_i (k(x_i, x_i) - |phi(x_i)|^2), bounds its norm.
    x : ndarray of shape (n, d)
    weights : ndarray of shape (n,), optional
        Not negative; default: ones.
    keep_bytes : int
        Memory that the features may take; features that do not fit are computed again for each product.
    feature_error : float
        Bound on |computed phi(x) - phi(x)| relative to |phi(x)|; default: a hundred units of roundoff.

    Attributes
    ----------
    leak : float
        Bound on the spectral norm of D^1/2 (K - Phi Phi^T) D^1/2; nan before `error` is first read.

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> class Rows(FeatureMap):
    ...     kernel, n_features = Linear(), 2
    ...
    ...     def __call__(self, x):
    ...         return x
    ...
    ...     def moments(self, x, weights): ...
    ...     def same_space(self, other): ...
    >>> x = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> FactoredGram(Rows(), x) @ np.ones(3)
    array([2., 6., 5.])
    """

    def __init__(
        self,
        map: FeatureMap,
        x: Any,
        weights: Array | None = None,
        *,
        keep_bytes: int = 2**28,
        feature_error: float = 100 * unit_roundoff(),
    ) -> None:
        n = x.shape[0]
        super().__init__(np.ones(n) if weights is None else np.sqrt(np.asarray(weights, dtype=np.float64)))
        self.map, self._x, self._feature_error = map, x, feature_error
        self._step = _rows_at_once(map)
        self._keep = keep_bytes // (8 * map.n_features)
        self._kept: dict[int, Array] = {}
        self._statistics: Statistics | None = None
        self.leak = self._size = math.nan

    def _chunks(self) -> Iterator[tuple[slice, Array]]:
        """Rows, and their features times the roots of their weights."""
        for first in range(0, self.shape[0], self._step):
            rows = slice(first, min(first + self._step, self.shape[0]))
            features = self._kept.get(first)
            if features is None:
                features = self.roots[rows, None] * self.map(self._x[rows])
                if rows.stop <= self._keep:
                    self._kept[first] = features
            yield rows, features

    def _matmat(self, v: Array) -> Array:
        v = np.asarray(v, dtype=np.float64)
        sums = np.zeros((self.map.n_features, v.shape[1]))
        for rows, features in self._chunks():
            sums += inner(features, v[rows])
        out = np.empty(v.shape)
        for rows, features in self._chunks():
            out[rows] = features @ sums
        return out

    def diagonal(self) -> Array:
        """Of the exact matrix: w_i k(x_i, x_i)."""
        return self.roots**2 * self.map.kernel.diagonal(self._x)

    def statistics(self) -> Statistics:
        """From the D x D matrix Phi^T Phi, which has the same Frobenius norm as Phi Phi^T."""
        if self._statistics is None:
            width = self.map.n_features
            gram, image, squares = np.zeros((width, width)), np.zeros((width, 1)), []
            for rows, features in self._chunks():
                gram += inner(features, features)
                image += inner(features, self.roots[rows, None])
                squares.append(np.einsum("ij,ij->i", features, features))
            square = np.concatenate(squares)
            size = float(square.sum())  # the trace of Phi Phi^T bounds the norm, even of the matrix of moduli
            self._size = size * (1 + self.shape[0] * unit_roundoff())
            own = self.roots**2 * self.map.kernel.diagonal(self._x)
            missing = np.maximum(own - square, 0.0) + (2 * self._feature_error + 8 * unit_roundoff()) * own
            self.leak = float(missing.sum()) * (1 + self.shape[0] * unit_roundoff())
            frobenius = float(np.linalg.norm(gram)) + self._rounding * self._size + self.leak
            sums = np.concatenate([features @ image for _, features in self._chunks()])[:, 0]
            self._statistics = Statistics(frobenius**2 * (1 + 1e-14), sums, self._size + self.leak)
        return self._statistics

    @property
    def _rounding(self) -> float:
        """Error of Phi (Phi^T v) relative to |Phi|_F^2 |v|: of the features, sums over points, sums over features."""
        n, unit = self.shape[0], unit_roundoff()
        over_points = inner_rounding(min(n, self._step)) + growth(math.ceil(n / self._step), unit)
        over_features = growth(self.map.n_features + 8, unit)
        return 2 * self._feature_error + self._feature_error**2 + over_points + over_features

    @property
    def error(self) -> float:
        statistics = self.statistics()
        return self.leak + self._rounding * (statistics.norm - self.leak)

    def to_dense(self) -> Array:
        features = np.vstack([part for _, part in self._chunks()])
        dense: Array = features @ features.T
        return dense


def fast_product(map: FeatureMap, x: Any, y: Any, v: Array) -> Array:
    """K(x, y) v = Phi(x) (Phi(y)^T v) in O((m + n) D), with memory for one block of features.

    Raykar & Ankur, eqs. 33-34, with targets that are not the sources (their figure 9 has twice as many targets).

    Parameters
    ----------
    map : FeatureMap
    x : ndarray of shape (m, d)
        Targets.
    y : ndarray of shape (n, d)
        Sources.
    v : ndarray of shape (n,) or (n, b)

    Returns
    -------
    ndarray of shape (m,) or (m, b)

    Examples
    --------
    >>> from gramless.kernels import Linear
    >>> class Rows(FeatureMap):
    ...     kernel, n_features = Linear(), 1
    ...
    ...     def __call__(self, x):
    ...         return x
    ...
    ...     def moments(self, x, weights): ...
    ...     def same_space(self, other): ...
    >>> fast_product(Rows(), np.array([[1.0], [2.0]]), np.array([[3.0]]), np.array([2.0]))
    array([ 6., 12.])
    """
    columns = v[:, None] if v.ndim == 1 else v
    if len(columns) != y.shape[0]:
        raise ValueError(f"v has {len(columns)} rows, y has {y.shape[0]}; they must be the same number of sources")
    sums = np.zeros((map.n_features, columns.shape[1]))
    step = _rows_at_once(map)
    for first in range(0, y.shape[0], step):
        sums += inner(map(y[first : first + step]), columns[first : first + step])
    product = map.dot(x, sums)
    return product[:, 0] if v.ndim == 1 else product


def _rows_at_once(map: FeatureMap) -> int:
    return max(1, _CHUNK // max(1, map.n_features))
