"""What the first pass over rows in parts tells: how many, where they lie, and whether they can be used."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gramless.arrays import Array
from gramless.execution import Part, Parts
from gramless.features import Box


@dataclass(frozen=True, eq=False)
class Survey:
    """Of one part.

    Attributes
    ----------
    number : int
    rows : int
    dtype : dtype
    flaw : str
        Why the part cannot be used; empty if it can.
    weight : float
    positive : int
        Rows of positive weight.
    even : bool
        Whether all weights are 1.
    box : Box or None
        None for a part without rows.
    mean : ndarray of shape (d,)
        Of the rows, by weight.
    spread : float
        Sum over rows of weight times the squared distance from their mean.
    """

    number: int
    rows: int
    dtype: np.dtype[np.generic]
    flaw: str = ""
    weight: float = 0.0
    positive: int = 0
    even: bool = True
    box: Box | None = None
    mean: Array = field(default_factory=lambda: np.zeros(0))
    spread: float = 0.0


def survey_part(part: Part) -> Survey:
    """One pass over the rows."""
    x, weights = part.x, part.weights
    base = Survey(part.number, len(x), x.dtype, _flaw(x, weights))
    if base.flaw or not len(x):
        return base
    weight = float(weights.sum())
    mean = weights @ x / weight if weight > 0 else np.zeros(x.shape[1])
    spread = 0.0
    for first in range(0, len(x), 4096):
        moved = x[first : first + 4096] - mean
        spread += float(weights[first : first + 4096] @ np.einsum("ij,ij->i", moved, moved))
    return Survey(
        number=part.number,
        rows=len(x),
        dtype=x.dtype,
        weight=weight,
        positive=int(np.count_nonzero(weights)),
        even=bool((weights == 1).all()),
        box=Box.around(x),
        mean=np.asarray(mean, dtype=np.float64),
        spread=spread,
    )


def _flaw(x: Array, weights: Array) -> str:
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.isfinite(x.sum())
    if not whole and not np.isfinite(x).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(x))[0])
        what = "NaN" if np.isnan(x[row, column]) else "infinity"
        return f"Input X contains {what} in its row {row}, column {column}; fill in or leave out such rows"
    if not np.isfinite(weights).all():
        return "sample_weight is not finite there"
    if (weights < 0).any():
        return f"sample_weight has {weights.min():g}; negative values are not allowed"
    return ""


def survey_parts(parts: Parts) -> list[Survey]:
    """Of all parts; raises a ValueError that names the first that cannot be used."""
    surveys: list[Survey] = parts.map(survey_part)
    for survey in surveys:
        if survey.flaw:
            raise ValueError(f"partition {survey.number} ({survey.rows} rows): {survey.flaw}")
    return surveys
