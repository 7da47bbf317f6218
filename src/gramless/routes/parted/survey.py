"""What the first pass over rows in parts tells: how many, where they lie, and whether they can be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramless.arrays import Array
from gramless.execution import Block, Parts
from gramless.routes.survey import Survey, SurveyOf


@dataclass(frozen=True, eq=False)
class PartSurvey:
    """Of one part.

    Attributes
    ----------
    number : int
    rows : int
    dtype : dtype
    flaw : str
        Why the part cannot be used; empty if it can.
    positive : int
        Rows of positive weight.
    even : bool
        Whether all weights are 1.
    survey : Survey or None
        None for a part without rows.
    """

    number: int
    rows: int
    dtype: Any
    flaw: str
    positive: int = 0
    even: bool = True
    survey: Survey | None = None


def survey_part(part: Block) -> PartSurvey:
    """One pass over the rows."""
    x, weights = part.x, part.weights
    flaw = _flaw(x, weights)
    if flaw or not len(x):
        return PartSurvey(part.number, len(x), x.dtype, flaw)
    survey = SurveyOf(size=1, measures=True)(part)
    positive, even = int(np.count_nonzero(weights)), bool((weights == 1).all())
    return PartSurvey(part.number, len(x), x.dtype, flaw, positive, even, survey)


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


def survey_parts(parts: Parts) -> list[PartSurvey]:
    """Of all parts; raises a ValueError that names the first that cannot be used."""
    surveys: list[PartSurvey] = parts.map(survey_part)
    for survey in surveys:
        if survey.flaw:
            raise ValueError(f"partition {survey.number} ({survey.rows} rows): {survey.flaw}")
    return surveys
