"""Rows in parts and a kernel: exact k-means by sums over a Gram matrix whose tiles are computed where the rows are."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gramless.arrays import Array
from gramless.clustering.cloud import CenterModel
from gramless.clustering.gram_cloud import GramCenters, GramCloud
from gramless.data import Block, ClusterRows
from gramless.fitting.methods.partitions import PartedGram, products_of
from gramless.gram import GramOperator
from gramless.kernels import Kernel
from gramless.spaces import PointSpan


class PartedGramCloud(GramCloud):
    """As :class:`GramCloud`, for rows in parts.

    Parameters
    ----------
    kernel : Kernel
    rows : ClusterRows
    """

    def __init__(self, kernel: Kernel, rows: ClusterRows) -> None:
        self._cluster = rows
        super().__init__(kernel, rows.view, rows.weights)

    def _operator(self, precision: Literal["fp64", "fp32"]) -> GramOperator:
        return PartedGram(self.kernel, self._cluster, weighted=False)

    def order(self, rng: np.random.Generator) -> Array:
        direction = rng.standard_normal(self.x.shape[1])
        return np.argsort(np.concatenate(self._cluster.parts.map(heights_of, direction)), kind="stable")

    def combined(self, rows: Array, coefficients: Array) -> Array:
        return np.concatenate(self._cluster.parts.map(products_of, self.kernel, self.x[rows], coefficients))

    def model(self, centers: GramCenters) -> CenterModel:
        made = super().model(centers)
        return CenterModel(PointSpan(self.kernel, self.x.gathered()), made.coefficients, made.squared_norms)


def heights_of(part: Block, direction: Array) -> Array:
    """Coordinates (m,) of the rows along a direction."""
    return np.asarray(part.x @ direction)
