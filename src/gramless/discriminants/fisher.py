"""Fisher's discriminants of many classes in the coordinates of an eigenspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gramless.arrays import Array, blas_threads_for
from gramless.discriminants.scatter import ClassScatter
from gramless.discriminants.shrinkage import ledoit_wolf, shrink

_NOTHING = 1e-12  # relative to the largest: smaller variances count as 0


@dataclass(frozen=True, eq=False)
class FisherRule:
    """Directions that separate the classes best, and where the classes lie along them.

    Attributes
    ----------
    directions : ndarray of shape (r, q)
        a_1 .. a_q with a_i^T S_w a_j = delta_ij, the largest a^T S_b a first.
    origin : ndarray of shape (r,)
        The mean of the class means, weighted by the priors.
    centers : ndarray of shape (c, q)
        The class means along the directions, relative to the origin.
    ratios : ndarray of shape (q,)
        a^T S_b a: variance between the classes over variance within.
    shrinkage : float
        The amount used.
    """

    directions: Array
    origin: Array
    centers: Array
    ratios: Array
    shrinkage: float

    def scores(self, z: Array, priors: Array) -> Array:
        """Log of prior times density, up to a term that all classes share: (m, c) for coordinates `z` (m, q)."""
        near = z @ self.centers.T - 0.5 * np.einsum("ij,ij->i", self.centers, self.centers)
        with np.errstate(divide="ignore"):
            return near + np.log(priors)  # type: ignore[no-any-return]


def find_fisher(classes: ClassScatter, priors: Array, shrinkage: float | str | None) -> FisherRule:
    """Solve S_b a = l S_w a (Raykar & Ankur, section 13; Mika et al. 1999).

    S_b = sum_c prior_c (m_c - m)(m_c - m)^T has rank c - 1 at most: after whitening, which makes S_w the identity, an
    SVD of c vectors finds all directions.

    Parameters
    ----------
    classes : ClassScatter
    priors : ndarray of shape (c,)
    shrinkage : float in [0, 1], "auto" or None
        "auto": Ledoit and Wolf's; None: 0. Directions without variance within the classes are left out.
    """
    within = classes.within
    amount = 0.0 if shrinkage is None else shrinkage
    if isinstance(amount, str):
        amount = ledoit_wolf(within, classes.fourth, float(classes.weights.sum()))
    with blas_threads_for(len(within)):
        values, axes = np.linalg.eigh(shrink(within, float(amount)))
    used = values > _NOTHING * max(float(values[-1]), np.finfo(float).tiny)
    whiten = axes[:, used] / np.sqrt(values[used])
    origin = priors @ classes.means
    apart = (classes.means - origin) @ whiten
    _, roots, turn = scipy.linalg.svd(np.sqrt(priors)[:, None] * apart, full_matrices=False)
    most = min(len(priors) - 1, whiten.shape[1])
    directions = whiten @ turn[:most].T
    return FisherRule(directions, origin, (classes.means - origin) @ directions, roots[:most] ** 2, float(amount))
