"""What every route ends with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramless.arrays import Array
from gramless.certificates import Certificate
from gramless.eigen import Outcome
from gramless.errors import UncertifiedWarning
from gramless.features import Moments
from gramless.spaces import Eigenspace
from gramless.warning import warn


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model and how it was come by.

    Attributes
    ----------
    space : Eigenspace
    vectors : ndarray of shape (n, k) or None
        Orthonormal eigenvectors of the weighted, centred Gram matrix; None where the route did not need them.
    certificate : Certificate
    outcome : Outcome
    passes : int
        Sweeps over the Gram matrix; 0 where none was needed.
    moments : Moments or None
        Of the explicit route: all it keeps of the data.
    residuals : ndarray of shape (k,) or None
        Norms of the residuals of the eigenvectors, where there are any.
    """

    space: Eigenspace
    vectors: Array | None
    certificate: Certificate
    outcome: Outcome
    passes: int
    moments: Moments | None = None
    residuals: Array | None = None

    def with_vectors(self, scores: Array, weights: Array) -> Fitted:
        """The same with its eigenvectors, from the components `scores` (n, k) of the rows that were fitted."""
        values = self.space.scatter
        scale = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
        return replace(self, vectors=less_mean(scores * np.sqrt(weights)[:, None] * scale, weights))

    def scores(self, weights: Array) -> Array | None:
        """Components (n, k) of the rows that were fitted, 0 where a weight is; None without eigenvectors."""
        if self.vectors is None:
            return None
        roots = np.sqrt(weights)
        scale = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        return np.asarray(self.vectors * np.sqrt(self.space.scatter) * scale[:, None])

    def flipped(self, signs: Array) -> Fitted:
        """The same with components multiplied by `signs` (k,)."""
        space = replace(self.space, basis=self.space.basis * signs, offset=self.space.offset * signs)
        return replace(self, space=space, vectors=None if self.vectors is None else self.vectors * signs)

    def truncated(self, k: int) -> Fitted:
        """The leading `k` components."""
        vectors = None if self.vectors is None else self.vectors[:, :k]
        residuals = None if self.residuals is None else self.residuals[:k]
        space = self.space.truncate(k)
        return replace(self, space=space, vectors=vectors, certificate=self.certificate[:k], residuals=residuals)


def less_mean(vectors: Array, weights: Array) -> Array:
    """Eigenvectors (n, k) of the centred Gram matrix, made from scores, less what a rounded mean put into all of them.

    Far from the origin that is much more than the rounding of the components; exact ones are orthogonal to the roots of
    the weights.
    """
    roots = np.sqrt(weights)
    return np.asarray(vectors - np.outer(roots, roots @ vectors / weights.sum()))


def sign_flips(vectors: Array, weights: Array) -> Array:
    """Signs (k,) that make the component of largest modulus among the rows positive: one rule on every route.

    Without weights this is scikit-learn's rule; with them a row counts as often as it is repeated.
    """
    used = weights > 0
    scores = vectors if (weights == 1).all() else vectors[used] / np.sqrt(weights[used])[:, None]
    signs = np.sign(scores.max(axis=0) + scores.min(axis=0))
    for column in np.flatnonzero(signs == 0):  # both ends alike: the first of them counts
        signs[column] = np.sign(scores[np.argmax(np.abs(scores[:, column])), column])
    return np.where(signs == 0, 1.0, signs)


def settle_spectrum(
    values: Array, certificate: Certificate, mercer: bool | None, noise: float
) -> tuple[Array, Certificate]:
    """Set to 0 what rounding made of 0, and refuse what a positive semidefinite matrix cannot have.

    Parameters
    ----------
    values : ndarray of shape (k,)
    certificate : Certificate
    mercer : bool or None
        Whether the kernel is positive semidefinite.
    noise : float
        What rounding usually makes of an eigenvalue 0. (The certificate has the worst it could make, which is more.)

    Raises
    ------
    ValueError
        'There are significant negative eigenvalues', where one would be kept.
    """
    largest = values.max(initial=0.0)
    if mercer:
        certificate = certificate.at_least(0.0)
    elif len(values):
        least = values.min()
        if least < -1e-5 * max(largest, 0.0) and least < -noise:
            part = f"{-least / largest:g} of the largest positive one" if largest > 0 else f"the least is {least:g}"
            raise ValueError(
                f"There are significant negative eigenvalues ({part}) among the {len(values)} components asked for: "
                "the kernel is not positive semidefinite on this data. Ask for fewer components, or change the kernel."
            )
    zero = values <= max(1e-12 * largest, noise)  # scikit-learn's rule, and the usual rounding
    values = np.where(zero, 0.0, values)
    if ((values > 1e-6 * largest) & (certificate.lower <= 0)).any():
        warn(
            "rounding errors could be as large as some eigenvalues: their intervals in certificate_ reach down to 0. "
            "An outlier, rows far from the origin, or a kernel much wider or narrower than the data cost digits: "
            "centre and scale the data",
            UncertifiedWarning,
        )
    lower = np.where(zero, np.minimum(certificate.lower, 0.0), certificate.lower)
    upper = np.where(zero, np.maximum(certificate.upper, 0.0), certificate.upper)
    return values, replace(certificate, values=values, lower=lower, upper=upper)
