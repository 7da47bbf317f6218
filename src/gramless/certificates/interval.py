"""The certificate: for each component an interval that contains the true eigenvalue, and a bound on the angle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import numpy as np

from gramless.arrays import Array
from gramless.certificates.angles import angle_bounds
from gramless.certificates.inertia import upper_bounds
from gramless.certificates.outside import Outside, outside_leading
from gramless.tables import html_table, text_table

#: Chance that any one probabilistic interval of a fit is wrong.
FAILURE_PROBABILITY = 1e-10


@dataclass(frozen=True)
class Perturbation:
    """How far the matrix of an operator is from the exact matrix.

    Attributes
    ----------
    norm : float
        Bound on the spectral norm of the difference.
    failure_probability : float
        Chance that the bound is wrong; 0 for a rigorous one.
    """

    norm: float = 0.0
    failure_probability: float = 0.0


EXACT = Perturbation()


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved about each eigenpair.

    Attributes
    ----------
    values : ndarray of shape (k,)
        The computed eigenvalues, descending.
    lower, upper : ndarray of shape (k,)
        The j-th largest eigenvalue of the exact operator lies between ``lower[j]`` and ``upper[j]``.
    angle : ndarray of shape (k,)
        Largest angle (radians) between the computed and the true eigenvector; pi/2 where nothing is proved. The
        bound uses the intervals of neighboring eigenvalues, so it is rigorous where all of these are.
    kind : ndarray of shape (k,)
        ``"rigorous"`` or ``"probabilistic"``.
    failure_probability : float
        Chance that a probabilistic interval is wrong; 0 when all are rigorous.
    """

    values: Array
    lower: Array
    upper: Array
    angle: Array
    kind: Array
    failure_probability: float

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, part: slice) -> Certificate:
        return replace(
            self,
            values=self.values[part],
            lower=self.lower[part],
            upper=self.upper[part],
            angle=self.angle[part],
            kind=self.kind[part],
        )

    def at_least(self, floor: float) -> Certificate:
        """The certificate if no eigenvalue can be below `floor` (0 for a positive semidefinite kernel)."""
        return replace(self, lower=np.maximum(self.lower, floor), upper=np.maximum(self.upper, floor))

    @property
    def width(self) -> Array:
        """Width of each interval relative to its eigenvalue."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.values > 0, (self.upper - self.lower) / self.values, np.inf)

    def rows(self) -> list[tuple[str, ...]]:
        """The table, one row of strings per component."""
        return [
            (
                str(j + 1),
                f"{self.values[j]:.10g}",
                f"{self.lower[j]:.10g}",
                f"{self.upper[j]:.10g}",
                f"{self.width[j]:.1e}" if self.values[j] > 0 else "-",
                f"{self.angle[j]:.1e}" if self.angle[j] < np.pi / 2 else "-",
                str(self.kind[j]),
            )
            for j in range(len(self))
        ]

    header = ("component", "eigenvalue", "at least", "at most", "width", "angle", "kind")

    def __str__(self) -> str:
        return text_table(self.header, self.rows()) + "\n" + self._footnote()

    def _footnote(self) -> str:
        note = "width: relative to the eigenvalue; angle: radians"
        if self.failure_probability:
            note += f"; probabilistic intervals fail with probability at most {self.failure_probability:.0e}"
        return note

    def _repr_html_(self) -> str:
        return html_table(self.header, self.rows()) + f"<p>{escape(self._footnote())}</p>"


def certify(
    ritz: Array, coupling: Array, outside: Outside, k: int, rounding: float, perturbation: Perturbation = EXACT
) -> Certificate:
    """Certificate for the `k` leading Ritz pairs of a basis.

    Parameters
    ----------
    ritz : ndarray of shape (m,)
        Descending.
    coupling : ndarray of shape (p, m)
        F with F^T F = R^T R, in Ritz coordinates.
    outside : Outside
        Bounds on the operator outside the basis.
    k : int
    rounding : float
        Bound on the norms of the errors of T and of R.
    perturbation : Perturbation
        Bound on the distance of the operator from the exact one and, by Weyl's inequality, on that of every eigenvalue.
    """
    guard = min(len(ritz), k + 10)

    def bounds(outside: float) -> Array:
        beyond = outside_leading(ritz, coupling, outside, guard, rounding)
        leading = upper_bounds(ritz[:guard], coupling[:, :guard], min(k + 1, guard), beyond, rounding)
        return _with_descending(leading if k < guard else np.append(leading, beyond)) + perturbation.norm

    proved = bounds(outside.rigorous)
    likely = proved if outside.probable == outside.rigorous else bounds(outside.probable)
    lower = ritz[:k] - rounding - perturbation.norm
    use_likely = likely[:k] - lower < 0.5 * (proved[:k] - lower)
    upper = np.where(use_likely, likely[:k], proved[:k])
    residuals = np.linalg.norm(coupling[:, :k], axis=0) + rounding + perturbation.norm
    next_upper = min(proved[k], likely[k]) if use_likely.any() else proved[k]
    angle = angle_bounds(ritz[:k], residuals, lower, upper, float(next_upper))
    return Certificate(
        values=ritz[:k],
        lower=lower,
        upper=upper,
        angle=angle,
        kind=np.where(use_likely | (perturbation.failure_probability > 0), "probabilistic", "rigorous"),
        failure_probability=perturbation.failure_probability + (FAILURE_PROBABILITY if use_likely.any() else 0.0),
    )


def _with_descending(upper: Array) -> Array:
    """The running minimum of the bounds: a bound on one eigenvalue also bounds all smaller eigenvalues."""
    return np.minimum.accumulate(upper)
