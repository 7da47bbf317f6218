"""Outputs of a model as combinations of kernel functions on points, and their distances from such on fewer points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array, unit_roundoff
from gramless.gram import TiledGram, rectangular_error, rectangular_product
from gramless.kernels import Kernel, Precomputed
from gramless.kernels.rounding import growth


@dataclass(frozen=True, eq=False)
class Outputs:
    r"""Functions f_j(x) = sum_i c_ij k(x_i, x) that a model computes for a row x.

    Attributes
    ----------
    kernel : Kernel
    points : ndarray or CSR of shape (p, d)
    coefficients : ndarray of shape (p, q)
    names : ndarray of str of shape (q,)
    scales : ndarray of shape (q,) or None
        Scales of the outputs; None: their standard deviations over the rows.
    rows : ndarray or CSR of shape (n, d) or None
        Rows of the fit; None: the points are the rows.
    weights : ndarray of shape (n,) or None
        Weights of the rows; None: all 1.
    """

    kernel: Kernel
    points: Any
    coefficients: Array
    names: Array
    scales: Array | None = None
    rows: Any = None
    weights: Array | None = None

    def values(self, x: Any) -> Array:
        """The outputs (m, q) at rows `x` (m, d)."""
        return rectangular_product(self.kernel, x, self.points, self.coefficients)

    def squared_norms(self) -> Array:
        """Upper bounds (q,) on the squared norms, from one pass over the tiles of the Gram matrix."""
        gram, coefficients = TiledGram(self.kernel, self.points), self.coefficients
        images = gram @ coefficients
        moduli = np.einsum("ij,ij->j", np.abs(coefficients), np.abs(images))
        rounding = gram.error * np.square(coefficients).sum(axis=0)
        rounding += growth(len(coefficients) + 8, unit_roundoff()) * moduli
        return np.asarray(np.einsum("ij,ij->j", coefficients, images) + 1.01 * rounding)

    def distance_bounds(self, norms2: Array, points: Any, coefficients: Array, products: Array) -> Array:
        r"""Upper bounds (q,) on the norms of f - g, g with coefficients a on other points, rounding included.

        \|f - g\|^2 = \|f\|^2 - 2 sum_s a_s f(s) + a^T K a holds for any coefficients, however they were found.

        Parameters
        ----------
        norms2 : ndarray of shape (q,)
            Upper bounds on the squared norms of the functions f.
        points : ndarray or CSR of shape (m, d)
        coefficients : ndarray of shape (m, q)
            a.
        products : ndarray of shape (m, q)
            f at the points, as computed by `values`.
        """
        kernel, unit, m = self.kernel, unit_roundoff(), points.shape[0]
        before, after = np.abs(self.coefficients).sum(axis=0), np.abs(coefficients).sum(axis=0)
        images = rectangular_product(kernel, points, points, coefficients)
        cross, own = np.einsum("ij,ij->j", coefficients, products), np.einsum("ij,ij->j", coefficients, images)
        moduli = np.einsum("ij,ij->j", np.abs(coefficients), 2 * np.abs(products) + np.abs(images))
        rounding = 2 * rectangular_error(kernel, points, self.points) * after * before
        rounding += rectangular_error(kernel, points, points) * after**2
        rounding += growth(m + 8, unit) * moduli + 8 * unit * (np.abs(norms2) + 2 * np.abs(cross) + np.abs(own))
        squares = np.maximum(norms2 - 2 * cross + own, 0.0) + 1.01 * rounding
        return np.asarray(np.sqrt(squares) * (1 + 8 * unit))

    def refuse(self) -> None:
        """Raise where there are no distances in feature space to minimize; the message names a remedy."""
        if isinstance(self.kernel, Precomputed):
            raise ValueError(
                "a model with kernel='precomputed' has no points to select from; fit with the kernel itself, from "
                "gramless.kernels or as a function of two rows, to rows"
            )
        if not self.kernel.mercer:
            raise ValueError(
                f"{self.kernel} is not known to be a Mercer kernel, and without distances in feature space there is "
                "no least-squares fit; use a Mercer kernel (for a function of two rows, "
                "gramless.kernels.FromCallable(function, mercer=True)), or fit fewer rows"
            )
