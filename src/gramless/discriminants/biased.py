"""The biased discriminant: one class is kept together, all other rows are pushed away from its mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gramless.arrays import Array, blas_threads_for
from gramless.discriminants.scatter import ClassScatter
from gramless.discriminants.shrinkage import ledoit_wolf, shrink


@dataclass(frozen=True, eq=False)
class BiasedRule:
    """Directions along which the negatives are far from the positive mean and the positives near.

    Attributes
    ----------
    directions : ndarray of shape (r, q)
        Each is scaled by the root of its ratio, so that directions that separate better weigh more in distances.
    origin : ndarray of shape (r,)
        The mean of the positives.
    ratios : ndarray of shape (q,)
        Mean squared distance of the negatives from the origin, divided by that of the positives.
    shrinkage : float
    """

    directions: Array
    origin: Array
    ratios: Array
    shrinkage: float


def find_biased(classes: ClassScatter, positive: int, shrinkage: float | str, q: int | None) -> BiasedRule:
    """Solve S_n a = l S_p a, both scatters about the mean of the positives (Zhou & Huang 2001).

    Negatives need not have anything in common: only their distances from the mean of the positives count.

    Parameters
    ----------
    classes : ClassScatter
        Of two classes.
    positive : {0, 1}
    shrinkage : float in (0, 1] or "auto"
        Shrinkage of the positives' covariance; "auto": Ledoit and Wolf's estimate over both classes.
    q : int or None
        Number of directions; None: all whose ratio is above 1.
    """
    negative = 1 - positive
    gathered = classes.scatters[positive] / classes.weights[positive]
    offset = classes.means[negative] - classes.means[positive]
    pushed = classes.scatters[negative] / classes.weights[negative] + np.outer(offset, offset)
    amount = shrinkage
    if isinstance(amount, str):
        amount = max(ledoit_wolf(classes.within, classes.fourth, float(classes.weights.sum())), 1e-3)
    # the identity is scaled by the variance of all rows, since the positives may be fewer than the coordinates
    size = float(np.trace(gathered) + np.trace(pushed)) / 2 / len(gathered)
    dense = (1 - float(amount)) * gathered + float(amount) * max(size, np.finfo(float).tiny) * np.eye(len(gathered))
    with blas_threads_for(len(dense)):
        ratios, directions = scipy.linalg.eigh(shrink(pushed, 0.0), dense)
    ratios, directions = ratios[::-1], directions[:, ::-1]
    count = max(1, int((ratios > 1).sum())) if q is None else min(q, len(ratios))
    ratios = np.maximum(ratios[:count], 0.0)
    return BiasedRule(directions[:, :count] * np.sqrt(ratios), classes.means[positive], ratios, float(amount))
