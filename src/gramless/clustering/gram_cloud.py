"""Points known by their kernel values alone: exact k-means by sums over the Gram matrix."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from gramless.arrays import Array, evenly_spaced, like, to_numpy
from gramless.arrays.devices import rows_on
from gramless.clustering.cloud import CenterModel, cluster_weights, exchange, indicator, inverse, settle
from gramless.gram import GramOperator, TiledGram, rectangular_product
from gramless.kernels import Kernel, Precomputed
from gramless.spaces import PointSpan

_ROWS = 2**16


class GramCloud:
    """Rows and a kernel; the Gram matrix is used only in products, tile by tile.

    Parameters
    ----------
    kernel : Kernel
    x : ndarray or CSR of shape (n, d); the Gram matrix (n, n) for a precomputed kernel
    weights : ndarray of shape (n,)
    keep_bytes : int
        Memory that tiles may take; tiles that do not fit are computed again.
    device : str
        Device that computes the sums.
    tensor : tensor of shape (n, d), optional
        The rows, if they are on the device already.
    precision : {"fp64", "fp32"}
        Precision of sums over the whole matrix on a GPU.
    """

    sample = 8192
    device = "cpu"

    def __init__(
        self,
        kernel: Kernel,
        x: Any,
        weights: Array,
        keep_bytes: int = 0,
        *,
        device: str = "cpu",
        tensor: Any = None,
        precision: Literal["fp64", "fp32"] = "fp64",
    ) -> None:
        self.kernel, self.x, self.weights = kernel, x, weights
        self._given = isinstance(kernel, Precomputed)
        self._keep, self.device = keep_bytes, device
        self.rows = rows_on(device, x, tensor)
        self.gram: GramOperator = self._operator(precision)
        self._norms2: Array | None = None

    def _operator(self, precision: Literal["fp64", "fp32"]) -> GramOperator:
        if self.device == "cpu":
            return TiledGram(self.kernel, self.x, keep_bytes=self._keep)
        from gramless.gram.cuda.operator import TorchGram

        return TorchGram(self.kernel, self.rows, device=self.device, precision=precision)

    @property
    def few(self) -> int:
        """If fewer than n / few points move, their columns cost less than a product with the whole matrix."""
        return 4 if self.device == "cpu" else 32

    def order(self, rng: np.random.Generator) -> Array:
        if self._given:  # the entries of a given matrix depend on the order of its rows
            return np.arange(len(self.weights))
        return np.argsort(self.x @ rng.standard_normal(self.x.shape[1]), kind="stable")

    def norms2(self) -> Array:
        if self._norms2 is None:
            self._norms2 = self.gram.diagonal()
        return self._norms2

    def columns(self, indices: Array) -> Array:
        return to_numpy(self.combined(indices, np.eye(len(indices))))

    def combined(self, rows: Array, coefficients: Array) -> Array:
        """K[:, rows] @ coefficients: (n, k), on the device of the sums."""
        if self.device != "cpu":
            from gramless.gram.cuda.rectangular import tensor_product

            return tensor_product(self.kernel, self.rows, self.rows[rows], coefficients, self.device)  # type: ignore[no-any-return]
        if self._given:  # symmetric: rows, unlike columns, are contiguous
            return np.asarray(self.x[rows].T @ coefficients, dtype=np.float64)
        return rectangular_product(self.kernel, self.x, self.x[rows], coefficients)

    def nearest(self, rows: Array, coefficients: Array) -> Array:
        products = self.combined(rows, coefficients)
        squared_norms = np.einsum("ij,ij->j", coefficients, to_numpy(products[rows]))
        return to_numpy((like(squared_norms, products) - 2 * products).argmin(1))

    def subset(self, rows: Array) -> GramCloud:
        x = self.x[np.ix_(rows, rows)] if self._given else self.x[rows]
        tensor = None if self.device == "cpu" else self.rows[rows]
        keep = min(self._keep, 8 * len(rows) ** 2)
        return GramCloud(self.kernel, x, self.weights[rows], keep, device=self.device, tensor=tensor)

    def centers(self, labels: Array, k: int) -> GramCenters:
        return GramCenters(self, labels, k)

    def variance(self) -> float:
        """From the diagonal and, for the mean, at most about 1000 rows: it only scales the tolerance."""
        n, total = len(self.weights), float(self.weights.sum())
        rows = evenly_spaced(n, 1024)
        rows = rows[self.weights[rows] > 0] if (self.weights[rows] > 0).any() else np.flatnonzero(self.weights)[:1]
        share = self.weights[rows] / self.weights[rows].sum()
        few = self.subset(rows)
        mean_norm2 = float(share @ to_numpy(few.combined(np.arange(len(rows)), share[:, None])[:, 0]))
        return max(float(self.weights @ self.norms2()) / total - mean_norm2, 0.0)

    def model(self, centers: GramCenters) -> CenterModel:
        coefficients = indicator(centers.labels, self.weights, len(centers.sizes)) * inverse(centers.sizes)
        return CenterModel(PointSpan(self.kernel, self.x, self.device), coefficients, centers.squared_norms)


class GramCenters:
    """Means of clusters through the sums P = K W Z, Z the membership and W the weights.

    |phi(x_i) - mu_j|^2 = K_ii - 2 P_ij / n_j + S_j with S_j = sum_i w_i P_ij / n_j^2 over the cluster (Vasconcelos'
    terms, each cluster with its own n_j). From one partition to the next, P changes only by the columns of the points
    that changed cluster: late in the iteration these are few, and a step costs n times their number.
    """

    def __init__(self, cloud: GramCloud, labels: Array, k: int) -> None:
        self.cloud, self.labels, self.k = cloud, labels, k
        self._recompute()

    def _recompute(self) -> None:
        self.sizes = cluster_weights(self.labels, self.cloud.weights, self.k)
        membership = self.cloud.gram.place(indicator(self.labels, self.cloud.weights, self.k))
        self._products = self.cloud.gram @ membership
        self._exchanged = 0
        self.squared_norms = self._sums(self.labels) * inverse(self.sizes) ** 2

    def _own(self, labels: Array) -> Array:
        """P_ij for the cluster j = labels[i] of each point: (n,)."""
        return to_numpy(self._products[np.arange(len(labels)), labels])

    def _sums(self, labels: Array) -> Array:
        """Sum over each cluster of `labels` of w_i P_ij: (k,)."""
        own = self._own(labels)
        return np.asarray(np.bincount(labels, weights=self.cloud.weights * own, minlength=self.k))

    def assign(self) -> Array:
        nearest = np.empty(len(self.labels), dtype=np.intp)
        for first in range(0, len(nearest), _ROWS):
            part = slice(first, first + _ROWS)
            scores = self._products[part] * like(-2 * inverse(self.sizes), self._products)
            scores += like(self.squared_norms, scores)
            nearest[part] = to_numpy(scores.argmin(1))
        return nearest

    def distances2(self, labels: Array) -> Array:
        own = self._own(labels)
        distances = self.cloud.norms2() - 2 * own * inverse(self.sizes)[labels] + self.squared_norms[labels]
        return settle(distances, self.cloud.norms2())

    def move(self, labels: Array) -> float:
        before, sizes = self.squared_norms, self.sizes
        crossed = self._sums(labels)  # new clusters with sums of the old: inner products of new and old means
        moved = np.flatnonzero((labels != self.labels) & (self.cloud.weights > 0))
        self._exchanged += len(moved)
        if self.cloud.few * len(moved) < len(labels) and self._exchanged < len(labels):
            if len(moved):
                change = exchange(self.labels[moved], labels[moved], self.cloud.weights[moved], self.k)
                self._products += self.cloud.combined(moved, change)
            self.labels, self.sizes = labels, cluster_weights(labels, self.cloud.weights, self.k)
            self.squared_norms = self._sums(labels) * inverse(self.sizes) ** 2
        else:
            self.labels = labels
            self._recompute()
        crossed = crossed * inverse(sizes) * inverse(self.sizes)
        return float(np.maximum(before + self.squared_norms - 2 * crossed, 0.0).sum())
